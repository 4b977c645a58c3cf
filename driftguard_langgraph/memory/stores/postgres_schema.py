"""The Postgres schema: numbered migrations, each applied in one transaction.

Whatever is looked up has a digest as its key, because an index entry of PostgreSQL holds
2,700 bytes and a namespace, a text or a node may be longer. A `shelf` is a namespace, kind and
role: what is searched together.
"""

from __future__ import annotations

import logging

from driftguard_langgraph.errors import SchemaMismatch, StoreError
from driftguard_langgraph.memory.stores.postgres_session import WHOLE, PostgresSession
from driftguard_langgraph.memory.stores.postgres_vectors import VectorColumn

logger = logging.getLogger(__name__)

TABLES = (
    "driftguard_meta",
    "driftguard_wordings",
    "driftguard_vectors",
    "driftguard_episodes",
    "driftguard_runs",
)

OLDEST_EXTENSION = (0, 8)
"""The pgvector version that brought iterative scans: before, a filter could leave nothing."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE driftguard_wordings(
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            shelf uuid NOT NULL,
            digest uuid NOT NULL,
            form uuid NOT NULL,
            node_digest uuid NOT NULL,
            node text NOT NULL,
            text text NOT NULL,
            tool_name text,
            tool_args text,
            last_used bigint
        )
        """,
        # A tool call may be rendered as somebody else wrote it in words: `form` tells them apart.
        "CREATE UNIQUE INDEX ON driftguard_wordings(shelf, digest, form)",
        "CREATE INDEX ON driftguard_wordings(shelf, node_digest, id)",
        # Apart from the texts, so that a search reads nothing else and long texts do not
        # push the vectors out of the page.
        """
        CREATE TABLE driftguard_vectors(
            id bigint PRIMARY KEY REFERENCES driftguard_wordings ON DELETE CASCADE,
            shelf uuid NOT NULL,
            embedding {vector} NOT NULL
        ) WITH (toast_tuple_target = 8160)
        """,
        "ALTER TABLE driftguard_vectors ALTER embedding SET STORAGE EXTERNAL",
        "CREATE INDEX ON driftguard_vectors(shelf, id)",
        """
        CREATE TABLE driftguard_episodes(
            seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            owner uuid NOT NULL,
            namespace text NOT NULL,
            digest uuid NOT NULL,
            episode_id text NOT NULL,
            kind text NOT NULL,
            action bigint NOT NULL REFERENCES driftguard_wordings,
            feedback bigint NOT NULL REFERENCES driftguard_wordings,
            outcome bigint NOT NULL REFERENCES driftguard_wordings,
            severity smallint NOT NULL,
            created_at bigint NOT NULL,
            thread uuid,
            run uuid,
            provenance text NOT NULL,
            metadata text NOT NULL
        )
        """,
        "CREATE UNIQUE INDEX ON driftguard_episodes(owner, digest)",
        "CREATE INDEX ON driftguard_episodes(owner, kind, seq)",
        """
        CREATE INDEX ON driftguard_episodes(owner, thread, kind, seq) WHERE thread IS NOT NULL
        """,
        "CREATE INDEX ON driftguard_episodes(owner, run) WHERE run IS NOT NULL",
        # Holds all that is counted, so that counting need not read the table.
        """
        CREATE INDEX ON driftguard_episodes(action, feedback, outcome, seq)
        INCLUDE (created_at, severity)
        """,
        "CREATE INDEX ON driftguard_episodes(feedback, outcome)",
        "CREATE INDEX ON driftguard_episodes(outcome)",
        # How whole runs ended; `scope` says of which column of episodes `key` is a value.
        """
        CREATE TABLE driftguard_runs(
            owner uuid NOT NULL,
            scope text NOT NULL,
            key uuid NOT NULL,
            run text NOT NULL,
            success boolean NOT NULL,
            outcome text NOT NULL,
            severity smallint NOT NULL,
            decided_at bigint NOT NULL,
            PRIMARY KEY(owner, scope, key)
        )
        """,
    ),
)
"""Statements of each version, oldest first; the row `schema` of the meta table counts them."""

_CREATE_META = "CREATE TABLE driftguard_meta(key text PRIMARY KEY, value text NOT NULL)"
_SET_VERSION = """
    INSERT INTO driftguard_meta VALUES('schema', %s)
    ON CONFLICT(key) DO UPDATE SET value = excluded.value
"""
# `to_regclass` would ask a cache that is not refreshed while one waits for an advisory lock.
_FOUND_TABLES = """
    SELECT relname::text AS name FROM pg_class
    WHERE relname = ANY(%s) AND pg_table_is_visible(oid)
"""
_META_COLUMNS = """
    SELECT string_agg(attname || ' ' || atttypid::regtype, ', ' ORDER BY attnum) AS columns
    FROM pg_attribute WHERE attrelid = to_regclass('driftguard_meta') AND attnum > 0
"""
_EXTENSION = """
    SELECT x.extversion, quote_ident(n.nspname) AS schema
    FROM pg_extension x JOIN pg_namespace n ON n.oid = x.extnamespace WHERE x.extname = 'vector'
"""
# Not in the memory's own schema: somebody else may come to need it, and that one be dropped.
_EXTENSION_HOME = """
    SELECT quote_ident(coalesce(
        (SELECT nspname FROM pg_namespace WHERE nspname = 'public'), current_schema())) AS home
"""
_COLUMN_TYPE = """
    SELECT t.typname, quote_ident(n.nspname) AS schema
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    JOIN pg_namespace n ON n.oid = t.typnamespace
    WHERE a.attrelid = to_regclass('driftguard_vectors') AND a.attname = 'embedding'
"""


