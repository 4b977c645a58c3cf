"""What `doctor` finds when the memory is a JSON file."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftguard_langgraph.cli.checkup import Check, check_all
from driftguard_langgraph.memory.stores.json_store import JsonMemoryStore
from tests.memory_samples import append, episode


@pytest.fixture
def path(user_data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DRIFTGUARD_STORAGE_BACKEND", "json")
    return user_data_dir.with_suffix(".json")


def checks() -> dict[str, Check]:
    return {check.name: check for check in check_all(None)}


def test_a_sound_file_is_looked_at_and_not_changed(path: Path) -> None:
    with JsonMemoryStore.open(path) as store:
        append(store, episode())
    before = path.read_bytes()
    found = checks()
    assert str(path) in found["memory"].detail
    assert found["schema"].ok
    assert "namespaces: driftguard" in found["content"].detail
    assert path.read_bytes() == before


def test_a_damaged_file_is_reported_and_left_where_it_is(path: Path) -> None:
    with JsonMemoryStore.open(path) as store:
        append(store, episode())
    path.write_bytes(path.read_bytes()[:300])
    found = checks()
    assert not found["schema"].ok
    assert "is left as it is. Put a copy of it in its place" in found["schema"].detail
    assert "content" not in found
    assert path.stat().st_size == 300
