from __future__ import annotations

import math

import numpy as np
import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from numpy.typing import NDArray

from driftguard_langgraph.drift.reading.chunks import chunked
from driftguard_langgraph.drift.strategies.base import TopicContext, TopicStrategy
from driftguard_langgraph.drift.strategies.composite import CompositeStrategy, scores_of
from driftguard_langgraph.drift.strategies.lexical import KeywordStrategy, TokenOverlapStrategy
from driftguard_langgraph.drift.strategies.resolve import resolve_strategy
from driftguard_langgraph.drift.strategies.scale import level_of, score_of
from driftguard_langgraph.drift.strategies.semantic import SemanticStrategy, zone_score
from driftguard_langgraph.embeddings.resolve import resolve_embedder
from driftguard_langgraph.errors import ConfigurationError, EmbeddingError
from driftguard_langgraph.settings import DriftGuardSettings

LIBRARY = (
    "You work at the desk of a public library. Help readers find books, renew loans, reserve "
    "titles and pay late fees."
)
ON = "Can I renew the two novels that I borrowed, or has another reader reserved them?"
OFF = "My car does not start in the cold, I think the battery or the starter motor is broken."


def context(text: str = LIBRARY, *opening: str) -> TopicContext:
    return TopicContext(text, chunked((text,)), opening, 0.7)


def scored(strategy: TopicStrategy, said: str, against: TopicContext | None = None) -> float:
    score = strategy.score(said, against or context())
    assert score is not None
    return score


class Fixed:
    backend = "lexical"

    def __init__(self, name: str, value: float | None) -> None:
        self.name = name
        self.value = value

    def score(self, said: str, context: TopicContext) -> float | None:
        return self.value


@pytest.mark.parametrize("score", [0.0, 0.01, 12.5, 50.0, 55.0, 90.0, 99.99, 100.0])
def test_a_score_survives_the_way_through_log_odds(score: float) -> None:
    assert score_of(level_of(score)) == pytest.approx(score)


def test_what_is_beyond_the_scale_counts_as_its_end() -> None:
    assert score_of(math.inf) == level_of(200.0) + 94.0 == 100.0
    assert score_of(-99.0) == 0.0
    assert level_of(50.0) == 0.0


@pytest.mark.parametrize("name", ["semantic", "keyword", "token_overlap"])
def test_every_strategy_ranks_a_turn_on_purpose_above_a_foreign_one(name: str) -> None:
    strategy = resolve_strategy(name, DriftGuardSettings())
    assert strategy.name == name
    assert scored(strategy, ON) > 75
    assert scored(strategy, OFF) < 55


@pytest.mark.parametrize("name", ["semantic", "keyword", "token_overlap"])
def test_the_opening_of_the_session_is_home_too(name: str) -> None:
    strategy = resolve_strategy(name, DriftGuardSettings())
    asked = "Can toddlers come to the hall on Friday?"
    opened = context(LIBRARY, "The story hour for toddlers is on Friday morning in the hall.")
    assert scored(strategy, asked, opened) > scored(strategy, asked) + 5


def test_a_foreign_opening_is_no_home_where_the_purpose_is_clear() -> None:
    strategy = resolve_strategy(None, DriftGuardSettings())
    opened = "The starter motor of my car and its battery are broken in the cold."
    assert scored(strategy, OFF, context(LIBRARY, opened)) < 55
    assert scored(strategy, OFF, context("You are a helpful assistant.", opened)) > 75


@pytest.mark.parametrize("name", ["semantic", "keyword", "token_overlap"])
def test_nothing_to_measure_is_no_score(name: str) -> None:
    strategy = resolve_strategy(name, DriftGuardSettings())
    assert strategy.score("", context()) is None
    assert strategy.score(ON, context("")) is None


def test_a_purpose_in_one_sentence_of_a_long_context_is_found() -> None:
    filler = " ".join(
        f"Paragraph {n} says that staff wear badges and doors close." for n in range(90)
    )
    strategy = resolve_strategy(None, DriftGuardSettings())
    assert scored(strategy, ON, context(f"{filler} {LIBRARY} {filler}")) > 75


@pytest.mark.parametrize(
    ("cosine", "score"),
    [(-0.4, 0), (0.02, 5), (0.05, 12.5), (0.10, 25), (0.12, 35), (0.15, 50), (0.18, 65),
     (0.20, 75), (0.25, 85.4), (0.28, 91.7), (0.30, 95.8), (0.32, 100), (0.9, 100)],
)  # fmt: skip
def test_the_zones_are_context_drift_analyzers(cosine: float, score: float) -> None:
    assert zone_score(cosine) == pytest.approx(score, abs=0.1)


def test_zones_compare_with_the_whole_context_as_one_text() -> None:
    settings = DriftGuardSettings()
    embedder = resolve_embedder(None, settings)
    strategy = SemanticStrategy(embedder, "zones")
    whole, said = embedder.embed([LIBRARY, ON])
    assert scored(strategy, ON) == pytest.approx(zone_score(float(whole @ said)))


