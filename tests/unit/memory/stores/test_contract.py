"""What every memory store must do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from driftguard_langgraph.errors import SchemaMismatch
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.records import (
    Appended,
    EmbeddingSpace,
    Placed,
    Placement,
)
from driftguard_langgraph.types import Action, Namespace, NodeType
from tests.memory_samples import HOME, NOON, SPACE, append, episode, vector

ODD_NAMESPACES: list[Namespace] = [
    ("acme",),
    ("acme", "user"),
    ("acme", "user", "7"),
    ("acme.user",),
    ("acme", "user.7"),
    ("acme/user",),
    ("ada@example.org", "user"),
    ('quote " here', "and ' there"),
    ('acme", "user',),
    ("naïve", "名前", "🔥"),
    ("back\\slash", "%", "_"),
    ("ACME",),
    ("acme ",),
]


def test_an_episode_comes_back_as_it_was_given(store: BaseMemoryStore) -> None:
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


def test_an_episode_that_is_not_kept_is_none(store: BaseMemoryStore) -> None:
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
    store: BaseMemoryStore, moment: datetime
) -> None:
    append(store, episode(created_at=moment))
    kept = store.get(HOME, "e1")
    assert kept is not None
    assert kept.created_at == moment
    assert kept.created_at.tzinfo is UTC
    assert store.paths(HOME, "mistake")[0].last_seen == moment


def test_appending_the_same_id_again_changes_nothing(store: BaseMemoryStore) -> None:
    first = append(store, episode(feedback="first"))
    again = append(store, episode(feedback="second", outcome="other"))
    assert first == Appended(stored=True, edges_created=2)
    assert again == Appended(stored=False)
    assert [kept.feedback for kept in store.list(HOME)] == ["first"]
    assert "second" not in store.texts()


def test_the_same_id_in_another_namespace_is_another_episode(store: BaseMemoryStore) -> None:
    append(store, episode())
    assert append(store, episode(namespace=("other",))).stored


def test_edges_are_new_once_per_kind_and_namespace(store: BaseMemoryStore) -> None:
    assert append(store, episode("1", "a", "f", "o")).edges_created == 2
    assert append(store, episode("2", "a", "f", "o")).edges_created == 0
    assert append(store, episode("3", "a", "f", "p")).edges_created == 1
    assert append(store, episode("4", "b", "f", "p")).edges_created == 1
    assert append(store, episode("5", "a", "f", "o", kind="success")).edges_created == 2
    assert append(store, episode("6", "a", "f", "o", namespace=("x",))).edges_created == 2
    # Both nodes are known, but nobody went from one to the other yet.
    assert append(store, episode("7", "c", "g", "o")).edges_created == 2
    assert append(store, episode("8", "b", "g", "o")).edges_created == 1


def test_edges_are_between_nodes_not_wordings(store: BaseMemoryStore) -> None:
    nodes = {"a1": "A", "a2": "A", "f1": "F", "f2": "F"}
    assert append(store, episode("1", "a1", "f1", "o"), nodes).edges_created == 2
    assert append(store, episode("2", "a2", "f2", "o"), nodes).edges_created == 0


def test_a_tool_call_and_the_same_text_in_words_both_keep_their_form(
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


def test_namespaces_of_any_strings_never_leak(store: BaseMemoryStore) -> None:
    for number, namespace in enumerate(ODD_NAMESPACES):
        append(store, episode("same id", f"step {number}", "f", "o", namespace=namespace))
    assert set(store.namespaces()) == set(ODD_NAMESPACES)
    for number, namespace in enumerate(ODD_NAMESPACES):
        own = f"step {number}"
        assert [kept.action.text for kept in store.list(namespace)] == [own]
        assert store.list(namespace)[0].namespace == namespace
        hits = store.search(namespace, "mistake", "action", vector("step 0"), 50)
        assert [hit.action.text for hit in hits] == [own]
        assert [path.action for path in store.paths(namespace, "mistake")] == [own]
        assert store.wording(namespace, "mistake", "action", f"step {number + 1}") is None
        assert [w.action.text for w in store.wordings(namespace, "mistake", "feedback", ["f"])] == [
            "f"
        ]


def test_deleting_in_one_namespace_leaves_the_others(store: BaseMemoryStore) -> None:
    for namespace in ODD_NAMESPACES:
        append(store, episode(namespace=namespace))
    for position, namespace in enumerate(ODD_NAMESPACES):
        assert store.delete(namespace, "e1")
        assert set(store.namespaces()) == set(ODD_NAMESPACES[position + 1 :])


def test_kinds_and_roles_are_searched_apart(store: BaseMemoryStore) -> None:
    append(store, episode("1", "text", "text", "text"))
    append(store, episode("2", "text", "other", "third", kind="success"))
    assert len(store.search(HOME, "mistake", "action", vector("text"), 9)) == 1
    assert store.wording(HOME, "success", "feedback", "text") is None
    assert store.wording(HOME, "mistake", "feedback", "text") is not None
    assert [p.outcome for p in store.paths(HOME, "success")] == ["third"]


def test_a_wording_is_found_by_its_exact_text_only(store: BaseMemoryStore) -> None:
    append(store, episode(action="Delete /tmp"), {"Delete /tmp": "delete tmp"})
    found = store.wording(HOME, "mistake", "action", "Delete /tmp")
    assert found is not None
    assert (found.node, found.action.text, found.similarity) == ("delete tmp", "Delete /tmp", 1.0)
    for other in ("delete /tmp", "Delete /tmp ", "Delete"):
        assert store.wording(HOME, "mistake", "action", other) is None


def test_wordings_are_listed_by_node_oldest_first(store: BaseMemoryStore) -> None:
    nodes = {"b": "N", "a": "N", "c": 'it\'s "M" 🔥'}
    for number, text in enumerate(("b", "c", "a", "b")):
        append(store, episode(str(number), text), nodes)
    assert [w.action.text for w in store.wordings(HOME, "mistake", "action", ["N"])] == ["b", "a"]
    both = store.wordings(HOME, "mistake", "action", ["N", 'it\'s "M" 🔥', "unknown"])
    assert [w.action.text for w in both] == ["b", "c", "a"]
    assert list(store.wordings(HOME, "mistake", "action", [])) == []


def test_listing_is_in_the_order_of_recording_and_pages(store: BaseMemoryStore) -> None:
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


def test_counting_since_a_moment_leaves_that_moment_out(store: BaseMemoryStore) -> None:
    tick = timedelta(microseconds=1)
    for number, moment in enumerate((NOON - tick, NOON, NOON + tick, NOON + tick)):
        append(store, episode(str(number), "a1" if number < 3 else "a2", created_at=moment))
    append(store, episode("other kind", "a1", kind="success", created_at=NOON + tick))
    assert store.count_since(HOME, "mistake", ["a1"], NOON) == 1
    assert store.count_since(HOME, "mistake", ["a1", "a2"], NOON) == 2
    assert store.count_since(HOME, "mistake", ["a1"], NOON - timedelta(days=1)) == 3
    assert store.count_since(HOME, "mistake", [], NOON - timedelta(days=1)) == 0
    east = timezone(timedelta(hours=5))
    assert store.count_since(HOME, "mistake", ["a1"], NOON.astimezone(east)) == 1


def test_the_next_success_is_the_first_later_one_in_the_same_thread(
    store: BaseMemoryStore,
) -> None:
    append(store, episode("early", "too early", kind="success", thread="t"))
    append(store, episode("failed", "step", thread="t"))
    append(store, episode("elsewhere", "elsewhere", kind="success", thread="u"))
    append(store, episode("foreign", "foreign", kind="success", thread="t", namespace=("x",)))
    append(store, episode("failed again", "step", thread="t"))
    assert store.next_success(HOME, ["failed"]) is None
    call = Action("move(to=1)", "move", {"to": 1})
    append(store, episode("worked", call, kind="success", thread="t"))
    append(store, episode("worked later", "later", kind="success", thread="t"))
    assert store.next_success(HOME, ["failed", "failed again"]) == call
    assert store.next_success(HOME, ["unknown"]) is None
    assert store.next_success(HOME, []) is None


def test_the_newest_of_the_episodes_decides_about_the_next_success(
    store: BaseMemoryStore,
) -> None:
    for name, thread in (("old", "t"), ("new", "u")):
        append(store, episode(name, "step", thread=thread))
    append(store, episode("after new", "new remedy", kind="success", thread="u"))
    append(store, episode("after old", "old remedy", kind="success", thread="t"))
    found = store.next_success(HOME, ["old", "new"])
    assert found is not None
    assert found.text == "new remedy"


def test_episodes_without_a_thread_have_no_next_success(store: BaseMemoryStore) -> None:
    append(store, episode("failed", "step"))
    append(store, episode("worked", "other step", kind="success"))
    assert store.next_success(HOME, ["failed"]) is None


def test_the_space_is_that_of_the_first_vector_and_none_while_there_is_none(
    store: BaseMemoryStore,
) -> None:
    assert store.space() is None
    append(store, episode())
    assert store.space() == SPACE
    store.delete(HOME, "e1")
    assert store.space() is None


@pytest.mark.parametrize(
    "other", [EmbeddingSpace("another", SPACE.dimension), EmbeddingSpace(SPACE.model_id, 8)]
)
def test_vectors_of_another_space_are_refused_and_nothing_is_kept(
    store: BaseMemoryStore, other: EmbeddingSpace
) -> None:
    append(store, episode())
    with pytest.raises(SchemaMismatch, match=r"reembed\(\)"):
        append(store, episode("e2", "another action"), space=other)
    assert "another action" not in store.texts()
    assert len(store.list(HOME)) == 1


def test_an_emptied_memory_takes_vectors_of_another_space(store: BaseMemoryStore) -> None:
    append(store, episode())
    store.search(HOME, "mistake", "action", vector("any"), 3)
    store.delete(HOME, "e1")
    other = EmbeddingSpace("another", 8)
    append(store, episode("e2"), space=other)
    assert store.space() == other
    [hit] = store.search(HOME, "mistake", "action", vector("any", 8), 3)
    assert hit.action.text == "delete the temp directory"


def test_a_vector_that_is_not_of_its_space_is_refused_before_anything_is_kept(
    store: BaseMemoryStore,
) -> None:
    def placed(text: str, dimension: int) -> Placed:
        return Placed(text, text, vector(text, dimension), created=True)

    wrong = Placement(placed("a", 16), placed("f", 16), placed("o", 15))
    with pytest.raises(SchemaMismatch, match="16 numbers"):
        store.append(episode("e1", "a", "f", "o"), wrong, SPACE)
    assert list(store.texts()) == []
    assert store.space() is None


def test_re_embedding_replaces_every_vector_at_once(store: BaseMemoryStore) -> None:
    append(store, episode("1", "a", "f", "o"))
    append(store, episode("2", "b", "f", "o", kind="success", namespace=("x",)))
    store.search(HOME, "mistake", "action", vector("a"), 1)
    space = EmbeddingSpace("new", 8)
    store.replace_vectors(space, {text: vector(text, 8) for text in store.texts()})
    assert store.space() == space
    [hit] = store.search(HOME, "mistake", "action", vector("a", 8), 1)
    assert hit.similarity == pytest.approx(1.0, abs=1e-6)
    assert append(store, episode("3", "c"), space=space).stored
    with pytest.raises(SchemaMismatch):
        store.search(HOME, "mistake", "action", vector("a"), 1)


def test_re_embedding_without_a_text_changes_nothing(store: BaseMemoryStore) -> None:
    append(store, episode("1", "a", "f", "o"))
    with pytest.raises(SchemaMismatch, match="1 texts"):
        store.replace_vectors(EmbeddingSpace("new", 8), {t: vector(t, 8) for t in ("a", "f")})
    assert store.space() == SPACE
    [hit] = store.search(HOME, "mistake", "action", vector("a"), 1)
    assert hit.similarity == pytest.approx(1.0, abs=1e-6)


def test_texts_are_distinct_over_all_namespaces(store: BaseMemoryStore) -> None:
    append(store, episode("1", "a", "same", "same"))
    append(store, episode("2", "a", "same", "o", kind="success", namespace=("x",)))
    assert sorted(store.texts()) == ["a", "o", "same"]


def test_setup_again_keeps_everything(store: BaseMemoryStore) -> None:
    append(store, episode())
    store.setup()
    store.setup()
    assert store.get(HOME, "e1") == episode()


def test_an_empty_store_answers_every_question(store: BaseMemoryStore) -> None:
    roles: tuple[NodeType, ...] = ("action", "feedback", "outcome")
    for role in roles:
        assert list(store.search(HOME, "mistake", role, vector("x"), 5)) == []
    assert list(store.paths(HOME, "mistake")) == []
    assert [*store.namespaces(), *store.texts(), *store.list(HOME)] == []
    assert store.delete(HOME, "e1") is False
    assert store.delete_paths(HOME, "mistake", [("a", "f", "o")]) == 0
    store.touch(HOME, "mistake", ["a"], NOON)
    assert store.location()
