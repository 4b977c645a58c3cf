"""DriftTracker: one system prompt over many sessions, scored, summarised and kept.

tracker = DriftTracker("You are a travel assistant.", persist=True)
answer = model(tracker.get_managed_context(), question)
result = tracker.record_turn(question, answer)
result.drift.score, result.drift.verdict, result.explanation
tracker.end_session()
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, get_args

from driftguard_langgraph._locks import ForkSafeLock
from driftguard_langgraph._twins import async_twin
from driftguard_langgraph.drift.report import DriftReport
from driftguard_langgraph.drift.strategies.base import checked_few_shots
from driftguard_langgraph.drift.tracking.managed_context import ManagedContext, original_context
from driftguard_langgraph.drift.tracking.off_topic import DEFAULT_MARKER, OffTopicMarker
from driftguard_langgraph.drift.tracking.results import SessionReport, TurnResult
from driftguard_langgraph.drift.tracking.running_session import Mode, RunningSession
from driftguard_langgraph.drift.tracking.session_document import context_hash, knows
from driftguard_langgraph.drift.tracking.session_log import SessionLog
from driftguard_langgraph.drift.tracking.session_memory import SessionMemory
from driftguard_langgraph.drift.tracking.session_scorer import (
    SessionScorer,
    text_of,
)
from driftguard_langgraph.drift.tracking.summaries import checked_summarizer, summarize
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.settings import DriftGuardSettings
from driftguard_langgraph.text.validation import checked_flag


class DriftTracker:
    """Tracks the sessions of one system prompt.

    A model's answer is never lost here: when embedder, explainer, summarizer or file fail, that
    is logged, without the session's words, and something simpler stands in. All methods are
    thread-safe; `explain_fn` and `summarize_fn` must not record turns themselves.

    Args:
        system_prompt: What the model is told; None is an empty one.
        few_shot_examples: `FewShotExample` objects or pairs that belong to it.
        mode: When turns are scored.
        strategies: What measures the topic; see `DriftMonitor`.
        embeddings: The embedding model; see `DriftMonitor`.
        settings: The `drift_*` settings (decay, window and more); None reads the environment.
        persist: Whether a file keeps the sessions, so that a restart goes on with them.
        persist_path: That file; its folder is created if it is missing.
        max_summary_sessions: Summaries in the managed context at most; 0 makes none.
        token_budget: Most tokens of the managed context; the oldest summaries go first.
        count_tokens: Counts the tokens of a text; None estimates four characters a token.
        summarize_fn: Callable or Runnable from the session's text to its summary.
        explain_fn: Callable `(original_context, text, score)` that explains a score, or a
            Runnable that is given an `ExplanationRequest`.
        strip_md: Whether Markdown is taken off answers before they are scored.
        frozen: Freeze the context at once; False leaves it as the file says.
        off_topic_marker: The phrase by which the model marks foreign questions; None: none.
        max_exchanges: Exchanges that are kept of each session, the newest; None is all.

    Raises:
        ConfigurationError: An argument is not usable, or the prompt alone is over the budget.
        SchemaMismatch: The file is a newer release's, or another application's.
        StoreUnavailable: The file cannot be read.
    """

    def __init__(
        self,
        system_prompt: str | None,
        few_shot_examples: Iterable[Any] | None = (),
        *,
        mode: Mode = "always",
        strategies: object | None = None,
        embeddings: object | None = None,
        settings: DriftGuardSettings | None = None,
        persist: bool = False,
        persist_path: str | os.PathLike[str] = ".session_memory",
        max_summary_sessions: int = 3,
        token_budget: int | None = None,
        count_tokens: Callable[[str], int] | None = None,
        summarize_fn: object | None = None,
        explain_fn: object | None = None,
        strip_md: bool = True,
        frozen: bool = False,
        off_topic_marker: str | None = DEFAULT_MARKER,
        max_exchanges: int | None = None,
    ) -> None:
        if mode not in get_args(Mode):
            raise ConfigurationError(f"mode={mode!r} must be 'always' or 'ondemand'.")
        prompt, shots = _checked_prompt(system_prompt), checked_few_shots(few_shot_examples)
        marker, original = OffTopicMarker(off_topic_marker), original_context(prompt, shots)
        self.mode = mode
        persists = checked_flag(persist, "persist")
        self._summarizes = max_summary_sessions != 0
        self._summarizer = checked_summarizer(summarize_fn)
        context = ManagedContext(
            original,
            max_summaries=max_summary_sessions,
            token_budget=token_budget,
            count_tokens=count_tokens,
        )
        scorer = SessionScorer(
            prompt,
            shots,
            marker=marker,
            strip_md=checked_flag(strip_md, "strip_md"),
            explain_fn=explain_fn,
            options={"strategies": strategies, "embeddings": embeddings, "settings": settings},
        )
        # The peer keeps the shortened prompt that it scores against.
        alike = (original, original_context(marker.scored_prompt(prompt), shots))
        if not isinstance(persist_path, str | os.PathLike):
            raise ConfigurationError(
                f"persist_path={persist_path!r} must be a path: '.session_memory', for example."
            )
        memory = SessionMemory(persist_path if persists else None, max_exchanges=max_exchanges)
        self._log = SessionLog(memory, context, list(dict.fromkeys(map(context_hash, alike))))
        self._running = RunningSession(self._log, scorer, mode=mode, persists=persists)
        self._lock = ForkSafeLock()
        if checked_flag(frozen, "frozen") and not self.is_frozen:
            self._log.freeze(frozen=True)
        self._running.catch_up()

    @property
    def memory(self) -> SessionMemory:
        """Where the sessions are kept."""
        return self._log.memory

    @property
    def session_number(self) -> int:
        """Number of the running session, from 1."""
        return self._log.number

    @property
    def turn_count(self) -> int:
        """Exchanges of the running session, as of the last call."""
        session = self._log.session
        return (0 if session is None else session["exchange_count"]) + bool(self._running.asked)

    @property
    def is_frozen(self) -> bool:
        """Whether the context is frozen, as of the last call."""
        return self._log.frozen

    def record_turn(
        self, user_message: object, assistant_response: object, *, exchange_id: str | None = None
    ) -> TurnResult:
        """Record an exchange, and score it in the mode `always`.

        Args:
            user_message: What the user said: a text, a content list, a message, or None.
            assistant_response: What the assistant answered, likewise.
            exchange_id: What tells this exchange from the others of the session; to record it
                again changes nothing. None: it is a new one.
        """
        with self._lock:
            self._running.catch_up()
            session = self._log.session
            if session is not None and exchange_id is not None and knows(session, exchange_id):
                return self._running.result(text_of(user_message), text_of(assistant_response))
            self._running.ask(user_message)
            return self._running.answer(assistant_response, exchange_id)

    def record_user_message(self, user_message: object) -> DriftReport | None:
        """Record what the user said before the answer is there; it is kept with the answer.

        Returns:
            The report after it; None in the mode `ondemand`.
        """
        with self._lock:
            self._running.catch_up()
            return self._running.ask(user_message)

    def record_assistant_message(
        self, assistant_response: object, *, exchange_id: str | None = None
    ) -> TurnResult:
        """Record the answer to what the user said since the last answer; see `record_turn`."""
        with self._lock:
            self._running.catch_up()
            return self._running.answer(assistant_response, exchange_id)

    def check(self) -> SessionReport:
        """Return how the session stands; in the mode `ondemand` its new turns are scored now."""
        with self._lock:
            self._running.catch_up()
            self._running.score_late()
            self._log.settle()
            return self._running.summary(self._log.number)

    def end_session(self) -> SessionReport | None:
        """End the session: it is summarised, unless the context is frozen, and a new one begins.

        The summary goes behind the system prompt. A sentence that would raise the alarm there is
        left out: a claim that was smuggled into one session is not told to the next as a fact.

        Returns:
            The report at its end, with the managed context for the next session; None if
            nothing was said.
        """
        with self._lock:
            self._running.catch_up()
            if self._running.asked:
                self._running.answer(None, None)
            if self._log.session is None:
                return None
            self._running.score_late()
            number, summary = self._log.number, None
            if self._summarizes and not self.is_frozen:
                said, is_doubted = list(self._running.said()), self._running.is_doubted
                summary = summarize(said, self._summarizer, is_doubted)
            self._log.end(summary or None, round(self._running.report.score, 2))
            report = self._running.summary(number)
            self._running.restart()
            return report

    def get_managed_context(self) -> str:
        """Return the system message for the next call of the model: prompt and summaries."""
        self._log.read()
        return self._log.managed()[0]

    def freeze_context(self) -> None:
        """Freeze the context: no summary is added or dropped. Turns are recorded as before."""
        with self._lock:
            self._log.freeze(frozen=True)

    def unfreeze_context(self) -> None:
        """Let the context change again."""
        with self._lock:
            self._log.freeze(frozen=False)

    def clear_history(self) -> None:
        """Drop the summaries of past sessions, for good; the original context stays.

        Raises:
            ConfigurationError: The context is frozen.
        """
        with self._lock:
            self._running.catch_up()
            self._refuse_frozen("clear_history")
            self._log.clear()

    def reset(self) -> None:
        """Forget all sessions, and delete the file.

        Raises:
            ConfigurationError: The context is frozen; nothing was touched.
            StoreUnavailable: The file cannot be deleted; nothing was forgotten.
        """
        with self._lock:
            self._running.catch_up()
            self._refuse_frozen("reset")
            self._log.delete()
            self._running.restart()

    arecord_turn = async_twin(record_turn)
    arecord_user_message = async_twin(record_user_message)
    arecord_assistant_message = async_twin(record_assistant_message)
    acheck = async_twin(check)
    aend_session = async_twin(end_session)
    aget_managed_context = async_twin(get_managed_context)
    afreeze_context = async_twin(freeze_context)
    aunfreeze_context = async_twin(unfreeze_context)
    aclear_history = async_twin(clear_history)
    areset = async_twin(reset)

    def _refuse_frozen(self, what: str) -> None:
        if self.is_frozen:
            raise ConfigurationError(f"{what}: the context is frozen. Call unfreeze_context first.")


def _checked_prompt(given: object) -> str:
    if given is None or isinstance(given, str):
        return given or ""
    raise ConfigurationError(f"system_prompt must be a string, not {type(given).__name__}.")
