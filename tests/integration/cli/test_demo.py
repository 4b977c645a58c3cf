"""`driftguard demo`: the main job, end to end, in its own processes."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain_openai", reason="needs the extra 'openai'")

RunCli = Callable[..., "subprocess.CompletedProcess[str]"]


def test_the_demo_shows_path_warning_and_memory_and_holds(run_cli: RunCli) -> None:
    done = run_cli("demo")
    assert (done.returncode, done.stderr) == (0, "")
    shown = done.stdout
    assert "planner -> guard_review -> planner -> guard_review -> clear_outcome" in shown
    assert "proposed: remove everything under the tmp folder (warn)" in shown
    assert "was tried:  delete the temp directory" in shown
    assert "came back:  build cache was wiped" in shown
    assert "led to:     next build took 40 minutes" in shown
    assert "Memory before run 1" in shown
    assert "Memory after run 2" in shown
    assert "verdict:    recovered in" in shown
    assert "verdict:    failed after the null scaffold" in shown
    assert "expectations held" in shown
    folder = Path(shown.splitlines()[0].removeprefix("memory: ").split(" (")[0]).parent
    assert not folder.exists()


def test_the_demo_reports_graph_and_memory_as_json(run_cli: RunCli) -> None:
    done = run_cli("demo", "--json")
    report = json.loads(done.stdout)
    first, second, third = report["first"], report["second"], report["third"]
    assert len({first["pid"], second["pid"], third["pid"]}) == 3
    assert [job["success"] for job in first["jobs"]] == [False] * 3
    assert [job["success"] for job in second["jobs"]] == [True] * 6
    counts = [
        report["memory"][when]["stats"]["episodes"] for when in ("before", "between", "after")
    ]
    assert counts == [0, 3, 9]
    warned = [bool(job["reviews"][0]["review"]["warnings"]) for job in second["jobs"]]
    assert warned == [True] * 3 + [False] * 3
    outcomes = [arm["runs"][-1]["verdict"]["outcome"] for arm in third["arms"]]
    assert outcomes == ["recovered", "failed"]
    assert all(expectation["held"] for expectation in report["expectations"])


def test_a_kept_memory_can_be_asked_afterwards(run_cli: RunCli, tmp_path: Path) -> None:
    db = tmp_path / "demo.sqlite3"
    assert run_cli("demo", "--db", db).returncode == 0
    asked = run_cli("review", "wipe the tmp folder", "--json", "--db", db)
    assert json.loads(asked.stdout)["decision"] == "warn"
    again = run_cli("demo", "--db", db)
    assert again.returncode == 2
    assert "exists: the demo begins with an empty memory" in again.stderr


def test_a_promise_that_is_not_kept_ends_the_demo_with_1(run_cli: RunCli) -> None:
    deaf = run_cli("demo", DRIFTGUARD_RETRIEVAL_MIN_SIMILARITY="0.995")
    assert deaf.returncode == 1
    assert "did not hold run 2, disk: path" in deaf.stdout
    assert "did not hold run 2, disk: the first proposal is warned" in deaf.stdout
    assert "expectations did not hold" in deaf.stdout


def test_an_alarm_that_is_never_raised_ends_the_demo_with_1(run_cli: RunCli) -> None:
    numb = run_cli("demo", DRIFTGUARD_DRIFT_ALARM_THRESHOLD="0.99")
    assert numb.returncode == 1
    assert "did not hold run 3, standard: the false summary raises the alarm" in numb.stdout


def test_a_run_that_breaks_ends_the_demo_with_its_message(run_cli: RunCli) -> None:
    done = run_cli("demo", "--json", DRIFTGUARD_EMBEDDING_MODEL_PATH="nowhere")
    assert (done.returncode, done.stdout) == (2, "")
    assert "nowhere" in done.stderr
    assert "Traceback" not in done.stderr


ANSWERS = (
    ("of space", "Delete the temp directory.", "Compress the old log files."),
    (
        "webhook",
        "Retry the payment webhook with the same payload.",
        "Send the payment webhook with the missing currency filled in.",
    ),
    (
        "to production",
        "Apply migration 0042_orders_index to production.",
        "Schedule migration 0042_orders_index on production for the night.",
    ),
    ("expects a temp", "Create the temp directory.", ""),
    ("leave it alone", "Leave the temp directory alone.", ""),
    ("on staging", "Apply migration 0042_orders_index to staging.", ""),
    ("free some space", "Delete the temp directory.", "Compress the old log files."),
)
"""For a word of the goal: what the model says first, and what once it was warned."""


class ChatServer:
    """A chat-completions server on the loopback; the model it serves heeds warnings."""

    def __init__(self, *, stubborn: bool = False) -> None:
        self.requests: list[dict[str, Any]] = []
        chat = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                request = json.loads(body)
                chat.requests.append({"path": self.path, **request})
                text = answer(request["messages"][-1]["content"], stubborn=stubborn)
                reply = json.dumps(completion(request["model"], text)).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            def log_message(self, format: str, *args: Any) -> None:
                """Keep the test's output clean."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def answer(request: str, *, stubborn: bool) -> str:
    [(first, revised)] = {(a, b) for word, a, b in ANSWERS if word in request}
    return first if stubborn or "You proposed:" not in request else revised


def completion(model: str, text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    server = ChatServer()
    yield server
    server.close()


@pytest.fixture
def stubborn_chat() -> Iterator[ChatServer]:
    server = ChatServer(stubborn=True)
    yield server
    server.close()


def test_a_language_model_is_warned_and_revises(run_cli: RunCli, chat: ChatServer) -> None:
    done = run_cli("demo", "--llm", "--json", OPENAI_API_KEY="any", OPENAI_BASE_URL=chat.url)
    assert done.returncode == 0, done.stderr + done.stdout
    report = json.loads(done.stdout)
    jobs = {job["job"]: job for job in report["second"]["jobs"]}
    assert jobs["disk"]["executed"] == ["Compress the old log files."]
    assert jobs["disk"]["reviews"][0]["review"]["decision"] == "warn"
    assert all(job["success"] for job in jobs.values())
    assert {r["path"] for r in chat.requests} == {"/v1/chat/completions"}
    assert {r["model"] for r in chat.requests} == {"gpt-4o-mini"}
    told = [r["messages"][-1]["content"] for r in chat.requests if "failed before" in str(r)]
    assert "next build took 40 minutes" in told[0]


def test_a_model_that_insists_makes_the_demo_fail(
    run_cli: RunCli, stubborn_chat: ChatServer
) -> None:
    done = run_cli(
        "demo", "--llm", "--model", "mule", OPENAI_API_KEY="any", OPENAI_BASE_URL=stubborn_chat.url
    )
    assert done.returncode == 1
    assert "did not hold run 2 repeats no failure of run 1" in done.stdout
    assert "planned by mule" in done.stdout
    assert {r["model"] for r in stubborn_chat.requests} == {"mule"}


def test_a_model_needs_a_key(run_cli: RunCli) -> None:
    done = run_cli("demo", "--llm", OPENAI_API_KEY="")
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert "needs OPENAI_API_KEY" in line


def test_a_server_that_is_not_there_is_one_line(run_cli: RunCli) -> None:
    done = run_cli("demo", "--llm", OPENAI_API_KEY="any", OPENAI_BASE_URL="http://127.0.0.1:9/v1")
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert "could not be asked" in line
    assert "--model" in line
