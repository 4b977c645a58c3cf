"""Completion in the shell, through the protocol that the shell's script speaks."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from driftguard_langgraph.cli import completion
from driftguard_langgraph.cli.app import app
from driftguard_langgraph.evaluation.drift_samples import ATTACK_TYPES
from driftguard_langgraph.evaluation.drift_strategies import STRATEGIES
from driftguard_langgraph.evaluation.formats.registry import FORMAT_NAMES
from driftguard_langgraph.memory.stores.json_store import JsonMemoryStore
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from driftguard_langgraph.recovery.schedule import VARIANTS
from driftguard_langgraph.types import POLICIES, SEVERITIES
from tests.memory_samples import append, episode


def completed(line: str) -> list[str]:
    """Return what bash is offered when TAB is pressed at the end of a line."""
    words = f"driftguard {line}".split(" ")
    asked = {
        "_DRIFTGUARD_COMPLETE": "complete_bash",
        "COMP_WORDS": "\n".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    done = CliRunner().invoke(app, [], env=asked)
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout.split()


def test_commands_and_options_are_completed() -> None:
    assert completed("rec") == ["record", "record-run", "recover"]
    assert completed("drift re") == ["reset", "recovery"]
    assert completed("stats --j") == ["--json"]
    assert set(completed("eval ")) == {"pairs", "repeats", "conversations"}


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("review --policy ", POLICIES),
        ("mcp --policy ", POLICIES),
        ("record --severity ", SEVERITIES),
        ("record-run --severity ", SEVERITIES),
        ("backtest --format ", FORMAT_NAMES),
        ("backtest --memory ", ("stream", "all")),
        ("calibrate --format ", FORMAT_NAMES),
        ("recover --variant ", VARIANTS),
        ("recover --role ", ("system", "user")),
        ("recover --format ", ("text", "message")),
        ("drift session --mode ", ("cumulative", "sliding-window")),
        ("drift session --fail-on ", ("LOW", "MEDIUM", "HIGH", "CRITICAL")),
        ("drift detect --attack-type ", ATTACK_TYPES),
        ("drift eval --strategy ", ("all", *STRATEGIES)),
        ("--show-completion ", completion.SHELLS),
    ],
    ids=lambda value: value.strip() if isinstance(value, str) else "",
)
def test_the_values_of_an_option_are_completed(line: str, values: tuple[str, ...]) -> None:
    assert completed(line) == list(values)
    assert values[-1] in completed(line + values[-1][:3])


def test_what_is_taken_in_both_cases_is_completed_in_the_case_that_was_begun() -> None:
    assert completed("drift session --fail-on h") == ["high"]
    assert completed("drift session --fail-on H") == ["HIGH"]


@pytest.mark.parametrize("backend", ["sqlite", "json"])
def test_the_parts_of_a_namespace_are_completed_from_the_memory(
    backend: str, user_data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRIFTGUARD_STORAGE_BACKEND", backend)
    store = (
        SqliteMemoryStore.open(user_data_dir)
        if backend == "sqlite"
        else JsonMemoryStore.open(user_data_dir.with_suffix(".json"))
    )
    with store:
        append(store, episode("1", namespace=("acme", "user-7")))
        append(store, episode("2", namespace=("acme", "user-8")))
        append(store, episode("3", namespace=("zenith",)))
    assert completed("stats -n ") == ["acme", "zenith"]
    assert completed("stats --namespace a") == ["acme"]
    assert completed("stats -n acme -n ") == ["user-7", "user-8"]
    assert completed("stats -n zenith -n ") == []


def test_the_namespaces_are_those_of_the_named_file(tmp_path: Path) -> None:
    db = tmp_path / "other.sqlite3"
    with SqliteMemoryStore.open(db) as store:
        append(store, episode(namespace=("other",)))
    assert completed(f"stats --db {db} -n ") == ["other"]
    assert completed("stats -n ") == []


def test_completing_creates_moves_and_says_nothing(
    user_data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert completed("stats -n ") == []
    assert not user_data_dir.parent.exists()
    user_data_dir.parent.mkdir()
    user_data_dir.write_bytes(b"SQLite format 3\x00" + b"rubbish" * 1000)
    before = user_data_dir.read_bytes()
    assert completed("stats -n ") == []
    assert user_data_dir.read_bytes() == before
    assert [file.name for file in user_data_dir.parent.iterdir()] == [user_data_dir.name]
    monkeypatch.setenv("DRIFTGUARD_TYPO", "1")
    assert completed("stats -n ") == []


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_the_script_of_a_shell_is_shown(shell: str) -> None:
    done = CliRunner().invoke(app, ["--show-completion", shell])
    assert done.exit_code == 0
    assert "_DRIFTGUARD_COMPLETE" in done.stdout


def test_the_users_own_shell_is_meant_where_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    own = CliRunner().invoke(app, ["--show-completion"])
    assert own.stdout == CliRunner().invoke(app, ["--show-completion", "fish"]).stdout
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    unknown = CliRunner().invoke(app, ["--show-completion"])
    assert (unknown.exit_code, unknown.stdout) == (2, "")
    assert "name it, bash, zsh, fish" in unknown.stderr


@pytest.mark.parametrize(
    ("shell", "start_up"), [("bash", ".bashrc"), ("zsh", ".zshrc")], ids=["bash", "zsh"]
)
def test_installing_keeps_what_the_start_up_file_says(
    shell: str, start_up: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / start_up).write_text("alias ll='ls -l'\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["--install-completion", shell])
    assert done.exit_code == 0
    assert f"{shell} completion installed in {tmp_path}" in done.stdout
    text = (tmp_path / start_up).read_text(encoding="utf-8")
    assert text.startswith("alias ll='ls -l'\n")
    assert len(text.splitlines()) > 1


@pytest.mark.parametrize("option", completion.OPTIONS)
def test_an_unknown_shell_is_refused(option: str) -> None:
    done = CliRunner().invoke(app, [option, "tcsh"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "'tcsh' is unknown: use bash, zsh, fish, powershell, pwsh." in done.stderr
