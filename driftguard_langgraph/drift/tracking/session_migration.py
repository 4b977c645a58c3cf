"""From the bytes of a `.session_memory` to its content: checked, and brought to our layout.

Three layouts are read: ours, context-drift-analyzer's (no version) and its older flat one
(`drift_history` and `session_summaries`). What has none of these shapes is damaged as a whole:
a guess at half of it would be shown to a model as its past.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from driftguard_langgraph.drift.tracking.session_document import (
    VERSION,
    Document,
    context_hash,
    empty_document,
)
from driftguard_langgraph.errors import CorruptStore, SchemaMismatch

KNOWN = frozenset(
    {"original_context", "session_count", "sessions", "drift_history", "session_summaries"}
)
"""Keys of which a session memory of any layout has one."""
_VECTORS = ("original_vector", "checkpoint_vector", "last_response_vector")
"""Made of the texts, by a model that the flat layout does not name."""
_TEXT = (str,)
_TEXT_OR_NONE = (str, type(None))
_NUMBER_OR_NONE = (int, float, type(None))


def parse(data: bytes) -> Document:
    """Return the content of a file.

    Args:
        data: All its bytes.

    Raises:
        CorruptStore: They are no session memory any more: the message says why.
        SchemaMismatch: A newer release wrote them, or they are another application's JSON.
    """
    raw = _decoded(data)
    if raw and KNOWN.isdisjoint(raw):
        raise SchemaMismatch(
            "this is JSON but no session memory, and was left as it is: name another file."
        )
    version = _field(raw, "version", (int,), 0)
    if version > VERSION:
        raise SchemaMismatch(
            f"this session memory has version {version}, this release reads up to {VERSION}: "
            "upgrade driftguard-langgraph, or name another file."
        )
    if "drift_history" in raw and "sessions" not in raw:
        raw = _from_flat(raw)
    return _checked(raw)


def _decoded(data: bytes) -> dict[str, Any]:
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise CorruptStore(f"it is no JSON ({error})") from None
    if not isinstance(raw, dict):
        raise CorruptStore(f"it holds no object but {type(raw).__name__}")
    return raw


def _checked(raw: Mapping[str, Any]) -> Document:
    original = _field(raw, "original_context", _TEXT, "")
    document: Document = {
        **empty_document(),
        "original_context": original,
        "session_count": _count(raw, "session_count"),
        "context_frozen": _field(raw, "context_frozen", (bool,), default=False),
        "revision": _count(raw, "revision"),
        "states": _field(raw, "states", (dict,), {}),
    }
    unknown = {key: value for key, value in raw.items() if key not in document}
    document.update(unknown)  # type: ignore[typeddict-item]
    document["sessions"] = [
        _session(session, context_hash(original))  # type: ignore[misc]
        for session in _objects(raw, "sessions")
    ]
    return document


def _session(raw: dict[str, Any], context: str) -> dict[str, Any]:
    number = _field(raw, "session_number", (int,), None)
    if number is None or number < 1:
        raise CorruptStore(f"a session has the number {number!r}")
    status = _field(raw, "status", _TEXT, "completed")
    if status not in {"active", "completed"}:
        raise CorruptStore(f"a session has the status {status!r}")
    exchanges = [
        _exchange(exchange, number, place)
        for place, exchange in enumerate(_objects(raw, "exchanges"), start=1)
    ]
    return {
        **raw,
        "session_number": number,
        "status": status,
        "exchanges": exchanges,
        "summary": _field(raw, "summary", _TEXT_OR_NONE, None),
        "final_drift_score": _score(raw, "final_drift_score"),
        "exchange_count": max(_count(raw, "exchange_count"), len(exchanges)),
        "context_hash": _field(raw, "context_hash", _TEXT, context),
    }


def _exchange(raw: dict[str, Any], session: int, place: int) -> dict[str, Any]:
    return {
        **raw,
        "exchange": _field(raw, "exchange", (int,), place),
        # Made from its place, so that two processes that migrate one file agree.
        "id": _field(raw, "id", _TEXT, f"s{session}-{place}"),
        "user": _field(raw, "user", _TEXT, ""),
        "assistant": _field(raw, "assistant", _TEXT, ""),
        "score": _score(raw, "score"),
        "verdict": _field(raw, "verdict", _TEXT_OR_NONE, None),
        "explanation": _field(raw, "explanation", _TEXT_OR_NONE, None),
    }


def _field(raw: Mapping[str, Any], name: str, kinds: tuple[type, ...], default: Any) -> Any:
    value = raw.get(name, default)
    # By exact type: True is an int, and a number in quotes is none.
    if name in raw and type(value) not in kinds:
        raise CorruptStore(f"{name} is {type(value).__name__}")
    return value


def _count(raw: Mapping[str, Any], name: str) -> int:
    value: int = _field(raw, name, (int,), 0)
    if value < 0:
        raise CorruptStore(f"{name} is {value}")
    return value


def _score(raw: Mapping[str, Any], name: str) -> float | None:
    value: float | None = _field(raw, name, _NUMBER_OR_NONE, None)
    return value if value is not None and math.isfinite(value) else None


def _objects(raw: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    value: list[Any] = _field(raw, name, (list,), [])
    if not all(isinstance(item, dict) for item in value):
        raise CorruptStore(f"{name} holds something else than objects")
    return value


def _from_flat(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the older layout as the newer one: its sessions ended, their texts unknown."""
    entries: dict[int, list[dict[str, Any]]] = {}
    for entry in _objects(raw, "drift_history"):
        entries.setdefault(_field(entry, "session", (int,), 1), []).append(entry)
    told = {
        _field(summary, "session_number", (int,), 0): summary
        for summary in _objects(raw, "session_summaries")
    }
    numbers = sorted(number for number in {*entries, *told} if number > 0)
    taken = {"drift_history", "session_summaries", *_VECTORS}
    return {
        **{key: value for key, value in raw.items() if key not in taken},
        "sessions": [
            _flat_session(number, entries.get(number, []), told.get(number, {}))
            for number in numbers
        ],
    }


def _flat_session(
    number: int, entries: list[dict[str, Any]], told: Mapping[str, Any]
) -> dict[str, Any]:
    last = _score(entries[-1], "score") if entries else None
    counted = "exchange_count" if "exchange_count" in told else "turn_count"
    return {
        "session_number": number,
        "status": "completed",
        "exchanges": [{**entry, "exchange": place} for place, entry in enumerate(entries, start=1)],
        "summary": _field(told, "summary", _TEXT_OR_NONE, None),
        "final_drift_score": _score({"final_drift_score": last, **told}, "final_drift_score"),
        "exchange_count": _count(told, counted),
    }
