"""The topic score on real dialogues: a sample, as embedding all of them takes minutes."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.unit.drift.topic_samples import talk, topic

SAMPLE = 5

Arms = dict[str, list[tuple[dict[str, Any], list[float]]]]


@pytest.fixture(scope="module")
def arms(shared_data: Path) -> Arms:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in (shared_data / "dev" / "session_drift.jsonl").read_text().splitlines():
        session = json.loads(line)
        found[session["arm"]].append(session)
    return {
        arm: [
            (session, talk(topic(session["system_prompt"]), _exchanges(session)))
            for session in sessions[:: len(sessions) // SAMPLE][:SAMPLE]
        ]
        for arm, sessions in found.items()
    }


def _exchanges(session: dict[str, Any]) -> list[tuple[str, str]]:
    return [(turn["u"], turn["a"]) for turn in session["turns"]]


def _above(good: list[float], bad: list[float]) -> float:
    pairs = [(a > b) + 0.5 * (a == b) for a in good for b in bad]
    return sum(pairs) / len(pairs)


def test_sessions_on_purpose_stay_effective_and_end_fresh(arms: Arms) -> None:
    on = [*arms["on"], *arms["long"]]
    assert all(min(scores) >= 55 for _, scores in on)
    assert sum(scores[-1] >= 90 for _, scores in on) >= 0.8 * len(on)


def test_drifting_sessions_rank_below_sessions_on_purpose_at_the_same_turn(arms: Arms) -> None:
    last = range(10, 16)
    ranks = [
        _above([s[place] for _, s in arms["on"]], [s[place] for _, s in arms["drift"]])
        for place in last
    ]
    assert sum(ranks) / len(ranks) >= 0.95


def test_drift_is_found_within_two_turns_in_most_sessions(arms: Arms) -> None:
    found = [min(scores[8:11]) < 55 for _, scores in arms["drift"]]
    assert sum(found) * 2 > len(found)


def test_the_score_is_back_three_turns_after_an_excursion(arms: Arms) -> None:
    for session, scores in arms["return"]:
        last = max(place for place, turn in enumerate(session["turns"]) if turn["y"])
        assert max(scores[last + 1 : last + 4]) >= 75


def test_refusing_foreign_requests_is_no_drift(arms: Arms) -> None:
    assert all(min(scores) >= 55 for _, scores in arms["refuse"])
