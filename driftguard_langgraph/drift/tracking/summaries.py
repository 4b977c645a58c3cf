"""What remains of a session when it has ended: two or three sentences.

The built-in summary quotes: what was asked, what was answered (the sentences with numbers,
dates and commitments first), and what was decided. A callable or a Runnable may write it
instead; when that fails or says nothing, the built-in one stands in.

A summary goes behind the system prompt, where a model believes it. So who summarises may say which
sentences have no place there, and they are left out, whoever wrote them.
"""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple

from driftguard_langgraph.drift.turns import as_turn
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.judgement.words import stem
from driftguard_langgraph.text.markdown import strip_markdown
from driftguard_langgraph.text.validation import excerpt, visible_text

logger = logging.getLogger(__name__)

LONGEST_SUMMARY = 2_000
"""Characters that are kept of a summary, whoever wrote it."""
LONGEST_SESSION_TEXT = 24_000
"""Characters of a session that a custom summarizer is given; of a longer one head and tail."""

_QUESTION_CHARS = 80
"""Longest quoted question (context-drift-analyzer's)."""
_ANSWER_CHARS = 140
_ANSWERS = 3
_DECISIONS = 2
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s++|\n++")
_WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")
_DECIDED = re.compile(
    r"\b(?:agreed|agree to|approved|booked|cancell?ed|chose|chosen|confirm(?:ed)?|decid(?:ed|e on)"
    r"|decision|declined|final(?:ised|ized)|go ahead|go with|going with|i['’]ll take|i will take"
    r"|let['’]?s (?:do|use|take|go)|ordered|proceed|rejected|refunded|reserved|resolved|scheduled"
    r"|selected|settled|signed|submitted|switched to|we['’]ll (?:use|take|go)|we will (?:use|take"
    r"|go))\b",
    re.IGNORECASE,
)

Summarizer = Callable[[str], object]
"""Is given a session as `Q1: ...` and `A1: ...` lines and returns its summary."""


Doubt = Callable[[str], bool]
"""Whether a sentence must not stand in a summary."""


class Said(NamedTuple):
    """One exchange, in words."""

    user: str
    assistant: str


def checked_summarizer(given: object | None) -> Summarizer | None:
    """Return a callable for a callable or a Runnable (anything with `invoke`).

    Raises:
        ConfigurationError: It is neither, or a coroutine function.
    """
    call: Any = getattr(given, "invoke", given)
    if given is not None and (not callable(call) or inspect.iscoroutinefunction(call)):
        raise ConfigurationError(
            f"summarize_fn must be a plain callable or have `invoke`, not {type(given).__name__}: "
            "it is given the session's text and returns the summary. `aend_session` runs it in "
            "a worker thread."
        )
    return call  # type: ignore[no-any-return]


def summarize(
    exchanges: Sequence[Said],
    summarizer: Summarizer | None = None,
    is_doubted: Doubt = lambda _: False,
) -> str:
    """Return a summary of a session on one line; it never raises.

    Args:
        exchanges: What was said, in order.
        summarizer: Who writes it; None, or a failure, is the built-in one.
        is_doubted: Which of its sentences to leave out; it must not raise.
    """
    told = ""
    if summarizer is not None:
        written = _asked(summarizer, session_text(exchanges))
        told = " ".join(each for each in _sentences(written) if not is_doubted(each))
    return excerpt(told or _extract(exchanges, is_doubted), LONGEST_SUMMARY)


def session_text(exchanges: Iterable[Said]) -> str:
    """Return a session as `Q<n>: ...` and `A<n>: ...` lines, of bounded length."""
    lines = [
        f"Q{number}: {said.user}\nA{number}: {said.assistant}"
        for number, said in enumerate(exchanges, start=1)
    ]
    return excerpt("\n".join(lines), LONGEST_SESSION_TEXT)


def _asked(summarizer: Summarizer, text: str) -> str:
    try:
        answer = summarizer(text)
    except Exception as error:  # noqa: BLE001
        # Its message may quote the session, which no log may.
        problem = f"it raised {type(error).__name__}"
    else:
        whole = ("assistant", answer) if isinstance(answer, str | list) else answer
        told = " ".join(as_turn(whole, 0).text.split())
        if told:
            return told
        problem = f"it returned no text but {type(answer).__name__}"
    logger.warning("driftguard: the built-in summary replaces the custom one: %s", problem)
    return ""


