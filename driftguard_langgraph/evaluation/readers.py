"""Reading recorded runs, line by line, without loading the file.

Two formats, told apart entry by entry:

- **Trace steps**, one JSON object each: `action_text` and/or `action_json` (`{"name",
  "arguments"}`), `is_error`, `observation_text`; optional `stream_id` (else `trace_id`, else
  the file), `tool`, `source` and the labels `repeats_earlier_error`, `repeat_kind` and
  `ambiguous_success`.
- **OpenAI-style message logs**: an object with `messages`, a list of messages, or one
  message per line. See `driftguard_langgraph.evaluation.messages`.

A `.json` file is one document (a list of entries, or of messages); every other file is read
as one JSON value per line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from driftguard_langgraph.errors import ConfigurationError, InvalidEpisode
from driftguard_langgraph.evaluation.failures import FailurePredicate, looks_failed
from driftguard_langgraph.evaluation.messages import Conversation
from driftguard_langgraph.evaluation.steps import TEXT_TOOL, Batch, Step, as_feedback

OnInvalid = Callable[[str], None]
"""Told about an entry that is skipped: file, line and what is wrong."""

OnBytes = Callable[[int], None]
"""Told how many bytes of the file have been read."""


def read_batches(
    path: Path,
    *,
    is_failure: FailurePredicate = looks_failed,
    on_invalid: OnInvalid | None = None,
    on_bytes: OnBytes | None = None,
) -> Iterator[Batch]:
    """Yield the steps of a file in order, those that were proposed at once together.

    Args:
        path: The file.
        is_failure: Decides about tool results in message logs.
        on_invalid: Called for every entry or message that cannot be read, which is then
            skipped; without it the first one is raised.
        on_bytes: Called with the bytes read so far, after every entry.

    Raises:
        ConfigurationError: The file cannot be opened.
        InvalidEpisode: An entry is not valid and there is no `on_invalid`.
    """
    check_readable(path)
    reader = _Reader(path, is_failure, on_invalid)
    document = path.suffix.lower() == ".json"
    for where, entry in _document(path) if document else _lines(path, on_bytes):
        yield from reader.entry(entry, where)
    yield from reader.conversation.flush()


def check_readable(path: Path) -> None:
    """Raise `ConfigurationError` unless `path` is a regular file that can be opened."""
    if not path.exists():
        raise ConfigurationError(f"{path}: no such file. Give the path of a trace or message log.")
    if not path.is_file():
        raise ConfigurationError(f"{path}: not a regular file; it is read twice, so save it first.")
    try:
        path.open("rb").close()
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read ({error.strerror}).") from None


def _document(path: Path) -> Iterator[tuple[str, Any]]:
    document = _parse(path.read_bytes(), str(path))
    entries = document if isinstance(document, list) else [document]
    yield from ((f"{path}, entry {number}", entry) for number, entry in enumerate(entries, 1))


def _lines(path: Path, on_bytes: OnBytes | None) -> Iterator[tuple[str, Any]]:
    read = 0
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            read += len(line)
            if line.strip():
                where = f"{path}, line {number}"
                yield where, _parse(line, where)
            if on_bytes is not None:
                on_bytes(read)


def _parse(raw: bytes, where: str) -> Any:
    """Return the JSON value, or the error to report for it: a generator cannot raise and go on."""
    try:
        return json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return InvalidEpisode(f"{where}: not UTF-8 (byte {error.start + 1}).")
    except RecursionError:
        return InvalidEpisode(f"{where}: JSON nested too deeply.")
    except json.JSONDecodeError as error:
        return InvalidEpisode(f"{where}: not JSON ({error.msg}, column {error.colno}).")


class _Reader:
    """Turns parsed entries into batches, and keeps going over invalid ones if it may."""

    def __init__(
        self, path: Path, is_failure: FailurePredicate, on_invalid: OnInvalid | None
    ) -> None:
        self._name = path.name
        self._is_failure = is_failure
        self._on_invalid = on_invalid
        self.conversation = Conversation(self._name, is_failure)

    @contextmanager
    def _tolerating(self) -> Iterator[None]:
        try:
            yield
        except InvalidEpisode as error:
            if self._on_invalid is None:
                raise
            self._on_invalid(str(error))

    def entry(self, entry: Any, where: str) -> Iterator[Batch]:
        with self._tolerating():
            if isinstance(entry, InvalidEpisode):
                raise entry
            yield from self._entry(entry, where)

    def _entry(self, entry: Any, where: str) -> Iterator[Batch]:
        fields = entry if isinstance(entry, Mapping) else {}
        if "role" in fields and not fields.keys() & {"action_text", "action_json"}:
            yield from self.conversation.add(entry, where)
            return
        yield from self.conversation.flush()
        if "messages" in fields:
            stream = str(fields.get("stream_id", self._name))
            yield from self._messages(fields["messages"], stream, where)
        elif isinstance(entry, list):
            yield from self._messages(entry, self._name, where)
        elif isinstance(entry, Mapping):
            yield (_trace_step(entry, where, self._name),)
        else:
            raise InvalidEpisode(f"{where}: expected a JSON object or a list of messages.")

    def _messages(self, messages: Any, stream: str, where: str) -> Iterator[Batch]:
        if not isinstance(messages, list):
            raise InvalidEpisode(f"{where}: 'messages' must be a list.")
        conversation = Conversation(stream, self._is_failure)
        for index, message in enumerate(messages):
            with self._tolerating():
                yield from conversation.add(message, f"{where}, message {index}")
        yield from conversation.flush()


def _trace_step(entry: Mapping[str, Any], where: str, name: str) -> Step:
    failed, repeats = entry.get("is_error"), entry.get("repeats_earlier_error")
    if not isinstance(failed, bool):
        raise InvalidEpisode(f"{where}: neither 'messages' nor 'is_error' as true or false.")
    if repeats is not None and not isinstance(repeats, bool):
        raise InvalidEpisode(f"{where}: 'repeats_earlier_error' must be true, false or absent.")
    action = _trace_action(entry, where)
    observation = entry.get("observation_text") or ""
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
    )


def _trace_action(entry: Mapping[str, Any], where: str) -> str | dict[str, Any]:
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
