from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.evaluation.calibration import calibrate
from driftguard_langgraph.evaluation.fit_pairs import judge
from driftguard_langgraph.evaluation.fit_runs import CANDIDATES as RUN_CANDIDATES
from driftguard_langgraph.evaluation.fits import MERGE, WARN
from driftguard_langgraph.evaluation.pairs import as_pair
from driftguard_langgraph.evaluation.splitting import split
from driftguard_langgraph.evaluation.thresholds import (
    CANDIDATES,
    Judged,
    agreement,
    best_threshold,
)
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.settings import DriftGuardSettings

THINGS = (
    "roses tulips hedge lawn pond greenhouse shed fence gate path compost apple pear cherry "
    "herbs beans carrots onions pumpkin strawberries lavender ivy moss bench fountain hose "
    "rake barrow statue terrace steps wall arbour trellis orchard meadow nursery cellar roof attic"
).split()
WORDS_FOR_IT = (
    ("clean the {}", "clean up the {}"),
    ("take a photo of the {}", "photograph the {}"),
)


def pair_entries() -> list[dict[str, Any]]:
    entries = []
    for number, thing in enumerate(THINGS):
        for first, second in WORDS_FOR_IT:
            same = {"text_a": first.format(thing), "text_b": second.format(thing), "same": True}
            other = THINGS[(number + 7) % len(THINGS)]
            different = {**same, "text_b": second.format(other), "same": False}
            entries += [{**same, "group": thing}, {**different, "group": thing}]
    return entries


def run_entries(streams: int = 60) -> list[dict[str, Any]]:
    """Runs in which each thing fails twice in the same words, between steps that work."""
    entries = []
    for number in range(streams):
        thing = THINGS[number % len(THINGS)]
        for action, failed in (
            (f"water the {thing} at noon", True),
            (f"paint a picture of the {thing}", False),
            (f"water the {thing} at noon", True),
            (f"sell tickets for visitors of the {thing}", False),
            (f"measure how tall the {thing} is", False),
        ):
            entries.append(
                {
                    "stream_id": f"day {number}",
                    "action_text": action,
                    "is_error": failed,
                    "observation_text": "leaves burnt" if failed else "done",
                }
            )
    return entries


def written(folder: Path, name: str, entries: list[dict[str, Any]]) -> Path:
    path = folder / name
    path.write_text("\n".join(map(json.dumps, entries)), encoding="utf-8")
    return path


def test_a_threshold_that_is_far_off_is_brought_back(tmp_path: Path) -> None:
    path = written(tmp_path, "pairs.jsonl", pair_entries())
    off = DriftGuardSettings(retrieval_min_similarity=0.99, similarity_threshold_action=0.99)
    result = calibrate([path], settings=off)
    warn, merge = result.fits
    assert (warn.setting, merge.setting) == (WARN, MERGE)
    assert warn.new < 0.99
    assert merge.new >= warn.new
    assert (warn.after["balanced_accuracy"] or 0) > (warn.before["balanced_accuracy"] or 1)
    assert warn.fitted_on + warn.measured_on == len(pair_entries())
    tried = [point["threshold"] for point in warn.curve]
    assert tried == sorted({*CANDIDATES, 0.99})
    recalls = [point["recall"] or 0.0 for point in warn.curve]
    assert recalls == sorted(recalls, reverse=True)
    assert result.to_dict()["fits"][0]["curve"] == [dict(point) for point in warn.curve]


def test_the_figures_are_those_of_the_guard_on_the_part_held_out(tmp_path: Path) -> None:
    entries = pair_entries()
    pairs = [as_pair(entry, "") for entry in entries]
    settings = DriftGuardSettings(retrieval_min_similarity=0.97)
    result = calibrate([written(tmp_path, "pairs.jsonl", entries)], settings=settings, seed=3)
    _, held_out = split(pairs, lambda pair: pair.group, 3)
    fit = result.fits[0]
    for threshold, figures in ((0.97, fit.before), (fit.fitted, fit.after)):
        chosen = settings.model_copy(update={"retrieval_min_similarity": threshold})
        guard = DriftGuard(store=EphemeralMemoryStore(), settings=chosen)
        found = [(pair.same, guard.compare(pair.left, pair.right).same) for pair in held_out]
        same = [matched for label, matched in found if label]
        other = [matched for label, matched in found if not label]
        assert figures["recall"] == round(sum(same) / len(same), 4)
        assert figures["wrongly_matched"] == round(sum(other) / len(other), 4)


