from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from driftguard_langgraph.errors import ConfigurationError, InvalidEpisode
from driftguard_langgraph.evaluation.readers import read_batches
from driftguard_langgraph.evaluation.steps import NO_FEEDBACK, TEXT_TOOL, Step

MESSAGES: list[dict[str, Any]] = [
    {
        "role": "assistant",
        "tool_calls": [{"id": "a", "function": {"name": "ping", "arguments": '{"host": "db"}'}}],
    },
    {"role": "tool", "tool_call_id": "a", "content": "Error: unreachable"},
]


def lines(path: Path, *entries: Any) -> Path:
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    return path


def steps(path: Path) -> list[Step]:
    return [step for batch in read_batches(path) for step in batch]


def test_a_trace_step_is_read_with_its_labels(tmp_path: Path) -> None:
    entry = {
        "trace_id": "run-1",
        "stream_id": "task-1",
        "source": "mine",
        "tool": "disk",
        "action_text": "mount(dev=sdb)",
        "action_json": {"name": "mount", "arguments": {"dev": "sdb"}},
        "observation_text": "busy",
        "is_error": True,
        "repeats_earlier_error": True,
        "repeat_kind": "exact",
        "ambiguous_success": False,
    }
    [step] = steps(lines(tmp_path / "t.jsonl", entry))
    assert step == Step(
        where=f"{tmp_path / 't.jsonl'}, line 1",
        stream="task-1",
        tool="disk",
        action={"name": "mount", "args": {"dev": "sdb"}},
        feedback="busy",
        failed=True,
        source="mine",
        repeats=True,
        repeat_kind="exact",
        words="mount(dev=sdb)",
    )


def test_a_trace_step_needs_little(tmp_path: Path) -> None:
    worded = {"action_text": "water the plants", "is_error": False}
    called = {"action_json": {"name": "pump"}, "is_error": True, "trace_id": "run-2"}
    first, second = steps(lines(tmp_path / "t.jsonl", worded, called))
    assert (first.stream, first.tool, first.action) == ("t.jsonl", TEXT_TOOL, "water the plants")
    assert first.feedback == NO_FEEDBACK
    assert first.repeats is None
    assert (second.stream, second.tool) == ("run-2", "pump")
    assert second.action == {"name": "pump", "args": {}}


@pytest.mark.parametrize(
    "write",
    [
        lambda folder: lines(folder / "log.jsonl", {"messages": MESSAGES}),
        lambda folder: lines(folder / "log.jsonl", MESSAGES),
        lambda folder: lines(folder / "log.jsonl", *MESSAGES),
        lambda folder: _document(folder / "log.json", MESSAGES),
        lambda folder: _document(folder / "log.json", {"messages": MESSAGES}),
        lambda folder: _document(folder / "log.json", [{"messages": MESSAGES}]),
    ],
    ids=["object", "list", "one per line", "document", "document object", "document list"],
)
def test_a_message_log_is_read_in_every_arrangement(write: Any, tmp_path: Path) -> None:
    path = write(tmp_path)
    [step] = steps(path)
    assert step.action == {"name": "ping", "args": {"host": "db"}}
    assert step.failed
    assert step.stream == path.name


