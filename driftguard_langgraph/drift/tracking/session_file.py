"""The files of a session memory: one JSON file, replaced as a whole, and a journal beside it.

While the JSON file is small it is written anew with every change: to a file beside it, synced,
and put in its place in one step, so a reader sees the old or the new one and never half of it.
Over `WHOLE_BYTES` that would cost more with every turn. Then changes are appended to
`<name>.journal`, and the JSON file takes them in when they have grown to a quarter of it, so
the cost of a turn stays what it is on average. Each change has a revision, by which those are
known that the JSON file already holds.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from driftguard_langgraph.drift.tracking.session_document import (
    Change,
    Document,
    Exchange,
    Session,
    as_lines,
    empty_document,
)
from driftguard_langgraph.drift.tracking.session_journal import replayed, whole_entries
from driftguard_langgraph.drift.tracking.session_migration import parse
from driftguard_langgraph.errors import CorruptStore, SchemaMismatch, StoreUnavailable

logger = logging.getLogger(__name__)

WHOLE_BYTES = 512_000
"""Size up to which the JSON file is written anew with every change: about 550 exchanges of the
peer's usual size. Measured CPU time of a turn: 2.4 ms at its start, 4.4 ms at this size, 1.5 ms
above it, most of it the system's for lock, write and sync."""

JOURNAL_SHARE = 4
"""The JSON file takes the journal in when it has grown to one part in so many of it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What was read: which JSON file, and how much of the journal, in bytes."""

    snapshot: tuple[int, int, int, int] | None
    journal: int


