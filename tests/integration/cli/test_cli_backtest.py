"""`driftguard backtest` as a process."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RunCli = Callable[..., "subprocess.CompletedProcess[str]"]


def step(action: str, failed: bool, said: str, **more: Any) -> str:
    entry = {"action_text": action, "is_error": failed, "observation_text": said, **more}
    return json.dumps(entry)


def conversation(*results: tuple[str, str, str]) -> str:
    messages: list[dict[str, Any]] = []
    for number, (name, arguments, said) in enumerate(results):
        function = {"name": name, "arguments": arguments}
        messages += [
            {"role": "assistant", "tool_calls": [{"id": f"c{number}", "function": function}]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": said},
        ]
    return json.dumps({"messages": messages})


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.jsonl"
    lines = [
        step("water the roses at noon", True, "leaves burnt"),
        step("paint the shed green", False, "looks good"),
        step("give the roses water at midday", True, "leaves burnt"),
        step("sharpen the lawn mower", False, "sharp"),
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_a_trace_is_replayed_and_counted(run_cli: RunCli, trace: Path) -> None:
    done = run_cli("backtest", trace, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    assert result["labels"] == "derived"
    assert result["total"] == {
        "steps": 4,
        "failures": 2,
        "successes": 2,
        "warned": 1,
        "hits": 1,
        "misses": 0,
        "false_alarms": 0,
        "repeats": 1,
        "recall": 1.0,
        "recall_by_kind": {"same_error": 1.0},
        "false_alarm_rate": 0.0,
        "warning_precision": 1.0,
    }
    assert result["ms_per_step"] > 0


def test_a_message_log_is_replayed_by_tool(run_cli: RunCli, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    lines = [
        conversation(("deploy", '{"env": "prod"}', "Error: frozen"), ("lint", "{}", "clean")),
        conversation(("deploy", '{"env": "prod"}', "Error: frozen")),
    ]
    log.write_text("\n".join(lines), encoding="utf-8")
    tools = json.loads(run_cli("backtest", log, "--json").stdout)["by_tool"]
    assert (tools["deploy"]["hits"], tools["deploy"]["failures"]) == (1, 2)
    assert (tools["lint"]["steps"], tools["lint"]["warned"]) == (1, 0)
    table = run_cli("backtest", log)
    assert "deploy" in table.stdout
    assert "recall over repeats" in table.stdout
    own = run_cli("backtest", log, "--json", "--error-pattern", "^clean$")
    assert json.loads(own.stdout)["total"]["failures"] == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("absent.jsonl",), "absent.jsonl: no such file"),
        (("bad.jsonl",), "bad.jsonl, line 2: not JSON"),
        (("trace.jsonl", "--memory", "each"), "--memory 'each' is unknown"),
        (("trace.jsonl", "--error-pattern", "("), "is no regex"),
        ((".",), "not a regular file"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    run_cli: RunCli, trace: Path, arguments: tuple[str, ...], said: str
) -> None:
    first = trace.read_text(encoding="utf-8").splitlines()[0]
    trace.with_name("bad.jsonl").write_text(f"{first}\n{{]\n{first}\n", encoding="utf-8")
    done = run_cli("backtest", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert said in line


def test_bad_lines_can_be_skipped_and_are_counted(run_cli: RunCli, trace: Path) -> None:
    good = trace.read_text(encoding="utf-8")
    trace.write_text(good + "\n{]\n" * 7, encoding="utf-8")
    done = run_cli("backtest", trace, "--json", "--skip-invalid")
    assert done.returncode == 0
    result = json.loads(done.stdout)
    assert (result["skipped"], result["total"]["steps"]) == (7, 4)
    lines = done.stderr.splitlines()
    assert len(lines) == 6
    assert "line 5: not JSON" in lines[0]
    assert lines[-1] == "driftguard: skipped 2 more entries"
