"""Opening a SQLite memory file: private, checked, and set aside when it is damaged."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock

from driftguard_langgraph.errors import CorruptStore, StoreError, StoreUnavailable
from driftguard_langgraph.memory.stores.schema import refuse_foreign

logger = logging.getLogger(__name__)

BUSY_TIMEOUT = 30.0
"""Seconds to wait for another writer. One record holds the lock for well under a
millisecond, so only a stuck process makes anybody wait this long."""

CHECKED_SIZE = 32 * 2**20
"""Files up to this many bytes are checked for damage when they are opened (about a
millisecond per MiB); larger ones only by `driftguard doctor`."""


@contextmanager
def sqlite_errors(action: str) -> Iterator[None]:
    """Translate what `sqlite3` raises into the package's errors."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "malformed" in str(error):
            raise _corrupt(action, error) from error
        raise StoreUnavailable(
            f"could not {action}: {error}. If another process holds the file, try again."
        ) from error
    except sqlite3.ProgrammingError as error:
        raise StoreUnavailable(f"could not {action}: {error}.") from error
    except sqlite3.DatabaseError as error:
        raise _corrupt(action, error) from error


def _corrupt(action: str, error: sqlite3.Error) -> StoreError:
    return CorruptStore(
        f"could not {action}: {error}. The memory file is damaged; run `driftguard doctor`."
    )


def connect(path: Path) -> tuple[sqlite3.Connection, Path | None]:
    """Open or create the memory file, readable by its owner only.

    A file that is damaged, or is no database at all, is moved aside with all its bytes and
    a new memory begins; a database of another application is refused and left untouched.

    Args:
        path: The file. Missing folders are created.

    Returns:
        The connection, and where a damaged file was moved, if one was.

    Raises:
        SchemaMismatch: The file is another application's database.
        StoreUnavailable: The file cannot be created, read or written.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        moved = _quarantine_if_damaged(path) if path.exists() else None
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise StoreUnavailable(f"cannot open the memory file {path}: {error.strerror}.") from error
    with sqlite_errors(f"open {path}"):
        return sqlite3.connect(
            path, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False
        ), moved


def damage(path: Path, *, thorough: bool = False) -> str | None:
    """Say what is wrong with the file, None when it is sound.

    Args:
        path: An existing file.
        thorough: Check every page whatever the size.

    Raises:
        SchemaMismatch: The file is a sound database of another application.
        StoreUnavailable: The file could not be read.
    """
    with closing(sqlite3.connect(path, timeout=BUSY_TIMEOUT, isolation_level=None)) as connection:
        try:
            refuse_foreign(connection)
            if thorough or path.stat().st_size <= CHECKED_SIZE:
                verdict = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
                return None if verdict == "ok" else verdict
        except sqlite3.OperationalError as error:
            if "malformed" in str(error):
                return str(error)
            raise StoreUnavailable(f"cannot read the memory file {path}: {error}.") from error
        except sqlite3.DatabaseError as error:
            return str(error)
    return None


def _quarantine_if_damaged(path: Path) -> Path | None:
    if damage(path) is None:
        return None
    # Only one process may move the file, and none may move the new one begun in its place.
    with FileLock(f"{path}.lock"):
        wrong = damage(path) if path.exists() else None
        if wrong is None:
            return None
        aside = path.with_name(f"{path.name}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S%f}")
        path.rename(aside)
        for suffix in ("-wal", "-shm", "-journal"):
            with suppress(FileNotFoundError):
                path.with_name(path.name + suffix).rename(aside.with_name(aside.name + suffix))
    logger.warning(
        "The memory file %s is damaged (%s). It was moved to %s, unchanged, and an empty "
        "memory was begun in its place.",
        path,
        wrong,
        aside,
    )
    return aside
