"""What the demo's memory holds, read afresh from its file."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

from driftguard_langgraph.cli.demo.phase import demo_settings
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.types import Kind

EPISODE_LIMIT = 1000
"""Episodes that are read for a snapshot; a demo makes ten."""


def snapshot(db: Path) -> dict[str, Any]:
    """Return counts, graph nodes and episodes of the memory as plain JSON.

    Args:
        db: SQLite file of the memory.

    Raises:
        StoreError: The memory cannot be read.
    """
    with DriftGuard(settings=demo_settings(db)) as guard:
        nodes = [node for kind in get_args(Kind) for node in _nodes(guard, kind)]
        episodes = guard.store.list(guard.namespace, limit=EPISODE_LIMIT)
        return {
            "stats": guard.stats(),
            "nodes": nodes,
            "episodes": [episode.to_dict() for episode in episodes],
        }


def _nodes(guard: DriftGuard, kind: Kind) -> list[dict[str, Any]]:
    return [
        {
            "kind": kind,
            "label": data["label"],
            "type": data["type"],
            "frequency": data["frequency"],
        }
        for _, data in guard.graph(kind).nodes(data=True)
    ]
