"""A memory on one page: read, put into plain JSON, and written as one HTML file.

Nothing is changed in the memory, and no text leaves it but into the page.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from driftguard_langgraph._files import check_free, write_text
from driftguard_langgraph._version import __version__
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.retention import all_episodes
from driftguard_langgraph.memory.stats import memory_stats
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.pages.chains import ChainTable
from driftguard_langgraph.pages.document import document
from driftguard_langgraph.pages.episodes import EpisodeWalk
from driftguard_langgraph.pages.sessions import read_drift
from driftguard_langgraph.pages.texts import stamp
from driftguard_langgraph.text.validation import checked_namespace
from driftguard_langgraph.types import Episode, Namespace, utc_now

NAMESPACES = 20
"""Other namespaces that the page names."""

READING = "episodes"
"""What `progress` is told to be counting while the memory is read."""

Progress = Callable[[str, int, int], None]
PathLike = str | os.PathLike[str]


def collect_report(
    guard: DriftGuard,
    sessions: Sequence[PathLike] = (),
    *,
    namespace: Sequence[str] | None = None,
    progress: Progress | None = None,
    now: datetime | None = None,
) -> dict[str, Any]:
    """Return what the page says as plain JSON; long texts are cut, and say by how much.

    Args:
        guard: Whose memory it is about.
        sessions: Files with conversations: recorded logs, or session memories of a tracker.
        namespace: Whose memory; by default the guard's own, and then other namespaces of the
            same store are named as well.
        progress: Told what is being done, how much of it is done, and how much there is.
        now: The time against which age is measured; by default the present.

    Raises:
        ConfigurationError: The namespace is none, or a session file cannot be read.
        StoreError: The memory, or a session memory, cannot be read.
    """
    whose = guard.namespace if namespace is None else checked_namespace(namespace)
    store, settings, moment = guard.store, guard.settings, now or utc_now()
    stats = memory_stats(store, whose)
    mistakes, successes = (
        ChainTable(store, whose, kind, moment, settings.retrieval_recency_weight)
        for kind in ("mistake", "success")
    )
    walk = EpisodeWalk().over(_told(all_episodes(store, whose), stats["episodes"], progress))
    paths = [*mistakes.paths, *successes.paths]
    nodes = stats["mistakes"]["nodes"] + stats["successes"]["nodes"]
    space = store.space()
    return {
        "version": __version__,
        "made_at": stamp(moment),
        "memory": {
            "where": store.location(),
            "namespace": list(whose),
            "others": _others(store, whose) if namespace is None else None,
            "embedding_model": None if space is None else space.model_id,
            **stats,
            # Of the three texts of an episode, how many fell on a node that was there.
            "merge_ratio": round(1 - nodes / (3 * stats["episodes"]), 4) if paths else None,
            "first_seen": stamp(min(path.first_seen for path in paths)) if paths else None,
            "last_seen": stamp(max(path.last_seen for path in paths)) if paths else None,
            "growth": walk.growth.to_dict(),
        },
        "mistakes": mistakes.to_dict(),
        "successes": successes.to_dict(),
        "warnings": {"count": walk.warnings, "shown": walk.became(mistakes)},
        "worth": walk.worth.to_dict(),
        "sessions": read_drift(sessions, settings, progress=progress),
        "episodes": {"count": walk.seen, "rows": walk.rows()},
    }


def render_report(
    guard: DriftGuard,
    sessions: Sequence[PathLike] = (),
    *,
    namespace: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> str:
    """Return the page as HTML: one file that loads nothing.

    Args:
        guard: Whose memory it is about. It is read and not changed.
        sessions: Files with conversations whose drift the page shows: recorded logs, or
            session memories of a tracker.
        namespace: Whose memory; by default the guard's own, and then other namespaces of the
            same store are named as well.
        progress: Told what is being done, how much of it is done, and how much there is.

    Raises:
        ConfigurationError: The namespace is none, or a session file cannot be read.
        StoreError: The memory, or a session memory, cannot be read.

    Example:
        ```python
        from driftguard_langgraph import DriftGuard
        from driftguard_langgraph.pages import render_report

        with DriftGuard() as guard:
            html = render_report(guard)
        ```
    """
    return document(collect_report(guard, sessions, namespace=namespace, progress=progress))


def write_report(
    guard: DriftGuard,
    path: PathLike,
    sessions: Sequence[PathLike] = (),
    *,
    namespace: Sequence[str] | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Write the page to a file that only its owner can read, whole or not at all.

    Args:
        guard: Whose memory it is about. It is read and not changed.
        path: The file.
        sessions: Files with conversations; see `render_report`.
        namespace: Whose memory; see `render_report`.
        force: Whether a file that is there may be replaced.
        progress: Told what is being done, how much of it is done, and how much there is.

    Returns:
        The file.

    Raises:
        ConfigurationError: The file is there already or cannot be written, the namespace is
            none, or a session file cannot be read.
        StoreError: The memory, or a session memory, cannot be read.
    """
    file = Path(path)
    if file.exists() and not force:
        raise ConfigurationError(f"{file}: exists already. force=True replaces it.")
    check_free(file, "the report", force=force)
    html = render_report(guard, sessions, namespace=namespace, progress=progress)
    write_text(file, html, "the report", force=force)
    return file


def _told(episodes: Iterable[Episode], total: int, progress: Progress | None) -> Iterator[Episode]:
    for number, episode in enumerate(episodes, 1):
        yield episode
        if progress is not None:
            progress(READING, number, max(total, number))


def _others(store: BaseMemoryStore, whose: Namespace) -> dict[str, Any]:
    others = [each for each in store.namespaces() if each != whose]
    return {"count": len(others), "names": [list(each) for each in others[:NAMESPACES]]}