@pytest.mark.parametrize("threshold", [0.30, 0.50, 0.62, 0.76, 0.90])
def test_a_pair_is_judged_once_for_all_thresholds(threshold: float) -> None:
    pairs = [as_pair(entry, "") for entry in pair_entries()[:60]]
    judged = judge(pairs, DriftGuardSettings(), None, lambda *args: None)
    guard = DriftGuard(
        store=EphemeralMemoryStore(),
        settings=DriftGuardSettings(retrieval_min_similarity=threshold),
    )
    expected = [guard.compare(pair.left, pair.right).same for pair in pairs]
    assert [each.up_to >= threshold for each in judged] == expected


def test_good_thresholds_are_left_alone(tmp_path: Path) -> None:
    result = calibrate([written(tmp_path, "runs.jsonl", run_entries())])
    [fit] = result.fits
    assert fit.basis == "runs"
    assert fit.before["recall"] == 1.0
    assert [point["threshold"] for point in fit.curve] == sorted({*RUN_CANDIDATES, fit.old})
    assert result.changes == {}
    assert fit.verdict == "keep: no threshold is better by more than chance"


def test_a_budget_that_nothing_meets_changes_nothing(tmp_path: Path) -> None:
    entries = run_entries()
    alarms = [{**entry, "is_error": False} for entry in entries if entry["is_error"]]
    path = written(tmp_path, "runs.jsonl", entries + alarms)
    [fit] = calibrate([path], max_false_alarms=0.0).fits
    assert fit.fitted is None
    assert fit.new == fit.old
    assert fit.verdict.startswith("keep: no threshold stays within the budget")


def test_runs_decide_about_warning_and_pairs_about_merging(tmp_path: Path) -> None:
    paths = [
        written(tmp_path, "runs.jsonl", run_entries()),
        written(tmp_path, "pairs.jsonl", pair_entries()),
    ]
    fits = calibrate(paths).fits
    assert [(fit.setting, fit.basis) for fit in fits] == [(WARN, "runs"), (MERGE, "pairs")]


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        (pair_entries()[:30], "too few pairs: the part to be fitted holds"),
        (run_entries(5), "too few runs: the part to be held out holds"),
        ([{"messages": []}], "nothing to fit"),
    ],
)
def test_too_little_to_fit_is_said(
    entries: list[dict[str, Any]], problem: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        calibrate([written(tmp_path, "data.jsonl", entries)])


def test_a_budget_out_of_range_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="--max-false-alarms 3: must be from 0 to 1"):
        calibrate([tmp_path], max_false_alarms=3)


def test_the_written_lines_are_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "pairs.jsonl", pair_entries())
    result = calibrate([path], settings=DriftGuardSettings(retrieval_min_similarity=0.99))
    comment, *lines = result.env_lines().splitlines()
    assert comment.startswith("# ")
    for line in lines:
        name, value = line.split("=")
        monkeypatch.setenv(name, value)
    assert DriftGuardSettings().retrieval_min_similarity == result.changes[WARN]


def test_groups_stay_together_and_the_seed_decides() -> None:
    items = [(group, number) for number in range(3) for group in "abcdefghij"]
    parts = {seed: split(items, lambda item: item[0], seed) for seed in (1, 2)}
    for fitted, held_out in parts.values():
        assert not {group for group, _ in fitted} & {group for group, _ in held_out}
        assert len(held_out) == 12
    assert parts[1] != parts[2]
    assert split(items, lambda item: item[0], 1) == parts[1]


def test_noise_does_not_move_a_threshold() -> None:
    near = [Judged(True, 0.70), Judged(False, 0.40)] * 30
    one_off = [*near, Judged(True, 0.55)]
    assert best_threshold(one_off, present=0.60) == 0.60
    assert best_threshold(one_off, present=0.20) == pytest.approx(0.42)
    assert best_threshold(one_off, present=0.60, lowest=0.66) == 0.66


def test_agreement_counts_at_a_threshold() -> None:
    judged = [Judged(True, math.inf), Judged(True, 0.5), Judged(False, 0.6), Judged(False, -1.0)]
    found = agreement(judged, 0.55)
    assert (found.matched, found.wrong) == (1, 1)
    assert found.balanced_accuracy == 0.5
