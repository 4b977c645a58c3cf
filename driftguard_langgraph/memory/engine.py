"""The memory core in one place: embedder, store, merging, retrieval, pruning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from driftguard_langgraph._locks import ForkSafeLock
from driftguard_langgraph.embeddings.base import Embedder
from driftguard_langgraph.errors import SchemaMismatch
from driftguard_langgraph.judgement.hearing import Hearing
from driftguard_langgraph.memory.chains import Bounds
from driftguard_langgraph.memory.merge import Merger
from driftguard_langgraph.memory.retrieval import Recalled, RetrievalLimits, Retriever
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.records import EmbeddingSpace, Vector
from driftguard_langgraph.reviews import GuardWarning
from driftguard_langgraph.settings import DriftGuardSettings
from driftguard_langgraph.text.normalizer import Normalizer
from driftguard_langgraph.text.validation import excerpt, unclosed
from driftguard_langgraph.types import Action, Episode, Namespace

REEMBED_BATCH = 256
"""Texts per call of the embedder while re-embedding."""

REEMBED_ATTEMPTS = 5
"""Rounds after which re-embedding gives up; each has only the newest texts left to embed."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """What keeping one episode changed in the graph; a duplicate changes nothing."""

    stored: bool
    nodes_created: int = 0
    nodes_merged: int = 0
    edges_created: int = 0
    edges_reused: int = 0


class MemoryEngine:
    """Remembers episodes and recalls them by meaning.

    Args:
        open_store: Gives the store, set up; called once, at the first use.
        embedder: Turns texts into vectors.
        normalizer: Makes node labels.
        settings: Thresholds and limits.
    """

    def __init__(
        self,
        open_store: Callable[[], BaseMemoryStore],
        embedder: Embedder,
        normalizer: Normalizer,
        settings: DriftGuardSettings,
    ) -> None:
        self._open_store = open_store
        self._store: BaseMemoryStore | None = None
        self._lock = ForkSafeLock()
        self._embedder = embedder
        self._normalizer = normalizer
        self._settings = settings

    @property
    def store(self) -> BaseMemoryStore:
        """The store, opened at the first use."""
        with self._lock:
            if self._store is None:
                self._store = self._open_store()
            return self._store

    def close(self) -> None:
        """Close the store, if it was ever opened."""
        with self._lock:
            if self._store is not None:
                self._store.close()

    def vectors(self, *texts: str) -> Mapping[str, Vector]:
        """Return the embedding of each text; of a long one, that of its head and tail."""
        longest = self._settings.embedding_max_chars
        excerpts = [excerpt(unclosed(text), longest) for text in texts]
        return dict(zip(texts, self._embedder.embed(excerpts), strict=True))

    def similarity(self, a: Action, b: Action) -> float:
        """Return the cosine of two actions, -1..1."""
        vectors = self.vectors(a.text, b.text)
        return float(np.dot(vectors[a.text], vectors[b.text]))

    def recall(
        self,
        namespace: Namespace,
        action: Action,
        now: datetime,
        hearing: Hearing | None = None,
    ) -> Recalled:
        """Look a step up; see `Retriever.recall`."""
        settings = self._settings
        limits = RetrievalLimits(
            top_k=settings.retrieval_top_k,
            min_similarity=settings.retrieval_min_similarity,
            recency_weight=settings.retrieval_recency_weight,
            bounds=Bounds(
                depth=settings.traversal_max_depth,
                branching=settings.traversal_max_branching,
                paths=settings.traversal_max_paths,
            ),
        )
        vector = self.vectors(action.text)[action.text]
        retriever = Retriever(self.store, limits, namespace, action, now, hearing)
        # Whoever is asked for a verdict may take seconds: nobody must wait for the store then.
        with self.store.snapshot() if hearing is None else nullcontext():
            if self._is_aligned():
                return retriever.recall(vector)
        self._align_space()
        return retriever.recall(vector)

    def note_use(self, namespace: Namespace, shown: Sequence[GuardWarning], at: datetime) -> None:
        """Keep the memories behind these warnings from growing stale."""
        if shown:
            triggers = sorted({warning.trigger for warning in shown})
            self.store.touch(namespace, "mistake", triggers, at)

    def remember(self, episode: Episode) -> Remembered:
        """Place an episode in the graph and keep it, as one transaction."""
        vectors = self.vectors(episode.action.text, episode.feedback, episode.outcome)
        settings = self._settings
        merger = Merger(
            self.store,
            self._normalizer,
            {
                "action": settings.similarity_threshold_action,
                "feedback": settings.similarity_threshold_feedback,
                "outcome": settings.similarity_threshold_outcome,
            },
        )
        with self.store.exclusive():
            if self._is_aligned():
                return self._keep(episode, vectors, merger)
        self._align_space()
        with self.store.exclusive():
            return self._keep(episode, vectors, merger)

    def _keep(self, episode: Episode, vectors: Mapping[str, Vector], merger: Merger) -> Remembered:
        placement = merger.place(episode, vectors)
        appended = self.store.append(episode, placement, self._space())
        if not appended.stored:
            return Remembered(stored=False)
        created = sum(placed.created for _, placed in placement.items())
        return Remembered(
            stored=True,
            nodes_created=created,
            nodes_merged=3 - created,
            edges_created=appended.edges_created,
            edges_reused=2 - appended.edges_created,
        )

    def _space(self) -> EmbeddingSpace:
        return EmbeddingSpace(self._embedder.model_id, self._embedder.dimension)

    def _is_aligned(self) -> bool:
        return self.store.space() in (None, self._space())

    def _align_space(self) -> None:
        """Bring a small memory into the embedder's space; refuse to mix spaces."""
        stored = self.store.space()
        if stored is None or stored == self._space():
            return
        count = len(self.store.texts())
        if count > self._settings.reembed_limit:
            raise SchemaMismatch(
                f"the memory was embedded with {stored.model_id} and the guard uses "
                f"{self._embedder.model_id}. Its {count} texts are more than reembed_limit="
                f"{self._settings.reembed_limit}: call reembed() once, or use that model."
            )
        self.reembed()

    def reembed(self, on_progress: Callable[[int, int], None] | None = None) -> int:
        """Embed every kept text anew with the present model; return how many.

        Args:
            on_progress: Called with the number of texts embedded, and of all texts.

        Raises:
            SchemaMismatch: Other processes recorded faster than this one could embed.
        """
        vectors: dict[str, Vector] = {}
        for attempt in range(REEMBED_ATTEMPTS):
            missing = [text for text in self.store.texts() if text not in vectors]
            for start in range(0, len(missing), REEMBED_BATCH):
                vectors.update(self.vectors(*missing[start : start + REEMBED_BATCH]))
                if on_progress is not None:
                    on_progress(start + REEMBED_BATCH, len(missing))
            try:
                self.store.replace_vectors(self._space(), vectors)
            except SchemaMismatch:
                # Something was recorded meanwhile: its texts are embedded in the next round.
                if attempt == REEMBED_ATTEMPTS - 1:
                    raise
            else:
                break
        return len(vectors)
