"""Scoring for the tracker: what of a message is scored, and no failure that costs a message."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from driftguard_langgraph.drift.explain import (
    Explainer,
    ExplanationRequest,
    checked_explainer,
    custom_explanation,
)
from driftguard_langgraph.drift.monitor import DriftMonitor
from driftguard_langgraph.drift.report import DriftReport
from driftguard_langgraph.drift.strategies.base import FewShotExample
from driftguard_langgraph.drift.tracking.off_topic import OffTopicMarker
from driftguard_langgraph.drift.turns import as_turn
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.text.markdown import strip_markdown

logger = logging.getLogger(__name__)

Role = Literal["user", "assistant"]


def text_of(content: object) -> str:
    """Return the text of a message or of its content; a string is returned as it is."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping) or hasattr(content, "content"):
        return as_turn(content, 0).text
    return as_turn(("user", content), 0).text


class SessionScorer:
    """A drift monitor that is given messages as they should be scored.

    Args:
        prompt: The system prompt.
        few_shots: Examples that belong to it.
        marker: The off-topic marker.
        strip_md: Whether Markdown is taken off answers.
        explain_fn: Called with the original context, the exchange's text and the score; or a
            Runnable, invoked with an `ExplanationRequest`.
        options: `strategies`, `embeddings` and `settings` of `DriftMonitor`.

    Raises:
        ConfigurationError: An argument is not usable.
    """

    def __init__(
        self,
        prompt: str,
        few_shots: tuple[FewShotExample, ...],
        *,
        marker: OffTopicMarker,
        strip_md: bool,
        explain_fn: object | None,
        options: Mapping[str, Any],
    ) -> None:
        self._marker = marker
        self._strip_md = strip_md
        self._explainer = _adapted(explain_fn)
        self._context = marker.scored_prompt(prompt)
        self._monitor = DriftMonitor(self._context, few_shot_examples=few_shots, **options)

    @property
    def report(self) -> DriftReport:
        """The newest report."""
        return self._monitor.report

    def observe(self, role: Role, content: object) -> DriftReport:
        """Score a message; one that cannot be scored leaves the numbers as they are.

        Args:
            role: Who speaks.
            content: A text, a content list, a message, or nothing.
        """
        message: dict[str, Any] = {"role": role, "content": text_of(content)}
        if role == "assistant":
            message["content"] = self._as_scored(message["content"])
            message["tool_calls"] = getattr(content, "tool_calls", None)
        try:
            return self._monitor.observe(message)
        except Exception as error:
            # Whatever the user plugged in may raise; its message may quote the session.
            name = type(error).__name__
            logger.warning("driftguard could not score a message: %s", name)
            logger.debug("driftguard could not score a message", exc_info=error)
            return replace(
                self.report,
                abstained=True,
                anomalies=(),
                revisions=(),
                explanation=f"The newest message could not be scored ({name}).",
            )

    def is_doubted(self, text: str) -> bool:
        """Whether the text, as a message of the system, would raise the alarm at once.

        What cannot be judged is doubted.
        """
        try:
            return self._monitor.fresh().observe({"role": "system", "content": text}).alarm
        except Exception as error:
            logger.warning(
                "driftguard could not judge a summary, and drops a sentence of it: %s",
                type(error).__name__,
            )
            logger.debug("driftguard could not judge a summary", exc_info=error)
            return True

    def _as_scored(self, answer: str) -> str:
        answer = self._marker.scored_answer(answer)
        return strip_markdown(answer) if self._strip_md else answer

    def explained(self, report: DriftReport, user: str, assistant: str) -> str:
        """Return the explanation of an exchange: the custom one, or else the report's own."""
        if self._explainer is None:
            return report.explanation
        request = ExplanationRequest(
            context=self._context,
            text=f"User: {user}\nAssistant: {assistant}",
            score=report.score,
            report=report.to_dict(),
        )
        return custom_explanation(self._explainer, request)

    @property
    def state(self) -> dict[str, Any]:
        """All that is known of the session, as plain JSON types."""
        return self._monitor.state

    def load(self, state: object) -> None:
        """Go on where a state ends; at the start, if it cannot be read."""
        if not isinstance(state, Mapping):
            self.restart()
            return
        try:
            self._monitor.load(state)
        except ConfigurationError as error:
            logger.warning("driftguard scores a session anew: %s", error)
            self.restart()

    def restart(self) -> None:
        """Forget the session."""
        self._monitor = self._monitor.fresh()


def _adapted(explain_fn: Any) -> Explainer | None:
    """Return a callable that takes a request, for the seed's of three arguments or a Runnable."""
    if explain_fn is None or hasattr(explain_fn, "invoke") or not callable(explain_fn):
        return checked_explainer(explain_fn)
    return lambda request: explain_fn(request["context"], request["text"], request["score"])
