"""What the report page of a large memory costs: `python benchmarks/report_page.py [EPISODES]`.

Fills a SQLite memory, writes its page, and opens it in headless Chromium. Prints the seconds to
read the memory and to write the page, its size, the seconds until the page is loaded and its
search is ready (median of several fresh opens), and the seconds of one search. Texts are about
as long as those of real traces, and of every tenth episode longer than the page holds.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.records import Placed, Placement, Vector
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from driftguard_langgraph.pages import collect_report
from driftguard_langgraph.pages.document import document
from driftguard_langgraph.testing.samples import NOON, SPACE, SeededEmbedder, episode, vector

EPISODES = 10_000
OPENS = 7
READY = "() => document.getElementById('found').textContent.endsWith('episodes')"
CHROMIUM = "/usr/bin/chromium"
WORDS = "copy the table of last month to the archive and tell whoever asked for it when it is done "


def _fill(store: BaseMemoryStore, count: int) -> None:
    known: dict[str, Vector] = {}

    def placed(text: str, node: str) -> Placed:
        created = node not in known
        return Placed(text, node, known.setdefault(text, vector(text)), created)

    with store.exclusive():
        for number in range(count):
            more = WORDS * (30 if number % 10 == 0 else 1)
            one = episode(
                f"e{number}",
                f"step {number}: {more}",
                f"error {number % 700}: {more}",
                f"and so it ended {number % 90}",
                kind="mistake" if number % 3 else "success",
                created_at=NOON + timedelta(minutes=7 * number),
            )
            texts = one.action.text, one.feedback, one.outcome
            nodes = f"step {number % 500}", f"error {number % 700}", f"end {number % 90}"
            store.append(one, Placement(*map(placed, texts, nodes)), SPACE)


def _opened(browser: Browser, page: Path) -> tuple[float, float]:
    """Return the seconds until the search is ready, and those of one search."""
    with browser.new_context() as context:
        tab = context.new_page()
        began = time.perf_counter()
        tab.goto(page.as_uri())
        tab.wait_for_function(READY)
        ready = time.perf_counter() - began
        took = tab.evaluate(
            """async () => {
                const input = document.getElementById("query");
                const began = performance.now();
                input.value = "step 77 archive";
                input.dispatchEvent(new Event("input"));
                const found = document.getElementById("found");
                const before = found.textContent;
                while (found.textContent === before) await new Promise(requestAnimationFrame);
                return performance.now() - began;
            }"""
        )
        return ready, took / 1e3


def main() -> None:
    """Measure and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else EPISODES
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        with SqliteMemoryStore.open(Path(folder) / "memory.sqlite3") as store:
            _fill(store, count)
            began = time.perf_counter()
            report = collect_report(DriftGuard(store=store, embeddings=SeededEmbedder()))
            read = time.perf_counter()
            page.write_text(document(report), encoding="utf-8")
            written = time.perf_counter()
        size = page.stat().st_size / 1e6
        print(f"{count:,} episodes: {size:.2f} MB")
        print(f"read {read - began:.2f} s, written {written - read:.2f} s")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=CHROMIUM if Path(CHROMIUM).exists() else None,
                args=["--no-sandbox"],
            )
            opens = [_opened(browser, page) for _ in range(OPENS)]
            browser.close()
        ready, searched = (statistics.median(each) for each in zip(*opens, strict=True))
        slowest = max(first for first, _ in opens)
        print(f"ready in {ready:.2f} s (slowest {slowest:.2f} s), a search {searched:.2f} s")


if __name__ == "__main__":
    main()
