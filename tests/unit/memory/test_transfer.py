"""Files of exported memory: private, whole, and refused when they are something else."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from tests.memory_samples import SeededEmbedder

HEAD = {"type": "driftguard", "version": 1}
LINE: dict[str, Any] = {
    "type": "episode", "episode_id": "e1", "namespace": ["n"], "kind": "mistake",
    "action": "a", "tool_name": None, "tool_args": None, "feedback": "f", "outcome": "o",
    "severity": "low", "created_at": "2026-03-01T12:00:00+00:00", "provenance": {},
    "metadata": {},
}  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memory.jsonl"


def guard() -> DriftGuard:
    return DriftGuard(store=EphemeralMemoryStore(), embeddings=SeededEmbedder())


def write(file: Path, *lines: Any) -> None:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    file.write_text("\n".join(texts), encoding="utf-8")


def test_the_file_is_private_and_has_no_half_written_neighbour(file: Path) -> None:
    memory = guard()
    memory.record("a", "f", "o")
    file.write_text("an older one")
    file.chmod(0o644)
    memory.export_jsonl(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(file.parent.glob("memory*")) == [file]
    first, *rest = map(json.loads, file.read_text().splitlines())
    assert first == HEAD
    assert [line["type"] for line in rest] == ["episode"]


def test_one_namespace_can_be_exported_alone(file: Path) -> None:
    memory = guard()
    for name in ("ann", "bob"):
        memory.record("a", "f", "o", namespace=(name,))
    assert memory.export_jsonl(file, namespace=("bob",)) == 1
    other = guard()
    other.import_jsonl(file)
    assert list(other.store.namespaces()) == [("bob",)]


def test_secrets_of_a_foreign_file_are_redacted(file: Path) -> None:
    write(file, HEAD, {**LINE, "feedback": "password=hunter2"})
    memory = guard()
    memory.import_jsonl(file)
    [kept] = memory.store.list(("n",))
    assert kept.feedback == "password=[redacted:password]"


def test_a_newer_verdict_stays_when_an_older_one_is_imported(file: Path) -> None:
    verdict = {
        "type": "run", "namespace": ["n"], "scope": "thread", "run": "t", "success": False,
        "outcome": "old", "severity": "low", "decided_at": "2020-01-01T00:00:00+00:00",
    }  # fmt: skip
    write(file, HEAD, verdict)
    memory = guard()
    memory.record_run_outcome(thread_id="t", success=True, outcome="new", namespace=("n",))
    assert memory.import_jsonl(file)["runs"] == 0
    [kept] = memory.store.list_runs(("n",))
    assert kept.outcome == "new"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "no JSON"),
        ("[]", "no JSON object"),
        ({"type": "other", "namespace": ["n"]}, "KeyError"),
        ({**LINE, "kind": "other"}, "kind 'other'"),
        ({**LINE, "action": ""}, "must not be empty"),
        ({**LINE, "namespace": "n"}, "namespace"),
        ({**LINE, "created_at": "yesterday"}, "isoformat"),
        ({**LINE, "created_at": "2026-03-01T12:00:00"}, "time zone"),
        ({key: value for key, value in LINE.items() if key != "severity"}, "severity"),
    ],
)
def test_a_line_that_cannot_be_read_is_named_and_what_came_before_is_kept(
    file: Path, line: Any, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("driftguard_langgraph.memory.transfer.BATCH", 1)
    write(file, HEAD, LINE, line)
    memory = guard()
    with pytest.raises(ConfigurationError, match="line 3 cannot be read") as raised:
        memory.import_jsonl(file)
    assert why in str(raised.value)
    assert len(memory.store.list(("n",))) == 1


@pytest.mark.parametrize("first", ["", "text", LINE, {**HEAD, "version": 2}])
def test_another_file_is_refused(file: Path, first: Any) -> None:
    write(file, first, LINE)
    memory = guard()
    with pytest.raises(ConfigurationError):
        memory.import_jsonl(file)
    assert list(memory.store.namespaces()) == []


def test_a_file_that_is_not_there_is_a_wrong_argument(file: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        guard().import_jsonl(file)
    with pytest.raises(ConfigurationError, match="cannot be written"):
        guard().export_jsonl(file / "below")
