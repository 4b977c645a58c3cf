"""Looking after a memory: counting, pruning, forgetting, closing."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from driftguard_langgraph._closing import Closing
from driftguard_langgraph._twins import async_twin
from driftguard_langgraph.counters import MetricsCollector, MetricsSnapshot
from driftguard_langgraph.errors import DriftGuardError, SchemaMismatch, StoreError
from driftguard_langgraph.events import Event, Hook, MemoryFailed, MemoryPruned, emit
from driftguard_langgraph.memory.engine import MemoryEngine
from driftguard_langgraph.memory.episodes import checked_id
from driftguard_langgraph.memory.graph import Graph, load_graph
from driftguard_langgraph.memory.prune import PruneReport, prune
from driftguard_langgraph.memory.stats import MemoryStats, memory_stats
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.settings import DriftGuardSettings
from driftguard_langgraph.text.validation import TextLimits, checked_namespace
from driftguard_langgraph.types import Kind, Namespace, utc_now

logger = logging.getLogger(__name__)


class MaintainedMemory(Closing):
    """The half of the guard that looks after its memory.

    Args:
        engine: The memory core.
        settings: Retention among them.
        namespace: Whose memory, unless a call says otherwise.
        hooks: Receive every event.
        owns_store: Whether `close` closes the store.

    Raises:
        ConfigurationError: The namespace is not one.
    """

    def __init__(
        self,
        engine: MemoryEngine,
        settings: DriftGuardSettings,
        namespace: Sequence[str],
        hooks: Sequence[Hook],
        *,
        owns_store: bool,
    ) -> None:
        self.settings = settings
        self.namespace = checked_namespace(namespace)
        self._engine = engine
        self._owns_store = owns_store
        self._metrics = MetricsCollector()
        self._hooks = (self._metrics, *hooks)
        self._limits = TextLimits(settings.max_text_chars, settings.text_overflow)

    @property
    def store(self) -> BaseMemoryStore:
        """The memory store, opened at the first use."""
        return self._engine.store

    def prune(self, *, namespace: Sequence[str] | None = None) -> PruneReport:
        """Forget weak links, stale nodes and isolated nodes, in that order.

        Verdicts about runs of which no episode is left go as well.

        Args:
            namespace: Whose memory; by default the guard's own.

        Returns:
            What was removed from each of the two graphs.

        Raises:
            StoreError: The memory could not be pruned; nothing was removed.
        """
        whose = self._whose(namespace)
        report = prune(
            self.store,
            whose,
            utc_now(),
            self.settings.prune_node_stale_days,
            self.settings.prune_edge_min_frequency,
        )
        sides = (report["mistakes"], report["successes"])
        self._emit(
            MemoryPruned(
                namespace=whose,
                episodes_removed=sum(side["episodes_removed"] for side in sides),
                nodes_removed=sum(
                    side["stale_nodes_removed"] + side["isolated_nodes_removed"] for side in sides
                ),
                edges_removed=sum(side["weak_edges_removed"] for side in sides),
            )
        )
        return report

    def forget(self, episode_id: str, *, namespace: Sequence[str] | None = None) -> bool:
        """Erase one episode and every text only it had; True if it was there.

        Raises:
            InvalidEpisode: The id is none that an episode could have.
            StoreError: The memory could not be changed.
        """
        return self.store.delete(self._whose(namespace), checked_id(episode_id))

    def reembed(self) -> int:
        """Embed every kept text anew with the present model; return how many texts."""
        return self._engine.reembed()

    def stats(self, *, namespace: Sequence[str] | None = None) -> MemoryStats:
        """Count what is remembered."""
        return memory_stats(self.store, self._whose(namespace))

    def graph(self, kind: Kind = "mistake", *, namespace: Sequence[str] | None = None) -> Graph:
        """Return one of the two graphs as a `networkx.DiGraph`; see `memory.graph`."""
        return load_graph(self.store, self._whose(namespace), kind)

    def metrics_snapshot(self) -> MetricsSnapshot:
        """Return what this guard did so far, as counters and gauges."""
        return self._metrics.snapshot()

    def close(self) -> None:
        """Close the store, unless it was given to the guard."""
        if self._owns_store:
            self._engine.close()

    def _whose(self, namespace: Sequence[str] | None) -> Namespace:
        return self.namespace if namespace is None else checked_namespace(namespace)

    def _emit(self, event: Event) -> None:
        emit(event, self._hooks)

    def _tolerate(self, whose: Namespace, operation: str, error: DriftGuardError) -> None:
        """Let a step go on without memory, unless that is not an outage or not wanted."""
        # An embedder may quote in its message what it was given; a store does not.
        told = str(error) if isinstance(error, StoreError) else type(error).__name__
        self._emit(MemoryFailed(whose, operation, told))
        if self.settings.on_store_error == "closed" or isinstance(error, SchemaMismatch):
            raise error
        logger.warning("driftguard %s without memory: %s", operation, told)

    aprune = async_twin(prune)
    aforget = async_twin(forget)
    areembed = async_twin(reembed)
    astats = async_twin(stats)
    agraph = async_twin(graph)
    aclose = async_twin(close)
