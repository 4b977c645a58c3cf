"""The suite runs on a stranger's store in a few lines, and fails where the store does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FIVE_LINES = """
from driftguard_langgraph import EphemeralMemoryStore
from driftguard_langgraph.testing import memory_store_suite
{store}
TestMine = memory_store_suite(lambda place: Mine(), {capabilities})
"""
BROKEN = {
    "a_block_that_raises": """
from contextlib import nullcontext
class Mine(EphemeralMemoryStore):
    def exclusive(self): return nullcontext()
""",
    "in_the_order_of_recording": """
class Mine(EphemeralMemoryStore):
    def list(self, *a, **k): return super().list(*a, **k)[::-1]
""",
    "never_leak": """
class Mine(EphemeralMemoryStore):
    def search(self, namespace, *rest): return super().search(namespace[:1], *rest)
""",
    "what_sorting_everything_finds": """
class Mine(EphemeralMemoryStore):
    def search(self, *given): return super().search(*given)[:9]
""",
    "only_texts_that_no_other": """
class Mine(EphemeralMemoryStore):
    def texts(self): return sorted({*super().texts(), "a"})
""",
}


def run(folder: Path, store: str, capabilities: str, *options: str) -> str:
    file = folder / "test_mine.py"
    file.write_text(FIVE_LINES.format(store=store, capabilities=capabilities))
    line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, str(file)]
    done = subprocess.run(line, check=False, cwd=folder, capture_output=True, text=True)
    return done.stdout


@pytest.mark.parametrize("check", BROKEN)
def test_a_store_that_breaks_a_promise_fails_the_check_of_it(tmp_path: Path, check: str) -> None:
    said = run(tmp_path, BROKEN[check], "()", "-k", check)
    assert "failed" in said
    assert " passed" not in said.splitlines()[-1]
    # The assert says what it compared, as in a test file.
    assert "E   " in said


def test_a_capability_that_a_store_does_not_have_is_found_out(tmp_path: Path) -> None:
    mine = "Mine = EphemeralMemoryStore"
    assert "failed" in run(tmp_path, mine, '{"live"}', "-k", "another_handle_sees_every_change")
    assert "1 skipped" in run(tmp_path, mine, "()", "-k", "another_handle_sees_every_change")
