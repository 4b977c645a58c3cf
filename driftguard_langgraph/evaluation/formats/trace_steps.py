"""Trace steps: one JSON object for each step, in the order of time.

    {"action_text": "deploy the billing service", "is_error": true,
     "observation_text": "the pipeline is frozen", "stream_id": "release-7"}

Needed: `is_error`, and `action_text` or `action_json` (`{"name", "arguments"}`). Optional:
`observation_text`, `stream_id` (else `trace_id`, else the file), `tool`, `source`, and the
labels `repeats_earlier_error`, `repeat_kind` and `ambiguous_success`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from driftguard_langgraph.errors import InvalidEpisode
from driftguard_langgraph.evaluation.formats.base import EntryFormat, Source
from driftguard_langgraph.evaluation.steps import TEXT_TOOL, Batch, Step, as_feedback

_ACTION_KEYS = frozenset({"action_text", "action_json"})


def recognises(entry: Any) -> bool:
    """Return whether the entry says what was done."""
    return isinstance(entry, Mapping) and bool(entry.keys() & _ACTION_KEYS)


class TraceSteps:
    """Reads trace steps; each is a batch of its own."""

    def __init__(self, source: Source) -> None:
        self._name = source.name

    def add(self, entry: Any, where: str) -> Iterator[Batch]:
        """Yield the step of one entry.

        Raises:
            InvalidEpisode: It lacks something, or something is of the wrong type.
        """
        if not isinstance(entry, Mapping):
            raise InvalidEpisode(f"{where}: expected a JSON object with a step.")
        yield (_step(entry, where, self._name),)

    def flush(self) -> Iterator[Batch]:
        """Yield nothing: a step is complete when it is read."""
        yield from ()


TRACE_STEPS = EntryFormat("steps", recognises, TraceSteps)


def _step(entry: Mapping[str, Any], where: str, name: str) -> Step:
    failed, repeats = entry.get("is_error"), entry.get("repeats_earlier_error")
    if not isinstance(failed, bool):
        raise InvalidEpisode(f"{where}: a step needs 'is_error' as true or false.")
    if repeats is not None and not isinstance(repeats, bool):
        raise InvalidEpisode(f"{where}: 'repeats_earlier_error' must be true, false or absent.")
    action = _action(entry, where)
    text, observation = entry.get("action_text"), entry.get("observation_text") or ""
    if not isinstance(observation, str):
        raise InvalidEpisode(f"{where}: 'observation_text' must be a string.")
    return Step(
        where=where,
        stream=str(entry.get("stream_id") or entry.get("trace_id") or name),
        tool=str(entry.get("tool") or _tool_name(action)),
        action=action,
        feedback=as_feedback(observation),
        failed=failed,
        source=None if entry.get("source") is None else str(entry["source"]),
        repeats=repeats,
        repeat_kind=None if entry.get("repeat_kind") is None else str(entry["repeat_kind"]),
        ambiguous=bool(entry.get("ambiguous_success", False)),
        words=text if isinstance(text, str) and text.strip() else None,
    )


def _action(entry: Mapping[str, Any], where: str) -> str | dict[str, Any]:
    call = entry.get("action_json")
    if isinstance(call, dict) and isinstance(call.get("name"), str):
        args = call.get("arguments", call.get("args", {}))
        if not isinstance(args, dict):
            raise InvalidEpisode(f"{where}: the arguments of 'action_json' must be an object.")
        return {"name": call["name"], "args": args}
    text = entry.get("action_text")
    if not isinstance(text, str) or not text.strip():
        raise InvalidEpisode(f"{where}: needs 'action_text', or 'action_json' with a 'name'.")
    return text


def _tool_name(action: str | dict[str, Any]) -> str:
    return str(action["name"]) if isinstance(action, dict) else TEXT_TOOL
