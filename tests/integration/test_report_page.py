"""The report in a real browser: it is quiet, it can be searched, and everybody can read it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from driftguard_langgraph._files import write_text
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.pages import collect_report, write_report
from driftguard_langgraph.pages.document import document
from driftguard_langgraph.pages.texts import bounded, stamp
from driftguard_langgraph.testing.samples import NOON, append, episode
from tests.browser import Chromium, chromium
from tests.report_samples import (
    CORRUPTED,
    HOSTILE,
    fill,
    guard_over,
    messages,
    save_log,
    warn_often,
)

if TYPE_CHECKING:
    from playwright.sync_api import Page

MEGABYTE = 1_000_000
MANY = 10_000
UNCLEAN = " \x00 \ud800"


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reports")


def written(path: Path, store: BaseMemoryStore, *sessions: Path, **settings: Any) -> Path:
    return write_report(guard_over(store, **settings), path, sessions)


@pytest.fixture(scope="module")
def full(folder: Path) -> Path:
    """A page with something in every section."""
    store = EphemeralMemoryStore()
    fill(store, 60, since=NOON + timedelta(days=30))
    warn_often(guard_over(store, holdout=0.3, holdout_seed=3), 20)
    log = save_log(folder / "chat.jsonl", list(messages(*CORRUPTED)))
    return written(folder / "full.html", store, log)


@pytest.fixture(scope="module")
def empty(folder: Path) -> Path:
    return written(folder / "empty.html", EphemeralMemoryStore())


@pytest.fixture(scope="module")
def hostile(folder: Path) -> Path:
    """A page whose every recorded text wants to take it over."""
    store = EphemeralMemoryStore()
    guard = guard_over(store, holdout=0.3, holdout_seed=3)
    warn_often(guard, 6, step=HOSTILE)
    for number, text in enumerate((HOSTILE, "<b>" * (MEGABYTE // 3))):
        one = episode(f"e{number}", f"{number} {text}", f"{text} back", f"{text} end")
        append(store, replace(one, provenance={"thread_id": text}))
    log = save_log(folder / "<img src=x onerror=alert(5)>.jsonl", list(messages(*CORRUPTED)))
    report = collect_report(guard, [log])
    # No store keeps these; another's may.
    for name in ("action", "feedback", "outcome"):
        report["mistakes"]["chains"][0][name] += UNCLEAN
        report["episodes"]["rows"][0][name] += UNCLEAN
    [session] = report["sessions"]
    session["explanation"] = HOSTILE
    for anomaly in session["anomalies"]:
        anomaly |= {"said": HOSTILE, "against": HOSTILE, "rule": HOSTILE}
    file = folder / "hostile.html"
    write_text(file, document(report), "the page", force=False)
    return file


def axe_finds(page: Page) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found]


def unfold(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true })")


def search(page: Page, words: str) -> str:
    """Type into the search box and return what it says it found."""
    before = page.locator("#found").inner_text()
    page.get_by_label("Search the episodes").fill(words)
    page.wait_for_function(
        "before => document.getElementById('found').textContent !== before", arg=before
    )
    return page.locator("#found").inner_text()


@pytest.mark.parametrize(
    ("name", "scheme"),
    [("full", "light"), ("full", "dark"), ("empty", "dark"), ("hostile", "light")],
)
def test_axe_finds_nothing_to_mend(
    browser: Chromium, request: pytest.FixtureRequest, name: str, scheme: Any
) -> None:
    def visit(page: Page) -> list[str]:
        unfold(page)
        return axe_finds(page)

    file: Path = request.getfixturevalue(name)
    assert browser.look(file, visit, color_scheme=scheme) == []


def test_no_recorded_text_runs_loads_or_leaves_its_place(browser: Chromium, hostile: Path) -> None:
    def visit(page: Page) -> None:
        unfold(page)
        assert search(page, "onerror alert") == "6 of 9 episodes"
        page.locator("#listed bdi").first.hover()
        assert page.evaluate("window.hit") is None
        assert page.locator("img, iframe, object, [onerror], [onmouseover]").count() == 0
        assert page.locator("script").count() == 2
        for part in ("#mistakes", "#warnings", "#drift", "#listed"):
            assert "<script>window.hit='tag'" in page.locator(part).inner_text()
        shown = page.locator("main").inner_text()
        assert r"\u202eevil\u202c" in shown
        assert r"\x1b[31mred" in shown
        assert "\u202e" not in shown
        assert "\x1b" not in shown

    browser.look(hostile, visit)


def test_what_cannot_be_written_is_shown_as_an_escape(browser: Chromium, hostile: Path) -> None:
    def visit(page: Page) -> str:
        return page.locator("#mistakes").inner_text()

    shown = browser.look(hostile, visit)
    assert r"\x00 \ud800" in shown
    assert "… (+999,6" in shown
    assert hostile.stat().st_size < MEGABYTE // 2


def test_the_search_wants_every_word_and_says_how_many_it_found(
    browser: Chromium, full: Path
) -> None:
    def visit(page: Page) -> None:
        assert page.locator("#listed tbody tr").count() == 25
        everything = page.locator("#found").inner_text()
        assert everything == "81 of 81 episodes"
        assert search(page, "step LOST 7").endswith("of 81 episodes")
        marked = page.locator("#listed mark").all_inner_texts()
        assert {each.lower() for each in marked} == {"step", "lost", "7"}
        for row in page.locator("#listed tbody tr").all_inner_texts():
            assert all(word in row for word in ("step", "lost", "7"))
        assert search(page, "no such word anywhere") == "0 of 81 episodes"
        assert page.locator("#listed tbody tr").count() == 0

    browser.look(full, visit)


def test_the_list_has_pages_and_can_be_narrowed_and_turned_round(
    browser: Chromium, full: Path
) -> None:
    def visit(page: Page) -> None:
        newest = page.locator("#listed tbody tr").first.inner_text()
        page.get_by_role("button", name="Later page").click()
        page.get_by_role("button", name="Later page").click()
        page.get_by_role("button", name="Later page").click()
        assert page.locator("#listed tbody tr").count() == 81 - 3 * 25
        assert page.get_by_role("button", name="Later page").is_disabled()
        assert page.locator("#found").inner_text() == "Page 4 of 4"
        page.locator("#episodes").get_by_label("Order").select_option("Oldest first")
        assert page.locator("#listed tbody tr").first.inner_text() != newest
        page.locator("#episodes").get_by_label("Result").select_option("Worked")
        rows = page.locator("#listed tbody tr").all_inner_texts()
        assert rows
        assert all("worked" in row and "failed" not in row for row in rows)

    browser.look(full, visit)


def test_chains_can_be_put_in_another_order(browser: Chromium, full: Path) -> None:
    def visit(page: Page) -> tuple[list[str], list[str]]:
        cards = page.locator("#mistakes .card time")
        before = [str(each.get_attribute("datetime")) for each in cards.all()]
        page.locator("#mistakes").get_by_label("Order").select_option("Newest")
        return before, [str(each.get_attribute("datetime")) for each in cards.all()]

    before, after = browser.look(full, visit)
    assert before != after
    assert after == sorted(before, reverse=True)


def test_without_javascript_all_is_there_but_search_and_sorting(
    browser: Chromium, full: Path
) -> None:
    def visit(page: Page) -> None:
        assert page.get_by_text("Search and sorting need JavaScript").is_visible()
        assert page.get_by_label("Search the episodes").count() == 0
        assert page.locator("#listed tbody tr").count() == 25
        assert page.get_by_text("drop the orders table").first.is_visible()
        assert page.locator("#drift svg[role=img]").is_visible()
        page.get_by_label("Dark").check()

    browser.look(full, visit, java_script_enabled=False)


def test_all_of_it_can_be_reached_by_keyboard(browser: Chromium, full: Path) -> None:
    def visit(page: Page) -> None:
        page.keyboard.press("Tab")
        skip = page.locator(":focus")
        assert skip.inner_text() == "Skip to the content"
        box = skip.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        page.keyboard.press("Enter")
        assert page.locator(":focus").get_attribute("id") == "main"
        for _ in range(200):
            page.keyboard.press("Tab")
            focus = page.locator(":focus")
            style = focus.evaluate("(each) => getComputedStyle(each).outlineStyle")
            assert style != "none", focus.evaluate("(each) => each.outerHTML.slice(0, 200)")
            if focus.get_attribute("id") == "query":
                break
        page.keyboard.type("archive")
        page.locator("#listed mark").first.wait_for()
        rows = page.locator("#listed tbody tr").all_inner_texts()
        assert all("archive" in row for row in rows)
        assert page.locator("#found").inner_text() == f"{len(rows)} of 81 episodes"

    browser.look(full, visit)


def test_the_theme_follows_the_system_until_somebody_chooses(browser: Chromium, full: Path) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"

    def visit(page: Page) -> list[str]:
        seen = [str(page.evaluate(paper))]
        for theme in ("Light", "Dark", "System"):
            page.get_by_label(theme).check()
            seen.append(str(page.evaluate(paper)))
        return seen

    system, light, dark, again = browser.look(full, visit, color_scheme="dark")
    assert system == dark == again != light
    assert browser.look(full, lambda page: page.evaluate(paper), color_scheme="light") == light


@pytest.mark.parametrize("name", ["full", "hostile", "empty"])
def test_on_a_small_screen_nothing_is_cut_off(
    browser: Chromium, request: pytest.FixtureRequest, name: str
) -> None:
    def visit(page: Page) -> int:
        unfold(page)
        return int(page.evaluate("document.documentElement.scrollWidth"))

    file: Path = request.getfixturevalue(name)
    assert browser.look(file, visit, viewport={"width": 390, "height": 844}) == 390


def test_an_empty_memory_says_what_to_do_next(browser: Chromium, empty: Path) -> None:
    shown = browser.look(empty, lambda page: page.locator("main").inner_text())
    assert "Nothing is remembered yet" in shown
    assert "driftguard record" in shown
    assert "No warning is settled yet" in shown
    assert "driftguard report --session" in shown


def test_headings_go_down_one_step_at_a_time(browser: Chromium, full: Path) -> None:
    def visit(page: Page) -> list[str]:
        return [
            str(each.evaluate("(e) => e.tagName")) for each in page.locator(":is(h1,h2,h3)").all()
        ]

    levels = [int(name[1]) for name in browser.look(full, visit)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_ten_thousand_episodes_stay_under_five_megabytes_and_can_be_searched(
    browser: Chromium, folder: Path
) -> None:
    report = collect_report(guard_over(EphemeralMemoryStore()))
    texts = {name: bounded("é" * 500) for name in ("action", "feedback", "outcome")}
    report["episodes"] = {
        "count": MANY + 1,
        "rows": [
            {
                "at": stamp(NOON - timedelta(minutes=number)),
                "kind": "mistake" if number % 3 else "success",
                **{name: f"{name} {number} {text}" for name, text in texts.items()},
                "characters": dict.fromkeys(texts, 520),
            }
            for number in range(MANY)
        ],
    }
    page = document(report)
    assert len(page.encode()) < 5 * MEGABYTE
    assert "The newest 10,000 of 10,001 episodes" in page
    file = folder / "many.html"
    file.write_text(page, encoding="utf-8")

    def visit(page: Page) -> None:
        assert page.locator("#found").inner_text() == "10,000 of 10,000 episodes"
        assert search(page, "outcome 9999") == "1 of 10,000 episodes"
        page.get_by_label("Search the episodes").fill("")
        page.locator("#episodes").get_by_label("Order").select_option("Oldest first")
        assert "action 9999" in page.locator("#listed tbody tr").first.inner_text()

    browser.look(file, visit)
