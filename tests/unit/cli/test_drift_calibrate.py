"""`driftguard drift calibrate` on real files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from driftguard_langgraph.cli.app import app

BREADS = "rye spelt wheat oat barley corn seed nut malt".split()


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["drift", "calibrate", *map(str, arguments)])


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.jsonl"
    chats = (
        {
            "id": bread,
            "system": "You answer questions about a bakery. Never promise a delivery date.",
            "turns": [
                ["user", f"Do you have {bread} bread today?"],
                ["assistant", f"Yes, {bread} bread comes out of the oven at nine."],
            ],
        }
        for bread in BREADS
    )
    path.write_text("\n".join(map(json.dumps, chats)), encoding="utf-8")
    return path


def test_enough_good_conversations_fit_a_threshold_and_nothing_is_written(
    good: Path, tmp_path: Path
) -> None:
    before = sorted(tmp_path.iterdir())
    done = run(good, "--budget", "0.1", "--json")
    assert (done.exit_code, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    assert (result["conversations"], result["needed"], result["verdict"]) == (9, 9, "change")
    assert result["changes"]["drift_alarm_threshold"] == result["fitted"] < 0.5
    assert sorted(tmp_path.iterdir()) == before


def test_the_settings_are_printed_and_written_and_never_over_a_file(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "drift.env"
    done = run(good, "--budget", "0.1", "--write", target)
    assert done.exit_code == 0
    written = target.read_text(encoding="utf-8")
    lines = dict(line.split("=") for line in written.splitlines() if not line.startswith("#"))
    assert set(lines) == {"DRIFTGUARD_DRIFT_ALARM_THRESHOLD", "DRIFTGUARD_DRIFT_ALARM_RELEASE"}
    assert all(f"{name}={value}" in done.stdout for name, value in lines.items())
    refused = run(good, "--budget", "0.1", "--write", target)
    assert refused.exit_code == 2
    assert "exists already. --force replaces it." in refused.stderr
    for name, value in lines.items():
        monkeypatch.setenv(name, value)
    again = run(good, "--budget", "0.1", "--write", target, "--force")
    assert again.exit_code == 1
    assert "nothing to change" in again.stderr
    assert target.read_text(encoding="utf-8") == written


def test_too_few_conversations_are_told_how_many_it_takes(good: Path) -> None:
    done = run(good)
    assert done.exit_code == 0
    words = " ".join(done.stdout.split())
    assert "needs 49 good conversations, these are 9" in words
    assert "now 0 of 9 conversations alarm; with 95% confidence at most 28.3%" in words


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("absent.jsonl",), "no such file"),
        (("GOOD", "--budget", "1"), "--budget 1.0: must be above 0 and below 1"),
        (("GOOD", "--write", "."), "that is a folder"),
        (("GOOD", "--baseline", "."), "--baseline .: cannot be read"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    good: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = run(*(str(good) if each == "GOOD" else each for each in arguments))
    assert (done.exit_code, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert said in line
