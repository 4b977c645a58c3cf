from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest

from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.html.page import inert_json
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.pages import collect_report, episode_section
from driftguard_langgraph.pages import episodes as walking
from driftguard_langgraph.pages.document import document
from driftguard_langgraph.pages.episode_section import episodes
from driftguard_langgraph.pages.texts import CHARS, bounded
from driftguard_langgraph.testing.samples import NOON, append, episode
from tests.report_samples import OTHER, STEP, fill, guard_over


@pytest.fixture
def guard() -> DriftGuard:
    return guard_over(EphemeralMemoryStore())


def data_of(section: str) -> dict[str, Any]:
    block = re.search(r'id="data">(.*?)</script>', section)
    assert block is not None
    data: dict[str, Any] = json.loads(block[1])
    return data


@pytest.mark.parametrize(
    ("settings", "heeds", "fails", "arm", "words"),
    [
        ({}, True, False, "shown", "heeded: another step ran, and worked"),
        ({}, True, True, "shown", "heeded: another step ran, and failed"),
        ({}, False, False, "shown", "overridden: it ran, and worked"),
        ({}, False, True, "shown", "overridden: it ran, and failed"),
        ({"holdout": 1.0}, False, False, "withheld", "kept silent: it ran, and worked"),
        ({"holdout": 1.0}, False, True, "withheld", "kept silent: it ran, and failed"),
    ],
)
def test_what_became_of_a_warning_is_told(
    settings: dict[str, Any], heeds: bool, fails: bool, arm: str, words: str
) -> None:
    guard = guard_over(EphemeralMemoryStore(), **settings)
    guard.record(STEP, "denied", "lost")
    review = guard.review(STEP, thread_id="t")
    keep = guard.record if fails else guard.record_success
    told: dict[str, Any] = {"instead_of": review} if heeds else {"review": review}
    keep(OTHER if heeds else STEP, "it said", "so", provenance={"thread_id": "t"}, **told)
    report = collect_report(guard)
    assert report["warnings"]["count"] == 1
    [warning] = report["warnings"]["shown"]
    assert warning["arm"] == arm
    assert warning["warned_of"] == STEP
    assert warning["failed_with"] == "denied"
    assert warning["ran"] == (OTHER if heeds else STEP)
    assert warning["came_back"] == "it said"
    assert warning["thread"] == "t"
    assert words in document(report)


def test_a_warning_of_something_forgotten_says_so(guard: DriftGuard) -> None:
    receipt = guard.record(STEP, "denied", "lost")
    review = guard.review(STEP)
    guard.record_success(OTHER, "ok", "kept", instead_of=review)
    guard.forget(receipt["episode_id"])
    report = collect_report(guard)
    assert report["warnings"]["shown"][0]["warned_of"] is None
    assert "a failure that is forgotten since" in document(report)


def test_warnings_come_newest_first_and_the_oldest_are_counted(
    guard: DriftGuard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walking, "WARNINGS", 3)
    guard.record(STEP, "denied", "lost", created_at=NOON)
    for number in range(5):
        at = NOON + timedelta(days=number)
        guard.record(STEP, "denied", "lost", review=guard.review(STEP), created_at=at)
    report = collect_report(guard)
    days = [warning["at"][:10] for warning in report["warnings"]["shown"]]
    assert days == ["2026-03-05", "2026-03-04", "2026-03-03"]
    assert "The newest 3 of 5 settled warnings" in document(report)


def test_only_the_newest_episodes_are_listed(
    guard: DriftGuard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walking, "LISTED", 4)
    fill(guard.store, 6)
    report = collect_report(guard)
    listed = [row["action"].strip() for row in report["episodes"]["rows"]]
    assert listed == [f"step {number} of the plan" for number in (5, 4, 3, 2)]
    page = document(report)
    assert "The newest 4 of 6 episodes" in page
    assert len(data_of(page)["rows"]) == 4


def row(number: int, text: str, whole: int | None = None) -> dict[str, Any]:
    names = ("action", "feedback", "outcome")
    told = {name: bounded(f"{number} {name} {text}") for name in names}
    lengths = dict.fromkeys(names, whole or len(f"{number} action {text}"))
    return {"at": "2026-03-01T12:00:00+00:00", "kind": "mistake", **told, "characters": lengths}


def test_texts_are_shortened_together_until_the_data_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(episode_section, "BUDGET", 100_000)
    rows = [row(number, "x" * 5_000) for number in range(200)]
    section = episodes({"count": 200, "rows": rows}).body
    data = data_of(section)
    assert len(data["rows"]) == 200
    [limit] = re.findall(r"up to (\d+) characters", section)
    assert 40 <= int(limit) < CHARS
    longest = max(data["texts"], key=len)
    kept, cut = longest.split("… (+")
    assert len(kept) == int(limit)
    assert int(cut.removesuffix(" characters)").replace(",", "")) + len(kept) > 5_000


def test_where_even_short_texts_do_not_fit_fewer_episodes_are_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(episode_section, "BUDGET", 100_000)
    rows = [row(number, "\U000e0041" * 400) for number in range(300)]
    section = episodes({"count": 300, "rows": rows}).body
    data = data_of(section)
    assert len(data["rows"]) == 75
    assert "The newest 75 of 300 episodes. Texts are held up to 40 characters" in section
    assert len(inert_json(data).encode()) <= 100_000


def test_a_text_that_comes_often_is_held_once(guard: DriftGuard) -> None:
    for number in range(50):
        append(guard.store, episode(f"e{number}", "the same", "the same", "and so on"))
    assert data_of(document(collect_report(guard)))["texts"] == ["the same", "and so on"]


def test_of_a_long_text_the_page_says_how_much_was_cut() -> None:
    assert bounded("x" * CHARS) == "x" * CHARS
    assert bounded("x" * 1_000_000) == "x" * CHARS + "… (+999,600 characters)"
    # Cut again, it still counts from the whole.
    assert bounded(bounded("x" * 1_000), 100, 1_000) == "x" * 100 + "… (+900 characters)"
