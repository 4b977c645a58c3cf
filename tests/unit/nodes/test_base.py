from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.nodes import create_guard_review_node, create_record_outcome_node

STEP = {"candidate_action": "delete the temp directory"}


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "memory.sqlite3"
    monkeypatch.setenv("DRIFTGUARD_SQLITE_FILEPATH", str(path))
    return path


def test_the_default_guard_is_not_built_before_the_first_review(database: Path) -> None:
    node = create_guard_review_node()
    assert not database.exists()
    node.invoke(STEP)
    assert database.exists()


def test_nodes_without_a_guard_share_one_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTGUARD_STORAGE_BACKEND", "memory")
    create_record_outcome_node().invoke({**STEP, "success": False})
    assert create_guard_review_node().invoke(STEP)["guard_warnings_count"] == 1


@pytest.mark.usefixtures("database")
def test_many_threads_build_the_default_guard_once(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[DriftGuard] = []
    build, lock = DriftGuard.__init__, threading.Lock()

    def counted(self: DriftGuard, **options: object) -> None:
        with lock:
            built.append(self)
        build(self, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(DriftGuard, "__init__", counted)
    node = create_guard_review_node()
    with ThreadPoolExecutor(8) as pool:
        assert len(list(pool.map(node.invoke, [STEP] * 8))) == 8
    assert len(built) == 1
