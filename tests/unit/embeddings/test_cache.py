"""What the cache saves, and what it refuses to pass on."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray

from driftguard_langgraph.embeddings.cache import CachedEmbedder
from driftguard_langgraph.embeddings.onnx import OnnxEmbedder
from driftguard_langgraph.errors import EmbeddingError, MissingExtra

MODEL = OnnxEmbedder()


class CountingEmbedder:
    """The real model, with a log of what it was asked."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    @property
    def model_id(self) -> str:
        return MODEL.model_id

    @property
    def dimension(self) -> int:
        return MODEL.dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls.append(list(texts))
        return MODEL.embed(texts)


class AnsweringEmbedder:
    """Returns, or raises, what it was made with."""

    model_id = "answering"
    dimension = 2

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[return-value]


@pytest.fixture
def counting() -> CountingEmbedder:
    return CountingEmbedder()


def test_a_repeated_text_is_not_embedded_again(counting: CountingEmbedder) -> None:
    cached = CachedEmbedder(counting, 10)
    first = cached.embed(["delete the cache"])
    assert np.array_equal(cached.embed(["delete the cache"]), first)
    assert counting.calls == [["delete the cache"]]


def test_a_call_embeds_only_what_is_missing_each_text_once(counting: CountingEmbedder) -> None:
    cached = CachedEmbedder(counting, 10)
    cached.embed(["a"])
    vectors = cached.embed(["b", "a", "b", "c", "a"])
    assert counting.calls == [["a"], ["b", "c"]]
    assert vectors == pytest.approx(MODEL.embed(["b", "a", "b", "c", "a"]), abs=1e-6)


def test_long_texts_are_told_apart(counting: CountingEmbedder) -> None:
    cached = CachedEmbedder(counting, 10)
    long = "restart the worker " * 20
    a, b = cached.embed([long + "one", long + "two"])
    assert not np.array_equal(a, b)
    cached.embed([long + "two"])
    assert len(counting.calls) == 1


def test_the_text_used_least_recently_is_forgotten_first(counting: CountingEmbedder) -> None:
    cached = CachedEmbedder(counting, 2)
    for text in ("a", "b", "a", "c", "a", "b"):
        cached.embed([text])
    assert counting.calls == [["a"], ["b"], ["c"], ["b"]]


def test_more_texts_than_the_cache_holds_still_come_back(counting: CountingEmbedder) -> None:
    texts = [f"step {n}" for n in range(7)]
    assert CachedEmbedder(counting, 3).embed(texts).shape == (7, 384)


def test_size_zero_remembers_nothing(counting: CountingEmbedder) -> None:
    cached = CachedEmbedder(counting, 0)
    cached.embed(["a", "a"])
    cached.embed(["a"])
    assert counting.calls == [["a"], ["a"]]


def test_changing_a_returned_vector_does_not_change_the_cache(counting: CountingEmbedder) -> None:
    cached = CachedEmbedder(counting, 10)
    expected = cached.embed(["a"]).copy()
    for _ in range(2):
        cached.embed(["a"])[0] = 0.0
    assert np.array_equal(cached.embed(["a"]), expected)


def test_model_id_and_dimension_are_those_of_the_model(counting: CountingEmbedder) -> None:
    cached = CachedEmbedder(counting, 10)
    assert (cached.model_id, cached.dimension) == (counting.model_id, 384)
    assert cached.embed([]).shape == (0, 384)
    assert counting.calls == []


def test_threads_share_the_cache_without_mixing_texts(counting: CountingEmbedder) -> None:
    cached = CachedEmbedder(counting, 3)
    texts = [f"step {n}" for n in range(6)]
    expected = dict(zip(texts, MODEL.embed(texts), strict=True))
    together = threading.Barrier(4)

    def work(offset: int) -> bool:
        together.wait()
        order = texts[offset:] + texts[:offset]
        return all(np.allclose(cached.embed([t])[0], expected[t], atol=1e-5) for t in order * 5)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (np.ones((1, 3)), r"shape \(1, 3\)"),
        (np.ones((2, 2)), r"shape \(2, 2\)"),
        (np.ones(2), r"shape \(2,\)"),
        ([[1.0, float("nan")]], "NaN or infinity for 'delete it'"),
        ([[float("inf"), 1.0]], "NaN or infinity"),
        ([[0.0, 0.0]], "a vector of zeros for 'delete it'"),
        ([["a", "b"]], "not return a matrix of numbers"),
        ([[1.0], [1.0, 2.0]], "not return a matrix of numbers"),
        (None, "answering"),
        (RuntimeError("out of memory"), "failed: .*out of memory"),
    ],
)
def test_an_unusable_answer_is_named(answer: object, complaint: str) -> None:
    with pytest.raises(EmbeddingError, match=complaint):
        CachedEmbedder(AnsweringEmbedder(answer), 10).embed(["delete it"])


def test_an_unusable_answer_is_not_remembered() -> None:
    inner = AnsweringEmbedder([[0.0, 0.0]])
    cached = CachedEmbedder(inner, 10)
    with pytest.raises(EmbeddingError):
        cached.embed(["delete it"])
    inner.answer = [[3.0, 4.0]]
    assert cached.embed(["delete it"])[0] == pytest.approx([0.6, 0.8])


def test_the_packages_own_errors_pass_unchanged() -> None:
    error = MissingExtra.of("It", "spacy")
    with pytest.raises(MissingExtra):
        CachedEmbedder(AnsweringEmbedder(error), 10).embed(["delete it"])