def test_the_zones_of_keywords_are_the_share_of_the_context_that_is_said() -> None:
    home = context("Renew loans. Loans cost nothing; books cost fees.")
    strategy = KeywordStrategy(top_n=2, score_map="zones")
    assert scored(strategy, "My loans are late", home) == 50.0
    assert scored(strategy, "The loans cost me dearly", home) == 100.0
    assert scored(strategy, "the LOAN", home) == 0.0
    assert scored(strategy, "anything", context("")) == 100.0


def test_the_zones_of_overlap_are_the_cosine_of_frequencies() -> None:
    strategy = TokenOverlapStrategy("zones")
    assert scored(strategy, "books fees", context("books fees")) == pytest.approx(100.0)
    half = scored(strategy, "books", context("books fees"))
    assert half == pytest.approx(100 / math.sqrt(2))
    assert scored(strategy, "", context("books fees")) == 0.0
    assert scored(strategy, "books", context("")) == 100.0


def test_only_the_english_model_leaves_other_languages_out() -> None:
    embedder = resolve_embedder(None, DriftGuardSettings())
    spanish = "Necesito renovar los libros que tengo prestados desde hace un mes"
    assert SemanticStrategy(embedder).score(spanish, context()) is None
    assert SemanticStrategy(embedder, english_only=False).score(spanish, context()) is not None
    given = resolve_strategy(DeterministicFakeEmbedding(size=64), DriftGuardSettings())
    assert given.score(spanish, context()) is not None


def test_a_composite_weighs_its_strategies_and_names_them() -> None:
    both = CompositeStrategy([Fixed("a", 90.0), Fixed("b", 30.0)], [3, 1])
    assert scores_of(both, ON, context()) == {"a": 90.0, "b": 30.0, "composite": 75.0}
    assert both.score(ON, context()) == 75.0
    assert scores_of(Fixed("a", 90.0), ON, context()) == {"a": 90.0}
    assert scores_of(Fixed("a", None), ON, context()) == {}


def test_a_strategy_that_cannot_measure_has_no_say() -> None:
    both = CompositeStrategy([Fixed("a", None), Fixed("b", 30.0)])
    assert both.breakdown(ON, context()) == {"b": 30.0, "composite": 30.0}
    assert CompositeStrategy([Fixed("a", None)]).breakdown(ON, context()) == {}
    assert (
        CompositeStrategy([Fixed("a", 1.0), Fixed("b", None)], [0, 1]).score(ON, context()) is None
    )


def test_two_strategies_of_one_name_are_kept_apart() -> None:
    both = CompositeStrategy([Fixed("a", 90.0), Fixed("a", 30.0), Fixed("composite", 60.0)])
    found = both.breakdown(ON, context())
    assert found == {"a": 90.0, "a-2": 30.0, "composite-2": 60.0, "composite": 60.0}


@pytest.mark.parametrize("weights", [[1], [1, -1], [0, 0], [1, math.nan], [1, math.inf]])
def test_weights_that_do_not_fit_are_refused(weights: list[float]) -> None:
    with pytest.raises(ConfigurationError, match="weights"):
        CompositeStrategy([Fixed("a", 1.0), Fixed("b", 1.0)], weights)


def test_a_composite_of_nothing_and_a_negative_number_of_keywords_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="at least one"):
        resolve_strategy([], DriftGuardSettings())
    with pytest.raises(ConfigurationError, match="top_n"):
        KeywordStrategy(top_n=-1)


def test_none_is_the_semantic_strategy_on_the_default_model() -> None:
    strategy = resolve_strategy(None, DriftGuardSettings())
    assert isinstance(strategy, SemanticStrategy)
    assert strategy.backend.startswith("all-MiniLM-L6-v2")


def test_a_strategy_is_taken_as_it_is_and_several_become_a_composite() -> None:
    fixed = Fixed("mine", 40.0)
    assert resolve_strategy(fixed, DriftGuardSettings()) is fixed
    both = resolve_strategy([fixed, "keyword"], DriftGuardSettings())
    assert set(scores_of(both, ON, context())) == {"mine", "keyword", "composite"}


def test_a_callable_from_text_to_vector_is_a_semantic_strategy() -> None:
    rng = np.random.default_rng(7)
    words: dict[str, NDArray[np.float64]] = {}

    def vector(text: str) -> list[float]:
        parts = [words.setdefault(word, rng.normal(size=64)) for word in text.lower().split()]
        return [float(value) for value in np.sum(parts, axis=0)]

    strategy = resolve_strategy(vector, DriftGuardSettings())
    assert strategy.backend.startswith("callable:")
    assert scored(strategy, LIBRARY) > scored(strategy, OFF)


@pytest.mark.parametrize("result", [None, "text", [], [math.nan], [0.0, 0.0]])
def test_a_callable_that_returns_no_vector_is_an_embedding_error(result: object) -> None:
    strategy = resolve_strategy(lambda text: result, DriftGuardSettings())
    with pytest.raises(EmbeddingError):
        strategy.score(ON, context())


@pytest.mark.parametrize("given", [3, "fuzzy", object(), [None, 3]])
def test_anything_else_is_refused(given: object) -> None:
    with pytest.raises(ConfigurationError):
        resolve_strategy(given, DriftGuardSettings())
