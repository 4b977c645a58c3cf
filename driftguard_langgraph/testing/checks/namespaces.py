"""Whose memory it is: nothing leaks, whatever the names."""

from __future__ import annotations

from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.testing.places import Places
from driftguard_langgraph.testing.samples import (
    HOME,
    append,
    episode,
    vector,
)
from driftguard_langgraph.types import Namespace

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


class NamespaceChecks(Places):
    """Namespaces, kinds and roles are kept apart."""

    def test_the_same_id_in_another_namespace_is_another_episode(
        self, store: BaseMemoryStore
    ) -> None:
        append(store, episode())
        assert append(store, episode(namespace=("other",))).stored

    def test_namespaces_of_any_strings_never_leak(self, store: BaseMemoryStore) -> None:
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
            assert [
                w.action.text for w in store.wordings(namespace, "mistake", "feedback", ["f"])
            ] == ["f"]

    def test_deleting_in_one_namespace_leaves_the_others(self, store: BaseMemoryStore) -> None:
        for namespace in ODD_NAMESPACES:
            append(store, episode(namespace=namespace))
        for position, namespace in enumerate(ODD_NAMESPACES):
            assert store.delete(namespace, "e1")
            assert set(store.namespaces()) == set(ODD_NAMESPACES[position + 1 :])

    def test_kinds_and_roles_are_searched_apart(self, store: BaseMemoryStore) -> None:
        append(store, episode("1", "text", "text", "text"))
        append(store, episode("2", "text", "other", "third", kind="success"))
        assert len(store.search(HOME, "mistake", "action", vector("text"), 9)) == 1
        assert store.wording(HOME, "success", "feedback", "text") is None
        assert store.wording(HOME, "mistake", "feedback", "text") is not None
        assert [p.outcome for p in store.paths(HOME, "success")] == ["third"]
