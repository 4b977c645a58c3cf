"""`driftguard eval` as a process."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

RunCli = Callable[..., "subprocess.CompletedProcess[str]"]

PAIRS = [
    ("lock the gate", "lock the garden gate", True, "wording"),
    ("lock the gate", "unlock the gate", False, "opposite"),
    ("rake the leaves", "Rake the leaves!", True, "spelling"),
    ("rake the leaves", "feed the cat", False, "other"),
]


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    names = ("text_a", "text_b", "same", "kind")
    lines = [json.dumps(dict(zip(names, pair, strict=True))) for pair in PAIRS]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def steps(tmp_path: Path) -> Path:
    path = tmp_path / "steps.jsonl"
    entries = [
        {"action_text": action, "is_error": failed, "observation_text": said, **labels}
        for action, failed, said, labels in (
            ("water the roses at noon", True, "leaves burnt", {"repeats_earlier_error": False}),
            ("paint the shed green", False, "good", {"repeats_earlier_error": False}),
            (
                "Water the roses at noon!",
                True,
                "leaves burnt",
                {"repeats_earlier_error": True, "repeat_kind": "normalized"},
            ),
        )
    ]
    path.write_text("\n".join(map(json.dumps, entries)), encoding="utf-8")
    return path


def test_pairs_are_scored_with_the_baselines_beside_it(run_cli: RunCli, pairs: Path) -> None:
    done = run_cli("eval", "pairs", pairs, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    core = json.loads(done.stdout)["tiers"]["core"]
    assert core["n"] == 4
    assert core["matched_share"]["other opposite"] == 0.0
    assert core["baselines"]["always same"]["balanced_accuracy"] == 0.5
    assert core["baselines"]["same text"]["recall"] == 0.5
    assert set(core["baselines"]) == {"always same", "same text", "cosine 0.72"}


def test_kinds_are_shown_when_they_are_asked_for(run_cli: RunCli, pairs: Path) -> None:
    short, long = run_cli("eval", "pairs", pairs), run_cli("eval", "pairs", pairs, "--by-kind")
    assert "balanced accuracy" in short.stdout
    assert "other opposite" not in short.stdout
    assert "other opposite" in long.stdout


def test_repeats_are_scored_with_the_baselines_beside_it(run_cli: RunCli, steps: Path) -> None:
    done = run_cli("eval", "repeats", steps, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    assert result["labels"] == "given"
    assert result["total"]["recall_by_kind"] == {"normalized": 1.0}
    assert result["total"]["false_alarm_rate"] == 0.0
    assert {name: each["recall"] for name, each in result["baselines"].items()} == {
        "always warn": 1.0,
        "same text": 1.0,
        "same text, redeemed": 1.0,
        "cosine 0.90": 1.0,
    }
    assert "same text, redeemed" in " ".join(run_cli("eval", "repeats", steps).stdout.split())


@pytest.mark.usefixtures("pairs", "steps")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("pairs", "absent.jsonl"), "absent.jsonl: no such file"),
        (("pairs", "steps.jsonl"), "steps.jsonl, line 1: a pair needs text_a"),
        (("repeats", "pairs.jsonl"), "pairs.jsonl, line 1: in none of the formats"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    run_cli: RunCli, arguments: tuple[str, ...], said: str
) -> None:
    done = run_cli("eval", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert said in line


def test_conversations_are_watched_with_plain_embedding_beside_it(
    run_cli: RunCli, tmp_path: Path
) -> None:
    told = "You help with gardening: watering, pruning, and what to plant when."
    turns = [
        {"role": "assistant", "content": "Water the roses early in the morning.", "off": False},
        {"role": "assistant", "content": "The train to Rome leaves at nine.", "off": True},
    ]
    entry = {"baseline": told, "kind": "leaves", "attack": False, "turns": turns}
    path = tmp_path / "labelled.jsonl"
    path.write_text(json.dumps(entry), encoding="utf-8")
    done = run_cli("eval", "conversations", path, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    figures = json.loads(done.stdout)
    assert figures["turns"]["kinds"]["leaves"]["auc"] == 1.0
    assert figures["attacks"]["sets"]["unnamed"]["others_alarmed"] == 0
    shown = run_cli("eval", "conversations", path)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "leaves" in shown.stdout
