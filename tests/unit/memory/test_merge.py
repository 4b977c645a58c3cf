"""A text joins the node that already says it; what similarity cannot see keeps apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pytest

from driftguard_langgraph.memory.merge import CANDIDATES, Merger
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.memory.stores.records import Placement, Vector
from driftguard_langgraph.types import Episode, NodeType
from tests.memory_samples import HOME, SPACE, episode, vector

THRESHOLDS: dict[NodeType, float] = {"action": 0.72, "feedback": 0.70, "outcome": 0.88}
ALIKE = vector("one direction")


class FirstWord:
    """Labels that collide on purpose."""

    def label(self, text: str) -> str:
        return text.lower().split()[0]


def at_cosine(cosine: float) -> Vector:
    """A unit vector at this cosine to `ALIKE`."""
    across = vector("another direction")
    across = across - (across @ ALIKE) * ALIKE
    across /= np.linalg.norm(across)
    turned = cosine * ALIKE + (1 - cosine**2) ** 0.5 * across
    return np.asarray(turned, np.float32)


def keep(
    store: BaseMemoryStore, what: Episode, vectors: Mapping[str, Vector] | None = None
) -> Placement:
    texts = (what.action.text, what.feedback, what.outcome)
    known = {text: vector(text) for text in texts} | dict(vectors or {})
    with store.exclusive():
        placement = Merger(store, FirstWord(), THRESHOLDS).place(what, known)
        store.append(what, placement, SPACE)
    return placement


@pytest.fixture
def memory() -> Iterator[EphemeralMemoryStore]:
    with EphemeralMemoryStore() as store:
        yield store


def test_new_texts_are_new_nodes_and_known_texts_their_own(memory: EphemeralMemoryStore) -> None:
    first = keep(memory, episode("1", "delete it all", "cache was wiped", "build is slow"))
    again = keep(memory, episode("2", "delete it all", "cache was wiped", "build is slow"))
    assert [(p.node, p.created) for _, p in first.items()] == [
        ("delete", True),
        ("cache", True),
        ("build", True),
    ]
    assert [(p.node, p.created) for _, p in again.items()] == [
        ("delete", False),
        ("cache", False),
        ("build", False),
    ]


def test_the_same_words_written_differently_are_one_node(memory: EphemeralMemoryStore) -> None:
    keep(memory, episode("1", "delete the temp directory"), {"delete the temp directory": ALIKE})
    again = "Delete the temp directory!"
    placed = keep(memory, episode("2", again), {again: ALIKE}).action
    assert (placed.node, placed.created) == ("delete", False)
    assert [w.action.text for w in memory.wordings(HOME, "mistake", "action", ["delete"])] == [
        "delete the temp directory",
        again,
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("delete the temp directory", "do not delete the temp directory"),
        ("enable encryption", "disable encryption"),
        ("restart pod 12", "restart pod 13"),
    ],
)
def test_what_similarity_cannot_see_keeps_texts_apart(
    memory: EphemeralMemoryStore, one: str, other: str
) -> None:
    first = keep(memory, episode("1", one), {one: ALIKE}).action
    second = keep(memory, episode("2", other), {other: ALIKE}).action
    assert second.created
    assert second.node != first.node


def test_each_role_has_its_own_threshold(memory: EphemeralMemoryStore) -> None:
    words = ("the queue is backed up", "the queue has a backlog")
    cosine = 0.85
    vectors = {words[0]: ALIKE, words[1]: at_cosine(cosine)}
    keep(memory, episode("1", "step", words[0], words[0]), vectors)
    second = keep(memory, episode("2", "step", words[1], words[1]), vectors)
    assert second.feedback.created is False
    assert second.outcome.created is True


def test_kinds_roles_and_namespaces_do_not_share_nodes(memory: EphemeralMemoryStore) -> None:
    keep(memory, episode("1", "same words", "same words", "same words"))
    for what in (
        episode("2", "same words", kind="success"),
        episode("3", "same words", namespace=("x",)),
    ):
        assert keep(memory, what).action.created


def test_labels_that_collide_are_numbered(memory: EphemeralMemoryStore) -> None:
    texts = ["deploy alpha", "deploy beta", "deploy gamma", "deploy delta"]
    nodes = [keep(memory, episode(text, text)).action.node for text in texts]
    assert nodes == ["deploy", "deploy (2)", "deploy (3)", "deploy (4)"]
    assert keep(memory, episode("again", "deploy gamma")).action.node == "deploy (3)"


def test_a_text_that_one_wording_of_a_node_is_told_apart_from_does_not_join_it(
    memory: EphemeralMemoryStore,
) -> None:
    one, two, three = "restart pod 12", "restart the pod", "restart pod 13"
    first = keep(memory, episode("1", one), {one: ALIKE}).action
    second = keep(memory, episode("2", two), {two: ALIKE}).action
    third = keep(memory, episode("3", three), {three: ALIKE}).action
    assert third.node != first.node
    if second.node == first.node:
        assert third.created


def test_look_alikes_that_are_refused_do_not_hide_the_right_node(
    memory: EphemeralMemoryStore,
) -> None:
    for number in range(CANDIDATES - 2):
        text = f"restart pod {number + 100}"
        keep(memory, episode(text, text), {text: ALIKE})
    text = "restart pod 7"
    node = keep(memory, episode("right", text), {text: at_cosine(0.99)}).action.node
    again = "Restart pod 7."
    assert keep(memory, episode("again", again), {again: ALIKE}).action.node == node
