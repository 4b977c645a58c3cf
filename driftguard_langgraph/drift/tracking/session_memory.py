"""The memory of sessions: what was exchanged, how it scored, and what came of it.

In a `.session_memory` file it outlives the process, and several processes and threads may use
one file at once: each change is made to what the file holds at that moment, under a lock.
"""

from __future__ import annotations

import logging
import os
import weakref
from collections.abc import Sequence
from pathlib import Path

from driftguard_langgraph._locks import ForkSafeLock
from driftguard_langgraph.drift.tracking.session_document import (
    Change,
    Document,
    apply_change,
    empty_document,
)
from driftguard_langgraph.drift.tracking.session_file import Mark, SessionFile
from driftguard_langgraph.errors import ConfigurationError, StoreError, StoreUnavailable

logger = logging.getLogger(__name__)

LOCK_TIMEOUT = 10.0
"""Seconds to wait for another process that writes; a write takes milliseconds."""
IMPATIENT_TIMEOUT = 0.2
"""The same while earlier changes could not be written: a broken disk must not slow each turn."""


class SessionMemory:
    """A memory of sessions, in a file or in this process only.

    Nothing is read or written before the first call. All methods are thread-safe.

    Args:
        path: The file; None keeps everything in this process.
        max_exchanges: How many exchanges of each session are kept, the newest; None is all.

    Raises:
        ConfigurationError: An argument is not usable.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None, *, max_exchanges: int | None = None
    ) -> None:
        if max_exchanges is not None and (
            isinstance(max_exchanges, bool)
            or not isinstance(max_exchanges, int)
            or max_exchanges < 1
        ):
            raise ConfigurationError(
                f"max_exchanges={max_exchanges!r} must be a whole number, 1 or more, or None."
            )
        self._file = None if path is None else SessionFile(_checked_path(path), max_exchanges)
        self._max_exchanges = max_exchanges
        self._lock = ForkSafeLock()
        self._document = empty_document()
        self._mark: Mark | None = None
        self._unwritten: list[Change] = []
        if self._file is not None:
            # At the end of the process, too: whoever reads the JSON file then finds every turn.
            weakref.finalize(self, _settle_at_last, self._file)

    @property
    def path(self) -> Path | None:
        """The file; None if there is none."""
        return None if self._file is None else self._file.path

    @property
    def damaged(self) -> Path | None:
        """Where a damaged file was moved, None if none was."""
        return None if self._file is None else self._file.moved

    @property
    def document(self) -> Document:
        """What was known after the last call; it must not be changed."""
        return self._document

    def read(self) -> Document:
        """Return what the memory holds now; it must not be changed.

        Raises:
            StoreUnavailable: The file cannot be read; `document` still says what is known.
            SchemaMismatch: It is a newer release's, or another application's.
        """
        if self._file is not None:
            with self._lock:
                self._look(self._file)
        return self._document

    def commit(self, *changes: Change) -> Document:
        """Make changes to what the memory holds now, and return that.

        Raises:
            StoreUnavailable: The file cannot be written. The changes are kept in this process
                and written with the next ones.
            SchemaMismatch: The file is a newer release's, or another application's; the same.
        """
        with self._lock:
            if self._file is None:
                self._apply(changes)
                return self._document
            self._commit(self._file, changes)
            return self._document

    def _commit(self, file: SessionFile, changes: Sequence[Change]) -> None:
        applied = False
        try:
            with file.locked(self._timeout()):
                self._catch_up(file)
                known = self._mark or Mark(None, 0)
                # Until it is written, what this process knows is ahead of the file.
                self._mark, applied = None, True
                self._apply(changes)
                self._document["revision"] += 1
                self._mark = file.save(self._document, [*self._unwritten, *changes], known)
        except StoreError:
            if not applied:
                self._apply(changes)
            self._mark = None
            self._keep_unwritten(changes)
            raise
        self._unwritten = []

    def _keep_unwritten(self, changes: Sequence[Change]) -> None:
        for change in (*self._unwritten, *changes[:-1]):
            # Only the newest state counts, and it is the largest part.
            change.pop("state", None)
        self._unwritten += changes

    def delete(self) -> bool:
        """Forget everything and delete the file; return whether there was anything.

        Raises:
            StoreUnavailable: It cannot be deleted; nothing was forgotten.
        """
        with self._lock:
            found = bool(self._document["sessions"])
            if self._file is not None:
                with self._file.locked(LOCK_TIMEOUT):
                    found = self._file.delete()
            self._document = empty_document()
            self._mark, self._unwritten = None, []
            return found

    def settle(self) -> None:
        """Let the JSON file take in its journal, so that other tools see every turn.

        Raises:
            StoreUnavailable: The file cannot be written.
            SchemaMismatch: It is a newer release's, or another application's.
        """
        if self._file is not None and self._file.journal.exists():
            with self._lock, self._file.locked(self._timeout()):
                self._catch_up(self._file)
                self._document["revision"] += 1
                self._mark, self._unwritten = self._file.replace(self._document), []

    def _timeout(self) -> float:
        return IMPATIENT_TIMEOUT if self._unwritten else LOCK_TIMEOUT

    def _look(self, file: SessionFile) -> None:
        try:
            now = file.mark()
        except OSError as error:
            raise StoreUnavailable(
                f"cannot read the session memory {file.path}: {error}"
            ) from error
        if now == self._mark:
            return
        if now.snapshot is None and not self._unwritten:
            # Whoever only looks leaves no folder and no lock behind.
            self._document, self._mark = empty_document(), now
            return
        with file.locked(self._timeout()):
            self._catch_up(file)

    def _catch_up(self, file: SessionFile) -> None:
        now = file.mark()
        if self._mark is None or now.snapshot != self._mark.snapshot:
            self._document, self._mark = file.load()
            self._apply(self._unwritten)
        elif now.journal != self._mark.journal:
            end = file.follow(self._document, self._mark.journal)
            self._mark = Mark(now.snapshot, end)

    def _apply(self, changes: Sequence[Change]) -> None:
        for change in changes:
            apply_change(self._document, change, self._max_exchanges)


def _settle_at_last(file: SessionFile) -> None:
    try:
        if file.journal.exists():
            with file.locked(IMPATIENT_TIMEOUT):
                file.replace(file.load()[0])
    except (StoreError, OSError) as error:
        logger.warning("driftguard leaves the journal %s as it is: %s", file.journal, error)


def _checked_path(path: object) -> Path:
    try:
        found = Path(path)  # type: ignore[arg-type]
    except TypeError:
        raise ConfigurationError(f"the session memory's path {path!r} must be a path.") from None
    if not str(path) or found.is_dir():
        raise ConfigurationError(f"the session memory {path!r} must be a file, not a folder.")
    return found
