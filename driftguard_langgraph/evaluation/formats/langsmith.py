"""Run exports of LangSmith: runs as JSON, one a line or as a list.

    {"run_type": "tool", "name": "search", "inputs": {"city": "Oslo"}, "outputs": {"output":
     ...}, "error": null, "trace_id": "t", "start_time": "2025-03-01T10:00:00", "end_time": ...}

Only runs of the type `tool` are steps; `child_runs` are read too. A run with an `error` has
failed, and so has one whose output is a tool message with the status `error`; all others are
judged by their text. Runs without an end, and runs that stopped to ask somebody, have no
outcome and are left out.

A stream is the thread that the run's metadata names (`thread_id`, `session_id` or
`conversation_id`), else its trace. An export is in no order that can be relied on, so the
tool runs of a file are kept until its end and sorted by `start_time`; runs of a stream that
overlap form one batch.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any

from driftguard_langgraph.errors import InvalidEpisode
from driftguard_langgraph.evaluation.conversation import as_call, text_of
from driftguard_langgraph.evaluation.formats.base import EntryFormat, Source
from driftguard_langgraph.evaluation.formats.langchain import flattened
from driftguard_langgraph.evaluation.steps import Batch, Step, as_feedback

_THREADS = ("thread_id", "session_id", "conversation_id")
"""Metadata keys by which LangSmith groups traces into threads."""

_TRACEBACK = "Traceback (most recent call last)"
_PAUSES = ("GraphInterrupt(", "NodeInterrupt(", "ParentCommand(")
"""How errors begin that are none: the graph stopped to ask, or went on elsewhere."""

_LONGEST_LITERAL = 100_000
"""Characters of a Python literal up to which it is parsed; the parser's stack is bounded."""


def recognises(entry: Any) -> bool:
    """Return whether the entry is a run or a list of runs."""
    first = entry[0] if isinstance(entry, list) and entry else entry
    return isinstance(first, Mapping) and "run_type" in first


@dataclass(frozen=True, slots=True)
class _Timed:
    start: datetime
    end: datetime
    step: Step


class LangSmith:
    """Collects the tool runs of one export."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._runs: list[_Timed] = []

    def add(self, entry: Any, where: str) -> Iterator[Batch]:
        """Keep the tool runs of one entry; nothing can be yielded before all are known.

        Raises:
            InvalidEpisode: A run lacks something, or something is of the wrong type.
        """
        waiting = list(entry) if isinstance(entry, list) else [entry]
        while waiting:
            run = waiting.pop()
            if not isinstance(run, Mapping) or not isinstance(run.get("run_type"), str):
                raise InvalidEpisode(f"{where}: a run must be an object with a 'run_type'.")
            waiting.extend(run.get("child_runs") or ())
            timed = self._timed(run, where) if run["run_type"] == "tool" else None
            if timed is not None:
                self._runs.append(timed)
        yield from ()

    def flush(self) -> Iterator[Batch]:
        """Yield all runs in the order in which they began, those that overlap together."""
        runs, self._runs = sorted(self._runs, key=attrgetter("start")), []
        open_batches: dict[str, list[_Timed]] = {}
        batches: list[list[_Timed]] = []
        for run in runs:
            batch = open_batches.get(run.step.stream)
            if batch is None or run.start >= max(other.end for other in batch):
                batch = open_batches[run.step.stream] = []
                batches.append(batch)
            batch.append(run)
        yield from (tuple(run.step for run in batch) for batch in batches)

    def _timed(self, run: Mapping[str, Any], where: str) -> _Timed | None:
        name = run.get("name")
        if not isinstance(name, str) or not name:
            raise InvalidEpisode(f"{where}: a tool run needs the 'name' of its tool.")
        error = run.get("error")
        if run.get("end_time") is None or str(error or "").startswith(_PAUSES):
            return None
        text, failed = self._outcome(run, error)
        step = Step(
            where=where,
            stream=_stream_of(run, self._source.name),
            tool=name,
            action=as_call(name, _arguments(run.get("inputs"))),
            feedback=as_feedback(text),
            failed=failed,
        )
        return _Timed(_time(run, "start_time", where), _time(run, "end_time", where), step)

    def _outcome(self, run: Mapping[str, Any], error: Any) -> tuple[str, bool]:
        if error:
            return str(error).split(_TRACEBACK)[0].strip() or str(error), True
        output = run.get("outputs")
        if isinstance(output, Mapping) and len(output) == 1:
            [output] = output.values()
        message = flattened(output)
        if message is not None and message["type"] == "tool":
            text = text_of(message.get("content"))
            return text, message.get("status") == "error" or self._source.is_failure(text)
        text = text_of(output)
        return text, self._source.is_failure(text)


LANGSMITH = EntryFormat("langsmith", recognises, LangSmith)


def _stream_of(run: Mapping[str, Any], name: str) -> str:
    extra = run.get("extra")
    metadata = extra.get("metadata") if isinstance(extra, Mapping) else None
    named = metadata if isinstance(metadata, Mapping) else {}
    thread = next((named[key] for key in _THREADS if named.get(key)), None)
    return str(thread or run.get("trace_id") or name)


def _arguments(inputs: Any) -> Any:
    """Return the arguments: an object, also where the tracer wrote it as text."""
    if not isinstance(inputs, Mapping) or set(inputs) != {"input"}:
        return inputs
    given = inputs["input"]
    if not isinstance(given, str) or len(given) > _LONGEST_LITERAL:
        return given if isinstance(given, Mapping) else dict(inputs)
    for parse in (json.loads, ast.literal_eval):
        try:
            parsed = parse(given)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
        if isinstance(parsed, dict):
            return parsed
    return dict(inputs)


def _time(run: Mapping[str, Any], key: str, where: str) -> datetime:
    value = run.get(key)
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000, UTC)
        time = datetime.fromisoformat(value) if isinstance(value, str) else None
    except (ValueError, OverflowError, OSError):
        time = None
    if time is None:
        raise InvalidEpisode(f"{where}: '{key}' must be a time in ISO 8601, not {value!r}.")
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
