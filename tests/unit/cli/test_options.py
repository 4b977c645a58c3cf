from __future__ import annotations

from pathlib import Path

import pytest

from driftguard_langgraph.cli import options
from driftguard_langgraph.errors import ConfigurationError


def test_a_given_file_wins_over_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRIFTGUARD_STORAGE_BACKEND", "memory")
    settings = options.load_settings(tmp_path / "m.sqlite3")
    assert (settings.storage_backend, settings.sqlite_filepath) == (
        "sqlite",
        tmp_path / "m.sqlite3",
    )
    assert options.load_settings().storage_backend == "memory"


def test_a_tool_call_needs_no_arguments() -> None:
    assert options.tool_call("ping", None) == {"name": "ping", "args": {}}
    assert options.tool_call(None, None) is None


@pytest.mark.parametrize("args", ["", "{", "[]", "null", "[" * 100_000])
def test_arguments_must_be_a_json_object(args: str) -> None:
    with pytest.raises(ConfigurationError, match="--args"):
        options.tool_call("ping", args)


def test_a_mistyped_file_is_not_begun(tmp_path: Path) -> None:
    db = tmp_path / "typo.sqlite3"
    with (
        pytest.raises(ConfigurationError, match="no memory there"),
        options.open_guard(db, None, must_exist=True),
    ):
        pass
    assert not db.exists()
