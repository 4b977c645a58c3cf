"""The content of a `.session_memory`: its shape, the changes it knows, and what it tells.

The shape is context-drift-analyzer's, so that its tools read the file, with a few keys more.
Changes are plain data and idempotent: the same change may be applied again after a crash, and
changes of several writers may come in any order of their turns without losing one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Literal, NotRequired, TypedDict

from driftguard_langgraph.drift.tracking.managed_context import SessionSummary
from driftguard_langgraph.text.validation import excerpt, visible_text

VERSION = 1
"""Layout of the file. The peer's has no version."""

USER_CHARS = 2_000
"""Characters that are kept of a user message; of a longer one head and tail."""
ASSISTANT_CHARS = 500
"""Characters that are kept of an answer (context-drift-analyzer's)."""
EXPLANATION_CHARS = 600
"""Characters that are kept of an explanation."""

_REMEMBERED_IDS = 1_000
"""Newest exchanges of a session among which an id that comes again is known."""


class Exchange(TypedDict):
    """One question and its answer."""

    exchange: int
    id: str
    user: str
    assistant: str
    score: float | None
    verdict: str | None
    explanation: str | None


class Session(TypedDict):
    """One session; `exchange_count` counts the exchanges that were dropped by age, too."""

    session_number: int
    status: Literal["active", "completed"]
    exchanges: list[Exchange]
    summary: str | None
    final_drift_score: float | None
    exchange_count: int
    context_hash: str


class Document(TypedDict):
    """The whole; `states` holds the monitor's state of each active session by its number."""

    original_context: str
    session_count: int
    context_frozen: bool
    sessions: list[Session]
    version: int
    revision: int
    states: dict[str, Any]


class Change(TypedDict):
    """One change, named by `do`.

    `contexts` are the hashes under which the writer's original context is known, its own first;
    `session` is the number of the session that it means.
    """

    do: Literal["context", "turn", "rated", "end", "freeze", "clear"]
    contexts: NotRequired[list[str]]
    original_context: NotRequired[str]
    session: NotRequired[int]
    exchange: NotRequired[Exchange]
    rated: NotRequired[dict[str, Exchange]]
    state: NotRequired[Any]
    summary: NotRequired[str | None]
    score: NotRequired[float | None]
    frozen: NotRequired[bool]


def empty_document() -> Document:
    """Return a memory of nothing."""
    return {
        "original_context": "",
        "session_count": 0,
        "context_frozen": False,
        "sessions": [],
        "version": VERSION,
        "revision": 0,
        "states": {},
    }


def context_hash(original_context: str) -> str:
    """Return what tells one original context from another; white space does not count."""
    plain = " ".join(visible_text(original_context).split())
    return hashlib.sha256(plain.encode()).hexdigest()[:16]


def new_exchange(exchange_id: str, user: str, assistant: str) -> Exchange:
    """Return an exchange that was not scored, with its texts as they are kept."""
    return {
        "exchange": 0,
        "id": exchange_id,
        "user": excerpt(visible_text(user), USER_CHARS),
        "assistant": excerpt(visible_text(assistant), ASSISTANT_CHARS),
        "score": None,
        "verdict": None,
        "explanation": None,
    }


def scored(exchange: Exchange, score: float, verdict: str, explanation: str) -> Exchange:
    """Return an exchange with its score (0..100), verdict and explanation."""
    return {
        **exchange,
        "score": round(score, 2),
        # The peer writes verdicts in lower case.
        "verdict": verdict.lower(),
        "explanation": excerpt(visible_text(explanation), EXPLANATION_CHARS),
    }


def apply_change(document: Document, change: Change, max_exchanges: int | None) -> None:
    """Make one change; the same change again changes nothing more.

    Args:
        document: What is changed.
        change: The change.
        max_exchanges: How many exchanges of a session are kept; None is all.
    """
    _APPLIED[change["do"]](document, change, max_exchanges)


def _set_context(document: Document, change: Change, _: int | None) -> None:
    document["original_context"] = change["original_context"]


