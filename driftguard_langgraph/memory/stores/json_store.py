"""Memory in one readable JSON file, for small memories that somebody wants to look at."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from driftguard_langgraph.errors import CorruptStore
from driftguard_langgraph.memory.stores.json_origin import JsonOrigin
from driftguard_langgraph.memory.stores.paths import checked_path
from driftguard_langgraph.memory.stores.sqlite_mirror import MirroredTables

logger = logging.getLogger(__name__)


class JsonMemoryStore(MirroredTables):
    """Memory in one JSON file: its episodes, and the two graphs in node-link form.

    Safe for threads and processes: one writer at a time, and what another process recorded is
    seen by the next call. Every record replaces the file as a whole (written beside it,
    flushed to the disk, renamed), so an acknowledged record survives a power failure, and so
    the cost of a record grows with the memory: about a tenth of a millisecond of CPU time for
    each episode that is kept (0.09 s at 1,000 and 0.6 s at 5,000 episodes in words of their own,
    with vectors of 384 numbers, which make a file of 3.7 kB an episode). A review does not
    read the file again while nobody writes. It is meant for up to some thousand episodes;
    beyond, use `SqliteMemoryStore`.

    The file may be edited by hand while nobody writes: episodes can be changed, added or
    deleted, and a text without a vector makes the memory re-embed itself at its next use. The
    graphs are written anew from the episodes.

    Args:
        path: The file. It is not touched before the first use.

    Example:
        ```python
        with JsonMemoryStore.from_conn_string("memory.json") as store:
            guard = DriftGuard(store=store)
        ```
    """

    _origin: JsonOrigin

    def __init__(self, path: str | Path) -> None:
        super().__init__(JsonOrigin(checked_path(path)))

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open (or create) a memory file, readable by its owner only.

        A damaged file is refused and left as it is. One that may only be read is read, with a
        warning in the log: recording fails then.

        Args:
            path: The file. Missing folders are created.

        Raises:
            SchemaMismatch: The file is not one of this package, or of a newer version.
            CorruptStore: The file is damaged; the message says where.
            StoreUnavailable: The file cannot be created or read.
        """
        store = cls(path)
        try:
            store.setup()
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    @contextmanager
    def from_conn_string(cls, conn_string: str) -> Iterator[Self]:
        """Open a memory file for the length of a `with` block; see `open`."""
        with cls.open(conn_string) as store:
            yield store

    def setup(self) -> None:
        """Create the file if there is none. Calling it again does nothing."""
        with self._session.lock:
            self._origin.file.create_folder()
            if self._origin.file.is_read_only():
                self.space()
                logger.warning(
                    "The memory file %s, or its folder, cannot be written: it is read, and "
                    "nothing can be recorded.",
                    self.location(),
                )
                return
            with self.exclusive():
                pass

    def location(self) -> str:
        """Return the path of the file."""
        return str(self._origin.file.path)


def damage(path: Path) -> str | None:
    """Say what is wrong with a memory file, None when it is sound. Nothing is changed.

    Args:
        path: An existing file.

    Raises:
        SchemaMismatch: It is not one of this package, or of a newer version.
        StoreUnavailable: It could not be read.
    """
    with JsonMemoryStore(path) as store:
        try:
            store.space()
        except CorruptStore as error:
            return str(error)
    return None
