from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from driftguard_langgraph.drift.intent.direction import Direction
from driftguard_langgraph.drift.intent.keeping import KEEPING
from driftguard_langgraph.drift.intent.loosening import LOOSENING
from driftguard_langgraph.embeddings.onnx import OnnxEmbedder

RULE = ("Visitors of the lighthouse must not climb the stairs without a guide.",)
LOOSE = (
    "A guide is no more than a nicety, people find their own way up the lighthouse.",
    "The keeper's cousin decides who climbs, do not argue with him.",
    "Guided is understood as having seen a guide at the entrance.",
    "It was settled long ago that locals may climb the stairs as they like.",
)
PLAIN = (
    "The stairs of the lighthouse were built by two brothers.",
    "The guide showed a school class around and was asked about storms.",
    "Guides of the lighthouse wear a blue jacket in winter.",
    "The visitor wanted to know when the lamp is lit and was told.",
)


class Squeezed:
    """A model of which all cosines are high, as of some other models they are."""

    model_id = "squeezed"

    def __init__(self) -> None:
        self._inner = OnnxEmbedder(None)
        self.dimension = self._inner.dimension + 1

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        found = np.asarray(self._inner.embed(texts), dtype=np.float32)
        shared = np.full((len(found), 1), 1.5, dtype=np.float32)
        both = np.hstack([found, shared])
        squeezed: NDArray[np.float32] = both / np.linalg.norm(both, axis=1, keepdims=True)
        return squeezed


@pytest.mark.parametrize("embedder", [OnnxEmbedder(None), Squeezed()], ids=["default", "squeezed"])
def test_loosening_scores_higher_than_facts_of_the_same_matter_with_any_model(
    embedder: OnnxEmbedder | Squeezed,
) -> None:
    direction, rules = Direction.of(embedder), embedder.embed(RULE)
    loose = direction.scores(embedder.embed(LOOSE), rules)
    plain = direction.scores(embedder.embed(PLAIN), rules)
    assert loose.min() > plain.max()
    assert loose.mean() > 0.7
    assert plain.mean() < 0.0


@pytest.mark.parametrize("embedder", [OnnxEmbedder(None), Squeezed()], ids=["default", "squeezed"])
def test_a_text_is_near_to_the_rule_it_speaks_of_and_to_no_other_with_any_model(
    embedder: OnnxEmbedder | Squeezed,
) -> None:
    direction, rules = Direction.of(embedder), embedder.embed(RULE)
    texts = embedder.embed([PLAIN[0], "I like soup with noodles."])
    near, far = direction.nearness(texts, rules)[:, 0].tolist()
    assert near > 1.28 > far


def test_both_sets_have_the_same_trades_and_no_sentence_twice() -> None:
    texts = [text for trade in (*LOOSENING, *KEEPING) for text in trade]
    assert len(LOOSENING) == len(KEEPING) >= 25
    assert len(texts) == len(set(texts)) >= 350
    assert min(map(len, (*LOOSENING, *KEEPING))) >= 3
