"""`driftguard backtest` as a process."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.messages.tool import tool_call
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph

RunCli = Callable[..., "subprocess.CompletedProcess[str]"]


@dataclass
class Mood:
    calm: bool


class Home(MessagesState):
    mood: Mood


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
        (("trace.jsonl", "--format", "otel"), "--format 'otel' is unknown"),
        (("trace.jsonl", "--format", "checkpoints"), "cannot be read as the checkpoints"),
        (("trace.jsonl", "--html", "bad.jsonl"), "bad.jsonl: exists already. --force"),
        (("trace.jsonl", "--html", "no/page.html"), "there is no such folder"),
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
    assert lines[-1] == "driftguard: skipped 2 more"


def test_the_page_is_written_beside_the_answer_and_never_over_a_file(
    run_cli: RunCli, trace: Path
) -> None:
    page = trace.with_name("report.html")
    done = run_cli("backtest", trace, "--html", page, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["warned_steps"]["count"] == 1
    written = page.read_text(encoding="utf-8")
    assert written.startswith("<!doctype html>")
    assert "give the roses water at midday" in written
    page.write_text("mine", encoding="utf-8")
    assert run_cli("backtest", trace, "--html", page).returncode == 2
    assert page.read_text(encoding="utf-8") == "mine"
    assert run_cli("backtest", trace, "--html", page, "--force").returncode == 0
    assert page.read_text(encoding="utf-8") != "mine"


def test_the_answer_holds_what_was_warned_and_on_what_grounds(run_cli: RunCli, trace: Path) -> None:
    [warned] = json.loads(run_cli("backtest", trace, "--json").stdout)["warned_steps"]["steps"]
    assert (warned["happened"], warned["repeats"]) == ("hit", "same_error")
    assert warned["where"].endswith("line 3")
    assert warned["earlier"].endswith("line 1")
    assert warned["grounds"]["action"] == "water the roses at noon"


def test_a_graph_with_a_type_of_its_own_in_its_state_is_read_quietly(
    run_cli: RunCli, tmp_path: Path
) -> None:
    path = tmp_path / "threads.db"
    call = tool_call(name="open", args={"door": "cellar"}, id="c")
    start: Any = {"messages": []}

    def try_the_door(state: Home) -> dict[str, Any]:
        shut = ToolMessage("Error: it is locked", tool_call_id="c")
        assert "messages" in state
        return {"messages": [AIMessage("", tool_calls=[call]), shut], "mood": Mood(calm=False)}

    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        builder = StateGraph(Home)
        builder.add_node("try", try_the_door)
        builder.add_edge(START, "try")
        graph = builder.compile(checkpointer=SqliteSaver(connection))
        for _ in range(2):
            graph.invoke(start, {"configurable": {"thread_id": "ann"}})
    done = run_cli("backtest", path, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["by_tool"]["open"]["hits"] == 1
