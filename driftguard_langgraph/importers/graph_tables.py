"""Reading driftguard-ai's tables in PostgreSQL."""

from __future__ import annotations

import re
from typing import LiteralString

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.importers.graph_files import graph_of_rows
from driftguard_langgraph.importers.peer_graph import PeerGraph
from driftguard_langgraph.memory.stores.postgres_connections import OwnConnections
from driftguard_langgraph.memory.stores.postgres_errors import postgres_errors, require_psycopg
from driftguard_langgraph.types import Kind

SCHEMA = ("driftguard_postgres", "1")
PREFIXES: dict[Kind, str] = {"mistake": "driftguard", "success": "success_driftguard"}

_QUERIES: dict[str, LiteralString] = {
    "meta": "SELECT key, value FROM {}",
    "nodes": "SELECT text, type, frequency, first_seen, last_seen FROM {}",
    "edges": "SELECT src, dst, frequency, created_at FROM {}",
}
_DSN = re.compile(r"postgres(?:ql)?(?:\+\w+)?://", re.IGNORECASE)


def is_dsn(source: str) -> bool:
    """Whether a source is a PostgreSQL connection string, SQLAlchemy's included."""
    return _DSN.match(source) is not None


def graphs_of_postgres(dsn: str, wanted: Kind | None = None) -> dict[Kind, PeerGraph]:
    """Return the graphs whose tables are there, of failures and of successes.

    Args:
        dsn: Connection string, as driftguard-ai has it (`postgresql+psycopg://...`).
        wanted: Only this one; None for both.

    Raises:
        ConfigurationError: There is none of the tables, or the string is none.
        MissingExtra: The extra `postgres` is not installed.
        SchemaMismatch, CorruptStore, StoreUnavailable: The tables cannot be read.
    """
    require_psycopg()
    from psycopg.sql import SQL, Identifier

    source = OwnConnections(_DSN.sub("postgresql://", dsn, count=1))
    graphs: dict[Kind, PeerGraph] = {}
    try:
        with (
            postgres_errors("read the tables of driftguard-ai"),
            source.lend() as connection,
            connection.transaction(),
        ):
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            for kind, prefix in PREFIXES.items():
                if wanted not in (None, kind):
                    continue
                here = connection.execute("SELECT to_regclass(%s)", (f"{prefix}_nodes",)).fetchone()
                if here != (None,):
                    told, nodes, edges = (
                        connection.execute(SQL(query).format(Identifier(f"{prefix}_{table}")))
                        for table, query in _QUERIES.items()
                    )
                    graphs[kind] = graph_of_rows(
                        "postgres", SCHEMA, dict(told), nodes.fetchall(), edges.fetchall()
                    )
    finally:
        source.close()
    if not graphs:
        raise ConfigurationError(
            "this database has no tables of driftguard-ai (driftguard_nodes, "
            "success_driftguard_nodes) in its search_path."
        )
    return graphs
