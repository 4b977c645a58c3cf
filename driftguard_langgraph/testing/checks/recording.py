"""What is recorded comes back as it was, once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.records import (
    Appended,
)
from driftguard_langgraph.testing.places import Places
from driftguard_langgraph.testing.samples import (
    HOME,
    NOON,
    append,
    episode,
    vector,
)
from driftguard_langgraph.types import Action, NodeType


class RecordingChecks(Places):
    """Episodes and the texts they are written in."""

    def test_an_episode_comes_back_as_it_was_given(self, store: BaseMemoryStore) -> None:
        given = episode(
            action=Action('search(q="tmp")', "search", {"q": "tmp"}),
            feedback="café 🔥 don't",
            outcome="line one\nline two",
            severity="critical",
            thread="t 1",
            metadata={"nested": [1, {"deep": None}], "umlaut": "ü"},
        )
        assert append(store, given).stored
        assert store.get(HOME, "e1") == given

    def test_an_episode_that_is_not_kept_is_none(self, store: BaseMemoryStore) -> None:
        append(store, episode())
        assert store.get(HOME, "e2") is None
        assert store.get(("other",), "e1") is None

    @pytest.mark.parametrize(
        "moment",
        [
            datetime(2026, 3, 1, 12, 0, 0, 1, tzinfo=UTC),
            datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
            datetime(1901, 2, 3, 4, 5, 6, 789, tzinfo=timezone(timedelta(hours=-9, minutes=-30))),
            datetime(2100, 7, 8, 9, 10, tzinfo=timezone(timedelta(hours=14))),
            datetime.min.replace(tzinfo=UTC),
            datetime.max.replace(tzinfo=UTC),
        ],
    )
    def test_times_keep_their_instant_to_the_microsecond(
        self, store: BaseMemoryStore, moment: datetime
    ) -> None:
        append(store, episode(created_at=moment))
        kept = store.get(HOME, "e1")
        assert kept is not None
        assert kept.created_at == moment
        assert kept.created_at.tzinfo is UTC
        assert store.paths(HOME, "mistake")[0].last_seen == moment

    def test_appending_the_same_id_again_changes_nothing(self, store: BaseMemoryStore) -> None:
        first = append(store, episode(feedback="first"))
        again = append(store, episode(feedback="second", outcome="other"))
        assert first == Appended(stored=True, edges_created=2)
        assert again == Appended(stored=False)
        assert [kept.feedback for kept in store.list(HOME)] == ["first"]
        assert "second" not in store.texts()

    def test_edges_are_new_once_per_kind_and_namespace(self, store: BaseMemoryStore) -> None:
        assert append(store, episode("1", "a", "f", "o")).edges_created == 2
        assert append(store, episode("2", "a", "f", "o")).edges_created == 0
        assert append(store, episode("3", "a", "f", "p")).edges_created == 1
        assert append(store, episode("4", "b", "f", "p")).edges_created == 1
        assert append(store, episode("5", "a", "f", "o", kind="success")).edges_created == 2
        assert append(store, episode("6", "a", "f", "o", namespace=("x",))).edges_created == 2
        # Both nodes are known, but nobody went from one to the other yet.
        assert append(store, episode("7", "c", "g", "o")).edges_created == 2
        assert append(store, episode("8", "b", "g", "o")).edges_created == 1

    def test_edges_are_between_nodes_not_wordings(self, store: BaseMemoryStore) -> None:
        nodes = {"a1": "A", "a2": "A", "f1": "F", "f2": "F"}
        assert append(store, episode("1", "a1", "f1", "o"), nodes).edges_created == 2
        assert append(store, episode("2", "a2", "f2", "o"), nodes).edges_created == 0

    def test_a_tool_call_and_the_same_text_in_words_both_keep_their_form(
        self,
        store: BaseMemoryStore,
    ) -> None:
        words, call = Action("search(q=1)"), Action("search(q=1)", "search", {"q": 1})
        append(store, episode("words", words))
        append(store, episode("call", call))
        append(store, episode("call again", call))
        kept = {found.episode_id: found.action for found in store.list(HOME)}
        assert kept == {"words": words, "call": call, "call again": call}
        assert sum(path.frequency for path in store.paths(HOME, "mistake")) == 3
        assert len(store.wordings(HOME, "mistake", "action", ["search(q=1)"])) == 2

    def test_a_wording_is_found_by_its_exact_text_only(self, store: BaseMemoryStore) -> None:
        append(store, episode(action="Delete /tmp"), {"Delete /tmp": "delete tmp"})
        found = store.wording(HOME, "mistake", "action", "Delete /tmp")
        assert found is not None
        assert (found.node, found.action.text, found.similarity) == (
            "delete tmp",
            "Delete /tmp",
            1.0,
        )
        for other in ("delete /tmp", "Delete /tmp ", "Delete"):
            assert store.wording(HOME, "mistake", "action", other) is None

    def test_wordings_are_listed_by_node_oldest_first(self, store: BaseMemoryStore) -> None:
        nodes = {"b": "N", "a": "N", "c": 'it\'s "M" 🔥'}
        for number, text in enumerate(("b", "c", "a", "b")):
            append(store, episode(str(number), text), nodes)
        assert [w.action.text for w in store.wordings(HOME, "mistake", "action", ["N"])] == [
            "b",
            "a",
        ]
        both = store.wordings(HOME, "mistake", "action", ["N", 'it\'s "M" 🔥', "unknown"])
        assert [w.action.text for w in both] == ["b", "c", "a"]
        assert list(store.wordings(HOME, "mistake", "action", [])) == []

    def test_listing_is_in_the_order_of_recording_and_pages(self, store: BaseMemoryStore) -> None:
        for number in range(7):
            append(
                store,
                episode(
                    f"e{number}",
                    kind="success" if number % 3 == 0 else "mistake",
                    created_at=NOON - timedelta(days=number),
                ),
            )
            append(store, episode(f"e{number}", namespace=("other",)))
        assert [kept.episode_id for kept in store.list(HOME)] == [f"e{n}" for n in range(7)]
        assert [kept.episode_id for kept in store.list(HOME, "success")] == ["e0", "e3", "e6"]
        assert [kept.episode_id for kept in store.list(HOME, "mistake", limit=2, offset=1)] == [
            "e2",
            "e4",
        ]
        assert [kept.episode_id for kept in store.list(HOME, limit=3, offset=5)] == ["e5", "e6"]
        assert list(store.list(("nobody",))) == []

    def test_setup_again_keeps_everything(self, store: BaseMemoryStore) -> None:
        append(store, episode())
        store.setup()
        store.setup()
        assert store.get(HOME, "e1") == episode()

    def test_an_empty_store_answers_every_question(self, store: BaseMemoryStore) -> None:
        roles: tuple[NodeType, ...] = ("action", "feedback", "outcome")
        for role in roles:
            assert list(store.search(HOME, "mistake", role, vector("x"), 5)) == []
        assert list(store.paths(HOME, "mistake")) == []
        assert [*store.namespaces(), *store.texts(), *store.list(HOME)] == []
        assert store.delete(HOME, "e1") is False
        assert store.delete_paths(HOME, "mistake", [("a", "f", "o")]) == 0
        store.touch(HOME, "mistake", ["a"], NOON)
        assert store.location()
