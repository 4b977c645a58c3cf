"""The tables of a mirror into items of a LangGraph `BaseStore`, and back.

A `BaseStore` can neither count nor lock, so nothing is ever changed in place: an episode is an
item of its own, and everything else is counted from the items. This module knows the store only
by the few calls of `ItemStore`.
"""

from __future__ import annotations

import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from driftguard_langgraph.memory.stores import langgraph_items as items
from driftguard_langgraph.memory.stores import sqlite_documents as tables
from driftguard_langgraph.memory.stores.documents import ROLES, Document, reading
from driftguard_langgraph.memory.stores.records import RunVerdict
from driftguard_langgraph.memory.stores.sqlite_mirror import Change, MirrorSession, Origin
from driftguard_langgraph.memory.stores.sqlite_runs import write_run
from driftguard_langgraph.types import Kind, Namespace

LOGGED_WRITES = 64
"""Latest writes of each writer that others can follow one by one; who has missed more reads
everything anew."""

LOGGED_ITEMS = 100
"""Items of one write that are named in the log; after a larger one others read everything."""

FULL_READ_AFTER = 3600.0
"""Seconds after which everything is read anew: somebody else may have deleted items, and a
process that dies while it writes may not have told of them."""

HEAD_LIFETIME = timedelta(days=1)
"""How long the head of a writer that writes no more is kept; well above `FULL_READ_AFTER`."""


class Item(NamedTuple):
    """One item of a store."""

    labels: items.Labels
    key: str
    value: Mapping[str, Any] | None
    updated_at: datetime


class ItemStore(ABC):
    """What is asked of a store."""

    @abstractmethod
    def below(self, labels: items.Labels) -> Sequence[Item]:
        """Return all items in a namespace and below it."""

    @abstractmethod
    def fetch(self, keys: Sequence[tuple[items.Labels, str]]) -> Sequence[Item | None]:
        """Return the items with these namespaces and keys."""

    @abstractmethod
    def put(self, changed: Sequence[tuple[items.Labels, str, Document | None]]) -> None:
        """Write items; None erases one."""