def _document(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")
    return path


def test_conversations_of_a_log_may_name_their_streams(tmp_path: Path) -> None:
    entry = {"messages": MESSAGES, "stream_id": "ticket-7"}
    [step] = steps(lines(tmp_path / "log.jsonl", entry))
    assert step.stream == "ticket-7"


def test_blank_lines_and_a_byte_order_mark_are_no_trouble(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    entry = json.dumps({"action_text": "go", "is_error": False})
    path.write_bytes(b"\xef\xbb\xbf" + f"{entry}\n\n   \n{entry}".encode())
    assert [step.where for step in steps(path)] == [f"{path}, line 1", f"{path}, line 4"]


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (b'{"action_text": "go", ', "not JSON"),
        (b'{"action_text": "\xff"}', "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b"7", "expected a JSON object"),
        (b'{"task": "go"}', "needs 'is_error' as true or false"),
        (b'{"action_text": "go"}', "needs 'is_error' as true or false"),
        (b'{"action_text": "go", "is_error": "no"}', "needs 'is_error' as true or false"),
        (b'{"action_text": " ", "is_error": true}', "needs 'action_text'"),
        (b'{"action_json": {"name": "f", "args": 3}, "is_error": true}', "must be an object"),
        (b'{"action_text": "go", "is_error": true, "observation_text": 5}', "must be a string"),
        (
            b'{"action_text": "go", "is_error": true, "repeats_earlier_error": 1}',
            "'repeats_earlier_error' must be",
        ),
        (b'{"messages": "none"}', "a list of 'messages'"),
        (b'{"messages": [{"role": "tool", "tool_call_id": "x"}]}', "answers the tool call 'x'"),
    ],
)
def test_a_bad_line_is_reported_with_its_number_or_skipped(
    bad: bytes, problem: str, tmp_path: Path
) -> None:
    path = tmp_path / "t.jsonl"
    good = json.dumps({"action_text": "go", "is_error": False}).encode()
    path.write_bytes(good + b"\n" + bad + b"\n" + good + b"\n")
    with pytest.raises(InvalidEpisode, match=problem) as error:
        steps(path)
    assert str(error.value).startswith(f"{path}, line 2")
    skipped: list[str] = []
    kept = list(read_batches(path, on_invalid=skipped.append))
    assert len(kept) == 2
    assert len(skipped) == 1


def test_a_bad_message_costs_only_itself(tmp_path: Path) -> None:
    path = lines(tmp_path / "log.jsonl", [MESSAGES[0], {"role": 5}, MESSAGES[1]])
    skipped: list[str] = []
    [batch] = read_batches(path, on_invalid=skipped.append)
    assert batch[0].failed
    assert skipped == [f"{path}, line 1, message 1: a message must be an object with a 'role'."]


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no such file"):
        steps(tmp_path / "nothing.jsonl")
    with pytest.raises(ConfigurationError, match="not a regular file"):
        steps(tmp_path)


def test_the_file_is_read_as_it_is_needed_and_says_how_far(tmp_path: Path) -> None:
    entry = {"action_text": "go", "is_error": False}
    path = lines(tmp_path / "t.jsonl", *([entry] * 5_000))
    progress: list[int] = []
    batches = read_batches(path, on_bytes=progress.append)
    next(batches)
    next(batches)
    assert progress == [path.stat().st_size // 5_000]
    list(batches)
    assert progress[-1] == path.stat().st_size


def test_a_file_may_change_its_format_on_the_way(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "mixed.jsonl",
        {"messages": MESSAGES},
        {"action_text": "go", "is_error": False},
        *MESSAGES,
        {"type": "assistant", "sessionId": "s", "message": {"content": []}},
    )
    assert [step.tool for step in steps(path)] == ["ping", TEXT_TOOL, "ping"]


def test_a_forced_format_reads_or_refuses(tmp_path: Path) -> None:
    path = lines(tmp_path / "log.jsonl", {"messages": MESSAGES})
    [batch] = read_batches(path, format="openai")
    assert batch[0].tool == "ping"
    with pytest.raises(InvalidEpisode, match="line 1: a step needs 'is_error'"):
        list(read_batches(path, format="steps"))
    with pytest.raises(ConfigurationError, match="'otel' is unknown: use steps, "):
        list(read_batches(path, format="otel"))


def test_a_json_file_that_holds_lines_is_read_as_lines(tmp_path: Path) -> None:
    entry = {"action_text": "go", "is_error": False}
    path = lines(tmp_path / "trace.json", entry, entry)
    assert [step.where for step in steps(path)] == [f"{path}, line 1", f"{path}, line 2"]


@pytest.mark.parametrize("first", [{"task": "go"}, 7, "go", None])
def test_what_no_format_knows_is_refused_with_their_names(first: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidEpisode, match="line 1: in none of the formats steps, claude-code"):
        steps(lines(tmp_path / "t.jsonl", first))
