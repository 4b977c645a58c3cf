"""A SQLite memory file: what it is, whether it is sound, and how its connections are set up."""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Literal

from driftguard_langgraph.errors import (
    CorruptStore,
    StoreError,
    StoreUnavailable,
)
from driftguard_langgraph.memory.stores.schema import migrate, refuse_foreign, require_newest

BUSY_TIMEOUT = 30.0
"""Seconds to wait for another writer. One record holds the lock for a few milliseconds, so
only a stuck process makes anybody wait this long."""

HASTE = 0.2
"""Seconds that a note by the way waits for another writer: a review must not stand behind an
import that holds the lock for long."""

CHECKED_SIZE = 32 * 2**20
"""Files up to this many bytes are checked for damage when they are opened (about a
millisecond per MiB); larger ones only by `driftguard doctor`."""

SMALLEST_DATABASE = 512
"""Bytes of the smallest page SQLite knows (its file format); less is no database. SQLite
itself takes a file of one byte for an empty one and would overwrite it."""

CACHED_KIB = 32 * 1024
"""Pages of the file that a connection may keep in memory. With SQLite's own 2 MiB, a review of
20,000 episodes reads its texts from the system again and again."""

Durability = Literal["normal", "full"]
"""What a power failure may take; a process that dies takes nothing, either way.

- `normal`: the newest records, those since the log was last written to disk (at the latest
  about 1,000 pages, some hundred records, ago; the operating system writes every half minute
  or so). The file stays sound and what is lost is always the end.
- `full`: nothing that was acknowledged. Every record waits for the disk.
"""

_ASKS_FOR_EFFECTIVE_USER = os.access in os.supports_effective_ids

_ADVICE = {
    sqlite3.SQLITE_BUSY: "Another process holds the file: try again.",
    sqlite3.SQLITE_LOCKED: "Another process holds the file: try again.",
    sqlite3.SQLITE_FULL: "Make room on the disk, or prune; nothing was half-written.",
    sqlite3.SQLITE_READONLY: "The file and its folder must be writable.",
    sqlite3.SQLITE_CANTOPEN: "The folder must exist, and it and the file be writable.",
    sqlite3.SQLITE_IOERR: "Check the disk.",
    sqlite3.SQLITE_ERROR: "Was setup() called on the store?",
}
_DEFAULT_ADVICE = "The connection must be open, and made with check_same_thread=False."

SQLITE_HEADER = b"SQLite format 3\0"
DATABASE_SUFFIXES = frozenset({".sqlite3", ".sqlite", ".db", ".db3"})
"""What is named so was a database, whatever its first bytes say now."""


class _Translated:
    """A context that is entered for every statement: a generator would cost five times more."""

    __slots__ = ("_action",)

    def __init__(self, action: str) -> None:
        self._action = action

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if isinstance(error, sqlite3.Error):
            raise _translated(self._action, error) from error


def sqlite_errors(action: str) -> AbstractContextManager[None]:
    """Translate what `sqlite3` raises into the package's errors."""
    return _Translated(action)


def _translated(action: str, error: sqlite3.Error) -> StoreError:
    code = _code(error)
    if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
        return CorruptStore(
            f"could not {action}: {error}. The memory file is damaged; run `driftguard doctor`."
        )
    return StoreUnavailable(f"could not {action}: {error}. {_ADVICE.get(code, _DEFAULT_ADVICE)}")


