"""The example application, served by the real `langgraph dev`, offline, on the loopback."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_client, get_sync_client

pytest.importorskip("langgraph_api", reason="needs langgraph-cli[inmem]")

APP = Path(__file__).resolve().parents[2] / "examples" / "langgraph_app"
START_SECONDS = 120
ASKED: dict[str, Any] = {
    "messages": [{"role": "user", "content": "The disk of the build server is full."}]
}


@dataclass(frozen=True, slots=True)
class Server:
    url: str
    log: Path


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("dev")
    app = shutil.copytree(APP, folder / "app")
    log, port = folder / "log", free_port()
    offline = {"LANGSMITH_TRACING": "false", "LANGGRAPH_CLI_NO_ANALYTICS": "1", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port)],
            cwd=app,
            env={**os.environ, **offline, "LANGGRAPH_STRICT_MSGPACK": "true"},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        wait_for(url, process, log)
        yield Server(url, log)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=60)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text()
        try:
            if httpx.get(f"{url}/ok").is_success:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    pytest.fail(f"the server did not start:\n{log.read_text()}")


def run(server: Server, graph: str) -> dict[str, Any]:
    """Run a graph in a thread of its own and return its final state."""
    with get_sync_client(url=server.url) as client:
        thread = client.threads.create()["thread_id"]
        final = client.runs.wait(thread, graph, input=ASKED)
    assert isinstance(final, dict)
    return final


def test_the_planner_is_warned_in_run_two_of_what_failed_in_run_one(server: Server) -> None:
    first, second = run(server, "planner"), run(server, "planner")
    assert (first["success"], first["guard_warnings_count"]) == (False, 0)
    assert first["guard_receipt"]["status"] == "stored"
    assert (second["success"], second["guard_attempts"]) == (True, 1)
    assert second["candidate_action"] == "move the build cache to the archive"
    assert second["drift_alarm"] is False
    assert second["drift_report"]["turn"] >= 1


def test_the_agent_is_stopped_in_run_two_with_the_evidence_of_run_one(server: Server) -> None:
    first, second = (run(server, "agent")["messages"] for _ in range(2))
    assert "permission denied" in first[-1]["content"]
    answer = next(message for message in second if message["type"] == "tool")
    assert answer["status"] == "error"
    assert answer["content"].startswith("Not run")
    assert "permission denied: /srv/cache belongs to root" in answer["content"]
    assert second[1]["tool_calls"][0]["id"] == answer["tool_call_id"]


async def test_the_warning_is_a_custom_event_of_the_servers_stream(server: Server) -> None:
    await asyncio.to_thread(run, server, "planner")
    async with get_client(url=server.url) as client:
        stream = client.runs.stream(None, "planner", input=ASKED, stream_mode="custom")
        seen: list[Any] = [part.data async for part in stream if part.event == "custom"]
    reviews = [event for event in seen if event["event"] == "review"]
    assert [event["decision"] for event in reviews] == ["warn", "proceed"]
    assert {event["type"] for event in seen} == {"driftguard"}
    assert "drift" in {event["event"] for event in seen}


def test_the_log_knows_no_blocking_call_and_no_unregistered_type(server: Server) -> None:
    run(server, "planner")
    run(server, "agent")
    log = server.log.read_text().lower()
    assert "blocking" not in log
    assert "unregistered" not in log
    assert "traceback" not in log
