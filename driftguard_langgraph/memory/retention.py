"""How long and how much is kept, whatever it is worth: age, and a cap on episodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.types import Episode, Kind, Namespace

PAGE = 1000
"""Episodes read at once."""

KINDS: tuple[Kind, ...] = ("mistake", "success")


@dataclass(frozen=True, slots=True)
class Retention:
    """The limits of one namespace; None for no limit.

    Attributes:
        max_age_days: Days after which an episode goes.
        max_episodes: How many episodes of both kinds may stay.
    """

    max_age_days: int | None = None
    max_episodes: int | None = None


def all_episodes(store: BaseMemoryStore, namespace: Namespace) -> Iterator[Episode]:
    """Yield every episode in the order of recording.

    Inside `store.exclusive()` each comes once; elsewhere a deletion meanwhile may hide some.
    """
    start = 0
    while page := store.list(namespace, limit=PAGE, offset=start):
        yield from page
        start += len(page)


def expire(
    store: BaseMemoryStore, namespace: Namespace, now: datetime, retention: Retention
) -> dict[Kind, int]:
    """Erase what is too old, then what is too much; call it inside `store.exclusive()`.

    Of what is too much, the actions that were neither seen nor used for longest go first,
    and of one action the oldest episodes.

    Returns:
        How many episodes of each kind went.
    """
    gone = [*_too_old(store, namespace, now, retention.max_age_days)]
    _erase(store, namespace, gone)
    surplus = _surplus(store, namespace, retention.max_episodes)
    _erase(store, namespace, surplus)
    return {kind: sum(e.kind == kind for e in (*gone, *surplus)) for kind in KINDS}


def _too_old(
    store: BaseMemoryStore, namespace: Namespace, now: datetime, max_age_days: int | None
) -> Iterator[Episode]:
    if max_age_days is None:
        return
    cutoff = now - timedelta(days=max_age_days)
    paths = (path for kind in KINDS for path in store.paths(namespace, kind))
    # Whether there is any is known from the counts, without reading a single text.
    if any(path.first_seen < cutoff for path in paths):
        yield from (e for e in all_episodes(store, namespace) if e.created_at < cutoff)


def _surplus(
    store: BaseMemoryStore, namespace: Namespace, max_episodes: int | None
) -> list[Episode]:
    if max_episodes is None:
        return []
    active: dict[tuple[Kind, str], datetime] = {}
    total = 0
    for kind in KINDS:
        for path in store.paths(namespace, kind):
            key, total = (kind, path.action), total + path.frequency
            active[key] = max(path.last_active, active.get(key, path.last_active))
    if total <= max_episodes:
        return []
    node_of = {
        (kind, wording.action.text): (kind, wording.node)
        for kind in KINDS
        for wording in store.wordings(
            namespace, kind, "action", [node for of, node in active if of == kind]
        )
    }
    episodes = sorted(
        all_episodes(store, namespace), key=lambda e: active[node_of[e.kind, e.action.text]]
    )
    return episodes[: total - max_episodes]


def _erase(store: BaseMemoryStore, namespace: Namespace, episodes: list[Episode]) -> None:
    for episode in episodes:
        store.delete(namespace, episode.episode_id)


def forget_all(store: BaseMemoryStore, namespace: Namespace) -> int:
    """Erase all episodes and verdicts of a namespace; return how many episodes."""
    with store.exclusive():
        gone = sum(
            store.delete_paths(namespace, kind, [p.key for p in store.paths(namespace, kind)])
            for kind in KINDS
        )
        store.drop_idle_runs(namespace)
    return gone
