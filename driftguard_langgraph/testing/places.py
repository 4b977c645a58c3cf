"""Where the stores under test live, and what is known of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Literal, TypeVar

import pytest

from driftguard_langgraph.memory.stores.base import BaseMemoryStore

Capability = Literal["durable", "live", "locking", "cross_process", "files"]
"""What a store can do beyond what every store must.

- `durable`: what was written is there when the place is opened again.
- `live`: another handle on the same place sees every change at its next call.
- `locking`: `exclusive()` keeps the other handles on the same place from writing.
- `cross_process`: all this holds for handles of other processes, too. The factory has to be
  importable (a function of a module), because it is sent to them.
- `files`: it lives in files below the place, readable by their owner only, which hold no
  byte of what was erased.
"""

Factory = Callable[[Path], AbstractContextManager[BaseMemoryStore]]
"""Opens the store at a place: a store is a context manager that closes itself."""

_Test = TypeVar("_Test", bound=Callable[..., object])


def needs(*capabilities: Capability) -> Callable[[_Test], _Test]:
    """Mark a check that only stores with these capabilities have to pass."""

    def mark(test: _Test) -> _Test:
        test.__dict__["needs"] = frozenset(capabilities)
        return test

    return mark


class Place:
    """One memory of a test; see `Factory`.

    Args:
        factory: Opens a store.
        path: An empty folder.
    """

    def __init__(self, factory: Factory, path: Path) -> None:
        self.factory = factory
        self.path = path
        self._opened = ExitStack()

    def open(self) -> BaseMemoryStore:
        """Open a handle; the end of the test closes it, if nobody did before."""
        return self._opened.enter_context(self.factory(self.path))

    def close(self) -> None:
        """Close every handle that `open` gave out."""
        self._opened.close()


class Places:
    """The fixtures of every check; the subclass says how a store is opened."""

    factory: Factory
    capabilities: frozenset[Capability] = frozenset()

    @pytest.fixture
    def place(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
        """Return where this test's memory lives."""
        needed: frozenset[Capability] = getattr(request.function, "needs", frozenset())
        missing = needed - self.capabilities
        if missing:
            pytest.skip(f"the store is not said to be {', '.join(sorted(missing))}")
        path = tmp_path / "memory"
        path.mkdir()
        place = Place(type(self).factory, path)
        yield place
        place.close()

    @pytest.fixture
    def store(self, place: Place) -> BaseMemoryStore:
        """Return a store with nothing in it."""
        return place.open()