def _code(error: sqlite3.Error) -> int:
    """Return SQLite's primary result code; 0 for errors of the Python module itself."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def file_identity(path: str) -> tuple[int, int] | None:
    """Return what tells the file at `path` from any other, None if there is none."""
    try:
        # Asked before every call: a `Path` would cost more than the answer.
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return found.st_dev, found.st_ino


def identify_of(connection: sqlite3.Connection) -> Callable[[str], object]:
    """Return what tells the file of a connection from what it must not be taken for."""
    # One that only reads may not see what others write.
    return file_version if _only_reads(connection) else file_identity


def _only_reads(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("PRAGMA query_only").fetchone()[0])


def file_version(path: str) -> tuple[object, ...]:
    """Return what tells a file, and whatever is written to it, from any other."""
    found = Path(path).stat() if Path(path).exists() else None
    log = Path(f"{path}-wal").exists()
    return file_identity(path), found and found.st_size, found and found.st_mtime_ns, log


def require(path: Path, mode: int) -> None:
    """Raise `PermissionError` unless this process may use a file in that way."""
    # Asked of the system, not tried: closing a second descriptor of the file would drop the
    # locks that another connection of this process has on it.
    if not os.access(path, mode, effective_ids=_ASKS_FOR_EFFECTIVE_USER):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def require_writable(path: Path) -> None:
    """Raise `PermissionError` unless this process may read and write the file."""
    require(path, os.R_OK | os.W_OK)


def is_writable(path: Path) -> bool:
    """Whether this process may write the file, and what has to be beside it meanwhile."""
    try:
        require(path, os.R_OK | os.W_OK)
        require(path.parent, os.R_OK | os.W_OK | os.X_OK)
    except PermissionError:
        return False
    return True


def reading_uri(path: Path) -> str:
    """Return how to name a file to SQLite that this process may only read."""
    # Where nobody writes, SQLite needs files beside a database in WAL mode that it cannot make
    # there, or that its owner could not write to.
    is_open = any(path.with_name(path.name + suffix).exists() for suffix in ("-wal", "-shm"))
    return f"{path.as_uri()}?{'mode=ro' if is_open else 'immutable=1'}"


def prepare(connection: sqlite3.Connection, durability: Durability = "normal") -> None:
    """Bring a connection's database to the newest schema and set the connection up.

    Args:
        connection: Open, outside a transaction.
        durability: What a power failure may take.

    Raises:
        SchemaMismatch: The database belongs to another application or a newer version.
    """
    connection.isolation_level = None
    if _only_reads(connection):
        require_newest(connection)
        return
    migrate(connection)
    _switch_to_wal(connection)
    connection.execute(f"PRAGMA synchronous={durability}")
    connection.execute(f"PRAGMA cache_size=-{CACHED_KIB}")
    # What is deleted is overwritten at once; see also `SqliteSession._scrub`.
    connection.execute("PRAGMA secure_delete=ON")


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    deadline = time.monotonic() + BUSY_TIMEOUT
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            # SQLite does not wait here by itself when several processes switch at once.
            if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def damage(path: Path, *, thorough: bool = False) -> str | None:
    """Say what is wrong with the file, None when it is sound.

    Args:
        path: An existing file.
        thorough: Check every page whatever the size.

    Raises:
        SchemaMismatch: The file is a sound database of another application.
        StoreUnavailable: The file could not be read.
    """
    size = path.stat().st_size
    if 0 < size < SMALLEST_DATABASE:
        return f"{size} bytes are no database"
    everything = thorough or size <= CHECKED_SIZE
    try:
        if not is_writable(path):
            return _inspect(reading_uri(path.resolve()), everything=everything)
        uri = f"{path.resolve().as_uri()}?mode="
        try:
            # Closing a connection that may write can change the file of somebody else.
            return _inspect(f"{uri}ro", everything=everything)
        except sqlite3.OperationalError:
            # A journal left by a crash has to be played back before anybody can read.
            return _inspect(f"{uri}rw", everything=everything)
    except sqlite3.DatabaseError as error:
        found = _translated(f"read the memory file {path}", error)
        if isinstance(found, CorruptStore):
            return str(error)
        raise found from error


def _inspect(uri: str, *, everything: bool) -> str | None:
    opened = sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT, isolation_level=None)
    with closing(opened) as connection:
        refuse_foreign(connection)
        check = "PRAGMA quick_check(1)" if everything else "SELECT 'ok'"
        verdict = str(connection.execute(check).fetchone()[0])
    return None if verdict == "ok" else verdict


def is_database(path: Path) -> bool:
    """Whether a damaged file was a database, by its first bytes or else by its name.

    Args:
        path: An existing file.
    """
    if path.suffix.lower() in DATABASE_SUFFIXES:
        return True
    with path.open("rb") as file:
        return file.read(len(SQLITE_HEADER)) == SQLITE_HEADER


@contextmanager
def hasty(connection: sqlite3.Connection) -> Iterator[None]:
    """Let a connection wait for other writers for `HASTE` seconds only.

    Args:
        connection: The connection; its own patience is restored at the end.
    """
    patience = connection.execute("PRAGMA busy_timeout").fetchone()[0]
    connection.execute(f"PRAGMA busy_timeout={min(patience, round(HASTE * 1000))}")
    try:
        yield
    finally:
        with suppress(sqlite3.ProgrammingError):  # a file that was replaced has a new connection
            connection.execute(f"PRAGMA busy_timeout={patience}")