def _extract(exchanges: Sequence[Said], is_doubted: Doubt) -> str:
    plain = [Said(_plain(said.user), _plain(said.assistant)) for said in exchanges]
    decisions = _decisions(plain, is_doubted)
    answers = _answers(plain, frozenset(decisions), is_doubted)
    parts = (
        ("Topics discussed", _topics(plain, is_doubted)),
        ("Answered", "; ".join(answers)),
        ("Decided", "; ".join(decisions)),
    )
    return " ".join(f"{name}: {told}." for name, told in parts if told)


def _plain(text: str) -> str:
    # Line by line, so that the end of a line still ends a sentence.
    return "\n".join(map(strip_markdown, visible_text(text).split("\n")))


def _topics(exchanges: Sequence[Said], is_doubted: Doubt) -> str:
    topics = [_clip(_question(said.user), _QUESTION_CHARS) for said in exchanges]
    topics = list(dict.fromkeys(topic for topic in topics if topic))
    # What is not shown need not be judged.
    shown = topics if len(topics) <= 3 else [*topics[:2], topics[-1]]
    kept = [topic for topic in shown if not is_doubted(topic)]
    if len(kept) == 3 < len(topics):
        return f"{kept[0]}; {kept[1]}; and {len(topics) - 3} more, ending with: {kept[2]}"
    return "; ".join(kept)


def _question(text: str) -> str:
    sentences = _sentences(text)
    asked = (sentence for sentence in sentences if sentence.endswith(("?", "？")))
    return next(asked, sentences[0] if sentences else "")


def _answers(exchanges: Sequence[Said], told: frozenset[str], is_doubted: Doubt) -> list[str]:
    """Return the most telling sentence of the most telling answers, in the session's order."""
    ranked: list[tuple[float, int, str]] = []
    for place, said in enumerate(exchanges):
        asked = _stems(said.user)
        found = [
            (_weight(sentence, at, asked), sentence)
            for at, sentence in enumerate(_sentences(said.assistant))
        ]
        if found:
            weight, sentence = max(found, key=lambda each: each[0])
            ranked.append((weight, place, _clip(sentence, _ANSWER_CHARS)))
    best = sorted(ranked, key=lambda each: (-each[0], each[1]))
    unique = {text: place for _, place, text in reversed(best) if text not in told}
    chosen = [text for _, _, text in best if text in unique]
    kept = islice((each for each in dict.fromkeys(chosen) if not is_doubted(each)), _ANSWERS)
    return sorted(kept, key=unique.__getitem__)


def _weight(sentence: str, at: int, asked: frozenset[str]) -> float:
    """Return how much a sentence of an answer tells: numbers, commitments, the question's words."""
    if sentence.endswith(("?", "？")):
        return -1.0
    numbers = min(2, len(_DIGIT.findall(sentence)))
    shared = min(2, len(_stems(sentence) & asked))
    return numbers + shared + 2 * bool(_DECIDED.search(sentence)) + 0.5 / (1 + at)


def _decisions(exchanges: Sequence[Said], is_doubted: Doubt) -> list[str]:
    found = [
        _clip(sentence, _ANSWER_CHARS)
        for said in exchanges
        for sentence in (*_sentences(said.user), *_sentences(said.assistant))
        if _DECIDED.search(sentence) and not sentence.endswith(("?", "？"))
    ]
    newest = (each for each in reversed(dict.fromkeys(found)) if not is_doubted(each))
    return [*islice(newest, _DECISIONS)][::-1]


def _sentences(text: str) -> list[str]:
    return [part for piece in _SENTENCE.split(text) if (part := " ".join(piece.split()))]


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in _WORD.findall(text.lower()) if len(word) > 3)


def _clip(sentence: str, longest: int) -> str:
    """Return a sentence without its full stop, cut at a word if it is too long."""
    sentence = sentence.rstrip(".。 ;")
    if len(sentence) <= longest:
        return sentence
    cut = sentence[: longest - 3]
    return (cut.rsplit(" ", 1)[0] if " " in cut[longest // 2 :] else cut) + "..."
