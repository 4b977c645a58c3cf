"""Why the numbers are what they are, in one or two sentences that name turn, part and words."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, TypedDict

from driftguard_langgraph.drift.baseline import BASELINES_KEPT
from driftguard_langgraph.drift.report import Anomaly, DriftReport, DriftVerdict
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.judgement.words import stem

logger = logging.getLogger(__name__)

_WORD = re.compile(r"[^\W\d_]{4,}")
_NAMED = 4
_QUOTE = 90
_MOVED = 0.25
_COMMON = frozenset(
    "about above after again also always another anything available back because been before "
    "being below between both cannot could does doing done down during each either else enough "
    "ever every everything from give going good great have having hello help here however into "
    "just kind know like little long look made make many more most much must need never next "
    "nothing okay only other over please quite really right same several shall should since some "
    "something still such sure take than thank thanks that their them then there these they thing "
    "things think this those through today under until very want welcome well were what when where "
    "which while will with within without would your yours yourself assistant customer helpful "
    "provide user".split()
)


NO_STREAM = "nostream"
"""Tag by which LangGraph keeps the tokens of a model out of its message stream."""
PAUSE = "GraphBubbleUp"
"""Class of the exceptions by which LangGraph pauses a graph; named, as this package's core does
not import it."""


class ExplanationRequest(TypedDict):
    """What a custom explainer is given.

    Attributes:
        context: The original context.
        text: What the turn said.
        score: The session's topic score, 0..100.
        report: `DriftReport.to_dict()` of the turn, with our own explanation.
    """

    context: str
    text: str
    score: float
    report: dict[str, Any]


Explainer = Callable[[ExplanationRequest], object]
"""Returns the explanation: a text, or a message with a text as `content`."""


def checked_explainer(explainer: object | None) -> Explainer | None:
    """Return a callable for a callable or a Runnable (anything with `invoke`).

    Raises:
        ConfigurationError: It is neither.
    """
    if explainer is None:
        return None
    runnable: Any = explainer
    if callable(getattr(explainer, "with_config", None)):
        # What a model says in it is nothing that the user of a graph should see streamed.
        runnable = runnable.with_config(tags=[NO_STREAM])
    invoke: Explainer | None = getattr(runnable, "invoke", None)
    if callable(invoke):
        return invoke
    if callable(explainer):
        return explainer
    raise ConfigurationError(
        f"explainer must be callable or have `invoke`, not {type(explainer).__name__}."
    )


def custom_explanation(explainer: Explainer, request: ExplanationRequest) -> str:
    """Return what a custom explainer says; our own explanation if it fails or says nothing."""
    own = str(request["report"]["explanation"])
    try:
        answer = explainer(request)
    except Exception as error:
        if any(base.__name__ == PAUSE for base in type(error).__mro__):
            raise
        logger.error(  # noqa: TRY400 - the traceback may quote the turn
            "driftguard explainer failed at turn %d (%s); the built-in explanation is used",
            request["report"]["turn"],
            type(error).__name__,
        )
        logger.debug("driftguard explainer failed", exc_info=error)
        return own
    text = answer if isinstance(answer, str) else getattr(answer, "content", None)
    return text.strip() if isinstance(text, str) and text.strip() else own


def explain(report: DriftReport, text: str, keywords: frozenset[str]) -> str:
    """Return the explanation of a report.

    Args:
        report: The report, without one.
        text: What the turn said.
        keywords: Stems of the original context's words, by `keywords_of`.
    """
    parts = [_of_anomaly(report, anomaly) for anomaly in _gravest(report.anomalies)]
    if report.alarm and not parts:
        parts.append(f"The alarm stands: corruption is still {report.corruption:.2f}.")
    if not (parts and report.abstained):
        parts.append(_of_topic(report, text, keywords))
    return " ".join(parts)


@lru_cache(maxsize=BASELINES_KEPT)
def keywords_of(text: str) -> frozenset[str]:
    """Return the stems of the words that carry meaning."""
    return frozenset(stem(word) for word in _words(text))


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in _COMMON]


def _gravest(anomalies: Iterable[Anomaly]) -> list[Anomaly]:
    return sorted(anomalies, key=lambda each: -each.weight)[:1]


def _of_anomaly(report: DriftReport, anomaly: Anomaly) -> str:
    detail = anomaly.detail.rstrip(".") or anomaly.rule.replace("_", " ")
    line = f"Turn {anomaly.turn} ({anomaly.channel.value}): {detail}"
    if anomaly.said.text:
        line += f": “{_short(anomaly.said.text)}”"
    if anomaly.against is not None:
        line += f" against “{_short(anomaly.against.text)}”"
    more = len(report.anomalies) - 1
    return line + (f" (and {more} more)." if more else ".")


def _of_topic(report: DriftReport, text: str, keywords: frozenset[str]) -> str:
    score = f"{report.score:.0f}"
    if report.abstained:
        return f"Turn {report.turn} says nothing that can be scored; the score stays {score}."
    count = Counter(_words(text))
    known = {word for word in count if stem(word) in keywords}
    shared = _gravest_words(known, count)
    if report.verdict is DriftVerdict.FRESH:
        held = f" (shared: {', '.join(shared)})" if shared else ""
        return f"The session serves its purpose at turn {report.turn}, score {score}{held}."
    new = _gravest_words(count.keys() - known, count)
    if report.verdict in {DriftVerdict.MILD, DriftVerdict.MODERATE} and shared:
        return (
            f"The session has moved a little at turn {report.turn}, score {score}: still about "
            f"{', '.join(shared)}{', now also ' + ', '.join(new) if new else ''}.{_part(report)}"
        )
    about = f" It is about {', '.join(new)}" if new else " It shares no words with the context"
    return (
        f"The session has left its purpose at turn {report.turn}, score {score}."
        f"{about}.{_part(report)}"
    )


def _part(report: DriftReport) -> str:
    name, distance = max(report.components.items(), key=lambda item: item[1], default=("", 0.0))
    if distance < _MOVED:
        return ""
    return f" Most changed: {name.replace('_', ' ')} ({distance:.2f})."


def _gravest_words(words: Iterable[str], count: Mapping[str, int]) -> list[str]:
    """Return the words that are said most, of those the longest."""
    return sorted(words, key=lambda word: (-count[word], -len(word), word))[:_NAMED]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line.rstrip(".") if len(line) <= _QUOTE else line[: _QUOTE - 1].rstrip() + "…"
