"""What the memory knows about a step: what it led to, what worked, and look-alikes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

from driftguard_langgraph.judgement import evidence, muting
from driftguard_langgraph.judgement.credit import run_credit, run_trust
from driftguard_langgraph.judgement.hearing import Hearing
from driftguard_langgraph.judgement.settlement import kept_in
from driftguard_langgraph.memory.causes import Cause, CauseFinder
from driftguard_langgraph.memory.chains import Bounds, Chain, walk
from driftguard_langgraph.memory.neighbours import (
    REMEDY_SIMILARITY,
    Neighbour,
    Neighbourhood,
    neighbourhood,
)
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.records import ChainPath, Vector
from driftguard_langgraph.reviews import (
    Evidence,
    GuardWarning,
    Recollection,
    Reinforcement,
    RelatedMemory,
    trigger_digest,
)
from driftguard_langgraph.types import SEVERITIES, Action, Kind, Namespace, RunCredit

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
    """What was found in the two graphs, most trustworthy first, and how its runs ended."""

    warnings: tuple[GuardWarning, ...]
    reinforcements: tuple[Reinforcement, ...]
    related: tuple[RelatedMemory, ...]
    chains: Chains
    run_credit: RunCredit | None
    muted: tuple[GuardWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class _Found:
    recollection: Recollection
    chains: Chains


class Retriever:
    """Answers "have we been here?" about one step.

    Args:
        store: The memory.
        limits: How much to look at.
        namespace: Whose memory.
        action: The step.
        now: The time against which age is measured.
        hearing: Where undecided matches are put to the judge, if there is one.
    """

    def __init__(
        self,
        store: BaseMemoryStore,
        limits: RetrievalLimits,
        namespace: Namespace,
        action: Action,
        now: datetime,
        hearing: Hearing | None = None,
    ) -> None:
        self._store = store
        self._limits = limits
        self._namespace = namespace
        self._action = action
        self._now = now
        self._hearing = hearing

    def recall(self, vector: Vector) -> Recalled:
        """Look the step up in both graphs.

        Args:
            vector: Embedding of its text.
        """
        failed, worked = self._near("mistake", vector), self._near("success", vector)
        finder = CauseFinder(
            self._store, self._namespace, self._action, worked, self._limits.min_similarity
        )
        causes = finder.find(failed)
        failures = list(self._recollect(failed))
        warned = [*self._unredeemed(failures, worked), *self._repeats(causes)]
        warned.sort(key=lambda found: -found.recollection.confidence)
        credit = self._run_credit(failed, worked)
        trust = run_trust(credit)
        reinforced = [
            _reweighed(found.recollection, replace(found.recollection.evidence, run_trust=trust))
            for found in self._recollect(worked)
        ]
        reinforced.sort(key=lambda found: -found.confidence)
        known = {found.recollection.trigger for found in warned}
        noisy = self._noisy(warned, failures, reinforced)
        shown = [found for found in warned if found.recollection.trigger not in noisy]
        muted = [found for found in warned if found.recollection.trigger in noisy]
        return Recalled(
            warnings=tuple(self._warning(found.recollection, worked) for found in shown),
            reinforcements=tuple(Reinforcement(**_values(found)) for found in reinforced),
            related=(*self._alike(failed, known), *self._alike(worked, frozenset())),
            chains=tuple(chain for found in shown for chain in found.chains),
            run_credit=credit,
            muted=tuple(self._warning(found.recollection, worked) for found in muted),
        )

    def _near(self, kind: Kind, vector: Vector) -> Neighbourhood:
        return neighbourhood(
            self._store,
            self._namespace,
            kind,
            self._action,
            vector,
            top_k=self._limits.top_k,
            min_similarity=self._limits.min_similarity,
            hearing=self._hearing,
        )

    def _alike(self, near: Neighbourhood, shown: Iterable[str]) -> tuple[RelatedMemory, ...]:
        alike: dict[str, RelatedMemory] = {}
        for neighbour in near.others:
            wording = neighbour.wording
            if wording.similarity >= self._limits.min_similarity and wording.node not in shown:
                memory = RelatedMemory(near.kind, wording.action.text, neighbour.match)
                alike.setdefault(wording.node, memory)
        return tuple(alike.values())[: self._limits.top_k]

    def _recollect(self, near: Neighbourhood) -> Iterator[_Found]:
        """Yield one recollection per matched action and feedback, with its chains."""
        if not near.same:
            return
        by_action: dict[str, list[ChainPath]] = {node: [] for node in near.same}
        for path in self._store.paths(self._namespace, near.kind, list(near.same)):
            by_action[path.action].append(path)
        room = self._limits.bounds.paths
        for node, paths in by_action.items():
            by_feedback: dict[str, list[Chain]] = {}
            for chain in walk(paths, replace(self._limits.bounds, paths=room)):
                by_feedback.setdefault(chain.path.feedback, []).append(chain)
                room -= 1
            frequency = sum(path.frequency for path in paths)
            for chains in by_feedback.values():
                yield self._found(near.same[node], frequency, chains)
            if room <= 0:
                return

    def _found(self, neighbour: Neighbour, frequency: int, chains: list[Chain]) -> _Found:
        # The worst outcome speaks for the link: a rare catastrophe must not hide behind a
        # frequent nuisance.
        worst = max(chains, key=lambda chain: SEVERITIES.index(chain.path.severity)).path
        last_seen = max(chain.path.last_seen for chain in chains)
        weighed = evidence.weigh(
            frequency,
            chains[0].edge_frequency,
            neighbour.match.score,
            last_seen,
            self._now,
            self._limits.recency_weight,
        )
        recollection = Recollection(
            trigger=worst.action,
            risk=worst.feedback,
            outcome=worst.outcome,
            frequency=frequency,
            confidence=evidence.confidence(weighed),
            severity=worst.severity,
            last_seen=last_seen,
            action_text=neighbour.wording.action.text,
            feedback_text=worst.feedback_text,
            outcome_text=worst.outcome_text,
            episode_ids=worst.episode_ids,
            match=neighbour.match,
            evidence=weighed,
        )
        return _Found(recollection, tuple(chain.nodes for chain in chains))

    def _repeats(self, causes: list[Cause]) -> Iterator[_Found]:
        for cause in causes[: self._limits.top_k]:
            [chain] = walk([cause.path], self._limits.bounds)
            yield self._found(cause.neighbour, cause.path.frequency, [chain])

    def _unredeemed(self, found: Iterable[_Found], worked: Neighbourhood) -> Iterator[_Found]:
        """Weigh failures against later successes; drop those that were redeemed."""
        for failure in found:
            recollection = failure.recollection
            since = self._successes(worked.same, recollection.last_seen)
            weighed = evidence.redeem(recollection.evidence, since)
            if weighed.redeemed > evidence.RETIRED:
                yield replace(failure, recollection=_reweighed(recollection, weighed))

    def _successes(self, nodes: Iterable[str], since: datetime) -> int:
        wanted = sorted(nodes)
        if not wanted:
            return 0
        return self._store.count_since(self._namespace, "success", wanted, since)

    def _noisy(
        self, warned: list[_Found], failures: list[_Found], worked: list[Recollection]
    ) -> frozenset[str]:
        """Return the triggers whose warnings were run against and worked, time after time."""
        suspects = {
            trigger_digest(found.recollection.trigger): found.recollection.trigger
            for found in warned
            if found.recollection.evidence.successes_since >= muting.MIN_SUCCESSES
        }
        if not suspects:
            return frozenset()
        failed_last = max(found.recollection.last_seen for found in failures)
        newest = sorted(worked, key=lambda found: found.last_seen, reverse=True)
        sample = [each for found in newest for each in found.episode_ids][: muting.SAMPLE]
        against: dict[str, set[str]] = {digest: set() for digest in suspects}
        for episode_id in sample:
            episode = self._store.get(self._namespace, episode_id)
            if episode is None or episode.created_at <= failed_last:
                continue
            for settled in kept_in(episode.metadata):
                for digest in suspects.keys() & set(settled.triggers):
                    if settled.role == "ran":
                        against[digest].add(settled.review_id)
        return frozenset(suspects[d] for d, ids in against.items() if muting.is_noise(len(ids)))

    def _run_credit(self, *graphs: Neighbourhood) -> RunCredit | None:
        """Weigh the ends of the runs that the step was part of, whatever it did there."""
        same = {near.kind: list(near.same) for near in graphs if near.same}
        return run_credit(self._store.run_shares(self._namespace, same)) if same else None

    def _warning(self, found: Recollection, worked: Neighbourhood) -> GuardWarning:
        remedy = self._store.next_success(self._namespace, found.episode_ids)
        if remedy is not None and not self._is_related(remedy, worked):
            remedy = None
        return GuardWarning(**_values(found), remedy=remedy.text if remedy else None)

    def _is_related(self, remedy: Action, worked: Neighbourhood) -> bool:
        """Whether what worked next had to do with the step: by its tool, or by its words."""
        if remedy.tool_name is not None and remedy.tool_name == self._action.tool_name:
            return True
        near = (*worked.same.values(), *worked.others)
        return any(
            neighbour.wording.action.text == remedy.text
            and neighbour.wording.similarity >= REMEDY_SIMILARITY
            for neighbour in near
        )


def _reweighed(found: Recollection, weighed: Evidence) -> Recollection:
    return replace(found, evidence=weighed, confidence=evidence.confidence(weighed))


def _values(found: Recollection) -> dict[str, Any]:
    return {field.name: getattr(found, field.name) for field in fields(found)}
