from __future__ import annotations

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from driftguard_langgraph.cli.app import app, main
from driftguard_langgraph.evaluation.formats.registry import FORMAT_NAMES

COMMANDS = (
    "demo", "review", "record", "record-run", "stats", "prune", "doctor", "backtest", "calibrate",
)  # fmt: skip
GROUPED = (
    "eval", "eval pairs", "eval repeats", "drift", "drift session", "drift detect", "drift eval",
    "drift calibrate", "drift status", "drift history", "drift reset", "drift freeze",
    "drift unfreeze",
)  # fmt: skip
HEAVY = ("langgraph", "langchain_core", "numpy", "onnxruntime", "networkx", "pydantic")


@pytest.mark.parametrize("command", [*COMMANDS, *GROUPED])
def test_every_command_has_help_with_an_example(command: str) -> None:
    shown = CliRunner().invoke(app, [*command.split(), "--help"])
    assert shown.exit_code == 0
    assert f"Example: driftguard {command}" in shown.stdout


def test_the_help_lists_every_command_and_hides_inner_workings() -> None:
    shown = CliRunner().invoke(app, ["--help"]).stdout
    assert all(command in shown for command in COMMANDS)
    assert "--phase" not in CliRunner().invoke(app, ["demo", "--help"]).stdout


@pytest.mark.parametrize("command", ["backtest", "calibrate"])
def test_the_help_names_every_format(command: str) -> None:
    shown = " ".join(CliRunner().invoke(app, [command, "--help"]).stdout.split())
    assert all(name in shown for name in FORMAT_NAMES)


def test_help_needs_none_of_the_heavy_dependencies() -> None:
    code = "import sys, driftguard_langgraph.cli.app; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    )
    assert not set(HEAVY) & set(done.stdout.split())


def test_no_arguments_means_help() -> None:
    assert "Usage" in CliRunner().invoke(app, []).output


def test_a_nul_byte_in_a_text_is_one_line_and_exit_code_2() -> None:
    done = CliRunner().invoke(app, ["record", "go\0", "it broke", "it stayed broken"])
    assert done.exit_code == 2
    [line] = done.stderr.splitlines()
    assert "NUL" in line


def test_the_demo_phases_are_not_for_others() -> None:
    done = CliRunner().invoke(app, ["demo", "--phase", "third"])
    assert done.exit_code == 2
    assert "--phase" in done.stderr


def test_an_unforeseen_error_is_one_line_unless_debugging(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def breaks(prog_name: str) -> None:
        raise RuntimeError(f"a\nbug in {prog_name}")

    monkeypatch.setattr("driftguard_langgraph.cli.app.app", breaks)
    monkeypatch.setattr(sys, "argv", ["driftguard", "stats"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 70
    [line] = capsys.readouterr().err.splitlines()
    assert "unexpected RuntimeError: a bug in driftguard" in line
    monkeypatch.setattr(sys, "argv", ["driftguard", "--debug", "stats"])
    with pytest.raises(RuntimeError):
        main()
