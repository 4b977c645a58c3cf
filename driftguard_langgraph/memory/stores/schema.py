"""The SQLite schema: numbered migrations, each applied in one transaction."""

from __future__ import annotations

import sqlite3

from driftguard_langgraph.errors import SchemaMismatch

APPLICATION_ID = 0x44474C47
"""Marks a SQLite file as ours (`DGLG`), as SQLite's `application_id` is meant to."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE meta(
            key TEXT PRIMARY KEY,
            value TEXT NOT NULL
        ) WITHOUT ROWID
        """,
        # Text lives here once, however many episodes share it. `digest` is what makes it
        # unique, so that a long text is not kept a second time in an index. The vector
        # comes last: nothing else has to be read past it.
        """
        CREATE TABLE wordings(
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            namespace TEXT NOT NULL,
            kind TEXT NOT NULL,
            role TEXT NOT NULL,
            digest BLOB NOT NULL,
            node TEXT NOT NULL,
            text TEXT NOT NULL,
            tool_name TEXT,
            tool_args TEXT,
            last_used INTEGER,
            vector BLOB NOT NULL
        )
        """,
        # A tool call may be rendered as somebody else wrote it in words.
        """
        CREATE UNIQUE INDEX wordings_text
        ON wordings(namespace, kind, role, digest, ifnull(tool_name, ''))
        """,
        # SQLite appends the rowid to every index: this one finds "newer than id" at once.
        "CREATE INDEX wordings_role ON wordings(namespace, kind, role)",
        "CREATE INDEX wordings_node ON wordings(namespace, kind, role, node)",
        """
        CREATE TABLE episodes(
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            namespace TEXT NOT NULL,
            episode_id TEXT NOT NULL,
            kind TEXT NOT NULL,
            action INTEGER NOT NULL REFERENCES wordings(id),
            feedback INTEGER NOT NULL REFERENCES wordings(id),
            outcome INTEGER NOT NULL REFERENCES wordings(id),
            severity INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            thread TEXT,
            run TEXT,
            provenance TEXT NOT NULL,
            metadata TEXT NOT NULL,
            UNIQUE(namespace, episode_id)
        )
        """,
        "CREATE INDEX episodes_kind ON episodes(namespace, kind)",
        """
        CREATE INDEX episodes_thread
        ON episodes(namespace, thread, kind) WHERE thread IS NOT NULL
        """,
        """
        CREATE INDEX episodes_run
        ON episodes(namespace, run) WHERE run IS NOT NULL
        """,
        # Holds all that is counted, so that counting never reads the table.
        """
        CREATE INDEX episodes_path
        ON episodes(action, feedback, outcome, seq, created_at, severity)
        """,
        "CREATE INDEX episodes_effect ON episodes(feedback, outcome)",
        "CREATE INDEX episodes_outcome ON episodes(outcome)",
        # How whole runs ended; `scope` says of which column of episodes `run` is a value.
        """
        CREATE TABLE runs(
            namespace TEXT NOT NULL,
            scope TEXT NOT NULL,
            run TEXT NOT NULL,
            success INTEGER NOT NULL,
            outcome TEXT NOT NULL,
            severity INTEGER NOT NULL,
            decided_at INTEGER NOT NULL,
            PRIMARY KEY(namespace, scope, run)
        )
        """,
    ),
)
"""Statements of each version, oldest first; `user_version` counts those applied."""


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the database to the newest schema.

    Args:
        connection: An open connection in autocommit mode, outside a transaction.

    Raises:
        SchemaMismatch: The database belongs to another application, or to a newer version
            of this package. Nothing was changed.
    """
    while _version_at_rest(connection) < len(MIGRATIONS):
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Another process may have migrated while this one waited for the lock.
            version = _version(connection)
            for statement in MIGRATIONS[version] if version < len(MIGRATIONS) else ():
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version={min(version + 1, len(MIGRATIONS))}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def require_newest(connection: sqlite3.Connection) -> None:
    """Raise `SchemaMismatch` unless the database has the newest schema; read only."""
    version = _version_at_rest(connection)
    if version < len(MIGRATIONS):
        raise SchemaMismatch(
            f"this memory has schema version {version}, older than {len(MIGRATIONS)}, and cannot "
            "be written, so it cannot be brought to that. Open it once where it may be written."
        )


def refuse_foreign(connection: sqlite3.Connection) -> None:
    """Raise `SchemaMismatch` unless the database is empty or ours; read only."""
    _version_at_rest(connection)


def _version_at_rest(connection: sqlite3.Connection) -> int:
    # Between two statements another process may migrate: half of what is read would be of
    # an empty database, half of one with tables.
    connection.execute("BEGIN")
    try:
        return _version(connection)
    finally:
        if connection.in_transaction:
            connection.execute("COMMIT")


def _version(connection: sqlite3.Connection) -> int:
    """Return the schema version; the connection is in a transaction."""
    owner = connection.execute("PRAGMA application_id").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if owner != APPLICATION_ID and (owner or tables):
        raise SchemaMismatch(
            "this SQLite database belongs to another application and was left as it is. "
            "Choose another file for the memory (setting sqlite_filepath)."
        )
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > len(MIGRATIONS):
        raise SchemaMismatch(
            f"this memory has schema version {version}, newer than {len(MIGRATIONS)}, which "
            "this version of driftguard-langgraph knows. Upgrade the package."
        )
    return version
