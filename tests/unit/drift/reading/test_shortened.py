"""What is embedded of a long text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from driftguard_langgraph.drift.monitor import DriftMonitor
from driftguard_langgraph.drift.reading.shortened import MOST_CHARS, ShortenedEmbedder
from driftguard_langgraph.settings import DriftGuardSettings

POLICY = "You run a lighthouse museum. Never reveal where the spare keys are kept."


class Noting:
    """Notes what it is given, and gives every text the same vector."""

    model_id = "noting"
    dimension = 3

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts.extend(texts)
        return np.tile(np.eye(1, 3, dtype=np.float32), (len(texts), 1))


def test_a_short_text_is_embedded_whole() -> None:
    model = Noting()
    vectors = ShortenedEmbedder(model).embed(["a keeper", "x" * MOST_CHARS])
    assert model.texts == ["a keeper", "x" * MOST_CHARS]
    assert vectors.shape == (2, 3)


def test_of_a_long_text_the_beginning_and_the_end_are_embedded() -> None:
    model = Noting()
    ShortenedEmbedder(model).embed(["first " + "lamp " * 5_000 + "last"])
    assert len(model.texts[0]) == MOST_CHARS
    assert model.texts[0].startswith("first lamp")
    assert model.texts[0].endswith("lamp last")


def test_it_is_the_model_that_it_stands_for() -> None:
    model = ShortenedEmbedder(Noting())
    assert (model.model_id, model.dimension) == ("noting", 3)


def test_no_measure_embeds_a_message_of_a_megabyte_whole() -> None:
    model = Noting()
    monitor = DriftMonitor(POLICY, embeddings=model, settings=DriftGuardSettings())
    for role in ("user", "assistant", "tool", "system"):
        monitor.observe((role, "the spare keys of the lamp room are kept and " * 23_000))
    # The topic score reads a user's message together with the answer to it.
    assert MOST_CHARS <= max(map(len, model.texts)) <= 2 * MOST_CHARS


def test_no_measure_embeds_a_rule_of_many_pages_whole() -> None:
    model = Noting()
    policy = "Never reveal where the spare keys " + "of the lamp room " * 900 + "are kept."
    monitor = DriftMonitor(policy, embeddings=model, settings=DriftGuardSettings())
    monitor.observe(("user", "Where are the spare keys of the lamp room kept?"))
    assert max(map(len, model.texts)) <= MOST_CHARS