class SessionFile:
    """Reads and writes the files. The caller holds `locked` around `load` and the writes.

    Args:
        path: The JSON file. Missing folders are created.
        max_exchanges: How many exchanges of a session are kept; None is all.

    Attributes:
        moved: Where a damaged file was moved, None if none was.
    """

    def __init__(self, path: Path, max_exchanges: int | None) -> None:
        self.path = Path(os.path.realpath(path))
        self.journal = self.path.with_name(self.path.name + ".journal")
        self.moved: Path | None = None
        self._max_exchanges = max_exchanges
        self._written: dict[int, tuple[list[Exchange], bytes]] = {}

    @contextmanager
    def locked(self, timeout: float) -> Iterator[None]:
        """Hold the lock of the files, against other processes and threads.

        Args:
            timeout: How long to wait for it, in seconds.

        Raises:
            StoreUnavailable: Somebody else holds it, or the files cannot be read or written.
        """
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with FileLock(f"{self.path}.lock", timeout=timeout, mode=0o600):
                yield
        except Timeout:
            raise StoreUnavailable(
                f"the session memory {self.path} is locked by another process."
            ) from None
        except OSError as error:
            raise StoreUnavailable(
                f"cannot read or write the session memory {self.path}: "
                f"{error.strerror or error}. Name a file in a folder that you may write to."
            ) from error

    def mark(self) -> Mark:
        """Return what a reader would find now; it needs no lock."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return Mark(None, 0)
        try:
            size = self.journal.stat().st_size
        except FileNotFoundError:
            size = 0
        return Mark((found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size), size)

    def load(self) -> tuple[Document, Mark]:
        """Return the content of the files; a damaged one is moved aside first.

        Raises:
            SchemaMismatch: The file is a newer release's, or another application's.
        """
        mark = self.mark()
        if mark.snapshot is None:
            return empty_document(), mark
        try:
            document = parse(self.path.read_bytes())
        except CorruptStore as error:
            self._set_aside(str(error))
            return empty_document(), self.mark()
        except SchemaMismatch as error:
            raise SchemaMismatch(f"{self.path}: {error}") from None
        return document, Mark(mark.snapshot, self.follow(document, 0))

    def peek(self) -> Document:
        """Return the content of the files without a lock, and without a trace of having looked.

        Entries of the journal that cannot be read are passed over.

        Raises:
            CorruptStore: The file is damaged; it stays where it is.
            SchemaMismatch: It is a newer release's, or another application's.
            OSError: It cannot be read.
        """
        while True:
            before = self.mark().snapshot
            document = parse(self.path.read_bytes())
            for line in (whole_entries(self.journal, 0) or b"").splitlines():
                replayed(document, line, self._max_exchanges)
            # A journal fits only the file that it was written after.
            if self.mark().snapshot == before:
                return document

    def follow(self, document: Document, start: int) -> int:
        """Make the changes of the journal that a document does not have yet.

        Args:
            document: What is changed.
            start: From which byte of the journal on.

        Returns:
            Where the last whole entry ends. What follows was being written when its writer died.
        """
        whole = whole_entries(self.journal, start)
        if whole is None:
            return 0
        unread = [
            line for line in whole.splitlines() if not replayed(document, line, self._max_exchanges)
        ]
        if not unread:
            return start + len(whole)
        self._set_journal_aside(len(unread))
        self.replace(document)
        return 0

    def save(self, document: Document, changes: Sequence[Change], mark: Mark) -> Mark:
        """Keep changes that `document` already has, in the cheaper of the two ways.

        Args:
            document: The whole content, with its new revision.
            changes: What is new in it.
            mark: What was read before.

        Returns:
            The mark that a reader would find now.
        """
        size = mark.snapshot[-1] if mark.snapshot is not None else 0
        grown = mark.journal * JOURNAL_SHARE > size
        if size <= WHOLE_BYTES or grown or any(each["do"] == "end" for each in changes):
            return self.replace(document)
        entry = {"revision": document["revision"], "changes": changes}
        with _opened(self.journal, os.O_WRONLY | os.O_CREAT) as file:
            file.truncate(mark.journal)
            file.seek(mark.journal)
            file.write(_dumped(entry) + b"\n")
            file.flush()
            os.fsync(file.fileno())
            return Mark(mark.snapshot, file.tell())

    def replace(self, document: Document) -> Mark:
        """Write the whole content into the JSON file, in one step, and drop the journal."""
        fresh = self.path.with_name(self.path.name + ".tmp")
        fresh.unlink(missing_ok=True)
        with _opened(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as file:
            file.write(self._rendered(document))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self.path)
        self.journal.unlink(missing_ok=True)
        _sync_folder(self.path.parent)
        return self.mark()

    def delete(self) -> bool:
        """Delete the files; return whether there was one."""
        self._written = {}
        found = self.path.exists()
        self.path.unlink(missing_ok=True)
        self.journal.unlink(missing_ok=True)
        return found

    def _rendered(self, document: Document) -> bytes:
        """Return the file's bytes: one line per exchange, so that people can read it, too."""
        lines = [
            _dumped(key) + b": " + (_dumped(value) if key != "sessions" else self._sessions(value))
            for key, value in as_lines(document)
        ]
        return b"{\n" + b",\n".join(lines) + b"\n}\n"

    def _sessions(self, sessions: list[Session]) -> bytes:
        told = []
        for session in sessions:
            head = {key: value for key, value in session.items() if key != "exchanges"}
            exchanges = self._exchanges(session["session_number"], session["exchanges"])
            told.append(_dumped(head)[:-1] + b', "exchanges": [\n' + exchanges + b"\n]}")
        return b"[\n" + b",\n".join(told) + b"\n]"

    def _exchanges(self, session: int, exchanges: list[Exchange]) -> bytes:
        # What was written before is not put into words again: a turn costs what it adds.
        before, data = self._written.get(session, ([], b""))
        if exchanges[: len(before)] != before:
            before, data = [], b""
        new = map(_dumped, exchanges[len(before) :])
        data = b",\n".join([data, *new] if before else new)
        self._written[session] = (list(exchanges), data)
        return data

    def _set_aside(self, wrong: str) -> None:
        aside = self.path.with_name(f"{self.path.name}.{_damaged_now()}")
        self.path.rename(aside)
        with suppress(FileNotFoundError):
            self.journal.rename(aside.with_name(aside.name + ".journal"))
        self.moved = aside
        logger.warning(
            "The session memory %s is damaged (%s). It was moved to %s, unchanged, and a new "
            "one is begun.",
            self.path,
            wrong,
            aside,
        )

    def _set_journal_aside(self, unread: int) -> None:
        aside = self.journal.with_name(f"{self.journal.name}.{_damaged_now()}")
        self.journal.rename(aside)
        logger.warning(
            "The journal %s has %d entries that cannot be read. It was moved to %s, unchanged; "
            "the others were taken over.",
            self.journal,
            unread,
            aside,
        )


def _damaged_now() -> str:
    return f"damaged-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"


def _dumped(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[Any]:
    """Open a file for writing that only its owner may read."""
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        yield file


def _sync_folder(folder: Path) -> None:
    # So that the new name survives a power failure; not every system opens folders.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
