"""The checklist of promises names tests that exist, and every promise has one."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "promises.md"
NAMED = re.compile(r"`([\w/]+\.py)::(test_\w+)`")
ROWS = [
    line
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and line != "| Promise | Tests |"
]


@cache
def names_in(path: str) -> frozenset[str]:
    """Names of the test functions and methods of a file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, kinds))


@pytest.mark.parametrize("row", ROWS, ids=[f"row-{n}" for n in range(len(ROWS))])
def test_a_promise_names_tests_that_exist(row: str) -> None:
    named = NAMED.findall(row)
    assert named, row
    assert [f"{path}::{name}" for path, name in named if name not in names_in(path)] == []


def test_no_promise_is_made_twice() -> None:
    promises = [row.split(" | ")[0] for row in ROWS]
    assert sorted(promises) == sorted(set(promises))
