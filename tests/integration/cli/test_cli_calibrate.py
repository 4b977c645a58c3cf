"""`driftguard calibrate` as a process."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

RunCli = Callable[..., "subprocess.CompletedProcess[str]"]

THINGS = (
    "roses tulips hedge lawn pond shed fence gate path compost apple pear cherry herbs beans "
    "carrots onions pumpkin lavender ivy moss bench fountain hose rake barrow statue terrace "
    "steps wall arbour trellis orchard meadow nursery cellar roof attic porch drive"
).split()
OFF = {"DRIFTGUARD_RETRIEVAL_MIN_SIMILARITY": "0.99"}


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    lines = []
    for number, thing in enumerate(THINGS):
        other = THINGS[(number + 9) % len(THINGS)]
        for named, same in ((thing, True), (other, False)):
            for first, second in (
                ("photograph the {}", "take a photo of the {}"),
                ("clean the {}", "clean up the {}"),
            ):
                texts = {"text_a": first.format(thing), "text_b": second.format(named)}
                lines.append(json.dumps({**texts, "same": same, "group": thing}))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_nothing_is_written_unless_it_is_asked_for(
    run_cli: RunCli, pairs: Path, tmp_path: Path
) -> None:
    before = sorted(tmp_path.iterdir())
    done = run_cli("calibrate", pairs, "--json", **OFF)
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    [warn, _] = result["fits"]
    assert warn["setting"] == "retrieval_min_similarity"
    assert (warn["old"], warn["verdict"]) == (0.99, "change")
    assert warn["after"]["balanced_accuracy"] > warn["before"]["balanced_accuracy"]
    assert result["changes"]["retrieval_min_similarity"] == warn["new"] < 0.99
    assert sorted(tmp_path.iterdir()) == before


def test_changed_settings_are_written_and_never_over_a_file(
    run_cli: RunCli, pairs: Path, tmp_path: Path
) -> None:
    target = tmp_path / "fitted.env"
    done = run_cli("calibrate", pairs, "--write", target, **OFF)
    assert done.returncode == 0
    assert "retrieval_min_similarity 0.99 ->" in done.stdout
    text = target.read_text(encoding="utf-8")
    lines = dict(line.split("=") for line in text.splitlines() if not line.startswith("#"))
    assert float(lines["DRIFTGUARD_RETRIEVAL_MIN_SIMILARITY"]) < 0.99

    target.write_text("mine", encoding="utf-8")
    refused = run_cli("calibrate", pairs, "--write", target, **OFF)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "exists already. --force replaces it." in refused.stderr
    assert target.read_text(encoding="utf-8") == "mine"
    assert run_cli("calibrate", pairs, "--write", target, "--force", **OFF).returncode == 0
    assert target.read_text(encoding="utf-8") == text


def test_with_nothing_to_change_nothing_is_written(
    run_cli: RunCli, pairs: Path, tmp_path: Path
) -> None:
    fitted = json.loads(run_cli("calibrate", pairs, "--json", **OFF).stdout)["changes"]
    good = {f"DRIFTGUARD_{name.upper()}": str(value) for name, value in fitted.items()}
    done = run_cli("calibrate", pairs, "--write", tmp_path / "fitted.env", **good)
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert "nothing to change" in line
    assert not (tmp_path / "fitted.env").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("few.jsonl",), "too few pairs"),
        (("absent.jsonl",), "no such file"),
        (("pairs.jsonl", "--max-false-alarms", "2"), "must be from 0 to 1"),
        (("pairs.jsonl", "--format", "otel"), "--format 'otel' is unknown"),
        (("pairs.jsonl", "--write", "no/such/folder.env"), "there is no such folder"),
        (("pairs.jsonl", "--write", "."), "that is a folder"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    run_cli: RunCli, pairs: Path, arguments: tuple[str, ...], said: str
) -> None:
    first = pairs.read_text(encoding="utf-8").splitlines()[:8]
    pairs.with_name("few.jsonl").write_text("\n".join(first), encoding="utf-8")
    done = run_cli("calibrate", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert said in line
