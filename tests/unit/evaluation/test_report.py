from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console

from driftguard_langgraph.evaluation.findings import Shortlist
from driftguard_langgraph.evaluation.report import KIND_ROWS, TOOL_ROWS, render, render_repeats
from driftguard_langgraph.evaluation.scores import BacktestResult, Tally


def result(by_tool: dict[str, Tally]) -> BacktestResult:
    return BacktestResult(
        files=("[bold]trace.jsonl",),
        streams=1,
        total=Tally(steps=10, failures=4, repeats=4, warned_repeats=3, kinds={"[exact]": (4, 3)}),
        by_tool=by_tool,
        by_source={},
        baselines={"same text": Tally(repeats=4, warned_repeats=1)},
        warned=Shortlist(),
        missed=Shortlist(),
        labels="derived",
        skipped=2,
        ms_per_step=1.5,
        ms_per_step_p95=9.25,
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
    assert "9.2 ms at p95" in text


def test_control_characters_of_a_name_are_shown_and_not_obeyed() -> None:
    text = printed(result({"tool\x1b[31m\u202e": Tally(steps=10)}))
    assert "\x1b" not in text
    assert "tool\\x1b[31m\\u202e" in text


def test_the_baselines_stand_beside_the_guard() -> None:
    [recall] = [line for line in printed(result({})).splitlines() if "recall over" in line]
    assert recall.split()[-5:] == ["75.0%", "3", "/", "4", "25.0%"]


def test_the_rates_of_every_source_are_shown_for_labelled_repeats() -> None:
    shown = replace(result({}), by_source={"[a]": Tally(), "b": Tally(repeats=2, warned_repeats=1)})
    console = Console(file=io.StringIO(), width=110)
    console.print(render_repeats(shown))
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "[a]" in text
    assert "50.0%" in text


def test_only_so_many_kinds_of_repeats_are_shown() -> None:
    kinds = {f"kind{n:03}": (1, 1) for n in range(KIND_ROWS + 5)}
    shown = replace(result({}), total=Tally(kinds=kinds))
    assert printed(shown).count("kind0") == KIND_ROWS


def test_many_tools_are_summed_up_in_a_last_row() -> None:
    tools = {f"tool{n}": Tally(steps=1, hits=2) for n in range(TOOL_ROWS + 3)}
    [last] = [line for line in printed(result(tools)).splitlines() if "(3 more)" in line]
    assert last.split()[2:] == ["3", "0", "0", "0", "6", "0", "0"]
