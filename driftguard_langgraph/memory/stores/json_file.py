"""One file that is replaced as a whole: locked by one writer, read by anybody."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from driftguard_langgraph.errors import StoreUnavailable
from driftguard_langgraph.memory.stores import sqlite_file

POLL_INTERVAL = 0.005
"""Seconds between two tries for the lock; a record of a small memory takes about as long."""

Stamp = tuple[int, int, int, int]
"""Device, inode, size and time of a file: what tells one version of it from the next."""


class JsonFile:
    """A file that many processes read and replace.

    The lock is one of the operating system on a second file, so it ends with the process that
    holds it. Not thread-safe: the owner holds a lock.

    Args:
        path: The file.

    Attributes:
        path: The file, links resolved when it is first used.
        stamp: The version that was last read or written, None if there was no file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stamp: Stamp | None = None
        self._held = False

    def changed(self) -> bool:
        """Whether the file is another than the one last read or written."""
        try:
            return _stamp(self.path.stat()) != self.stamp
        except FileNotFoundError:
            return self.stamp is not None
        except OSError as error:
            raise self._unavailable("read", error) from error

    def read(self) -> bytes:
        """Return what is in the file; nothing if there is none."""
        try:
            with self.path.open("rb") as file:
                self.stamp = _stamp(os.fstat(file.fileno()))
                return file.read()
        except FileNotFoundError:
            self.stamp = None
            return b""
        except OSError as error:
            raise self._unavailable("read", error) from error

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the lock of the file; it can be nested."""
        if self._held:
            yield
            return
        lock = FileLock(
            f"{self.path}.lock",
            timeout=sqlite_file.BUSY_TIMEOUT,
            poll_interval=POLL_INTERVAL,
            mode=0o600,
        )
        try:
            lock.acquire()
        except Timeout as error:
            raise StoreUnavailable(
                f"could not lock {self.path}: another process holds it. Try again."
            ) from error
        except OSError as error:
            raise self._unavailable("lock", error) from error
        self._held = True
        try:
            yield
        finally:
            self._held = False
            lock.release()

    def leave_to_the_parent(self) -> None:
        """Forget that the lock is held; in a child process right after a fork."""
        self._held = False

    def create_folder(self) -> None:
        """Make the folder, for its owner only, if it is missing."""
        try:
            self.path = self.path.resolve()
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise self._unavailable("open", error) from error

    def is_read_only(self) -> bool:
        """Whether there is a file, and this process may only read it."""
        return self.path.exists() and not sqlite_file.is_writable(self.path)

    def write(self, text: str) -> None:
        """Replace the file, as a whole or not at all; inside `alone`.

        Raises:
            StoreUnavailable: It cannot be written, or somebody who does not know the lock
                wrote it since it was last read.
        """
        if self.changed():
            raise StoreUnavailable(
                f"{self.path} was changed by somebody else just now and was left as it is. "
                "Try again."
            )
        temporary = self.path.with_name(f"{self.path.name}.tmp")
        try:
            if self.stamp is not None:
                sqlite_file.require_writable(self.path)
            try:
                # A process that was killed may have left its own.
                temporary.unlink(missing_ok=True)
                stamp = self._write_new(temporary, text.encode())
                temporary.replace(self.path)
            except BaseException:
                with suppress(OSError):
                    temporary.unlink(missing_ok=True)
                raise
            self.stamp = stamp
            _sync_folder(self.path.parent)
        except OSError as error:
            raise self._unavailable("write", error) from error

    def _write_new(self, path: Path, data: bytes) -> Stamp:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor, not a path
            file.write(data)
            file.flush()
            # Always later than the version before: clocks of files may tick slowly, and the
            # number of a file that is gone is given to the next one.
            now = time.time_ns() if self.stamp is None else max(time.time_ns(), self.stamp[3] + 1)
            os.utime(path, ns=(now, now))
            os.fsync(file.fileno())
            return _stamp(os.fstat(file.fileno()))

    def _unavailable(self, action: str, error: OSError) -> StoreUnavailable:
        return StoreUnavailable(
            f"cannot {action} the memory file {self.path}: {error.strerror or error}. The file "
            "and its folder must be writable, with room on the disk (setting json_filepath); "
            "what was there is unchanged."
        )


def _stamp(found: os.stat_result) -> Stamp:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _sync_folder(path: Path) -> None:
    """Make a renaming last, where folders can be opened."""
    if os.name != "posix":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
