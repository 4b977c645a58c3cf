"""Memory in any LangGraph `BaseStore`, for example the `runtime.store` of a run."""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Any, TypeVar

from langgraph.store.base import BaseStore, GetOp, PutOp, SearchOp
from langgraph.store.base import Item as StoreItem

from driftguard_langgraph.errors import ConfigurationError, StoreUnavailable
from driftguard_langgraph.memory.stores.documents import Document
from driftguard_langgraph.memory.stores.langgraph_items import Labels, encode_labels
from driftguard_langgraph.memory.stores.langgraph_origin import Item, ItemOrigin, ItemStore
from driftguard_langgraph.memory.stores.sqlite_mirror import MirroredTables
from driftguard_langgraph.text.validation import checked_namespace

_T = TypeVar("_T")

PAGE = 10_000
"""Items per search."""

BATCH = 500
"""Operations per batch, well below the parameters that a SQL statement can have."""

ATTEMPTS = 20
"""Tries to read an `InMemoryStore` while other threads write to it."""


class LangGraphMemoryStore(MirroredTables):
    """Memory in a LangGraph store, shared by all processes that use the same one.

    A `BaseStore` can neither count nor lock. So every episode is an item of its own under its
    id, with its vectors, and all that is counted is counted from the items: however many
    branches or processes record at once, each episode counts exactly once. A copy in memory
    answers every question; before each call one small search asks whether anybody wrote, and
    then only what is new is read. Vectors are searched exactly in the copy, so the store needs
    no index of its own, and none is used.

    What a `BaseStore` cannot do: `exclusive()` keeps out only writers of this process. Two
    processes that record the same event at the same moment may both be told that it was
    stored; it counts once. Two that meet the same new text agree on its node afterwards, and
    two different texts whose new nodes would get the same label share that node. A block is
    written in batches of some hundred items, each as atomic as the store's batches are.

    Every process holds all of the memory, and reads all of it at its first use, after a
    deletion and once an hour (about half a second of CPU time per 1,000 episodes): it is
    meant for up to some thousand episodes.

    Args:
        store: The store, set up. It is not closed by `close()`.
        namespace: Where in the store the memory lives.

    Raises:
        ConfigurationError: `store` is no `BaseStore`, or the namespace is not one or begins
            with "langgraph", which the host keeps for itself.

    Example:
        ```python
        memory = LangGraphMemoryStore(store)
        guard = DriftGuard(store=memory)
        graph = builder.compile(store=store)
        ```
    """

    def __init__(self, store: BaseStore, *, namespace: Sequence[str] = ("driftguard",)) -> None:
        if not isinstance(store, BaseStore):
            raise ConfigurationError(
                f"store must be a LangGraph BaseStore, not {type(store).__name__}."
            )
        self._root = encode_labels(checked_namespace(namespace))
        if self._root[0] == "langgraph":
            raise ConfigurationError(
                "namespace must not begin with 'langgraph': LangGraph keeps that for itself."
            )
        self._kind = type(store).__name__
        super().__init__(ItemOrigin(_Items(store), self._root, partial(_turn_of, store)))

    def location(self) -> str:
        """Name the store and the namespace in it."""
        return f"{self._kind}, namespace {'/'.join(self._root)}"


class _Items(ItemStore):
    """The calls of a `BaseStore` that are needed, with the package's errors."""

    def __init__(self, store: BaseStore) -> None:
        self._store = store

    def below(self, labels: Labels) -> Sequence[Item]:
        # By key: an item that is written meanwhile may be on two pages.
        found: dict[tuple[Labels, str], Item] = {}
        for offset in count(step=PAGE):
            operation = SearchOp(labels, limit=PAGE, offset=offset, refresh_ttl=False)
            [page] = self._batch("read", [operation])
            for item in map(_item, page):
                # Stores differ in what a prefix matches.
                if item.labels[: len(labels)] == labels:
                    found[item.labels, item.key] = item
            if len(page) < PAGE:
                break
        return list(found.values())

    def fetch(self, keys: Sequence[tuple[Labels, str]]) -> Sequence[Item | None]:
        operations = [GetOp(labels, key, refresh_ttl=False) for labels, key in keys]
        return [
            None if item is None else _item(item)
            for start in range(0, len(operations), BATCH)
            for item in self._batch("read", operations[start : start + BATCH])
        ]

    def put(self, changed: Sequence[tuple[Labels, str, Document | None]]) -> None:
        operations = [PutOp(labels, key, value, index=False) for labels, key, value in changed]
        for start in range(0, len(operations), BATCH):
            self._batch("write", operations[start : start + BATCH])

    def _batch(self, action: str, operations: Sequence[Any]) -> list[Any]:
        return _translated(
            f"{action} the memory in {type(self._store).__name__}",
            lambda: self._store.batch(operations),
        )


def _item(item: StoreItem) -> Item:
    return Item(tuple(item.namespace), item.key, item.value, item.updated_at)


def _translated(action: str, run: Callable[[], _T]) -> _T:
    attempts = 1
    while True:
        try:
            return run()
        except asyncio.InvalidStateError as error:
            raise StoreUnavailable(
                f"could not {action}: it cannot be used from the thread of its own event loop. "
                "Use the async methods (`areview`, `arecord`, `ainvoke`)."
            ) from error
        except Exception as error:
            if _is_a_race(error) and attempts < ATTEMPTS:
                attempts += 1
                continue
            raise StoreUnavailable(
                f"could not {action}: {type(error).__name__}: {error}. The store must be open, "
                "set up (`store.setup()`) and reachable."
            ) from error


def _is_a_race(error: Exception) -> bool:
    """Whether an `InMemoryStore`, which has no lock, was written to while it was read."""
    return isinstance(error, RuntimeError) and "during iteration" in str(error)


_turns: weakref.WeakKeyDictionary[BaseStore, threading.RLock] = weakref.WeakKeyDictionary()


def _turn_of(store: BaseStore) -> threading.RLock:
    """Return the lock of all in this process who use the store."""
    return _turns.setdefault(store, threading.RLock())


if hasattr(os, "register_at_fork"):
    # Their holders do not exist in the child.
    os.register_at_fork(after_in_child=_turns.clear)
