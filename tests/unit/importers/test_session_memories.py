"""`.session_memory` files of context-drift-analyzer, copied into ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from driftguard_langgraph.drift.tracking.session_memory import SessionMemory
from driftguard_langgraph.errors import ConfigurationError, SchemaMismatch
from driftguard_langgraph.importers.session_memories import (
    count,
    is_session_memory,
    read_session_memory,
    write_session_memory,
)


def exchange(number: int, **more: Any) -> dict[str, Any]:
    return {
        "exchange": number,
        "user": f"question {number} – 储蓄",
        "assistant": "an answer",
        "score": 90.5,
        "verdict": "fresh",
        "explanation": "Good.",
        **more,
    }


SESSIONS: dict[str, Any] = {
    "original_context": "You are a bank.\nUser: Rate?\nAssistant: 4.5%.",
    "session_count": 3,
    "context_frozen": True,
    "sessions": [
        {
            "session_number": 1,
            "status": "completed",
            "exchanges": [exchange(1), exchange(2)],
            "summary": "Topics discussed:\nloans.",
            "final_drift_score": 28.802637034894392,
        },
        {
            "session_number": 3,
            "status": "active",
            "exchanges": [exchange(1)],
            "summary": None,
            "final_drift_score": None,
        },
    ],
}
FLAT: dict[str, Any] = {
    "original_context": "You are a bank.",
    "original_vector": [0.1, 0.2],
    "checkpoint_vector": [],
    "checkpoint_text": "so far",
    "last_response_vector": [0.3],
    "last_response_text": "Loans need ID.",
    "session_summaries": [
        {"session_number": 1, "summary": "Loans.", "turn_count": 4, "final_drift_score": 28.8}
    ],
    "session_count": 2,
    "total_turns": 2,
    "context_frozen": False,
    "drift_history": [
        {"turn": 2, "session": 1, "score": 28.8, "verdict": "critical", "explanation": "No."},
        {"turn": 4, "session": 1, "score": 20.1, "verdict": "critical", "explanation": "No."},
        {"turn": 2, "session": 2, "score": 90.0, "verdict": "fresh", "explanation": "Yes."},
    ],
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "theirs"
    path.write_text(json.dumps(SESSIONS), encoding="utf-8")
    return path


def test_every_field_is_copied_and_the_source_stays(source: Path, tmp_path: Path) -> None:
    target, before = tmp_path / "ours", source.read_bytes()
    document = read_session_memory(source)
    assert count(document).to_dict() == {
        "sessions": 2, "active": 1, "exchanges": 3, "summaries": 1, "without_texts": 0,
    }  # fmt: skip
    assert write_session_memory(document, target, force=False)
    assert source.read_bytes() == before
    ours = json.loads(target.read_bytes())
    for key in ("original_context", "session_count", "context_frozen"):
        assert ours[key] == SESSIONS[key]
    for theirs, mine in zip(SESSIONS["sessions"], ours["sessions"], strict=True):
        assert {key: mine[key] for key in theirs if key != "exchanges"} == {
            key: theirs[key] for key in theirs if key != "exchanges"
        }
        for told, kept in zip(theirs["exchanges"], mine["exchanges"], strict=True):
            assert {key: kept[key] for key in told} == told


def test_the_flat_layout_keeps_all_but_its_vectors(tmp_path: Path) -> None:
    source, target = tmp_path / "theirs", tmp_path / "ours"
    source.write_text(json.dumps(FLAT), encoding="utf-8")
    document = read_session_memory(source)
    assert (count(document).exchanges, count(document).without_texts) == (3, 3)
    write_session_memory(document, target, force=False)
    ours = json.loads(target.read_bytes())
    for key in ("checkpoint_text", "last_response_text", "session_count", "total_turns"):
        assert ours[key] == FLAT[key]
    assert not {"original_vector", "last_response_vector"} & ours.keys()
    kept = [each for session in ours["sessions"] for each in session["exchanges"]]
    for told, exchanged in zip(FLAT["drift_history"], kept, strict=True):
        assert {key: exchanged[key] for key in told} == told
    assert ours["sessions"][0]["summary"] == "Loans."


def test_writing_it_again_changes_nothing_even_when_the_copy_has_gone_on(
    source: Path, tmp_path: Path
) -> None:
    target = tmp_path / "ours"
    document = read_session_memory(source)
    assert write_session_memory(document, target, force=False)
    SessionMemory(target).commit({"do": "freeze", "frozen": False})
    before = target.read_bytes()
    assert not write_session_memory(document, target, force=False)
    assert target.read_bytes() == before


def test_another_memory_is_replaced_only_by_force(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "ours"
    document = read_session_memory(source)
    other = read_session_memory(source)
    other["sessions"][0]["exchanges"][0]["user"] = "another question"
    write_session_memory(other, target, force=False)
    with pytest.raises(ConfigurationError, match="--force replaces it"):
        write_session_memory(document, target, force=False)
    assert write_session_memory(document, target, force=True)
    assert json.loads(target.read_bytes())["sessions"] == document["sessions"]


def test_a_file_that_is_something_else_is_left_alone(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "package.json"
    target.write_text('{"name": "x"}')
    with pytest.raises(SchemaMismatch):
        write_session_memory(read_session_memory(source), target, force=False)
    assert target.read_text() == '{"name": "x"}'


@pytest.mark.parametrize(
    ("document", "is_one"),
    [(SESSIONS, True), (FLAT, True), ({"sessions": []}, True), ({"name": "x"}, False), ([], False)],
    ids=["sessions", "flat", "empty", "other", "list"],
)
def test_a_session_memory_is_told_by_its_keys(document: object, is_one: bool) -> None:
    assert is_session_memory(document) is is_one


def test_a_file_of_a_tracker_of_this_package_needs_no_import(tmp_path: Path) -> None:
    path = tmp_path / "ours"
    SessionMemory(path).commit({"do": "freeze", "frozen": True})
    with pytest.raises(ConfigurationError, match="persist_path names it"):
        read_session_memory(path)
