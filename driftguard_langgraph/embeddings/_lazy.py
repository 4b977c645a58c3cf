"""A value that is made at its first use, once, whichever thread comes first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from driftguard_langgraph._locks import ForkSafeLock

_T = TypeVar("_T")


class Lazy(Generic[_T]):
    """Makes a value at the first `get` and keeps it; a failure is not kept.

    Args:
        make: Builds the value. It runs in one thread at a time.
    """

    def __init__(self, make: Callable[[], _T]) -> None:
        self._make = make
        self._made: tuple[_T] | None = None
        self._lock = ForkSafeLock()

    def get(self) -> _T:
        """Return the value; other threads wait while the first one makes it."""
        if self._made is None:
            with self._lock:
                if self._made is None:
                    self._made = (self._make(),)
        return self._made[0]
