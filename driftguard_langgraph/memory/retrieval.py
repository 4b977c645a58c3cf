"""What the memory knows about a step: matched actions, their chains, and look-alikes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

from driftguard_langgraph.judgement import evidence
from driftguard_langgraph.judgement.match import compare
from driftguard_langgraph.memory.chains import Bounds, Chain, walk
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.records import ChainPath, Vector, Wording
from driftguard_langgraph.reviews import GuardWarning, Recollection, Reinforcement, RelatedMemory
from driftguard_langgraph.types import SEVERITIES, Action, Kind, Match, Namespace

WORDINGS_PER_NODE = 8
"""Wordings searched per wanted node, so that the many paraphrases of one node do not take
the places of the others."""

Chains = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class RetrievalLimits:
    """The `retrieval_*` and `traversal_*` settings.

    Attributes:
        top_k: Action nodes per review and kind.
        min_similarity: Lowest score at which a remembered action counts as the same.
        recency_weight: Share of recency in the confidence.
        bounds: How far chains are walked.
    """

    top_k: int
    min_similarity: float
    recency_weight: float
    bounds: Bounds


@dataclass(frozen=True, slots=True)
class Recalled:
    """What was found in the two graphs, most trustworthy first."""

    warnings: tuple[GuardWarning, ...]
    reinforcements: tuple[Reinforcement, ...]
    related: tuple[RelatedMemory, ...]
    chains: Chains


@dataclass(frozen=True, slots=True)
class _Matched:
    wording: Wording
    match: Match


class Retriever:
    """Answers "have we been here?".

    Args:
        store: The memory.
        limits: How much to look at.
    """

    def __init__(self, store: BaseMemoryStore, limits: RetrievalLimits) -> None:
        self._store = store
        self._limits = limits

    def recall(
        self, namespace: Namespace, action: Action, vector: Vector, now: datetime
    ) -> Recalled:
        """Look a step up in both graphs.

        Args:
            namespace: Whose memory.
            action: The step.
            vector: Embedding of its text.
            now: The time against which age is measured.
        """
        failed, failed_alike = self._match(namespace, "mistake", action, vector)
        worked, worked_alike = self._match(namespace, "success", action, vector)
        warned = list(
            self._standing(namespace, self._recollect(namespace, "mistake", failed, now), worked)
        )
        warned.sort(key=lambda found: -found[0].confidence)
        reinforced = [found for found, _ in self._recollect(namespace, "success", worked, now)]
        reinforced.sort(key=lambda found: -found.confidence)
        return Recalled(
            warnings=tuple(self._warning(namespace, found) for found, _ in warned),
            reinforcements=tuple(Reinforcement(**_values(found)) for found in reinforced),
            related=(*failed_alike, *worked_alike),
            chains=tuple(chain for _, chains in warned for chain in chains),
        )

    def _match(
        self, namespace: Namespace, kind: Kind, action: Action, vector: Vector
    ) -> tuple[dict[str, _Matched], tuple[RelatedMemory, ...]]:
        """Split the neighbours into the same action, by node, and look-alikes."""
        same: dict[str, _Matched] = {}
        alike: dict[str, RelatedMemory] = {}
        limit = self._limits.top_k * WORDINGS_PER_NODE
        for hit in self._store.search(namespace, kind, "action", vector, limit):
            match = compare(action, hit.action, hit.similarity, self._limits.min_similarity)
            if match.same:
                if hit.node not in same or match.score > same[hit.node].match.score:
                    same[hit.node] = _Matched(hit, match)
            elif hit.similarity >= self._limits.min_similarity:
                alike.setdefault(hit.node, RelatedMemory(kind, hit.action.text, match))
        nearest = sorted(same.items(), key=lambda item: -item[1].match.score)
        related = [memory for node, memory in alike.items() if node not in same]
        return dict(nearest[: self._limits.top_k]), tuple(related[: self._limits.top_k])

    def _recollect(
        self, namespace: Namespace, kind: Kind, matched: Mapping[str, _Matched], now: datetime
    ) -> Iterator[tuple[Recollection, Chains]]:
        """Yield one recollection per matched action and feedback, with its chains."""
        if not matched:
            return
        by_action: dict[str, list[ChainPath]] = {node: [] for node in matched}
        for path in self._store.paths(namespace, kind, list(matched)):
            by_action[path.action].append(path)
        room = self._limits.bounds.paths
        for node, paths in by_action.items():
            by_feedback: dict[str, list[Chain]] = {}
            for chain in walk(paths, replace(self._limits.bounds, paths=room)):
                by_feedback.setdefault(chain.path.feedback, []).append(chain)
                room -= 1
            frequency = sum(path.frequency for path in paths)
            for chains in by_feedback.values():
                found = self._recollection(matched[node], frequency, chains, now)
                yield found, tuple(chain.nodes for chain in chains)
            if room <= 0:
                return

    def _recollection(
        self, matched: _Matched, frequency: int, chains: list[Chain], now: datetime
    ) -> Recollection:
        # The worst outcome speaks for the link: a rare catastrophe must not hide behind a
        # frequent nuisance.
        worst = max(chains, key=lambda chain: SEVERITIES.index(chain.path.severity)).path
        last_seen = max(chain.path.last_seen for chain in chains)
        return Recollection(
            trigger=worst.action,
            risk=worst.feedback,
            outcome=worst.outcome,
            frequency=frequency,
            confidence=evidence.confidence(
                frequency,
                chains[0].edge_frequency,
                matched.match.score,
                evidence.recency(last_seen, now),
                self._limits.recency_weight,
            ),
            severity=worst.severity,
            last_seen=last_seen,
            action_text=matched.wording.action.text,
            feedback_text=worst.feedback_text,
            outcome_text=worst.outcome_text,
            episode_ids=worst.episode_ids,
            match=matched.match,
        )

    def _standing(
        self,
        namespace: Namespace,
        found: Iterable[tuple[Recollection, Chains]],
        worked: Mapping[str, _Matched],
    ) -> Iterator[tuple[Recollection, Chains]]:
        """Weigh failures against later successes; drop those that were redeemed."""
        for failure, chains in found:
            since = worked and self._store.count_since(
                namespace, "success", list(worked), failure.last_seen
            )
            share = evidence.redemption(failure.frequency, since or 0)
            if share > evidence.RETIRED:
                yield replace(failure, confidence=failure.confidence * share), chains

    def _warning(self, namespace: Namespace, found: Recollection) -> GuardWarning:
        remedy = self._store.next_success(namespace, found.episode_ids)
        return GuardWarning(**_values(found), remedy=remedy.text if remedy else None)


def _values(found: Recollection) -> dict[str, Any]:
    return {field.name: getattr(found, field.name) for field in fields(found)}
