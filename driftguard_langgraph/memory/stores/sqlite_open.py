"""Opening a memory file: private, and refused untouched when it is damaged or not ours."""

from __future__ import annotations

import errno
import logging
import os
import sqlite3
from contextlib import suppress
from pathlib import Path

from driftguard_langgraph.errors import CorruptStore, SchemaMismatch, StoreUnavailable
from driftguard_langgraph.memory.stores.schema import require_newest
from driftguard_langgraph.memory.stores.sqlite_file import (
    BUSY_TIMEOUT,
    CACHED_KIB,
    Durability,
    damage,
    is_database,
    is_writable,
    prepare,
    reading_uri,
    require,
    sqlite_errors,
)

logger = logging.getLogger(__name__)


def connect(path: Path, durability: Durability = "normal") -> sqlite3.Connection:
    """Open or create the memory file, readable by its owner only.

    A file that is damaged, or is no database of this package, is refused and left untouched. One
    that this process may only read is opened for that.

    Args:
        path: The file. Missing folders are created.
        durability: What a power failure may take.

    Raises:
        SchemaMismatch: The file is no database, another application's or a newer version's.
        CorruptStore: The file is damaged.
        StoreUnavailable: The file cannot be created or read.
    """
    try:
        path = path.resolve()
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if path.exists():
            _refuse_damaged(path)
        else:
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise StoreUnavailable(
            f"cannot open the memory file {path}: {error.strerror or error}. Name a file in a "
            "folder that you may write to (setting sqlite_filepath)."
        ) from error
    with sqlite_errors(f"open {path}"):
        if not is_writable(path):
            return _connect_to_read(path)
        connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT, check_same_thread=False)
        try:
            prepare(connection, durability)
        except BaseException:
            connection.close()
            raise
    return connection


def _refuse_damaged(path: Path) -> None:
    require(path, os.R_OK)
    wrong = damage(path)
    if wrong is None:
        return
    if not is_database(path):
        raise SchemaMismatch(
            f"{path} is no database ({wrong}) and was left as it is. Choose another file for the "
            "memory (setting sqlite_filepath)."
        )
    raise CorruptStore(
        f"the memory file {path} is damaged ({wrong}) and was left as it is. Put a copy of it in "
        f"its place; or move it away, with {path.name}-wal if that is there, and an empty memory "
        f"begins. `sqlite3 {path.name} .recover` reads what is left in it."
    )


def _connect_to_read(path: Path) -> sqlite3.Connection:
    uri = reading_uri(path)
    connection = sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT, check_same_thread=False)
    try:
        connection.isolation_level = None
        connection.execute("PRAGMA query_only=ON")
        require_newest(connection)
        connection.execute(f"PRAGMA cache_size=-{CACHED_KIB}")
    except BaseException:
        connection.close()
        raise
    logger.warning(
        "The memory file %s, or its folder, cannot be written: it is read, and nothing can be "
        "recorded.",
        path,
    )
    return connection
