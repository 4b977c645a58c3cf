"""What the guard keeps in a thread is plain JSON, and another process goes on with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

PROCESS = """
import json, logging, sys
logging.basicConfig(level=logging.WARNING)
from langchain.agents import create_agent
from langgraph.checkpoint.sqlite import SqliteSaver
from driftguard_langgraph import DriftGuardMiddleware
from tests.drift_samples import ScriptedModel
from tests.guard_samples import ASKED, burnt, call, in_thread, proposing, soft_tool

path, prefix, *paths = json.loads(sys.argv[1])
ran = []
with SqliteSaver.from_conn_string(path) as saver:
    said = [proposing(call(each, f"{prefix}{at}")) for at, each in enumerate(paths)]
    agent = create_agent(ScriptedModel(script=[*said, "done"]), [soft_tool(ran)],
                         middleware=[DriftGuardMiddleware(burnt(), policy="speed_bump")],
                         checkpointer=saver)
    agent.invoke(ASKED, in_thread("1"))
    for state in agent.get_state_history(in_thread("1")):
        kept = {key: value for key, value in state.values.items() if key.startswith("driftguard")}
        assert json.loads(json.dumps(kept)) == kept, kept
    assert len(agent.get_state(in_thread("1")).values["driftguard_bumped"]) == 1
print(json.dumps(ran))
"""


def ran_in_process(path: Path, *given: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROCESS, json.dumps([str(path), *given])],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=Path(__file__).resolve().parents[2],
        env={**os.environ, "LANGGRAPH_STRICT_MSGPACK": "true"},
    )
    assert done.returncode == 0, done.stderr
    assert "unregistered" not in done.stderr
    assert "driftguard: " not in done.stderr
    ran: Any = json.loads(done.stdout)
    return list(ran)


def test_another_process_knows_what_was_shown_in_a_thread(tmp_path: Path) -> None:
    path = tmp_path / "threads.sqlite3"
    assert ran_in_process(path, "a", "/full", "/srv") == ["/srv"]
    assert ran_in_process(path, "b", "/full", *["/srv"] * 5) == ["/full", *["/srv"] * 3]
