"""The JSON memory file: readable, private, replaced as a whole, never overwritten by mistake."""

from __future__ import annotations

import json
import os
import resource
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from driftguard_langgraph.errors import CorruptStore, SchemaMismatch, StoreUnavailable
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.graph import load_graph
from driftguard_langgraph.memory.stores import open_store, sqlite_file
from driftguard_langgraph.memory.stores.json_store import JsonMemoryStore, damage
from driftguard_langgraph.settings import DriftGuardSettings
from tests.memory_samples import (
    HOME,
    NOON,
    SPACE,
    SeededEmbedder,
    append,
    episode,
    given_up,
    vector,
)

GARBAGE = b"\x00\xff this is no memory \n" * 400


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.json"


def filled(path: Path, episodes: int = 20) -> bytes:
    with JsonMemoryStore.open(path) as store, store.exclusive():
        for number in range(episodes):
            append(store, episode(f"e{number}", f"step {number}"))
    return path.read_bytes()


def ids(store: JsonMemoryStore) -> list[str]:
    return [kept.episode_id for kept in store.list(HOME, limit=1000)]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def edit(path: Path, change: Callable[[Any], object]) -> None:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document, indent=1))


def test_the_file_holds_both_graphs_in_node_link_form_and_the_episodes(path: Path) -> None:
    with JsonMemoryStore.open(path) as store:
        append(store, episode("1", "a1"), {"a1": "A", "a2": "A"})
        append(store, episode("2", "a2"), {"a1": "A", "a2": "A"})
        append(store, episode("3", "b", kind="success"))
        expected = load_graph(store, HOME, "mistake")
    document = json.loads(path.read_text())
    [memory] = document["memories"]
    graph = nx.node_link_graph(memory["mistakes"], edges="edges")
    assert set(graph.nodes) == set(expected.nodes)
    assert graph.nodes["action: A"]["frequency"] == 2
    assert graph.nodes["action: A"]["wordings"] == ["a1", "a2"]
    assert graph.nodes["action: A"]["last_seen"] == NOON.isoformat()
    assert graph.edges["action: A", "feedback: build cache was wiped"]["frequency"] == 2
    assert len(memory["successes"]["nodes"]) == 3
    assert [kept["action"] for kept in memory["episodes"]] == ["a1", "a2", "b"]
    lines = path.read_text().splitlines()
    assert len([line for line in lines if '"episode_id": "2"' in line]) == 1


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_file_lock_and_folder_are_for_their_owner_only(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        filled(tmp_path / "new" / "memory.json")
    finally:
        os.umask(before)
    assert mode(tmp_path / "new") == 0o700
    assert {mode(file) for file in (tmp_path / "new").iterdir()} == {0o600}


def test_a_link_to_the_file_stays_one(path: Path) -> None:
    link = path.with_name("link.json")
    link.symlink_to(path)
    filled(link)
    assert link.is_symlink()
    assert b'"e3"' in path.read_bytes()


def test_a_duplicate_and_a_block_that_changes_nothing_do_not_replace_the_file(path: Path) -> None:
    with JsonMemoryStore.open(path) as store:
        append(store, episode())
        before = path.stat()
        assert not append(store, episode()).stored
        with store.exclusive():
            store.list(HOME)
        with given_up(store):
            append(store, episode("2"))
        after = path.stat()
        assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


@pytest.mark.parametrize("cut", [2, 20, 60, 200, 5000, -2, -4])
def test_a_truncated_file_is_refused_and_left_as_it_is(path: Path, cut: int) -> None:
    kept = filled(path)[:cut]
    path.write_bytes(kept)
    for _ in range(2):
        with pytest.raises(CorruptStore, match=r"left as it is.*line \d+ column.*move it away"):
            JsonMemoryStore.open(path)
        assert path.read_bytes() == kept
    assert {file.name for file in path.parent.iterdir()} == {path.name, f"{path.name}.lock"}


@pytest.mark.parametrize("content", [GARBAGE, bytes(4096), b"\xff\xfe"])
def test_bytes_that_are_no_text_are_refused_and_left_as_they_are(
    path: Path, content: bytes
) -> None:
    path.write_bytes(content)
    with pytest.raises(CorruptStore, match="left as it is"):
        JsonMemoryStore.open(path)
    assert path.read_bytes() == content


def lose_outcomes(document: Any) -> None:
    for kept in document["memories"][0]["episodes"]:
        del kept["outcome"]


BROKEN: dict[str, tuple[Callable[[Any], object], str]] = {
    "no episodes": (
        lambda d: d["memories"][0].pop("episodes"),
        r"memories\[0\].*'episodes' is mis",
    ),
    "no outcomes": (lose_outcomes, r"memories\[0\].episodes\[0\].*'outcome' is missing"),
    "a text that is none": (
        lambda d: d["memories"][0]["episodes"][3].update(feedback=7),
        r"memories\[0\]\.episodes\[3\].*'feedback': 7 is no text",
    ),
    "an unknown severity": (
        lambda d: d["memories"][0]["episodes"][19].update(severity="bad"),
        r"memories\[0\]\.episodes\[19\].*'severity': 'bad' is none of low, medium",
    ),
    "a time without a zone": (
        lambda d: d["memories"][0]["episodes"][0].update(created_at="2026-01-01T00:00:00"),
        r"episodes\[0\].*'created_at': 2026-01-01T00:00:00 has no time zone",
    ),
    "an episode that is none": (
        lambda d: d["memories"][0]["episodes"].insert(1, ["e"]),
        r"memories\[0\]\.episodes\[1\].*\['e'\] is no object",
    ),
    "an episode twice": (
        lambda d: d["memories"][0]["episodes"].append(d["memories"][0]["episodes"][0]),
        r"memories\[0\].*is there twice",
    ),
    "a memory twice": (lambda d: d["memories"].append(d["memories"][0]), r"memories\[1\].*twice"),
    "a vector that is none": (
        lambda d: d["vectors"].update({next(iter(d["vectors"])): "//8="}),
        r"vectors\['[0-9a-f]{32}'\].*not 16 numbers",
    ),
    "vectors in a list": (lambda d: d.update(vectors=[1]), "'vectors'"),
    "no dimension": (lambda d: d["embedding"].update(dimension="many"), "'many' is no whole"),
    "a version that is none": (
        lambda d: d.update(version="1"),
        "'version': '1' is no whole number",
    ),
    "a run that is none": (
        lambda d: d["memories"][0]["runs"].append({"scope": "thread"}),
        r"memories\[0\]\.runs\[0\].*'run' is missing",
    ),
    "a use that is none": (
        lambda d: d["memories"][0]["uses"].append({"kind": "hope"}),
        r"memories\[0\]\.uses\[0\].*'kind': 'hope' is none of mistake, success",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_one_wrong_value_is_named_with_its_place_and_nothing_is_touched(
    path: Path, name: str
) -> None:
    sound = filled(path)
    change, told = BROKEN[name]
    edit(path, change)
    broken = path.read_bytes()
    with pytest.raises(CorruptStore, match=f"(?s){told}.*Correct it there"):
        JsonMemoryStore.open(path)
    assert "cannot be read" in (damage(path) or "")
    assert path.read_bytes() == broken
    path.write_bytes(sound)
    with JsonMemoryStore.open(path) as again:
        assert len(ids(again)) == 20


FOREIGN = {
    "an object": b'{"nodes": [], "links": []}',
    "a list": b"[1, 2, 3]",
    "a number": b"7",
    "another format": b'{"format": "something else", "version": 1}',
    "prose": "# Dear diary\n\nToday nothing failed. Caf\u00e9.\n".encode(),
    "somebody's truncated JSON": b'{"users": [{"name": "Ada"}, {"na',
    "a deep nest": b"[" * 200_000,
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_of_somebody_else_is_refused_and_left_as_it_is(path: Path, name: str) -> None:
    path.write_bytes(FOREIGN[name])
    with pytest.raises(SchemaMismatch, match="json_filepath"):
        JsonMemoryStore.open(path)
    assert path.read_bytes() == FOREIGN[name]
    assert [file.name for file in path.parent.glob("*damaged*")] == []


def test_a_file_of_a_newer_version_is_refused_and_left_as_it_is(path: Path) -> None:
    filled(path)
    edit(path, lambda document: document.update(version=2, memories="who knows"))
    before = path.read_bytes()
    with pytest.raises(SchemaMismatch, match="version 2, newer than 1"):
        JsonMemoryStore.open(path)
    assert path.read_bytes() == before


def test_an_empty_file_is_an_empty_memory(path: Path) -> None:
    path.touch()
    with JsonMemoryStore.open(path) as store:
        append(store, episode())
    with JsonMemoryStore.open(path) as again:
        assert ids(again) == ["e1"]


def test_a_file_that_is_damaged_while_it_is_open_is_never_written_over(path: Path) -> None:
    sound = filled(path)
    with JsonMemoryStore.open(path) as store:
        assert len(ids(store)) == 20
        path.write_bytes(sound[:900])
        for _ in range(2):
            with pytest.raises(CorruptStore, match="left as it is"):
                append(store, episode("new"))
            with pytest.raises(CorruptStore, match="left as it is"):
                ids(store)
        assert path.read_bytes() == sound[:900]
        path.write_bytes(sound)
        assert append(store, episode("new")).stored
        assert len(ids(store)) == 21


def test_a_file_that_somebody_replaces_with_his_own_is_never_written_over(path: Path) -> None:
    filled(path)
    with JsonMemoryStore.open(path) as store:
        path.write_bytes(b'{"users": []}')
        for _ in range(2):
            with pytest.raises(SchemaMismatch):
                append(store, episode("new"))
        assert path.read_bytes() == b'{"users": []}'


def test_a_file_that_was_deleted_or_moved_is_begun_anew(path: Path) -> None:
    before = filled(path)
    with JsonMemoryStore.open(path) as store:
        path.rename(path.with_name("moved.json"))
        assert ids(store) == []
        append(store, episode("new"))
        assert ids(store) == ["new"]
    assert path.with_name("moved.json").read_bytes() == before


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user of the machine can reach."""
    folder = Path(tempfile.mkdtemp(prefix="driftguard-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Root may write everywhere; what follows is done by somebody who may not."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_a_read_only_folder_is_unavailable(open_folder: Path) -> None:
    open_folder.chmod(0o555)
    with ordinary_user(), pytest.raises(StoreUnavailable, match=r"Permission denied.*folder"):
        JsonMemoryStore.open(open_folder / "memory.json")
    assert list(open_folder.iterdir()) == []


@pytest.mark.parametrize(("file", "folder"), [(0o444, 0o777), (0o444, 0o555), (0o666, 0o555)])
def test_what_cannot_be_written_can_be_read(
    open_folder: Path, file: int, folder: int, caplog: pytest.LogCaptureFixture
) -> None:
    path = open_folder / "memory.json"
    before = filled(path)
    (open_folder / "memory.json.lock").unlink()
    path.chmod(file)
    open_folder.chmod(folder)
    with ordinary_user(), JsonMemoryStore.open(path) as store:
        assert "nothing can be recorded" in caplog.text
        assert len(ids(store)) == 20
        guard = DriftGuard(store=store, embeddings=SeededEmbedder(), namespace=HOME)
        assert guard.review("step 7").warnings
        with pytest.raises(StoreUnavailable, match="must be writable"):
            append(store, episode("new"))
        assert len(ids(store)) == 20
    assert path.read_bytes() == before


def test_a_folder_in_place_of_the_file_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="json_filepath"):
        JsonMemoryStore.open(tmp_path)


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """The system refuses to write beyond: what a full disk does, too."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_is_unavailable_and_leaves_what_was_there(path: Path) -> None:
    with JsonMemoryStore.open(path) as store:
        append(store, episode("0", "kept"))
        before = path.read_bytes()
        with (
            no_file_larger_than(len(before) + 100),
            pytest.raises(StoreUnavailable, match="room on the disk"),
        ):
            append(store, episode("1", "one step too many"))
        assert path.read_bytes() == before
        assert ids(store) == ["0"]
        assert "one step too many" not in store.texts()
        assert [file.name for file in path.parent.glob("*.tmp")] == []
        assert append(store, episode("2", "there is room again")).stored
    assert damage(path) is None


def test_what_somebody_writes_without_the_lock_is_not_overwritten(path: Path) -> None:
    filled(path, 2)

    def write_meanwhile(store: JsonMemoryStore) -> None:
        with store.exclusive():
            append(store, episode("mine"))
            edit(path, lambda d: d["memories"][0]["episodes"].pop())

    with JsonMemoryStore.open(path) as store:
        with pytest.raises(StoreUnavailable, match="somebody else just now"):
            write_meanwhile(store)
        assert ids(store) == ["e0"]
        append(store, episode("mine"))
        assert ids(store) == ["e0", "mine"]


def test_a_stuck_writer_is_reported_as_unavailable(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with JsonMemoryStore.open(path) as one, JsonMemoryStore.open(path) as two:
        append(one, episode("0"))
        held, free = threading.Event(), threading.Event()

        def hold() -> None:
            with one.exclusive():
                held.set()
                free.wait(60)

        holder = threading.Thread(target=hold)
        holder.start()
        assert held.wait(60)
        monkeypatch.setattr(sqlite_file, "BUSY_TIMEOUT", 0.05)
        with pytest.raises(StoreUnavailable, match="another process holds it"):
            append(two, episode("1"))
        assert ids(two) == ["0"]
        free.set()
        holder.join()
        assert append(two, episode("1")).stored


def test_what_a_killed_writer_left_half_written_is_replaced(path: Path) -> None:
    filled(path, 2)
    leftover = path.with_name("memory.json.tmp")
    leftover.write_text("half of a mem")
    with JsonMemoryStore.open(path) as store:
        append(store, episode("new"))
        assert ids(store) == ["e0", "e1", "new"]
    assert not leftover.exists()


def test_two_versions_of_one_size_written_at_once_are_told_apart(path: Path) -> None:
    with JsonMemoryStore.open(path) as one, JsonMemoryStore.open(path) as two:
        append(one, episode("1", "a", "f", "o"))
        for number in range(2, 30):
            with one.exclusive():
                one.delete(HOME, str(number - 1))
                append(one, episode(str(number), "a", "f", "o"))
            assert ids(two) == [str(number)]


def test_a_text_that_was_edited_by_hand_is_embedded_at_the_next_use(path: Path) -> None:
    embedder = SeededEmbedder()
    settings = DriftGuardSettings(storage_backend="json", json_filepath=path)
    with DriftGuard(settings=settings, embeddings=embedder) as guard:
        guard.record("drop the tabel", "failed", "lost")
        guard.record("rename the table", "failed", "lost")
    edit(path, lambda d: d["memories"][0]["episodes"][0].update(action="drop the table"))
    with DriftGuard(settings=settings, embeddings=embedder) as guard:
        assert guard.review("drop the table").warnings
        assert guard.store.space() == SPACE
        [hit] = guard.store.search(HOME, "mistake", "action", vector("drop the table"), 1)
        assert hit.similarity == pytest.approx(1.0, abs=1e-5)
    assert "tabel" not in json.loads(path.read_text())["memories"][0]["episodes"][0]["action"]


def test_an_episode_that_was_taken_out_by_hand_is_gone(path: Path) -> None:
    filled(path, 3)
    with JsonMemoryStore.open(path) as store:
        edit(path, lambda d: d["memories"][0]["episodes"].pop(1))
        assert ids(store) == ["e0", "e2"]
        assert "step 1" not in store.texts()
        append(store, episode("new"))
    assert b"step 1" not in path.read_bytes()


def test_the_settings_name_the_file(path: Path, user_data_dir: Path) -> None:
    with open_store(DriftGuardSettings(storage_backend="json", json_filepath=path)) as store:
        assert store.location() == str(path)
    by_default = DriftGuardSettings(storage_backend="json")
    assert by_default.json_filepath == user_data_dir.with_suffix(".json")


def test_a_closed_store_is_unavailable(path: Path) -> None:
    store = JsonMemoryStore.open(path)
    append(store, episode())
    store.close()
    with pytest.raises(StoreUnavailable):
        append(store, episode("2"))
    with JsonMemoryStore.open(path) as again:
        assert ids(again) == ["e1"]


def test_constructing_it_touches_nothing(path: Path) -> None:
    JsonMemoryStore(path).close()
    assert list(path.parent.iterdir()) == []


FORK = """
import os, sys, threading
from driftguard_langgraph.memory.stores.json_store import JsonMemoryStore
from tests.memory_samples import HOME, append, episode

store = JsonMemoryStore.open(sys.argv[1])
append(store, episode("parent"))
inside, done = threading.Event(), threading.Event()

def hold():
    with store.exclusive():
        inside.set()
        done.wait(60)

holder = threading.Thread(target=hold)
holder.start()
inside.wait(60)
child = os.fork()
if child == 0:
    append(store, episode("child"))
    os._exit(0 if [kept.episode_id for kept in store.list(HOME)] == ["parent", "child"] else 1)
done.set()
holder.join()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert [kept.episode_id for kept in store.list(HOME)] == ["parent", "child"]
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only POSIX forks")
def test_a_child_that_is_forked_in_the_middle_of_a_block_waits_and_writes(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORK, str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=Path(__file__).parents[4],
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