def migrate(session: PostgresSession) -> None:
    """Bring the database to the newest schema, and make use of the extension if it is there.

    Raises:
        SchemaMismatch: The tables belong to another application, or to a newer version of
            this package. Nothing was changed.
        StoreUnavailable: They cannot be created.
    """
    # A memory that needs nothing must not need the right to create anything.
    while (version := schema_version(session)) < len(MIGRATIONS):
        _create_extension(session)
        with session.exclusive():
            session.lock(WHOLE)
            # Another process may have migrated while this one waited for the lock.
            version = schema_version(session)
            if version < len(MIGRATIONS):
                _apply(session, version)
    if vector_column(session).schema is None:
        _create_extension(session)
        if _usable_extension(session) is not None:
            _convert(session)


def _apply(session: PostgresSession, version: int) -> None:
    if version == 0 and not _tables(session):
        session.write("set up the memory", _CREATE_META)
    schema = _usable_extension(session)
    kind = "real[]" if schema is None else f"{schema}.vector"
    for statement in MIGRATIONS[version]:
        session.write("set up the memory", statement.replace("{vector}", kind))
    session.write("set up the memory", _SET_VERSION, (str(version + 1),))


def _convert(session: PostgresSession) -> None:
    """Turn plain arrays into vectors, after the extension was installed."""
    with session.exclusive():
        session.lock(WHOLE)
        schema = _usable_extension(session)
        if vector_column(session).schema is None and schema is not None:
            session.write(
                "use the vector extension",
                f"ALTER TABLE driftguard_vectors ALTER embedding TYPE {schema}.vector "
                f"USING embedding::{schema}.vector",
            )
            held = "SELECT cardinality(embedding::real[]) AS n FROM driftguard_vectors LIMIT 1"
            for row in session.read("use the vector extension", held):
                index = VectorColumn(schema).create_index(row["n"])
                if index is not None:
                    session.write("use the vector extension", index)


def _create_extension(session: PostgresSession) -> None:
    if session.read("look for the vector extension", _EXTENSION):
        return
    try:
        with session.exclusive():
            [found] = session.read("create the vector extension", _EXTENSION_HOME)
            create = f"CREATE EXTENSION vector SCHEMA {found['home']}"
            session.write("create the vector extension", create)
    except StoreError as error:
        # It may not be installed, or somebody else just created it: what there is decides.
        logger.debug("The vector extension was not created: %s", error)


def _usable_extension(session: PostgresSession) -> str | None:
    for row in session.read("look for the vector extension", _EXTENSION):
        if tuple(map(int, row["extversion"].split(".")[:2])) >= OLDEST_EXTENSION:
            return str(row["schema"])
    return None


def vector_column(session: PostgresSession) -> VectorColumn:
    """Return how the vectors are kept."""
    found = session.read("look up the memory's schema", _COLUMN_TYPE)
    return VectorColumn(found[0]["schema"] if found and found[0]["typname"] == "vector" else None)


def _tables(session: PostgresSession) -> set[str]:
    found = session.read("look up the memory's schema", _FOUND_TABLES, ([*TABLES],))
    return {row["name"] for row in found}


def schema_version(session: PostgresSession) -> int:
    """Return the schema version; 0 where there are no tables.

    Raises:
        SchemaMismatch: The tables are another application's, or a newer version's.
    """
    tables = _tables(session)
    if not tables:
        return 0
    columns = session.read("look up the memory's schema", _META_COLUMNS)[0]["columns"]
    found = (
        session.read(
            "look up the memory's schema", "SELECT value FROM driftguard_meta WHERE key = 'schema'"
        )
        if columns == "key text, value text"
        else []
    )
    if not found or not found[0]["value"].isdecimal():
        raise SchemaMismatch(
            f"the tables {', '.join(sorted(tables))} belong to another application and were left "
            "as they are. Put another schema first in the connection's search_path."
        )
    version = int(found[0]["value"])
    if version > len(MIGRATIONS):
        raise SchemaMismatch(
            f"this memory has schema version {version}, newer than {len(MIGRATIONS)}, which "
            "this version of driftguard-langgraph knows. Upgrade the package."
        )
    return version