class ItemOrigin(Origin):
    """A memory that is kept in the items of a store.

    Args:
        store: The store.
        root: Encoded namespace below which the memory lives.
        turn: Gives the lock of all who use the same store in this process.
    """

    def __init__(
        self,
        store: ItemStore,
        root: items.Labels,
        turn: Callable[[], AbstractContextManager[Any]],
    ) -> None:
        self._store = store
        self._root = root
        self._turn = turn
        self.leave_to_the_parent()

    def alone(self) -> AbstractContextManager[Any]:
        """Let nobody else of this process write; others cannot be kept from it."""
        return self._turn()

    def forget(self) -> None:
        """Read everything anew at the next call."""
        self._seen: dict[str, int] | None = None

    def leave_to_the_parent(self) -> None:
        """Be a writer of its own."""
        self._writer = uuid.uuid4().hex
        self._written = 0
        self._newest = 0
        self._read_at = 0.0
        self.forget()

    def catch_up(self, session: MirrorSession) -> None:
        """Apply what others wrote since the last call, or read everything."""
        heads = self._heads()
        counts = {head.key: _count(head) for head in heads}
        if self._seen is None or time.monotonic() - self._read_at > FULL_READ_AFTER:
            self._read_all(session, counts)
            return
        behind = {w: n for w, n in counts.items() if n != self._seen.get(w, 0)}
        if behind and not self._follow(session, behind, self._seen):
            self._read_all(session, counts)
            return
        self._seen = counts

    def _heads(self) -> Sequence[Item]:
        return self._store.below((*self._root, items.HEADS))

    def _follow(
        self, session: MirrorSession, behind: Mapping[str, int], seen: Mapping[str, int]
    ) -> bool:
        """Apply the writes that were missed, if the log still tells them all."""
        if any(not 0 < n - seen.get(w, 0) <= LOGGED_WRITES for w, n in behind.items()):
            return False
        wanted = [(w, n) for w in behind for n in range(seen.get(w, 0) + 1, behind[w] + 1)]
        logged = self._store.fetch([(self._log(w), _slot(n)) for w, n in wanted])
        keys: dict[tuple[items.Labels, str], None] = {}
        for (_, n), entry in zip(wanted, logged, strict=True):
            if entry is None or entry.value is None or entry.value.get("n") != n:
                return False
            with reading("the log of a writer"):
                keys.update({(tuple(k["labels"]), k["key"]): None for k in entry.value["items"]})
        fetched = self._store.fetch(list(keys))
        found = [item for item in fetched if item is not None]
        if len(found) < len(keys):
            return False
        with session.applying():
            return self._apply(session, found)

    def _read_all(self, session: MirrorSession, counts: dict[str, int]) -> None:
        """Fill the mirror anew, in an order on which all processes agree."""
        found = self._store.below(self._root)
        with session.applying():
            session.wipe()
            self._apply(session, found)
        # Counted before the items were read: what came in between is applied once more.
        self._seen = counts
        self._read_at = time.monotonic()

    def _note_newest(self, session: MirrorSession) -> None:
        rows = session.read("catch up", "SELECT ifnull(max(seq), 0) AS newest FROM episodes")
        self._newest = int(rows[0]["newest"])

    def _apply(self, session: MirrorSession, found: Iterable[Item]) -> bool:
        """Write items into the mirror; False if all have to be read in order instead."""
        episodes, others = [], []
        for item in found:
            what, namespace = self._place(item)
            if what is not None:
                value = items.read_value(what, namespace, item.key, item.value)
                if isinstance(value, items.EpisodeItem):
                    episodes.append(value)
                else:
                    others.append((namespace, value))
        episodes.sort(key=lambda each: (each.order, each.placed.episode.episode_id))
        was_mixed = tables.is_mixed(session)
        placed = [_insert(session, each) for each in episodes]
        for namespace, other in others:
            if isinstance(other, RunVerdict):
                write_run(session, namespace, other)
            else:
                tables.set_use(session, namespace, *other)
        self._note_newest(session)
        return all(placed) and tables.is_mixed(session) == was_mixed

    def _place(self, item: Item) -> tuple[str | None, Namespace]:
        """Return what an item is and whose; None if it is none of the memory's."""
        depth = len(self._root)
        if item.labels[:depth] != self._root or len(item.labels) <= depth:
            return None, ()
        what = item.labels[depth]
        if what not in ("episodes", "runs", "uses"):
            return None, ()
        return what, tuple(items.decode_label(label) for label in item.labels[depth + 1 :])

    def keep(self, session: MirrorSession) -> None:
        """Put what was recorded, and tell of it; erase what was deleted, and the logs."""
        changes = session.changes()
        if not changes:
            return
        values = self._values(session, changes)
        changed = [
            (self._labels(change), items.item_key(change), value)
            for change, value in values.items()
        ]
        number = self._written + 1
        log = [{"labels": list(labels), "key": key} for labels, key, _ in changed]
        if None in values.values():
            # Logs name what they are about; nobody can follow, so everybody reads anew.
            logs = self._store.below((*self._root, items.LOG))
            changed += [(entry.labels, entry.key, None) for entry in logs]
        elif len(log) <= LOGGED_ITEMS and not self._replaced(values):
            changed.append((self._log(self._writer), _slot(number), {"n": number, "items": log}))
        if not self._written:
            changed += self._outlived()
        changed.append(((*self._root, items.HEADS), self._writer, {"n": number}))
        self._store.put(changed)
        self._written = number
        self._note_newest(session)
        if self._seen is not None:
            self._seen[self._writer] = number

    def _values(
        self, session: MirrorSession, changes: Sequence[Change]
    ) -> dict[Change, Document | None]:
        return {change: self._value(session, change) for change in changes}

    def _value(self, session: MirrorSession, change: Change) -> Document | None:
        view = tables.TablesOf(session)
        what, namespace, key = change
        if what == "episodes":
            stored, space = tables.stored_episode(session, namespace, key), view.space()
            return None if stored is None or space is None else items.episode_value(stored, space)
        kind, _, name = key.partition(":")
        if what == "runs":
            verdict = view.get_run(namespace, "run" if kind == "run" else "thread", name)
            return None if verdict is None else items.run_value(verdict)
        side: Kind = "success" if kind == "success" else "mistake"
        at = tables.last_use(session, namespace, side, name)
        return None if at is None else items.use_value(items.UseItem(side, name, at))

    def _replaced(self, values: Mapping[Change, Document | None]) -> bool:
        """Whether an episode that others have already is put again, with new vectors."""
        return any(
            change.what == "episodes" and value is not None and value["order"] <= self._newest
            for change, value in values.items()
        )

    def _outlived(self) -> list[tuple[items.Labels, str, Document | None]]:
        """Return the heads and logs of writers that have not written for long, to be erased."""
        limit = datetime.now(UTC) - HEAD_LIFETIME
        old = [head for head in self._heads() if _aware(head.updated_at) < limit]
        logs = [entry for head in old for entry in self._store.below(self._log(head.key))]
        return [(item.labels, item.key, None) for item in (*old, *logs)]

    def _labels(self, change: Change) -> items.Labels:
        return (*self._root, change.what, *items.encode_labels(change.namespace))

    def _log(self, writer: str) -> items.Labels:
        return (*self._root, items.LOG, writer)


def _insert(session: MirrorSession, item: items.EpisodeItem) -> bool:
    """Insert an episode that is not there yet; False if the mirror places its texts otherwise.

    Two processes may have placed a new text at the same moment, each without the other's.
    """
    episode = item.placed.episode
    if tables.TablesOf(session).get(episode.namespace, episode.episode_id) is not None:
        return True
    here = {role: tables.node_of(session, item.placed, role) for role in ROLES}
    tables.insert_placed(session, item.placed, item.space, item.vectors, item.order)
    return all(here[role] in (None, item.placed.nodes[role]) for role in ROLES)


def _count(head: Item) -> int:
    with reading("the head of a writer"):
        return int((head.value or {})["n"])


def _slot(number: int) -> str:
    return str(number % LOGGED_WRITES)


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
