"""Several handles on one memory: reopened, live, and one writer at a time."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.records import EmbeddingSpace, RunVerdict
from driftguard_langgraph.testing.checks.transactions import texts_found
from driftguard_langgraph.testing.places import Place, Places, needs
from driftguard_langgraph.testing.samples import (
    HOME,
    NOON,
    SPACE,
    append,
    episode,
    given_up,
    vector,
)
from driftguard_langgraph.types import Action

VERDICT = RunVerdict("thread", "t", False, "the refund went astray", "high", NOON)


class HandleChecks(Places):
    """Handles on the same place are handles on the same memory."""

    def test_closing_again_does_nothing(self, place: Place) -> None:
        store = place.open()
        append(store, episode())
        store.close()
        store.close()

    @needs("durable")
    def test_what_was_written_is_there_when_it_is_opened_again(self, place: Place) -> None:
        kept = episode(action=Action("move(to=1)", "move", {"to": 1}), thread="t")
        with closing(place.open()) as store:
            append(store, kept)
            append(store, episode("2", "gone"))
            store.delete(HOME, "2")
            store.touch(HOME, "mistake", ["move(to=1)"], NOON)
            store.set_run(HOME, VERDICT)
        with closing(place.open()) as store:
            assert list(store.list(HOME)) == [kept]
            assert store.space() == SPACE
            assert store.get_run(HOME, "thread", "t") == VERDICT
            assert store.paths(HOME, "mistake")[0].last_used == NOON
            [hit] = store.search(HOME, "mistake", "action", vector("move(to=1)"), 5)
            assert (hit.action, hit.node) == (kept.action, "move(to=1)")
            assert not append(store, kept).stored

    @needs("durable")
    def test_the_order_of_recording_goes_on_when_it_is_opened_again(self, place: Place) -> None:
        for number in range(6):
            with closing(place.open()) as store:
                append(store, episode(f"e{number}", f"a{9 - number}"))
                if number == 3:
                    store.delete(HOME, "e3")
        names = [kept.episode_id for kept in place.open().list(HOME)]
        assert names == ["e0", "e1", "e2", "e4", "e5"]

    @needs("durable")
    def test_a_change_of_the_space_is_there_when_it_is_opened_again(self, place: Place) -> None:
        space = EmbeddingSpace("new", 8)
        with closing(place.open()) as store:
            append(store, episode("1", "a", "f", "o"))
            store.replace_vectors(space, {text: vector(text, 8) for text in ("a", "f", "o")})
        again = place.open()
        assert again.space() == space
        assert len(again.search(HOME, "mistake", "action", vector("a", 8), 1)) == 1

    @needs("live")
    def test_another_handle_sees_every_change_at_its_next_call(self, place: Place) -> None:
        one, other = place.open(), place.open()
        append(one, episode("1", "first"))
        assert texts_found(other) == ["first"]
        append(other, episode("2", "second"))
        assert texts_found(one) == ["first", "second"]
        assert [kept.episode_id for kept in one.list(HOME)] == ["1", "2"]
        one.delete(HOME, "1")
        assert texts_found(other) == ["second"]
        assert other.get(HOME, "1") is None
        assert [path.action for path in other.paths(HOME, "mistake")] == ["second"]
        assert other.set_run(HOME, VERDICT).replaced is False
        assert one.get_run(HOME, "thread", "t") == VERDICT

    @needs("live")
    def test_another_handle_no_longer_finds_what_was_deleted(self, place: Place) -> None:
        one, other = place.open(), place.open()
        for number in range(20):
            append(one, episode(f"e{number}", f"step {number}"))
        query = vector("step 3")
        assert other.search(HOME, "mistake", "action", query, 1)[0].action.text == "step 3"
        one.delete(HOME, "e3")
        hits = other.search(HOME, "mistake", "action", query, 19)
        assert len(hits) == 19
        assert "step 3" not in [hit.action.text for hit in hits]

    @needs("live")
    def test_another_handle_keeps_an_episode_only_once(self, place: Place) -> None:
        one, other = place.open(), place.open()
        assert append(one, episode()).stored
        assert not append(other, episode(feedback="other words")).stored
        assert list(one.list(HOME)) == [episode()]

    @needs("live")
    def test_another_handle_searches_the_new_space_after_re_embedding(self, place: Place) -> None:
        one, other = place.open(), place.open()
        append(one, episode("1", "a", "f", "o"))
        assert texts_found(other) == ["a"]
        space = EmbeddingSpace("new", 8)
        one.replace_vectors(space, {text: vector(text, 8) for text in ("a", "f", "o")})
        assert other.space() == space
        assert len(other.search(HOME, "mistake", "action", vector("a", 8), 1)) == 1

    @needs("live")
    def test_another_handle_sees_nothing_of_a_block_before_its_end(self, place: Place) -> None:
        writer, reader = place.open(), place.open()
        append(writer, episode("0", "before"))
        with writer.exclusive():
            append(writer, episode("1", "after"))
            with ThreadPoolExecutor(1) as threads:
                seen = threads.submit(reader.get, HOME, "0")
            assert seen.result() is not None
            assert reader.get(HOME, "1") is None
        assert texts_found(reader) == ["after", "before"]
        with given_up(writer):
            append(writer, episode("2", "never"))
        assert texts_found(reader) == ["after", "before"]

    @needs("live", "locking")
    def test_handles_wait_for_each_other(self, place: Place) -> None:
        def count_up(store: BaseMemoryStore) -> None:
            for _ in range(15):
                with store.exclusive():
                    seen = len(store.list(HOME, limit=1000))
                    append(store, episode(f"e{seen}", f"step {seen}"))

        one, two = place.open(), place.open()
        with ThreadPoolExecutor(2) as threads:
            list(threads.map(count_up, (one, two)))
        assert len(one.list(HOME, limit=1000)) == 30
        assert texts_found(one) == texts_found(two)

    @needs("files")
    def test_its_files_are_readable_by_their_owner_only(self, place: Place) -> None:
        append(place.open(), episode())
        files = [path for path in place.path.rglob("*") if path.is_file()]
        assert files
        assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}

    @needs("files", "durable")
    def test_no_byte_of_what_was_erased_is_left_in_its_files(self, place: Place) -> None:
        secrets = [f"secret-{number:02}-" + "Zq" * (3 + 40 * (number % 7)) for number in range(30)]
        with closing(place.open()) as store:
            for number, secret in enumerate(secrets):
                call = Action(f"login(key={secret}a)", "login", {"key": f"{secret}a"})
                texts = (call, f"{secret}f", f"{secret}o")
                append(store, episode(f"e{number}", *texts, metadata={"note": secret}))
            paths = [path.key for path in store.paths(HOME, "mistake")]
            store.delete_paths(HOME, "mistake", paths[:10])
            for number in range(10, 20):
                assert store.delete(HOME, f"e{number}")
        files = [path.read_bytes() for path in place.path.rglob("*") if path.is_file()]
        written = b"".join(files)
        left = [number for number in range(30) if secrets[number].encode() in written]
        assert left == list(range(20, 30))
