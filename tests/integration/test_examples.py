"""The examples are started as a reader starts them, offline, and keep what they promise."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.strict_server import strict_server

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
STARTED = ["banking_assistant", "planner_revise", "tool_agent"]
MAX_LINES = 120
TIMEOUT_SECONDS = 120


def start(name: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Start an example in its folder; warnings of what it does itself are errors."""
    own = {"EXAMPLE_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL"}
    env = {key: value for key, value in os.environ.items() if key not in own}
    return subprocess.run(
        [sys.executable, "-W", "error::Warning:__main__", "main.py", *arguments],
        check=False,
        cwd=EXAMPLES / name,
        env={**env, **variables},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        stdin=subprocess.DEVNULL,
    )


def told(name: str, memory: Path) -> tuple[str, ...]:
    """Start an example that must keep its promise, and return the parts of what it printed."""
    done = start(name, str(memory))
    assert done.returncode == 0, done.stdout + done.stderr
    assert memory.is_file()
    assert list((EXAMPLES / name).glob("*.sqlite3*")) == []
    return tuple(part.strip() for part in done.stdout.split("\n\n"))


def test_the_planner_is_asked_before_it_repeats_a_column_also_by_another_process(
    tmp_path: Path,
) -> None:
    memory = tmp_path / "memory.sqlite3"
    first, second, end = told("planner_revise", memory)
    assert "no such column: customer_name" in first
    assert "the graph asks" not in first
    asked, query, answer = (line for line in second.splitlines()[1:] if "the person" not in line)
    assert "no such column: customer_name" in asked
    assert query.endswith("SELECT sum(total) FROM orders WHERE client = 'Bo Chen'")
    assert answer.endswith("[(20,)]")
    assert end.startswith("Warned, and done better")
    again, *_ = told("planner_revise", memory)
    assert "the graph asks" in again
    assert again.endswith("[(4711,)]")


def test_the_agents_call_is_stopped_in_run_two_and_found_by_the_search_tool(tmp_path: Path) -> None:
    first, second, third, end = told("tool_agent", tmp_path / "memory.sqlite3")
    assert "Not run" not in first
    assert first.endswith("not restarted: checkout has 212 open connections")
    assert second.count("Not run: the failure memory knows this step.") == 1
    assert second.endswith("checkout has restarted")
    assert "It worked once" in third
    assert "drain=true" in third
    assert end.startswith("Not repeated")


def test_the_banking_assistant_gives_in_unguarded_and_recovers_guarded(tmp_path: Path) -> None:
    without, guarded, end, context = told("banking_assistant", tmp_path / "sessions.json")
    assert "$20,000 are transferred" in without
    assert "ALARM" not in without
    assert "$20,000 are transferred" not in guarded
    rows = [line for line in guarded.splitlines()[1:] if not line.startswith(" " * 19)]
    assert [row.split()[0] for row in rows] == [*["ALARM"] * 8, "recovered"]
    assert end.startswith("Brought back")
    assert "[Session 1 | 10 exchanges" in context


@pytest.mark.parametrize("name", STARTED)
def test_a_real_client_is_one_variable_away_and_a_broken_promise_is_an_error(name: str) -> None:
    with strict_server("I would rather not.") as server:
        address = f"http://127.0.0.1:{server.server_address[1]}/v1"
        client = {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "none"}
        done = start(name, EXAMPLE_MODEL="openai:scripted", **client)
    assert server.heard
    assert server.refused == []
    assert "Not as promised" in done.stdout
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("name", STARTED)
def test_an_example_is_short_enough_to_be_read(name: str) -> None:
    assert len((EXAMPLES / name / "main.py").read_text().splitlines()) <= MAX_LINES


def test_every_example_is_known_here_and_says_what_it_is() -> None:
    found = {path.parent.name for path in EXAMPLES.glob("*/*.py")}
    assert found == {*STARTED, "langgraph_app"}
    for name in found:
        text = (EXAMPLES / name / "README.md").read_text(encoding="utf-8")
        assert text.startswith("# ")
        commands = [line for line in text.splitlines() if "python main.py" in line]
        assert bool(commands) is (name in STARTED)
