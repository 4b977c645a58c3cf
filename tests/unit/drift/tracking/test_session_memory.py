from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from driftguard_langgraph.drift.tracking import session_file
from driftguard_langgraph.drift.tracking.session_document import (
    ASSISTANT_CHARS,
    USER_CHARS,
    VERSION,
    Change,
    Session,
    active_session,
    context_hash,
    new_exchange,
    next_number,
    scored,
    summaries_of,
    total_exchanges,
)
from driftguard_langgraph.drift.tracking.session_file import SessionFile
from driftguard_langgraph.drift.tracking.session_memory import SessionMemory
from driftguard_langgraph.errors import ConfigurationError, SchemaMismatch, StoreUnavailable

needs_a_user = pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")

OLD_CONTEXT = "You sell bikes.\nUser: Brakes?\nAssistant: Disc brakes."
PEER: dict[str, Any] = {
    "original_context": OLD_CONTEXT,
    "session_count": 2,
    "context_frozen": True,
    "sessions": [
        {
            "session_number": 1,
            "status": "completed",
            "exchanges": [
                {
                    "exchange": 1,
                    "user": "Which bikes fold?",
                    "assistant": "The city bike folds.",
                    "score": 95.0,
                    "verdict": "fresh",
                    "explanation": "Context well-preserved.",
                }
            ],
            "summary": "Topics discussed: Which bikes fold?.",
            "final_drift_score": 88.3,
        },
        {
            "session_number": 2,
            "status": "active",
            "exchanges": [
                {"exchange": 1, "user": "Lights?", "assistant": "LED.", "score": 91, "verdict": ""}
            ],
            "summary": None,
            "final_drift_score": None,
        },
    ],
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".session_memory"


def turn(name: str, session: int = 1, context: str = "c", **more: Any) -> Change:
    exchange = scored(new_exchange(name, f"asked {name}", f"told {name}"), 91.25, "FRESH", "fine")
    change: Change = {
        "do": "turn", "contexts": [context], "session": session, "exchange": exchange
    }  # fmt: skip
    return change | more  # type: ignore[return-value]


def end(session: int, summary: str | None = "It ended.") -> Change:
    return {"do": "end", "session": session, "summary": summary, "score": 80.0}


def ids(session: Session) -> list[str]:
    return [exchange["id"] for exchange in session["exchanges"]]


def test_the_file_has_the_shape_of_the_peer_and_is_for_its_owner_only(path: Path) -> None:
    memory = SessionMemory(path)
    memory.commit({"do": "context", "original_context": "You sell bikes."}, turn("a"), end(1))
    raw = json.loads(path.read_text(encoding="utf-8"))
    assert raw["original_context"] == "You sell bikes."
    assert (raw["session_count"], raw["context_frozen"], raw["version"]) == (1, False, VERSION)
    [session] = raw["sessions"]
    assert (session["session_number"], session["status"]) == (1, "completed")
    assert (session["summary"], session["final_drift_score"]) == ("It ended.", 80.0)
    assert session["exchanges"] == [
        {
            "exchange": 1, "id": "a", "user": "asked a", "assistant": "told a", "score": 91.25,
            "verdict": "fresh", "explanation": "fine",
        }
    ]  # fmt: skip
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(each.name for each in path.parent.iterdir()) == [
        ".session_memory", ".session_memory.lock"
    ]  # fmt: skip


def test_what_one_memory_writes_another_reads_and_goes_on_with(path: Path) -> None:
    one, two = SessionMemory(path), SessionMemory(path)
    one.commit(turn("a"))
    assert two.read() == one.document
    two.commit(turn("b"))
    one.commit(turn("c"))
    session = active_session(two.read(), ["c"])
    assert session is not None
    assert ids(session) == ["a", "b", "c"]
    assert [each["exchange"] for each in session["exchanges"]] == [1, 2, 3]


def test_the_same_exchange_is_recorded_once(path: Path) -> None:
    memory = SessionMemory(path)
    for _ in range(2):
        memory.commit(turn("a"), turn("a"))
    assert ids(memory.read()["sessions"][0]) == ["a"]
    memory.commit(end(1))
    memory.commit(turn("a"))
    assert len(memory.read()["sessions"]) == 1


def test_a_session_begins_with_its_first_exchange_and_numbers_go_on(path: Path) -> None:
    memory = SessionMemory(path)
    memory.commit(turn("a"), end(1), turn("b", 2))
    document = memory.read()
    assert [each["session_number"] for each in document["sessions"]] == [1, 2]
    assert document["session_count"] == 2
    assert next_number(document) == 3
    memory.commit(end(1, "Another summary."))
    assert document["sessions"][0]["summary"] == "It ended."


def test_sessions_of_two_contexts_live_side_by_side(path: Path) -> None:
    memory = SessionMemory(path)
    memory.commit(turn("a", 1, "c"), turn("x", 2, "d"), turn("b", 1, "c"), end(2))
    document = memory.read()
    assert [ids(session) for session in document["sessions"]] == [["a", "b"], ["x"]]
    assert total_exchanges(document, ["c"]) == 2
    assert summaries_of(document, ["c"]) == []
    assert [summary.session_number for summary in summaries_of(document, ["d"])] == [2]
    memory.commit({"do": "clear", "contexts": ["c"]})
    assert summaries_of(memory.read(), ["d"])
    memory.commit({"do": "clear", "contexts": ["d"]})
    assert summaries_of(memory.read(), ["d"]) == []


def test_a_state_is_kept_while_its_session_runs(path: Path) -> None:
    memory = SessionMemory(path)
    memory.commit(turn("a", state={"n": 1}), turn("b", state={"n": 2}))
    assert SessionMemory(path).read()["states"] == {"1": {"n": 2}}
    memory.commit(end(1))
    # Scored before another process ended the session: not the state of the next one.
    memory.commit(turn("c", 1, state={"n": 3}))
    assert memory.read()["states"] == {}
    assert ids(memory.read()["sessions"][1]) == ["c"]


def test_of_long_texts_head_and_tail_are_kept() -> None:
    exchange = new_exchange("a", "u" * 1_000_000, "\ud800" + "a" * 100_000)
    assert len(exchange["user"]) == USER_CHARS
    assert len(exchange["assistant"]) == ASSISTANT_CHARS
    assert exchange["assistant"].startswith("\ufffda")


def test_the_newest_exchanges_are_kept_if_their_number_is_limited(path: Path) -> None:
    memory = SessionMemory(path, max_exchanges=3)
    for n in range(10):
        memory.commit(turn(f"t{n}"))
    [session] = SessionMemory(path).read()["sessions"]
    assert ids(session) == ["t7", "t8", "t9"]
    assert [each["exchange"] for each in session["exchanges"]] == [8, 9, 10]
    assert session["exchange_count"] == 10


@pytest.mark.parametrize("wrong", [0, -1, True, 2.0, "3"])
def test_what_is_no_number_of_exchanges_is_refused(path: Path, wrong: Any) -> None:
    with pytest.raises(ConfigurationError, match="max_exchanges"):
        SessionMemory(path, max_exchanges=wrong)


def test_without_a_file_everything_stays_in_the_process() -> None:
    memory = SessionMemory(None)
    memory.commit(turn("a"))
    memory.settle()
    assert memory.path is memory.damaged is None
    assert ids(memory.read()["sessions"][0]) == ["a"]
    assert memory.delete()
    assert memory.read()["sessions"] == []


def test_to_delete_it_takes_the_file_and_says_whether_there_was_one(path: Path) -> None:
    memory = SessionMemory(path)
    assert not memory.delete()
    memory.commit(turn("a"))
    assert memory.delete()
    assert not path.exists()
    assert memory.read()["sessions"] == []


def test_missing_folders_are_made_and_a_link_is_followed(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "a" / "b" / "link"
    SessionMemory(real).commit(turn("a"))
    link.parent.mkdir(parents=True)
    link.symlink_to(real)
    SessionMemory(link).commit(turn("b"))
    assert link.is_symlink()
    assert ids(SessionMemory(real).read()["sessions"][0]) == ["a", "b"]
    SessionMemory(tmp_path / "c" / "d" / "memory").commit(turn("a"))
    assert (tmp_path / "c" / "d" / "memory").is_file()


def test_whoever_only_looks_leaves_nothing_behind(tmp_path: Path) -> None:
    memory = SessionMemory(tmp_path / "none" / "memory")
    assert memory.read()["sessions"] == []
    memory.settle()
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_was_deleted_by_others_is_empty(path: Path) -> None:
    memory = SessionMemory(path)
    memory.commit(turn("a"))
    path.unlink()
    assert memory.read()["sessions"] == []
    memory.commit(turn("b"))
    assert ids(SessionMemory(path).read()["sessions"][0]) == ["b"]


def test_a_folder_or_a_number_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="must be a file"):
        SessionMemory(tmp_path)
    with pytest.raises(ConfigurationError, match="must be a path"):
        SessionMemory(7)  # type: ignore[arg-type]


def test_the_file_of_the_peer_is_read_and_goes_on_in_our_layout(path: Path) -> None:
    path.write_text(json.dumps(PEER, indent=2), encoding="utf-8")
    memory = SessionMemory(path)
    document = memory.read()
    mine = [context_hash("You sell  bikes.\n\nUser: Brakes?  Assistant: Disc brakes.")]
    assert document["context_frozen"]
    assert [str(summary) for summary in summaries_of(document, mine)] == [
        "[Session 1 | 1 exchanges | drift: 88.3/100]: Topics discussed: Which bikes fold?."
    ]
    assert path.read_text(encoding="utf-8") == json.dumps(PEER, indent=2)
    memory.commit(turn("new", 2, mine[0]))
    session = active_session(SessionMemory(path).read(), mine)
    assert session is not None
    assert session["session_number"] == 2
    assert ids(session) == ["s2-1", "new"]
    raw = json.loads(path.read_bytes())
    assert raw["version"] == VERSION
    for before, after in zip(PEER["sessions"], raw["sessions"], strict=True):
        assert {key: after[key] for key in before if key != "exchanges"} == {
            key: value for key, value in before.items() if key != "exchanges"
        }
        assert before["exchanges"][0].items() <= after["exchanges"][0].items()


def test_the_older_flat_file_of_the_peer_is_read(path: Path) -> None:
    flat = {
        "original_context": OLD_CONTEXT,
        "original_vector": [0.1],
        "session_count": 4,
        "total_turns": 3,
        "context_frozen": False,
        "session_summaries": [
            {"session_number": 1, "summary": "Brakes.", "turn_count": 7, "final_drift_score": 64.5},
            {
                "session_number": 3,
                "summary": "Lamps.",
                "exchange_count": 2,
                "final_drift_score": 50,
            },
        ],
        "drift_history": [
            {"turn": 1, "session": 1, "score": 90.0, "verdict": "fresh", "explanation": "Good."},
            {"turn": 2, "session": 1, "score": 70.0, "verdict": "mild", "explanation": "Less."},
            {"turn": 1, "session": 2, "score": 30.0, "verdict": "critical", "explanation": "No."},
        ],
    }
    path.write_text(json.dumps(flat), encoding="utf-8")
    document = SessionMemory(path).read()
    assert [session["session_number"] for session in document["sessions"]] == [1, 2, 3]
    kept: dict[str, Any] = dict(document)
    assert kept["total_turns"] == 3
    assert "original_vector" not in kept
    assert {session["status"] for session in document["sessions"]} == {"completed"}
    assert [each["score"] for each in document["sessions"][0]["exchanges"]] == [90.0, 70.0]
    assert document["sessions"][1]["final_drift_score"] == 30.0
    told = summaries_of(document, [context_hash(OLD_CONTEXT)])
    assert [(each.exchanges, each.score, each.text) for each in told] == [
        (7, 64.5, "Brakes."), (2, 50, "Lamps.")
    ]  # fmt: skip


def test_keys_that_nobody_knows_survive(path: Path) -> None:
    sessions = [{**PEER["sessions"][1], "note": "n"}]
    path.write_text(json.dumps({**PEER, "sessions": sessions, "owner": "me"}), encoding="utf-8")
    SessionMemory(path).commit({"do": "freeze", "frozen": False})
    raw = json.loads(path.read_bytes())
    assert (raw["owner"], raw["sessions"][0]["note"], raw["context_frozen"]) == ("me", "n", False)


def damaged_sessions(**wrong: Any) -> bytes:
    return json.dumps({**PEER, "sessions": [{**PEER["sessions"][0], **wrong}]}).encode()


def damaged_root(**wrong: Any) -> bytes:
    return json.dumps({**PEER, **wrong}).encode()


DAMAGED = {
    "empty": b"",
    "blank": b" \n",
    "no JSON": b"{'sessions': []}",
    "truncated": json.dumps(PEER).encode()[:300],
    "null": b"null",
    "number": b"5",
    "list": b"[]",
    "text": b'"a text"',
    "no UTF-8": b'{"original_context": "\xff\xfe", "sessions": []}',
    "binary": b"\x00\x01\x02",
    "endlessly nested": b"[" * 100_000,
    "huge number": b'{"session_count": ' + b"9" * 5_000 + b"}",
    "sessions null": damaged_root(sessions=None),
    "sessions object": damaged_root(sessions={}),
    "sessions texts": damaged_root(sessions=["a"]),
    "count text": damaged_root(session_count="7"),
    "count negative": damaged_root(session_count=-1),
    "frozen text": damaged_root(context_frozen="false"),
    "context list": damaged_root(original_context=["a"]),
    "version text": damaged_root(version="1"),
    "version true": damaged_root(version=True),
    "states list": damaged_root(states=[]),
    "number null": damaged_sessions(session_number=None),
    "number text": damaged_sessions(session_number="1"),
    "number zero": damaged_sessions(session_number=0),
    "status unknown": damaged_sessions(status="paused"),
    "exchanges null": damaged_sessions(exchanges=None),
    "exchange text": damaged_sessions(exchanges=["a"]),
    "user null": damaged_sessions(exchanges=[{"user": None}]),
    "score text": damaged_sessions(exchanges=[{"score": "95"}]),
    "summary list": damaged_sessions(summary=["a"]),
    "final score text": damaged_sessions(final_drift_score="88.3"),
    "flat history null": json.dumps({"drift_history": None}).encode(),
    "flat entry text": json.dumps({"drift_history": ["a"]}).encode(),
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_is_kept_aside_to_the_byte_and_a_new_one_begins(
    path: Path, data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path.write_bytes(data)
    memory = SessionMemory(path)
    memory.commit(turn("a"))
    [aside] = path.parent.glob(".session_memory.damaged-*")
    assert aside.read_bytes() == data
    assert memory.damaged == aside
    assert str(aside) in caplog.text
    assert ids(SessionMemory(path).read()["sessions"][0]) == ["a"]


@pytest.mark.parametrize(
    "kept",
    [
        {},
        {"sessions": []},
        {**PEER, "version": 1},
        {"original_context": "x", "session_count": 0},
        {"sessions": [{"session_number": 1}]},
        {"sessions": [{**PEER["sessions"][0], "final_drift_score": None, "summary": None}]},
        {"sessions": [{**PEER["sessions"][0], "final_drift_score": float("nan")}]},
    ],
)
def test_what_is_only_incomplete_is_not_damaged(path: Path, kept: dict[str, Any]) -> None:
    path.write_text(json.dumps(kept), encoding="utf-8")
    memory = SessionMemory(path)
    memory.commit(turn("a"))
    assert memory.damaged is None
    json.loads(path.read_bytes(), parse_constant=pytest.fail)


@pytest.mark.parametrize("kept", [{**PEER, "version": VERSION + 1}, {"name": "a package"}])
def test_a_newer_file_and_a_foreign_one_are_refused_and_left_alone(
    path: Path, kept: dict[str, Any]
) -> None:
    path.write_text(json.dumps(kept), encoding="utf-8")
    memory = SessionMemory(path)
    with pytest.raises(SchemaMismatch, match="session_memory"):
        memory.read()
    with pytest.raises(SchemaMismatch):
        memory.commit(turn("a"))
    assert json.loads(path.read_bytes()) == kept
    assert ids(memory.document["sessions"][0]) == ["a"]


def test_a_file_that_is_damaged_later_is_set_aside_then(path: Path) -> None:
    memory = SessionMemory(path)
    memory.commit(turn("a"))
    path.write_bytes(b"oops")
    memory.commit(turn("b"))
    assert ids(memory.read()["sessions"][0]) == ["b"]
    [aside] = path.parent.glob("*.damaged-*")
    assert aside.read_bytes() == b"oops"


def block(path: Path) -> Path:
    """Make every write fail: the place of the temporary file is taken by a folder."""
    blocked = path.with_name(path.name + ".tmp")
    blocked.mkdir()
    return blocked


def test_what_cannot_be_written_is_kept_and_written_with_the_next(path: Path) -> None:
    memory = SessionMemory(path)
    memory.commit(turn("a", state=1))
    blocked = block(path)
    for name in "bc":
        with pytest.raises(StoreUnavailable, match=r"cannot .*session_memory"):
            memory.commit(turn(name, state=name))
    assert ids(memory.document["sessions"][0]) == ["a", "b", "c"]
    with pytest.raises(StoreUnavailable):
        memory.commit(end(1))
    with pytest.raises(StoreUnavailable):
        memory.commit(turn("d", 2))
    assert [ids(session) for session in memory.read()["sessions"]] == [["a", "b", "c"], ["d"]]
    SessionMemory(path).read()
    blocked.rmdir()
    memory.commit(turn("e", 2))
    document = SessionMemory(path).read()
    assert [ids(session) for session in document["sessions"]] == [["a", "b", "c"], ["d", "e"]]
    assert document["sessions"][0]["status"] == "completed"


def test_a_writer_that_was_locked_out_adds_its_turns_to_those_of_others(path: Path) -> None:
    one, two = SessionMemory(path), SessionMemory(path)
    one.commit(turn("a"))
    blocked = block(path)
    with pytest.raises(StoreUnavailable):
        one.commit(turn("b"))
    blocked.rmdir()
    two.commit(turn("c"))
    one.settle()
    one.commit(turn("d"))
    assert ids(two.read()["sessions"][0]) == ["a", "c", "b", "d"]


def test_a_lock_that_somebody_holds_is_not_waited_for_twice(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("driftguard_langgraph.drift.tracking.session_memory.LOCK_TIMEOUT", 0.05)
    memory, holder = SessionMemory(path), SessionFile(path, None)
    with holder.locked(1.0):
        for name in "ab":
            with pytest.raises(StoreUnavailable, match="locked by another process"):
                memory.commit(turn(name))
    memory.commit(turn("c"))
    assert ids(SessionMemory(path).read()["sessions"][0]) == ["a", "b", "c"]


@needs_a_user
def test_a_file_that_may_not_be_read_is_unavailable(path: Path) -> None:
    SessionMemory(path).commit(turn("a"))
    path.chmod(0)
    with pytest.raises(StoreUnavailable, match="cannot read or write"):
        SessionMemory(path).read()


def test_a_path_below_a_file_is_unavailable(path: Path) -> None:
    path.write_text("a file", encoding="utf-8")
    with pytest.raises(StoreUnavailable):
        SessionMemory(path / "memory").commit(turn("a"))


@pytest.fixture
def small_limit(monkeypatch: pytest.MonkeyPatch) -> int:
    """Let a file of 4 KB count as large."""
    monkeypatch.setattr(session_file, "WHOLE_BYTES", 4_000)
    return 4_000


def journal_of(path: Path) -> Path:
    return path.with_name(path.name + ".journal")


@pytest.mark.usefixtures("small_limit")
def test_over_its_limit_a_file_is_appended_to_and_every_turn_is_found(path: Path) -> None:
    one, two = SessionMemory(path), SessionMemory(path)
    sizes = []
    for n in range(200):
        (one, two)[n % 2].commit(turn(f"t{n}", state=n))
        sizes.append(path.stat().st_size)
        assert ids((two, one)[n % 2].read()["sessions"][0]) == [f"t{k}" for k in range(n + 1)]
    # Rewritten as a whole only now and then, and never a quarter behind.
    assert len(set(sizes[30:])) < 30
    assert journal_of(path).stat().st_size <= path.stat().st_size / 4 + 500
    document = SessionMemory(path).read()
    assert document == one.read() == two.read()
    assert document["states"] == {"1": 199}
    one.settle()
    assert not journal_of(path).exists()
    assert len(json.loads(path.read_bytes())["sessions"][0]["exchanges"]) == 200
    assert two.read() == one.document


@pytest.mark.usefixtures("small_limit")
def test_the_end_of_a_session_takes_the_journal_in(path: Path) -> None:
    memory = SessionMemory(path)
    for n in range(50):
        memory.commit(turn(f"t{n}"))
    assert journal_of(path).exists()
    memory.commit(end(1))
    assert not journal_of(path).exists()
    [session] = json.loads(path.read_bytes())["sessions"]
    assert (session["status"], len(session["exchanges"])) == ("completed", 50)


@pytest.mark.usefixtures("small_limit")
def test_half_an_entry_of_a_journal_is_dropped_and_written_over(path: Path) -> None:
    memory = SessionMemory(path)
    for n in range(40):
        memory.commit(turn(f"t{n}"))
    journal = journal_of(path)
    whole = journal.read_bytes()
    journal.write_bytes(whole + whole[:100].rstrip(b"\n"))
    other = SessionMemory(path)
    assert len(other.read()["sessions"][0]["exchanges"]) == 40
    other.commit(turn("next"))
    assert len(memory.read()["sessions"][0]["exchanges"]) == 41
    assert list(path.parent.glob("*damaged*")) == []


@pytest.mark.usefixtures("small_limit")
def test_a_journal_with_a_bad_entry_is_moved_aside_and_the_rest_is_read(path: Path) -> None:
    memory = SessionMemory(path)
    for n in range(40):
        memory.commit(turn(f"t{n}"))
    journal = journal_of(path)
    lines = journal.read_bytes().splitlines(keepends=True)
    assert len(lines) > 2
    journal.write_bytes(b"".join([lines[0], b"\x00 bad\n", *lines[2:]]))
    bad = journal.read_bytes()
    for _ in range(2):
        assert len(SessionMemory(path).read()["sessions"][0]["exchanges"]) == 39
    [aside] = path.parent.glob("*.journal.damaged-*")
    assert aside.read_bytes() == bad
    assert memory.read() == SessionMemory(path).read()
    assert stat.S_IMODE(aside.stat().st_mode) == 0o600


@pytest.mark.usefixtures("small_limit")
def test_a_journal_whose_entries_the_file_already_has_adds_nothing(path: Path) -> None:
    # As after a crash between the two steps: the file is new, the journal is not gone yet.
    memory = SessionMemory(path)
    for n in range(40):
        memory.commit(turn(f"t{n}", state=n))
    old = journal_of(path).read_bytes()
    memory.commit(turn("last", state="last"))
    memory.settle()
    journal_of(path).write_bytes(old)
    document = SessionMemory(path).read()
    assert len(document["sessions"][0]["exchanges"]) == 41
    assert document["states"] == {"1": "last"}


@pytest.mark.usefixtures("small_limit")
def test_a_journal_without_its_file_is_of_the_past(path: Path) -> None:
    memory = SessionMemory(path)
    for n in range(40):
        memory.commit(turn(f"t{n}"))
    path.unlink()
    memory.commit(turn("new"))
    assert ids(SessionMemory(path).read()["sessions"][0]) == ["new"]
    assert not journal_of(path).exists()


@pytest.mark.usefixtures("small_limit")
def test_a_damaged_file_takes_its_journal_with_it(path: Path) -> None:
    memory = SessionMemory(path)
    for n in range(40):
        memory.commit(turn(f"t{n}"))
    kept = journal_of(path).read_bytes()
    path.write_bytes(b"{")
    other = SessionMemory(path)
    assert other.read()["sessions"] == []
    assert other.damaged is not None
    assert other.damaged.with_name(other.damaged.name + ".journal").read_bytes() == kept


def test_four_threads_on_one_memory_lose_no_turn(path: Path) -> None:
    memory = SessionMemory(path)

    def work(thread: int) -> None:
        for n in range(25):
            memory.commit(turn(f"{thread} {n}"))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ids(SessionMemory(path).read()["sessions"][0])) == sorted(
        f"{thread} {n}" for thread in range(4) for n in range(25)
    )
