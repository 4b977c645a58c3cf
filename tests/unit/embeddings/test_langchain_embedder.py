"""LangChain `Embeddings` objects as embedders."""

from __future__ import annotations

import sys

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings

from driftguard_langgraph.embeddings.langchain import LangChainEmbedder, openai_embedder
from driftguard_langgraph.errors import EmbeddingError, MissingExtra


class Scripted(Embeddings):
    """Counts its calls and returns, or raises, what it was made with."""

    def __init__(self, answer: object = None, model: str | None = None) -> None:
        self.answer = answer
        self.model = model
        self.calls = 0

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.calls += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[return-value]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def test_vectors_are_those_of_the_wrapped_object() -> None:
    wrapped = DeterministicFakeEmbedding(size=12)
    vectors = LangChainEmbedder(wrapped).embed(["a", "b"])
    assert vectors.shape == (2, 12)
    assert vectors.tolist() == [
        pytest.approx(v, rel=1e-5) for v in wrapped.embed_documents(["a", "b"])
    ]


def test_the_dimension_is_found_by_one_probe() -> None:
    scripted = Scripted([[1.0, 2.0, 3.0]])
    embedder = LangChainEmbedder(scripted)
    assert scripted.calls == 0
    assert [embedder.dimension, embedder.dimension] == [3, 3]
    assert scripted.calls == 1


def test_no_probe_is_needed_after_the_first_text() -> None:
    scripted = Scripted([[1.0, 2.0, 3.0]])
    embedder = LangChainEmbedder(scripted)
    embedder.embed(["a"])
    assert embedder.dimension == 3
    assert scripted.calls == 1


@pytest.mark.parametrize(
    ("embedder", "model_id"),
    [
        (LangChainEmbedder(Scripted(model="small-3")), "Scripted:small-3"),
        (LangChainEmbedder(Scripted()), "Scripted"),
        (LangChainEmbedder(Scripted(), model_id="mine@2"), "mine@2"),
    ],
)
def test_the_models_name_is_given_or_read_off(embedder: LangChainEmbedder, model_id: str) -> None:
    assert embedder.model_id == model_id


@pytest.mark.parametrize("answer", [TimeoutError("no answer"), [["x"]], [[1.0], [1.0, 2.0]]])
def test_a_failing_object_is_an_embedding_error_with_its_cause(answer: object) -> None:
    with pytest.raises(EmbeddingError, match="Scripted failed") as caught:
        LangChainEmbedder(Scripted(answer)).embed(["a", "b"])
    assert caught.value.__cause__ is not None


def test_a_flat_answer_is_an_embedding_error() -> None:
    with pytest.raises(EmbeddingError, match="one vector per text"):
        LangChainEmbedder(Scripted([1.0, 2.0])).embed(["a", "b"])


def test_a_failing_probe_is_an_embedding_error() -> None:
    with pytest.raises(EmbeddingError, match="no answer"):
        _ = LangChainEmbedder(Scripted(TimeoutError("no answer"))).dimension


def test_openai_without_its_extra_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain_openai", None)
    with pytest.raises(MissingExtra, match=r"driftguard-langgraph\[openai\]"):
        openai_embedder("text-embedding-3-small")
