"""Which guard a shell asks: a given one, one over the run's own store, or the default."""

from __future__ import annotations

from dataclasses import dataclass

from langgraph.store.base import BaseStore

from driftguard_langgraph._locks import ForkSafeLock
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.stores.langgraph import LangGraphMemoryStore
from driftguard_langgraph.settings import DriftGuardSettings


class GuardSource:
    """The guard of a shell: the given one, else one over the store of the run, else the default.

    A graph that is compiled with a store has said where its memory belongs; so has, before
    that, whoever gives a guard. The default guard is the one of the `DRIFTGUARD_*` settings,
    one for the process. Both are built at first use.
    """

    def __init__(self, guard: DriftGuard | None) -> None:
        usable = callable(getattr(guard, "review", None)) and not isinstance(guard, type)
        if guard is not None and not usable:
            given = repr(guard) if isinstance(guard, type) else type(guard).__name__
            raise ConfigurationError(
                f"guard must be a DriftGuard, not {given}; a store goes into DriftGuard(store=...)."
            )
        self._guard = guard
        self._settings: DriftGuardSettings | None = None

    def get(self, store: BaseStore | None) -> DriftGuard:
        """Return the guard. It may build it, which reads files: call it off the event loop.

        Args:
            store: The store that the run's graph was compiled with, None without one.
        """
        if self._guard is not None:
            return self._guard
        if self._settings is None:
            self._settings = DriftGuardSettings()
        return _shared_guard(store, self._settings)


@dataclass(frozen=True, slots=True, eq=False)
class _Shared:
    store: BaseStore | None
    settings: DriftGuardSettings
    guard: DriftGuard

    def serves(self, store: BaseStore | None, settings: DriftGuardSettings) -> bool:
        # Compared whole: printed, two DSNs would be the same row of asterisks.
        return self.store is store and self.settings == settings


SHARED_GUARDS = 8
"""Guards over stores of runs that are kept for the next run, each with a copy of its memory."""

_shared: list[_Shared] = []
_shared_lock = ForkSafeLock()


def _shared_guard(store: BaseStore | None, settings: DriftGuardSettings) -> DriftGuard:
    # Shared by settings: with two guards of their own, a review and a record node would
    # load the model twice, and would not see each other's `memory` backend at all.
    with _shared_lock:
        held = next((one for one in _shared if one.serves(store, settings)), None)
        if held is None:
            held = _Shared(store, settings, _built_guard(store, settings))
        else:
            _shared.remove(held)
        _shared.append(held)
        over_stores = [one for one in _shared if one.store is not None]
        for unused in over_stores[:-SHARED_GUARDS]:
            _shared.remove(unused)
        return held.guard


def _built_guard(store: BaseStore | None, settings: DriftGuardSettings) -> DriftGuard:
    if store is None:
        return DriftGuard(settings=settings)
    return DriftGuard(store=LangGraphMemoryStore(store), settings=settings)
