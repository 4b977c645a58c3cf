"""What every test gets: no access to the user's memory, and a watch on the event loop."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from blockbuster import BlockBuster, blockbuster_ctx

SHARED_DATA = Path(__file__).resolve().parents[1] / "../shared/data"
"""Real traces and labelled sets, beside the checkout; not part of the repository."""


@pytest.fixture(autouse=True)
def user_data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test, and every process it starts, an empty user data directory.

    Returns:
        The database file that the default settings now name.
    """
    for name in list(os.environ):
        if name.upper().startswith("DRIFTGUARD_"):
            monkeypatch.delenv(name)
    # What a command prints is wrapped at the width of the terminal.
    monkeypatch.setenv("COLUMNS", "120")
    database = tmp_path / "user-data" / "memory.sqlite3"
    monkeypatch.setenv("DRIFTGUARD_SQLITE_FILEPATH", str(database))
    monkeypatch.setenv("DRIFTGUARD_JSON_FILEPATH", str(database.with_suffix(".json")))
    return database


@pytest.fixture(autouse=True)
def _blocking_calls_raise() -> Iterator[BlockBuster]:
    """Let a blocking call of this package inside a running event loop raise BlockingError."""
    with blockbuster_ctx("driftguard_langgraph") as detector:
        yield detector


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real traces beside the checkout; the test is skipped without it."""
    if not SHARED_DATA.is_dir():
        pytest.skip("real traces are not part of the repository: ../shared/data is absent")
    return SHARED_DATA.resolve()
