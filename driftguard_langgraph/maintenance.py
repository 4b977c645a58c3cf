"""Looking after a memory: counting, pruning, forgetting, closing."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from driftguard_langgraph._closing import Closing
from driftguard_langgraph._twins import async_twin
from driftguard_langgraph.counters import MetricsCollector, MetricsSnapshot
from driftguard_langgraph.errors import (
    ConfigurationError,
    DriftGuardError,
    SchemaMismatch,
    StoreError,
)
from driftguard_langgraph.events import (
    Event,
    Hook,
    MemoryFailed,
    MemoryPruned,
    checked_hooks,
    emit,
)
from driftguard_langgraph.judgement.worth import Worth, measure
from driftguard_langgraph.memory.engine import MemoryEngine
from driftguard_langgraph.memory.graph import Graph, load_graph
from driftguard_langgraph.memory.prune import PruneReport, prune
from driftguard_langgraph.memory.retention import Retention, all_episodes, forget_all
from driftguard_langgraph.memory.stats import MemoryStats, memory_stats
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.transfer import (
    Importer,
    ImportReport,
    export_lines,
    write_lines,
)
from driftguard_langgraph.settings import DriftGuardSettings
from driftguard_langgraph.text.validation import TextLimits, checked_id, checked_namespace
from driftguard_langgraph.types import Episode, Kind, Namespace, utc_now

logger = logging.getLogger(__name__)


def _unseen(_: int) -> None:
    """Progress that nobody looks at."""


def _checked_home(namespace: Sequence[str]) -> Namespace:
    labels = checked_namespace(namespace)
    for label in labels:
        if label.startswith("{") and label.endswith("}"):
            raise ConfigurationError(
                f"namespace label {label!r} looks like a placeholder, and a guard fills none in: "
                "all users would share one memory. Give the template to the node, middleware, "
                "tool or handler (namespace=...), or a label to the guard."
            )
    return labels


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
        self.namespace = _checked_home(namespace)
        self._engine = engine
        self._owns_store = owns_store
        self._metrics = MetricsCollector()
        self._hooks = (self._metrics, *checked_hooks(hooks))
        self._limits = TextLimits.of(settings)

    @property
    def store(self) -> BaseMemoryStore:
        """The memory store, opened at the first use."""
        return self._engine.store

    def prune(self, *, namespace: Sequence[str] | None = None) -> PruneReport:
        """Forget what has expired, weak links, stale nodes and isolated nodes, in that order.

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
            Retention(self.settings.retention_max_age_days, self.settings.retention_max_episodes),
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

    def forget(self, what: str | Sequence[str], *, namespace: Sequence[str] | None = None) -> int:
        """Erase one episode, or all that a namespace holds, and every text only they had.

        Nothing stays behind, in the files of the memory neither.

        Args:
            what: The id of an episode, or the labels of a namespace.
            namespace: Whose episode; by default the guard's own.

        Returns:
            How many episodes there were.

        Raises:
            InvalidEpisode: The id is none that an episode could have.
            ConfigurationError: The namespace is none.
            StoreError: The memory could not be changed.
        """
        if isinstance(what, str):
            name = checked_id(what, redactor=self._limits.redactor)
            return int(self.store.delete(self._whose(namespace), name))
        return forget_all(self.store, checked_namespace(what))

    def reembed(self, *, on_progress: Callable[[int, int], None] | None = None) -> int:
        """Embed every kept text anew with the present model; return how many texts.

        Args:
            on_progress: Called with how many texts are done, and how many there are.
        """
        return self._engine.reembed(on_progress)

    def export_jsonl(
        self,
        path: str | Path,
        *,
        namespace: Sequence[str] | None = None,
        on_progress: Callable[[int], None] = _unseen,
    ) -> int:
        """Write the memory to a file that any backend can import; see `memory.transfer`.

        Args:
            path: The file; one that is there is replaced.
            namespace: Whose memory; by default everybody's.
            on_progress: Called with the number of lines written so far.

        Returns:
            How many episodes were written.

        Raises:
            StoreError: The memory could not be read; there is no new file.
            ConfigurationError: The file cannot be written.
        """
        store = self.store
        whose = store.namespaces() if namespace is None else [checked_namespace(namespace)]
        return write_lines(Path(path), export_lines(store, whose), on_progress)

    def import_jsonl(
        self, path: str | Path, *, on_progress: Callable[[int], None] = _unseen
    ) -> ImportReport:
        """Read a file of `export_jsonl` into the memory. Doing it again adds nothing.

        Args:
            path: The file.
            on_progress: Called with the number of lines read so far.

        Raises:
            ConfigurationError: The file, or a line of it, cannot be read.
            StoreError, EmbeddingError: The memory failed; what came before was kept.
        """
        try:
            with Path(path).open(encoding="utf-8") as file:
                return Importer(self._engine, self._limits).read(file, on_progress)
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"{path}: cannot be read ({error}).") from None

    def import_episodes(
        self, episodes: Sequence[Episode], *, on_progress: Callable[[int], None] = _unseen
    ) -> ImportReport:
        """Keep many episodes that were observed elsewhere; known ids change nothing.

        They are kept as they are, in their own namespaces, each batch as one transaction.

        Args:
            episodes: In the order of recording.
            on_progress: Called with the number of episodes kept so far.

        Raises:
            StoreError, EmbeddingError: The memory failed; what came before was kept.
        """
        return Importer(self._engine, self._limits).keep(episodes, on_progress)

    def stats(self, *, namespace: Sequence[str] | None = None) -> MemoryStats:
        """Count what is remembered."""
        return memory_stats(self.store, self._whose(namespace))

    def worth(self, *, namespace: Sequence[str] | None = None) -> Worth:
        """Say whether warnings paid; see `judgement.worth`. It reads every episode.

        Args:
            namespace: Whose memory; by default the guard's own.

        Raises:
            StoreError: The memory could not be read.
        """
        # Not as one transaction, which would stop agents meanwhile: each unit counts once.
        return measure(all_episodes(self.store, self._whose(namespace)))

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
    aexport_jsonl = async_twin(export_jsonl)
    aimport_jsonl = async_twin(import_jsonl)
    aimport_episodes = async_twin(import_episodes)
    astats = async_twin(stats)
    aworth = async_twin(worth)
    agraph = async_twin(graph)
    aclose = async_twin(close)
