"""A headless Chromium for tests, in a thread of its own.

Playwright's synchronous interface keeps an event loop running in its thread, which tests that
start a loop of their own would run into.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Playwright

REQUIRED = "REQUIRE_BROWSER"
"""Set to 1 where a test must fail, not be skipped, for want of a browser."""

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

Answer = TypeVar("Answer")


class Noise:
    """What a page did that it must not do: dialogs, errors on the console, and requests."""

    def __init__(self, page: Page) -> None:
        self.heard: list[str] = []
        page.on("dialog", self._dialog)
        page.on("console", lambda message: self.heard.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.heard.append(f"error: {error}"))
        page.on("request", lambda request: self._request(request.url))

    def _dialog(self, dialog: Any) -> None:
        self.heard.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, url: str) -> None:
        if not url.startswith("file:"):
            self.heard.append(f"request: {url}")


class Chromium:
    """Opens pages in the browser's thread."""

    def __init__(self, thread: ThreadPoolExecutor, browser: Browser) -> None:
        self._thread = thread
        self._browser = browser

    def look(self, file: Path, visit: Callable[[Page], Answer], **context: Any) -> Answer:
        """Open a file, do what `visit` does with the page, and return what that returned.

        Args:
            file: The page.
            visit: What to do; it runs in the browser's thread.
            **context: Of the browser context, for example `color_scheme="dark"`.

        Raises:
            AssertionError: The page made a noise; see `Noise`.
        """
        return self._thread.submit(self._look, file, visit, context).result()

    def _look(self, file: Path, visit: Callable[[Page], Answer], context: dict[str, Any]) -> Answer:
        with self._browser.new_context(**context) as opened:
            page = opened.new_page()
            noise = Noise(page)
            page.goto(file.absolute().as_uri())
            answer = visit(page)
            assert noise.heard == []
            return answer


@contextmanager
def chromium() -> Iterator[Chromium]:
    """Start the browser; skip the test, or fail where one is required, if there is none."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("playwright is not installed")
    with ThreadPoolExecutor(1, "chromium") as thread:
        playwright: Playwright = thread.submit(lambda: sync_playwright().start()).result()
        try:
            browser = thread.submit(_launched, playwright).result()
            try:
                yield Chromium(thread, browser)
            finally:
                thread.submit(browser.close).result()
        finally:
            thread.submit(playwright.stop).result()


def _launched(playwright: Playwright) -> Browser:
    from playwright.sync_api import Error

    system = next(filter(None, map(shutil.which, _NAMES)), None)
    try:
        return playwright.chromium.launch(executable_path=system, args=["--no-sandbox"])
    except Error as error:
        _missing(str(error).splitlines()[0])


def _missing(why: str) -> NoReturn:
    told = f"no Chromium to look at pages with: {why}"
    if os.environ.get(REQUIRED) == "1":
        pytest.fail(told)
    pytest.skip(told)
