"""Locks that a forked child can take, whoever held them in the parent."""

from __future__ import annotations

import os
import threading
import weakref
from types import TracebackType

_locks: weakref.WeakSet[ForkSafeLock] = weakref.WeakSet()


class ForkSafeLock:
    """A `threading.Lock` for `with`, made anew in a forked child.

    A thread that holds a plain lock while another forks does not exist in the child, where
    nobody would ever release it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _locks.add(self)

    def __enter__(self) -> None:
        """Take the lock."""
        self._lock.acquire()

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Release it."""
        self._lock.release()

    def renew(self) -> None:
        """Forget who holds it; for a child process right after the fork."""
        self._lock = threading.Lock()


def _renew_all() -> None:
    for lock in list(_locks):
        lock.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
