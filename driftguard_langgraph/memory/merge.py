"""Where a new text belongs in the graph: the node that already says it, or a new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from driftguard_langgraph.judgement.match import compare
from driftguard_langgraph.memory.candidates import FAR, judged
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.records import Placed, Placement, Vector
from driftguard_langgraph.text.normalizer import Normalizer
from driftguard_langgraph.types import Action, Episode, Kind, Match, Namespace, NodeType

CANDIDATES = 16
"""Nearest wordings considered. A merge needs a high cosine, so the right one is among the
first few; the rest is room for look-alikes that are refused."""

SPOKESMEN = 8
"""Wordings of a node that a new one must not be told apart from: merging compares with
more than the nearest, or small steps would chain opposites together."""


@dataclass(frozen=True, slots=True)
class Merger:
    """Places the texts of episodes; see `place`.

    Args:
        store: The memory.
        normalizer: Makes the labels that new nodes are known by.
        thresholds: Lowest score at which texts of a role merge.
    """

    store: BaseMemoryStore
    normalizer: Normalizer
    thresholds: Mapping[NodeType, float]

    def place(self, episode: Episode, vectors: Mapping[str, Vector]) -> Placement:
        """Find the nodes of an episode's three texts.

        Call it inside `store.exclusive()`, so that two writers cannot both miss what the
        other is about to add.

        Args:
            episode: What was observed.
            vectors: Embedding of each of its texts.
        """
        texts: tuple[tuple[NodeType, Action], ...] = (
            ("action", episode.action),
            ("feedback", Action(episode.feedback)),
            ("outcome", Action(episode.outcome)),
        )
        action, feedback, outcome = (
            self._place(episode.namespace, episode.kind, role, text, vectors[text.text])
            for role, text in texts
        )
        return Placement(action, feedback, outcome)

    def _place(
        self, namespace: Namespace, kind: Kind, role: NodeType, text: Action, vector: Vector
    ) -> Placed:
        known = self.store.wording(namespace, kind, role, text.text)
        if known is not None:
            return Placed(text.text, known.node, vector, created=False)
        node = self._matching_node(namespace, kind, role, text, vector)
        if node is not None:
            return Placed(text.text, node, vector, created=False)
        return Placed(text.text, self._new_node(namespace, kind, role, text), vector, created=True)

    def _matching_node(
        self, namespace: Namespace, kind: Kind, role: NodeType, text: Action, vector: Vector
    ) -> str | None:
        threshold = self.thresholds[role]
        best: dict[str, Match] = {}
        hits = self.store.search(namespace, kind, role, vector, CANDIDATES, threshold - FAR)
        for hit, match in zip(hits, judged(text, hits, threshold), strict=True):
            if match.same and (hit.node not in best or match.score > best[hit.node].score):
                best[hit.node] = match
        for node in sorted(best, key=lambda node: -best[node].score):
            spokesmen = self.store.wordings(namespace, kind, role, [node])[:SPOKESMEN]
            # Similarity 1.0: only what similarity cannot see is asked here.
            if all(compare(text, other.action, 1.0, threshold).same for other in spokesmen):
                return node
        return None

    def _new_node(self, namespace: Namespace, kind: Kind, role: NodeType, text: Action) -> str:
        label = self.normalizer.label(text.text)
        node, number = label, 1
        while self.store.wordings(namespace, kind, role, [node]):
            number += 1
            node = f"{label} ({number})"
        return node
