from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.memory.stores.json_store import JsonMemoryStore
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from driftguard_langgraph.pages import collect_report, render_report, write_report
from driftguard_langgraph.pages.document import document
from driftguard_langgraph.testing.samples import NOON, append, episode
from tests.conformance.stores import BACKENDS
from tests.report_samples import HOSTILE, fill, guard_over, warn_often


@pytest.fixture
def guard() -> DriftGuard:
    return guard_over(EphemeralMemoryStore())


class Balanced(HTMLParser):
    """Fails on an element that is not closed where it was opened; keeps ids and references."""

    VOID = frozenset({"meta", "input", "br", "rect", "line", "polyline"})

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.ids: list[str] = []
        self.named: set[str] = set()
        self._open: list[str] = []
        self.feed(source)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in self.VOID:
            self._open.append(tag)
        for name, value in attrs:
            assert not name.startswith("on")
            assert name not in {"style", "src"}
            if name == "id":
                self.ids.append(value or "")
            if name == "aria-labelledby":
                self.named |= set((value or "").split())

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag


@pytest.fixture(params=list(BACKENDS))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BaseMemoryStore]:
    with BACKENDS[request.param](tmp_path) as opened:
        yield opened


def test_every_backend_says_the_same(store: BaseMemoryStore) -> None:
    reference = guard_over(EphemeralMemoryStore())
    for guard in (reference, guard_over(store)):
        warn_often(guard)
        guard.record("مسح", "<b>", "😀", created_at=NOON, namespace=("ann",), episode_id="a")
    found, expected = (collect_report(each, now=NOON) for each in (guard_over(store), reference))
    assert found["memory"].pop("where") == store.location()
    expected["memory"].pop("where")
    for told in (found, expected):
        for each in (*told["episodes"]["rows"], *told["warnings"]["shown"]):
            each.pop("episode_id", None)
            each.pop("review_id", None)
        for each in told["mistakes"]["chains"]:
            assert each.pop("last_used")
    assert found == expected
    assert found["memory"]["others"] == {"count": 1, "names": [["ann"]]}


def test_the_overview_counts_what_there_is(guard: DriftGuard) -> None:
    for number in range(4):
        append(guard.store, episode(f"e{number}", created_at=NOON))
    append(guard.store, episode("ok", "look first", "fine", "kept", kind="success"))
    report = collect_report(guard)
    memory = report["memory"]
    assert {key: memory[key] for key in guard.stats()} == guard.stats()
    # 15 texts on 6 nodes.
    assert memory["merge_ratio"] == 0.6
    assert memory["embedding_model"] == "made-up"
    assert memory["first_seen"] == memory["last_seen"] == "2026-03-01T12:00:00+00:00"
    page = render_report(guard)
    assert "<dt>episodes</dt><dd>5</dd>" in page
    assert "<dt>merged</dt><dd>60%</dd>" in page


def test_the_report_is_plain_json(guard: DriftGuard) -> None:
    warn_often(guard)
    report = collect_report(guard)
    assert json.loads(json.dumps(report)) == report


def test_worth_is_that_of_the_guard() -> None:
    guard = guard_over(EphemeralMemoryStore(), holdout=0.3, holdout_seed=3)
    warn_often(guard, 30)
    worth = guard.worth()
    assert collect_report(guard)["worth"] == worth.to_dict()
    assert worth.lift is not None
    assert f"<strong>{100 * worth.lift:.1f} points fewer</strong>" in render_report(guard)


def test_a_holdout_that_fared_better_is_said_in_words(guard: DriftGuard) -> None:
    warn_often(guard)
    report = collect_report(guard)
    report["worth"] |= {"lift": -0.125, "interval": [-0.3, 0.1]}
    assert "<strong>12.5 points more</strong> failures where warned" in document(report)


def test_other_namespaces_are_named_only_to_whoever_asks_for_no_special_one() -> None:
    guard = guard_over(EphemeralMemoryStore())
    guard.record("a", "b", "c", namespace=("acme", "ann"))
    guard.record("a", "b", "c", namespace=("acme", "bob"))
    assert "acme/bob" in render_report(guard)
    page = render_report(guard, namespace=("acme", "ann"))
    assert "acme/ann" in page
    assert "bob" not in page


def test_an_empty_namespace_points_to_the_others(guard: DriftGuard) -> None:
    guard.record("a", "b", "c", namespace=("ann",))
    page = render_report(guard)
    assert "Nothing is remembered in this namespace" in page
    assert "driftguard report --namespace NAME" in page


@pytest.mark.parametrize("filled", [True, False], ids=["full", "empty"])
def test_the_page_is_well_formed_and_loads_nothing(guard: DriftGuard, filled: bool) -> None:
    if filled:
        warn_often(guard, 3, step=HOSTILE)
        fill(guard.store, 80, text=HOSTILE)
    source = render_report(guard)
    page = Balanced(source)
    assert len(page.ids) == len(set(page.ids))
    assert page.named <= set(page.ids)
    assert not {"img", "link", "iframe", "form", "object", "base"} & page.tags
    # Twice: the data that cannot run, and the script of the page.
    assert source.count("<script") == (2 if filled else 1)
    assert "\u202e" not in source
    assert "\x1b" not in source


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_sqlite_file_is_the_same_byte_by_byte_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite3"
    with SqliteMemoryStore.open(path) as store:
        warn_often(guard_over(store))
    before = digest(path)
    with SqliteMemoryStore.open(path) as store:
        write_report(guard_over(store), tmp_path / "page.html")
    assert digest(path) == before


def test_a_json_file_is_the_same_byte_by_byte_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "memory.json"
    with JsonMemoryStore.open(path) as store:
        warn_often(guard_over(store))
    before = digest(path)
    with JsonMemoryStore.open(path) as store:
        write_report(guard_over(store), tmp_path / "page.html")
    assert digest(path) == before


def test_the_file_is_for_its_owner_only_and_written_whole(
    guard: DriftGuard, tmp_path: Path
) -> None:
    path = write_report(guard, str(tmp_path / "page.html"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text(encoding="utf-8").endswith("</html>\n")
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]


def test_a_file_that_is_there_is_replaced_only_on_demand(guard: DriftGuard, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="force=True"):
        write_report(guard, path)
    assert path.read_text(encoding="utf-8") == "mine"
    write_report(guard, path, force=True)
    assert "What the guard remembers" in path.read_text(encoding="utf-8")


def test_what_fails_half_way_leaves_the_old_page(
    guard: DriftGuard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "page.html"
    path.write_text("old", encoding="utf-8")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConfigurationError, match="No space left"):
        write_report(guard, path, force=True)
    assert path.read_text(encoding="utf-8") == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize("target", ["", "nowhere/page.html"])
def test_a_place_where_nothing_can_be_written_is_refused_first(tmp_path: Path, target: str) -> None:
    class Untouched(EphemeralMemoryStore):
        def paths(self, *_: Any, **__: Any) -> Any:
            raise AssertionError("the memory was read in vain")

    with pytest.raises(ConfigurationError):
        write_report(guard_over(Untouched()), tmp_path / target, force=True)


def test_progress_counts_the_episodes(guard: DriftGuard) -> None:
    fill(guard.store, 7)
    told: list[tuple[str, int, int]] = []
    render_report(guard, progress=lambda *step: told.append(step))
    assert told == [("episodes", number, 7) for number in range(1, 8)]
