from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from driftguard_langgraph.errors import InvalidEpisode
from driftguard_langgraph.evaluation.failures import by_pattern
from driftguard_langgraph.evaluation.readers import read_batches
from driftguard_langgraph.evaluation.steps import Batch


def line(kind: str, *blocks: Any, session: str = "s1", **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": list(blocks), **more.pop("message", {})}
    entry = {"type": kind, "sessionId": session, "uuid": "u", "message": message}
    return {**entry, **more}


def use(call_id: str, name: str = "Bash", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(call_id: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def read(tmp_path: Path, *entries: Any, **how: Any) -> list[Batch]:
    path = tmp_path / "session.jsonl"
    path.write_text("\n".join(map(json.dumps, entries)), encoding="utf-8")
    return list(read_batches(path, **how))


def test_a_session_is_read_with_all_the_lines_that_are_no_messages(tmp_path: Path) -> None:
    [[failed], [worked]] = read(
        tmp_path,
        {"type": "summary", "summary": "Fix the build", "leafUuid": "l"},
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
        {**line("user"), "message": {"role": "user", "content": "fix the build"}},
        line("assistant", {"type": "text", "text": "on it"}, use("a", command="make")),
        {"type": "system", "sessionId": "s1", "subtype": "hook", "content": "ran"},
        line("user", result("a", "Exit code 2\nno rule", is_error=True)),
        line("assistant", use("b", command="make all")),
        line("user", result("b", [{"type": "text", "text": "done"}])),
    )
    assert failed.action == {"name": "Bash", "args": {"command": "make"}}
    assert (failed.failed, failed.feedback) == (True, "Exit code 2\nno rule")
    assert (worked.failed, worked.feedback, worked.stream) == (False, "done", "s1")


def test_calls_of_one_message_on_several_lines_are_one_batch(tmp_path: Path) -> None:
    same: dict[str, Any] = {"message": {"id": "msg_1"}}
    found = read(
        tmp_path,
        line("assistant", use("a"), **same),
        line("user", result("a", "ok")),
        line("assistant", use("b"), **same),
        line("user", result("b", "ok")),
        line("assistant", use("c"), message={"id": "msg_2"}),
        line("user", result("c", "ok")),
    )
    assert [len(batch) for batch in found] == [2, 1]


def test_only_the_mark_says_that_a_call_failed(tmp_path: Path) -> None:
    entries = [line("assistant", use("a", "Read")), line("user", result("a", "Error: see 4.2"))]
    [[step]] = read(tmp_path, *entries)
    assert not step.failed
    [[asked]] = read(tmp_path, *entries, is_failure=by_pattern(re.compile("see 4")))
    assert asked.failed


def test_side_chains_and_sessions_do_not_disturb_each_other(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        line("assistant", use("a")),
        line("assistant", use("x", "Grep"), isSidechain=True, agentId="k"),
        line("assistant", use("o", "Glob"), session="s2"),
        line("user", result("a", "ok")),
        line("user", result("x", "ok"), isSidechain=True, agentId="k"),
        line("user", result("o", "ok"), session="s2"),
    )
    steps = [step for batch in found for step in batch]
    assert sorted((step.tool, step.stream) for step in steps) == [
        ("Bash", "s1"),
        ("Glob", "s2"),
        ("Grep", "s1"),
    ]


def test_a_result_whose_call_is_in_another_file_is_passed_over(tmp_path: Path) -> None:
    assert read(tmp_path, line("user", result("gone", "ok"))) == []


def test_a_call_without_a_name_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InvalidEpisode, match="line 2: a tool call needs the 'name'"):
        read(tmp_path, line("assistant"), line("assistant", {"type": "tool_use", "id": "a"}))
