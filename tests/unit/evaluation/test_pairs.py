from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from driftguard_langgraph.errors import ConfigurationError, InvalidEpisode
from driftguard_langgraph.evaluation.pair_scores import Decision, TierScores
from driftguard_langgraph.evaluation.pairs import ALWAYS, NEAR, read_pairs, score_pairs
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore


def pair(a: Any, b: Any, same: bool, **more: Any) -> dict[str, Any]:
    return {"text_a": a, "text_b": b, "same": same, **more}


PAIRS = [
    pair("lock the garden gate", "close and lock the gate of the garden", True, kind="wording"),
    pair("lock the garden gate", "Lock the garden gate.", True, kind="spelling"),
    pair("feed the cat in the morning", "give the cat its breakfast", True, kind="wording"),
    pair("lock the garden gate", "unlock the garden gate", False, kind="opposite"),
    pair("order 3 bags of soil", "order 30 bags of soil", False, kind="number"),
    pair("feed the cat", "rake the leaves", False, kind="other"),
    pair(
        {"name": "sow", "args": {"bed": 1}}, {"name": "sow", "args": {"bed": 2}}, False, kind="call"
    ),
    pair("prune the apple tree", "cut back the apple tree", True, tier="stress"),
    pair("prune the apple tree", "fell the apple tree", False, tier="stress"),
]


def written(folder: Path, *entries: Any) -> Path:
    path = folder / "pairs.jsonl"
    path.write_text("\n".join(map(json.dumps, entries)), encoding="utf-8")
    return path


def counted(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Count as the definitions have it, with a guard of its own and nothing of the package."""
    guard = DriftGuard(store=EphemeralMemoryStore())
    result = {}
    for tier in {row.get("tier", "core") for row in rows}:
        chosen = [row for row in rows if row.get("tier", "core") == tier]
        found = [(row, guard.compare(row["text_a"], row["text_b"])) for row in chosen]
        same = [match for row, match in found if row["same"]]
        other = [match for row, match in found if not row["same"]]
        wins = sum((a.score > b.score) + 0.5 * (a.score == b.score) for a in same for b in other)
        recall = sum(match.same for match in same) / len(same)
        wrong = sum(match.same for match in other) / len(other)
        kinds = defaultdict(list)
        for row, match in found:
            label = "same" if row["same"] else "other"
            kinds[f"{label} {row.get('kind', 'unnamed')}"].append(match.same)
        result[tier] = {
            "n": len(chosen),
            "auc": round(wins / (len(same) * len(other)), 4),
            "recall": round(recall, 4),
            "wrongly_matched": round(wrong, 4),
            "balanced_accuracy": round((recall + 1 - wrong) / 2, 4),
            "matched_share": {k: round(sum(v) / len(v), 4) for k, v in kinds.items()},
        }
    return result


def without_baselines(tiers: dict[str, Any]) -> dict[str, Any]:
    return {
        name: {key: value for key, value in tier.items() if key != "baselines"}
        for name, tier in tiers.items()
    }


def test_every_figure_is_that_of_an_independent_count(tmp_path: Path) -> None:
    result = score_pairs(written(tmp_path, *PAIRS)).to_dict()
    assert without_baselines(result["tiers"]) == counted(PAIRS)
    assert list(result["tiers"]) == ["core", "stress"]


def test_real_pairs_are_counted_as_an_independent_count_does(
    shared_data: Path, tmp_path: Path
) -> None:
    source = shared_data / "dev" / "action_pairs.jsonl"
    rows = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    some = rows[:: len(rows) // 200]
    result = score_pairs(written(tmp_path, *some)).to_dict()
    assert without_baselines(result["tiers"]) == counted(some)
    assert sum(tier["n"] for tier in result["tiers"].values()) >= 200


def test_the_baselines_decide_by_their_one_rule(tmp_path: Path) -> None:
    core = score_pairs(written(tmp_path, *PAIRS)).tiers["core"]
    assert (core.recall(ALWAYS), core.wrongly_matched(ALWAYS), core.auc(ALWAYS)) == (1, 1, 0.5)
    assert core.balanced_accuracy(ALWAYS) == 0.5
    assert core.matched_share("same text")["same spelling"] == 1.0
    assert core.recall("same text") == pytest.approx(1 / 3)
    assert core.matched_share(NEAR)["other opposite"] == 1.0


def test_a_tier_with_one_label_has_no_ranking() -> None:
    scores = TierScores()
    scores.add(True, "k", {"driftguard": Decision(0.9, same=True)})
    assert scores.figures() == {
        "auc": None,
        "recall": 1.0,
        "wrongly_matched": None,
        "balanced_accuracy": None,
    }


def test_progress_ends_at_the_number_of_pairs(tmp_path: Path) -> None:
    path = written(tmp_path, *PAIRS)
    last: dict[str, tuple[int, int]] = {}
    score_pairs(path, progress=lambda phase, done, total: last.update({phase: (done, total)}))
    size = path.stat().st_size
    assert last == {"reading": (size, size), "comparing": (len(PAIRS), len(PAIRS))}


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ({"text_a": "x", "text_b": "y"}, "a pair needs text_a, text_b, and 'same'"),
        (pair("x", 3, True), "'text_b' must be words, or a tool call"),
        ([1], "a pair needs"),
        (pair("x", " ", True), "line 2: action must not be empty"),
        (pair("x", {"name": "f"}, True), "line 2: a tool call needs"),
    ],
)
def test_what_is_no_pair_is_refused_with_its_line(bad: Any, problem: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidEpisode, match=problem) as error:
        score_pairs(written(tmp_path, PAIRS[0], bad))
    assert "line 2" in str(error.value)


def test_an_empty_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="holds no pair"):
        read_pairs(written(tmp_path))