def _add_turn(document: Document, change: Change, max_exchanges: int | None) -> None:
    meant = _numbered(document, change["session"])
    if meant is not None and knows(meant, change["exchange"]["id"]):
        return
    session = active_session(document, change["contexts"])
    if session is None:
        session = _begun(document, change["contexts"][0])
    session["exchange_count"] += 1
    session["exchanges"].append({**change["exchange"], "exchange": session["exchange_count"]})
    if max_exchanges is not None and len(session["exchanges"]) > max_exchanges:
        del session["exchanges"][:-max_exchanges]
    # A state of another session says nothing about this one.
    if "state" in change and change["session"] == session["session_number"]:
        document["states"][str(session["session_number"])] = change["state"]


def _set_rated(document: Document, change: Change, _: int | None) -> None:
    session = _numbered(document, change["session"])
    if session is None:
        return
    for place, exchange in enumerate(session["exchanges"]):
        session["exchanges"][place] = change["rated"].get(exchange["id"], exchange)
    if "state" in change and session["status"] == "active":
        document["states"][str(change["session"])] = change["state"]


def _end(document: Document, change: Change, _: int | None) -> None:
    session = _numbered(document, change["session"])
    if session is not None and session["status"] == "active":
        session["status"] = "completed"
        session["summary"] = change["summary"]
        session["final_drift_score"] = change["score"]
    document["states"].pop(str(change["session"]), None)


def _freeze(document: Document, change: Change, _: int | None) -> None:
    document["context_frozen"] = change["frozen"]


def _clear(document: Document, change: Change, _: int | None) -> None:
    for session in document["sessions"]:
        if session["status"] == "completed" and session["context_hash"] in change["contexts"]:
            session["summary"] = None


_APPLIED = {
    "context": _set_context,
    "turn": _add_turn,
    "rated": _set_rated,
    "end": _end,
    "freeze": _freeze,
    "clear": _clear,
}


def _begun(document: Document, context: str) -> Session:
    session: Session = {
        "session_number": next_number(document),
        "status": "active",
        "exchanges": [],
        "summary": None,
        "final_drift_score": None,
        "exchange_count": 0,
        "context_hash": context,
    }
    document["sessions"].append(session)
    document["session_count"] = session["session_number"]
    return session


def next_number(document: Document) -> int:
    """Return the number of the session that begins next, from 1."""
    numbers = [session["session_number"] for session in document["sessions"]]
    return max(numbers, default=document["session_count"]) + 1


def knows(session: Session, exchange_id: str) -> bool:
    """Whether an exchange of this id is among the newest of a session."""
    newest = session["exchanges"][-_REMEMBERED_IDS:]
    return any(exchange["id"] == exchange_id for exchange in newest)


def _numbered(document: Document, number: int) -> Session | None:
    found = (each for each in reversed(document["sessions"]) if each["session_number"] == number)
    return next(found, None)


def active_session(document: Document, contexts: Collection[str]) -> Session | None:
    """Return the newest session that goes on, of one of the contexts; None if there is none."""
    return next((each for each in _of(document, contexts) if each["status"] == "active"), None)


def total_exchanges(document: Document, contexts: Collection[str]) -> int:
    """Return how many exchanges all sessions of the contexts had."""
    return sum(session["exchange_count"] for session in _of(document, contexts))


def summaries_of(document: Document, contexts: Collection[str]) -> list[SessionSummary]:
    """Return the summaries of the sessions of the contexts that have ended, the oldest first."""
    told = [
        SessionSummary(
            session["session_number"],
            session["exchange_count"],
            session["final_drift_score"],
            " ".join(session["summary"].split()),
        )
        for session in _of(document, contexts)
        if session["status"] == "completed" and session["summary"]
    ]
    return told[::-1]


def _of(document: Document, contexts: Collection[str]) -> Iterator[Session]:
    return (each for each in reversed(document["sessions"]) if each["context_hash"] in contexts)


def as_lines(document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the keys of a document in the order in which they are written."""
    first = ("original_context", "session_count", "context_frozen")
    last = ("sessions", "states")
    rest = [key for key in document if key not in {*first, *last}]
    for key in (*first, *rest, *last):
        yield key, document[key]
