from __future__ import annotations

import io

from rich.console import Console

from driftguard_langgraph.evaluation.report import TOOL_ROWS, render
from driftguard_langgraph.evaluation.scores import BacktestResult, Tally


def result(by_tool: dict[str, Tally]) -> BacktestResult:
    return BacktestResult(
        files=("[bold]trace.jsonl",),
        streams=1,
        total=Tally(steps=10, failures=4, repeats=4, warned_repeats=3, kinds={"[exact]": (4, 3)}),
        by_tool=by_tool,
        by_source={},
        labels="derived",
        skipped=2,
        ms_per_step=1.5,
        seconds=0.2,
        model_id="model",
    )


def printed(value: BacktestResult) -> str:
    console = Console(file=io.StringIO(), width=110)
    console.print(render(value))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_names_from_the_file_are_shown_as_they_are() -> None:
    text = printed(result({"[red]tool[/red]": Tally(steps=10)}))
    assert "[bold]trace.jsonl" in text
    assert "[red]tool[/red]" in text
    assert "[exact]" in text
    assert "75.0%" in text
    assert "3 / 4" in text
    assert "2 entries skipped" in text


def test_many_tools_are_summed_up_in_a_last_row() -> None:
    tools = {f"tool{n}": Tally(steps=1, hits=2) for n in range(TOOL_ROWS + 3)}
    [last] = [line for line in printed(result(tools)).splitlines() if "(3 more)" in line]
    assert last.split()[2:] == ["3", "0", "0", "0", "6", "0", "0"]
