from __future__ import annotations

import re

import pytest

from driftguard_langgraph.evaluation.failures import by_pattern, looks_failed


@pytest.mark.parametrize(
    "content",
    [
        "Error: no such booking",
        "ERROR - quota exceeded",
        "error executing tool: timed out",
        "fatal: not a git repository",
        "ValueError: invalid literal",
        "botocore.exceptions.ClientError: denied",
        'Traceback (most recent call last):\n  File "a.py", line 1',
        "some output\nTraceback (most recent call last):\n  ...",
        "bash: frobnicate: command not found",
        "3 tests failed, exit code 1",
        "process exited with status 127",
        '{"error": "no such city"}',
        '{"errors": [{"message": "bad field"}]}',
        '{"success": false}',
        '{"ok": false, "reason": "closed"}',
        '{"status": "failed"}',
        '{"exit_code": 2, "stdout": ""}',
        '{"status_code": 422}',
        '{"is_error": true}',
        '"Error: quoted by the serialiser"',
    ],
)
def test_an_explicit_mark_of_failure_is_seen(content: str) -> None:
    assert looks_failed(content)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "done",
        "0 errors found",
        "The error: budget of the site is fine",
        "no error",
        "exit code 0",
        "errors are described in chapter 3",
        "Error handling in Rust is explained below",
        '{"error": null, "rows": 3}',
        '{"errors": [], "data": {}}',
        '{"success": true}',
        '{"exit_code": 0}',
        '{"exit_code": true}',
        '{"status": "ok", "status_code": 200}',
        '[{"error": "in a row of data"}]',
        "17",
        "[" * 100_000,
    ],
)
def test_what_only_speaks_of_errors_is_no_failure(content: str) -> None:
    assert not looks_failed(content)


def test_a_pattern_replaces_the_marks() -> None:
    predicate = by_pattern(re.compile("refus"))
    assert predicate("the host refused")
    assert not predicate("Error: something else")
