"""A memory of driftguard-ai, wherever it is kept, as episodes of ours."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.importers.graph_chains import find_chains
from driftguard_langgraph.importers.graph_episodes import PEER, Haul, make_episodes
from driftguard_langgraph.importers.graph_files import graph_of_json, graph_of_sqlite
from driftguard_langgraph.importers.graph_links import split_links
from driftguard_langgraph.importers.graph_tables import graphs_of_postgres
from driftguard_langgraph.importers.peer_graph import PeerGraph
from driftguard_langgraph.text.validation import TextLimits
from driftguard_langgraph.types import Kind, Namespace, utc_now

_NAMED: Mapping[str, Kind] = {"driftguard_success_graph": "success", "driftguard_graph": "mistake"}
"""What driftguard-ai calls its files unless it is told otherwise, up to the extension."""


def kind_of(path: Path) -> Kind | None:
    """Return what a file holds by the name that driftguard-ai gives it, None for another name.

    Files of failures and of successes differ in nothing else.
    """
    return next((kind for name, kind in _NAMED.items() if path.name.startswith(name)), None)


def read_file(
    path: Path, document: Any, kind: Kind | None, namespace: Namespace, limits: TextLimits
) -> Haul:
    """Return the episodes of a file.

    Args:
        path: The file.
        document: Its content if it is JSON, None if it is a database.
        kind: What it holds; None takes its name for it.
        namespace: Whose memory they shall be in.
        limits: What texts may hold.

    Raises:
        ConfigurationError: The name does not tell what it holds.
        SchemaMismatch: It is of a version that is not known.
        CorruptStore: It is damaged.
    """
    kind = kind or kind_of(path)
    if kind is None:
        raise ConfigurationError(
            "driftguard-ai keeps failures and successes in two files that look alike, and the "
            "name does not tell which this is: say --kind mistake or --kind success."
        )
    graph = graph_of_sqlite(path) if document is None else graph_of_json(document)
    changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return _haul(graph, kind, namespace, limits, path.name, changed)


def read_database(
    dsn: str, kind: Kind | None, namespace: Namespace, limits: TextLimits
) -> list[Haul]:
    """Return the episodes of PostgreSQL tables, those of failures and of successes apart.

    Args:
        dsn: Connection string.
        kind: Only these; None for both.
        namespace: Whose memory they shall be in.
        limits: What texts may hold.

    Raises:
        ConfigurationError: There are no such tables.
        MissingExtra: The extra `postgres` is not installed.
        StoreError: They cannot be read.
    """
    graphs = graphs_of_postgres(dsn, kind)
    return [
        _haul(graph, each, namespace, limits, f"{PEER} in PostgreSQL", utc_now())
        for each, graph in graphs.items()
    ]


def _haul(
    graph: PeerGraph,
    kind: Kind,
    namespace: Namespace,
    limits: TextLimits,
    source: str,
    undated: datetime,
) -> Haul:
    chains = find_chains(graph, split_links(graph))
    return make_episodes(
        graph, chains, kind, namespace=namespace, limits=limits, source=source, undated=undated
    )
