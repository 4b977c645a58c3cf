"""What `psycopg` raises, in the words of the package's errors; and its import."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from driftguard_langgraph.errors import (
    CorruptStore,
    DriftGuardError,
    InvalidEpisode,
    MissingExtra,
    SchemaMismatch,
    StoreUnavailable,
)

if TYPE_CHECKING:
    import psycopg

_MISMATCH = (
    "the vector has another dimension than those in the memory: use the model the memory was "
    "embedded with, or call reembed()."
)
_ADVICE = {
    "08": "Check that the server runs and can be reached; the next call connects anew.",
    "25": "Connect to a server that may be written to, with no transaction under way.",
    "28": "Check the user and the password of the connection string.",
    "3D": "Create the database, or name another one in the connection string.",
    "3F": "The connection's search_path names no schema that exists.",
    "40": "Another process was in the way: try again.",
    "42": "Was setup() called on the store, and by this version of the package?",
    "53": "The server is short of connections, memory or disk; nothing was half-written.",
    "55": "Another process holds the memory: try again.",
    "57": "The server stopped it: try again; the next call connects anew.",
}
"""What to do, by the class of the SQLSTATE."""

_BY_STATE = {"42501": "The user of the connection needs the right to do that: grant it."}
_DEFAULT_ADVICE = _ADVICE["08"]
DIMENSIONS_DIFFER = "22000"
CORRUPTED = frozenset({"XX001", "XX002"})


def require_psycopg() -> None:
    """Raise `MissingExtra` if the driver is not installed."""
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        raise MissingExtra.of("the Postgres store", "postgres") from error


@contextmanager
def postgres_errors(action: str) -> Iterator[None]:
    """Translate what `psycopg` raises into the package's errors.

    Args:
        action: What is being done, for the error message.
    """
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        raise translated(action, error) from error


def translated(action: str, error: psycopg.Error) -> DriftGuardError:
    """Return the package's error for one of `psycopg`'s; nothing of the data is quoted."""
    state = error.sqlstate or ""
    # Details, on further lines, may quote rows.
    said = (error.diag.message_primary or str(error)).partition("\n")[0].rstrip(".")
    if state == DIMENSIONS_DIFFER:
        return SchemaMismatch(f"could not {action}: {_MISMATCH}")
    if state in CORRUPTED:
        return CorruptStore(f"could not {action}: {said}. Restore the database from a backup.")
    if "NUL" in said:
        return InvalidEpisode(f"could not {action}: a text holds a NUL byte, remove it first.")
    advice = _BY_STATE.get(state) or _ADVICE.get(state[:2], _DEFAULT_ADVICE)
    return StoreUnavailable(f"could not {action}: {said}. {advice}")


def refuse_broken(connection: psycopg.Connection[Any]) -> None:
    """Raise `StoreUnavailable` if a statement failed in the transaction that is to be kept.

    Told to commit, the server would roll back and call that a success.
    """
    from psycopg.pq import TransactionStatus

    if connection.info.transaction_status == TransactionStatus.INERROR:
        raise StoreUnavailable("could not commit: a statement failed, all was rolled back.")
