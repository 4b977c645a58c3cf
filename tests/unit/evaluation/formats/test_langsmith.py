"""Run exports, made by the real tracer where it matters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langchain_core.tracers.base import BaseTracer
from langchain_core.tracers.schemas import Run

from driftguard_langgraph.errors import InvalidEpisode
from driftguard_langgraph.evaluation.readers import read_batches
from driftguard_langgraph.evaluation.steps import Batch


class Exporter(BaseTracer):
    """Keeps the runs that LangSmith would be sent, as it would be sent them."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def _persist_run(self, run: Run) -> None:
        self.lines.append(run.model_dump_json())

    def _on_tool_end(self, run: Run) -> None:
        self.lines.append(run.model_dump_json())

    _on_tool_error = _on_tool_end


@tool
def forecast(city: str, days: int = 1) -> str:
    """Say what the weather will be."""
    if city == "Atlantis":
        raise ValueError("no station in Atlantis")
    return f"sun for {days} days"


def exported(tmp_path: Path, *runs: dict[str, Any]) -> list[Batch]:
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join(map(json.dumps, runs)), encoding="utf-8")
    return list(read_batches(path))


def run(name: str, start: int, end: int | None = None, **more: Any) -> dict[str, Any]:
    return {
        "run_type": "tool",
        "name": name,
        "inputs": {"n": start},
        "outputs": {"output": "ok"},
        "error": None,
        "trace_id": "t",
        "start_time": f"2025-03-01T10:00:{start:02}.5",
        "end_time": f"2025-03-01T10:00:{start + 1 if end is None else end:02}.5",
        **more,
    }


def test_runs_of_the_real_tracer_are_read(tmp_path: Path) -> None:
    tracer = Exporter()

    def agent(city: str) -> Any:
        try:
            return forecast.invoke({"city": city})
        except ValueError:
            call = {"city": "Oslo", "days": 2}
            return forecast.invoke(
                {"type": "tool_call", "id": "c", "name": "forecast", "args": call}
            )

    RunnableLambda(agent).invoke("Atlantis", config={"callbacks": [tracer]})
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join(reversed(tracer.lines[:2])), encoding="utf-8")
    [failed], [worked] = list(read_batches(path))
    assert failed.action == {"name": "forecast", "args": {"city": "Atlantis"}}
    assert (failed.failed, failed.feedback) == (True, "ValueError('no station in Atlantis')")
    assert worked.action == {"name": "forecast", "args": {"city": "Oslo", "days": 2}}
    assert (worked.failed, worked.feedback) == (False, "sun for 2 days")
    assert failed.stream == worked.stream


def test_a_root_run_with_its_children_holds_the_same_steps(tmp_path: Path) -> None:
    tracer = Exporter()
    chain: Any = RunnableLambda(lambda city: forecast.invoke({"city": city}))
    chain.invoke("Oslo", config={"callbacks": [tracer]})
    root = json.loads(tracer.lines[-1])
    root["child_runs"] = [json.loads(line) for line in tracer.lines[:-1]]
    [[step]] = exported(tmp_path, root)
    assert step.tool == "forecast"


def test_runs_are_sorted_by_time_and_those_that_overlap_form_a_batch(tmp_path: Path) -> None:
    found = exported(
        tmp_path,
        run("late", 30),
        run("second", 11, 14),
        run("first", 10, 13),
        run("elsewhere", 12, trace_id="u"),
        {"run_type": "llm", "name": "model", "inputs": {}},
    )
    assert [[step.tool for step in batch] for batch in found] == [
        ["first", "second"],
        ["elsewhere"],
        ["late"],
    ]


def test_a_thread_in_the_metadata_is_the_stream(tmp_path: Path) -> None:
    [[step]] = exported(tmp_path, run("f", 1, extra={"metadata": {"thread_id": "user-7"}}))
    assert step.stream == "user-7"


def test_what_a_graph_stopped_for_and_what_has_no_end_is_no_outcome(tmp_path: Path) -> None:
    asked = run("ask", 1, error="GraphInterrupt((Interrupt(value='ok?'),))Traceback ...")
    assert exported(tmp_path, asked, run("running", 2, end_time=None)) == []


@pytest.mark.parametrize(
    ("inputs", "arguments"),
    [
        ({"input": "{'city': 'Oslo', 'days': 2}"}, {"city": "Oslo", "days": 2}),
        ({"input": '{"city": "Oslo"}'}, {"city": "Oslo"}),
        ({"input": {"city": "Oslo"}}, {"city": "Oslo"}),
        ({"input": "weather in Oslo"}, {"input": "weather in Oslo"}),
        ({"input": "__import__('os').getcwd()"}, {"input": "__import__('os').getcwd()"}),
        ({"input": "[" * 5000}, {"input": "[" * 5000}),
    ],
)
def test_arguments_that_were_written_as_text_are_read_back(
    inputs: Any, arguments: Any, tmp_path: Path
) -> None:
    [[step]] = exported(tmp_path, run("f", 1, inputs=inputs))
    assert step.action == {"name": "f", "args": arguments}


@pytest.mark.parametrize(
    ("outputs", "feedback", "failed"),
    [
        ({"output": "Error: gone"}, "Error: gone", True),
        ({"error": "gone", "code": 4}, '{"error": "gone", "code": 4}', True),
        (
            {"output": ToolMessage("gone", tool_call_id="c", status="error").model_dump()},
            "gone",
            True,
        ),
        ({"output": {"rows": 3}}, '{"rows": 3}', False),
    ],
)
def test_outputs_say_whether_the_call_failed(
    outputs: Any, feedback: str, failed: bool, tmp_path: Path
) -> None:
    [[step]] = exported(tmp_path, run("f", 1, outputs=outputs))
    assert (step.feedback, step.failed) == (feedback, failed)


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (run("", 1), "needs the 'name'"),
        (run("f", 1, start_time="yesterday"), "'start_time' must be a time"),
        (run("f", 1, start_time=None), "'start_time' must be a time"),
        (run("f", 1, child_runs=[3]), "a run must be an object"),
    ],
)
def test_a_bad_run_is_reported_with_its_line(
    bad: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidEpisode, match=problem) as error:
        exported(tmp_path, run("f", 2), bad)
    assert "line 2" in str(error.value)


def test_times_in_milliseconds_and_with_a_zone_are_read(tmp_path: Path) -> None:
    found = exported(
        tmp_path,
        run("b", 1, start_time="2025-03-01T11:00:00+01:00", end_time="2025-03-01T10:00:01Z"),
        run("a", 1, start_time=1_740_823_199_000, end_time=1_740_823_199_500),
    )
    assert [batch[0].tool for batch in found] == ["a", "b"]
