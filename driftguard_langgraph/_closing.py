"""Closing at the end of a `with` block, for whatever has a `close`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Closing(ABC):
    """Base of what is closed at the end of a `with` block."""

    @abstractmethod
    def close(self) -> None:
        """Release what is held. Calling it again does nothing."""

    def __enter__(self) -> Self:
        """Return the object itself."""
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()
