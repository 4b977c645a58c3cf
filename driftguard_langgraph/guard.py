"""DriftGuard, the table of contents of the package: ask before a step, tell after it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, replace
from time import perf_counter
from typing import Unpack

from driftguard_langgraph._twins import async_twin
from driftguard_langgraph.embeddings import resolve_embedder
from driftguard_langgraph.errors import (
    EmbeddingError,
    GuardrailAcknowledgementRequired,
    GuardrailTriggered,
    StoreError,
)
from driftguard_langgraph.events import (
    EpisodeRecorded,
    Hook,
    MemoryFailed,
    ReviewCompleted,
    WarningSettled,
)
from driftguard_langgraph.judgement.hearing import Arbiter, Hearing
from driftguard_langgraph.judgement.holdout import opened, silenced
from driftguard_langgraph.judgement.judge import resolve_judge
from driftguard_langgraph.judgement.match import compare
from driftguard_langgraph.judgement.policy import checked_policy, decide, refusal_message
from driftguard_langgraph.judgement.settlement import kept_in
from driftguard_langgraph.late import LateOutcomes
from driftguard_langgraph.memory.engine import MemoryEngine
from driftguard_langgraph.memory.episodes import EpisodeDetails, build_episode, receipt_for
from driftguard_langgraph.memory.stores import checked_store, open_store
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.reviews import GuardReview
from driftguard_langgraph.settings import DriftGuardSettings, checked_settings
from driftguard_langgraph.text.actions import ActionLike, as_action
from driftguard_langgraph.text.normalizer import Normalizer, checked_normalizer, resolve_normalizer
from driftguard_langgraph.text.validation import checked_flag, checked_names, checked_share
from driftguard_langgraph.types import Action, Kind, Match, Namespace, Receipt


class DriftGuard(LateOutcomes):
    """A memory of what failed and what worked, asked before each step.

    Nothing is opened or loaded before the first use. All methods are thread-safe; each has
    an async twin.

    Args:
        store: Where episodes live, set up. By default a SQLite file in the user's data
            directory (see the `sqlite_filepath` setting), which the guard then owns.
        embeddings: A LangChain `Embeddings` object, or anything with the package's
            `Embedder` protocol. By default the offline model of the settings.
        settings: Thresholds, policy, limits. By default from `DRIFTGUARD_*` variables.
        namespace: Whose memory, unless a call says otherwise.
        normalizer: Makes the labels of graph nodes. By default the one of the settings.
        hooks: Receive every event; see `driftguard_langgraph.events`.
        judge: Asked where words and similarity leave it open whether two steps are the same:
            a LangChain chat model, a cross-encoder, or a callable `(a_text, b_text)` that
            returns a truth value or a probability. By default nobody is asked.

    Raises:
        ConfigurationError: A setting or argument is not acceptable.
        MissingExtra: A setting needs an optional dependency that is not installed.
    """

    def __init__(
        self,
        *,
        store: BaseMemoryStore | None = None,
        embeddings: object | None = None,
        settings: DriftGuardSettings | None = None,
        namespace: Sequence[str] = ("driftguard",),
        normalizer: Normalizer | None = None,
        hooks: Sequence[Hook] = (),
        judge: object | None = None,
    ) -> None:
        settings = checked_settings(settings)
        given = checked_store(store)
        engine = MemoryEngine(
            lambda: open_store(settings) if given is None else given,
            resolve_embedder(embeddings, settings),
            resolve_normalizer(settings) if normalizer is None else checked_normalizer(normalizer),
            settings,
        )
        super().__init__(engine, settings, namespace, hooks, owns_store=store is None)
        self._arbiter: Arbiter | None = None
        if judge is not None:
            self._arbiter = Arbiter(resolve_judge(judge), settings.judge_band, settings.judge_limit)

    def before_step(
        self,
        action: ActionLike,
        policy: str | None = None,
        min_confidence: float | None = None,
        acknowledged: bool = False,
        raise_on_match: bool = False,
        *,
        bumped: Collection[str] = (),
        namespace: Sequence[str] | None = None,
        thread_id: str | None = None,
        review_id: str | None = None,
    ) -> GuardReview:
        """Review a step before it runs, and raise if the policy says that it must not.

        Args:
            action: The step, in words or as a tool call `{"name", "args"}`.
            policy: What follows from a warning; by default the setting `guard_policy`.
            min_confidence: Below this confidence nothing is stopped, 0..1; by default the
                setting `guard_min_confidence`.
            acknowledged: Whether somebody accepted the risk of this step.
            raise_on_match: Turn the policy `warn` into `block` for this call.
            bumped: Triggers that a speed bump already answered in this thread.
            namespace: Whose memory; by default the guard's own.
            thread_id: The thread the step belongs to. The holdout draws a step once in a
                thread; without one it draws each review.
            review_id: Names the review; by default at random.

        Raises:
            GuardrailTriggered: The step must not run (`block`; `speed_bump` the first
                time). The error carries the review.
            GuardrailAcknowledgementRequired: Somebody has to accept the risk first.
            InvalidEpisode: The action is not something that can be reviewed.
            ConfigurationError: Unknown policy, or a number out of range.
            StoreError, EmbeddingError: The memory failed, with `on_store_error="closed"`.
        """
        resolved = checked_policy(self.settings.guard_policy if policy is None else policy)
        review = self.review(
            action,
            policy="block" if raise_on_match and resolved == "warn" else resolved,
            min_confidence=min_confidence,
            acknowledged=acknowledged,
            bumped=bumped,
            namespace=namespace,
            thread_id=thread_id,
            review_id=review_id,
        )
        if review.decision == "acknowledge":
            raise GuardrailAcknowledgementRequired(refusal_message(review), review)
        if not review.may_run:
            raise GuardrailTriggered(refusal_message(review), review)
        return review

    def review(
        self,
        action: ActionLike,
        *,
        policy: str | None = None,
        min_confidence: float | None = None,
        acknowledged: bool = False,
        bumped: Collection[str] = (),
        namespace: Sequence[str] | None = None,
        thread_id: str | None = None,
        review_id: str | None = None,
    ) -> GuardReview:
        """Review a step like `before_step`, with a refusal in `decision`, never raised."""
        started = perf_counter()
        asked = checked_policy(self.settings.guard_policy if policy is None else policy)
        floor = self.settings.guard_min_confidence if min_confidence is None else min_confidence
        floor = checked_share(floor, "min_confidence")
        accepted = checked_flag(acknowledged, "acknowledged")
        seen = checked_names(bumped, "bumped")
        whose = self._whose(namespace)
        step = as_action(action, self._limits)
        review = opened(step.text, asked, self.settings.holdout, thread_id, review_id)
        if asked == "record_only":
            review = replace(review, decision="skipped")
        else:
            found = self._recalled(review, whose, step)
            review = silenced(found, whose, self.settings.holdout_seed)
        if review.decision == "proceed":
            decision = decide(review, floor, acknowledged=accepted, bumped=seen)
            review = replace(review, decision=decision)
        self._emit(ReviewCompleted.of(whose, review, perf_counter() - started))
        return review

    def _recalled(self, review: GuardReview, whose: Namespace, step: Action) -> GuardReview:
        try:
            found = self._engine.recall(whose, step, review.timestamp, self._hearing(whose))
        except (StoreError, EmbeddingError) as error:
            self._tolerate(whose, "review", error)
            return replace(review, decision="unavailable", error=str(error))
        try:
            self._engine.note_use(whose, found.warnings, review.timestamp)
        except StoreError as error:
            # A use that could not be noted takes nothing from the review.
            self._emit(MemoryFailed(whose, "touch", str(error)))
        return replace(
            review,
            warnings=found.warnings,
            reinforcements=found.reinforcements,
            related=found.related,
            muted=found.muted,
            chains=found.chains,
            run_credit=found.run_credit,
            confidence=max((warning.confidence for warning in found.warnings), default=0.0),
        )

    def record(
        self,
        action: ActionLike,
        feedback: str,
        outcome: str,
        **details: Unpack[EpisodeDetails],
    ) -> Receipt:
        """Remember that a step failed.

        Args:
            action: What was tried, in words or as a tool call `{"name", "args"}`.
            feedback: The immediate signal, for example the error text.
            outcome: What it led to.
            **details: Severity, idempotency key, provenance and more; see `EpisodeDetails`.

        Returns:
            What became of it: `status` is `stored`, `duplicate` or `unavailable`.

        Raises:
            InvalidEpisode: Something given cannot be kept; nothing was.
            StoreError, EmbeddingError: The memory failed, with `on_store_error="closed"`.
        """
        return self._record("mistake", action, feedback, outcome, details)

    def record_success(
        self,
        action: ActionLike,
        feedback: str,
        outcome: str,
        **details: Unpack[EpisodeDetails],
    ) -> Receipt:
        """Remember that a step worked; see `record`."""
        return self._record("success", action, feedback, outcome, details)

    def _record(
        self,
        kind: Kind,
        action: ActionLike,
        feedback: str,
        outcome: str,
        details: EpisodeDetails,
    ) -> Receipt:
        started = perf_counter()
        episode = build_episode(
            kind, action, feedback, outcome, self._limits, self.namespace, **details
        )
        try:
            remembered = self._engine.remember(episode)
        except (StoreError, EmbeddingError) as error:
            self._tolerate(episode.namespace, "record", error)
            return receipt_for(episode, "unavailable", error=str(error))
        seconds = perf_counter() - started
        self._emit(EpisodeRecorded(episode.namespace, kind, **asdict(remembered), seconds=seconds))
        for settled in kept_in(episode.metadata) if remembered.stored else ():
            self._emit(WarningSettled.of(episode, settled.arm, settled.role))
        return receipt_for(
            episode,
            "stored" if remembered.stored else "duplicate",
            nodes_created=remembered.nodes_created,
            nodes_merged=remembered.nodes_merged,
        )

    def compare(self, a: ActionLike, b: ActionLike) -> Match:
        """Say whether two actions count as the same step, and why.

        Use it to tune `retrieval_min_similarity`. Merging asks the same with a higher
        threshold, and never the judge: it has to come out the same in every process. A
        review may warn of more: evidence can say that a difference does not matter (the
        match kinds `same_culprit` and `same_frame`).

        Args:
            a: One action.
            b: The other.

        Raises:
            InvalidEpisode: One is not something that can be compared.
            EmbeddingError: The model failed.
        """
        left, right = as_action(a, self._limits), as_action(b, self._limits)
        similarity = self._engine.similarity(left, right)
        match = compare(left, right, similarity, self.settings.retrieval_min_similarity)
        hearing = self._hearing(self.namespace)
        return match if hearing is None else hearing.settle(left, right, match)

    def _hearing(self, whose: Namespace) -> Hearing | None:
        if self._arbiter is None:
            return None
        return Hearing(
            self._arbiter,
            self.settings.retrieval_min_similarity,
            lambda problem: self._emit(MemoryFailed(whose, "judge", problem)),
        )

    abefore_step = async_twin(before_step)
    areview = async_twin(review)
    arecord = async_twin(record)
    arecord_success = async_twin(record_success)
    acompare = async_twin(compare)
