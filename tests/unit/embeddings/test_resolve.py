"""Which embedder follows from an argument and the settings."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from numpy.typing import NDArray

from driftguard_langgraph.embeddings import Embedder, resolve_embedder
from driftguard_langgraph.embeddings.cache import CachedEmbedder
from driftguard_langgraph.embeddings.langchain import LangChainEmbedder
from driftguard_langgraph.embeddings.onnx import OnnxEmbedder
from driftguard_langgraph.embeddings.sentence_transformers import SentenceTransformersEmbedder
from driftguard_langgraph.errors import ConfigurationError, MissingExtra
from driftguard_langgraph.settings import DriftGuardSettings


class LoudEmbedder:
    """An embedder whose dimension must not be asked for without need."""

    model_id = "loud"

    @property
    def dimension(self) -> int:
        raise AssertionError("loads the model")

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.ones((len(texts), 2), dtype=np.float32)


def resolved(embeddings: object | None = None, **settings: Any) -> CachedEmbedder:
    embedder = resolve_embedder(embeddings, DriftGuardSettings(**settings))
    assert isinstance(embedder, CachedEmbedder)
    return embedder


def test_the_default_is_the_offline_model() -> None:
    assert isinstance(resolved().inner, OnnxEmbedder)
    assert resolved().model_id == "all-MiniLM-L6-v2-int8@8199be6f"


def test_equal_settings_share_one_embedder_and_others_do_not(tmp_path: Path) -> None:
    assert resolved() is resolved()
    assert resolved(embedding_cache_size=7) is not resolved()
    assert resolved(embedding_model_path=tmp_path) is not resolved()


def test_a_folder_is_read_from_the_settings(tmp_path: Path) -> None:
    inner = resolved(embedding_model_path=tmp_path).inner
    assert isinstance(inner, OnnxEmbedder)
    assert inner._weights.folder == tmp_path


def test_an_embedder_is_wrapped_without_loading_it() -> None:
    own: Embedder = LoudEmbedder()
    assert resolved(own).inner is own


def test_a_cached_embedder_is_taken_as_it_is() -> None:
    own = CachedEmbedder(OnnxEmbedder(), 5)
    assert resolve_embedder(own, DriftGuardSettings()) is own


def test_a_langchain_object_is_adapted() -> None:
    embedder = resolved(DeterministicFakeEmbedding(size=8))
    assert isinstance(embedder.inner, LangChainEmbedder)
    vectors = embedder.embed(["a", "b"])
    assert vectors.shape == (2, 8)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    "nonsense",
    ["all-MiniLM-L6-v2", 3, object(), OnnxEmbedder, len],
    ids=lambda value: type(value).__name__,
)
def test_anything_else_is_refused(nonsense: object) -> None:
    with pytest.raises(ConfigurationError, match="embeddings must be an Embedder"):
        resolve_embedder(nonsense, DriftGuardSettings())


def test_a_model_the_default_backend_does_not_bring_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="sentence-transformers"):
        resolved(embedding_model_name="all-mpnet-base-v2")


def test_openai_needs_the_name_of_a_model() -> None:
    with pytest.raises(ConfigurationError, match="embedding_model_name"):
        resolved(embedding_backend="openai")


def test_sentence_transformers_is_chosen_without_importing_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    embedder = resolved(embedding_backend="sentence-transformers", embedding_device="cpu")
    assert isinstance(embedder.inner, SentenceTransformersEmbedder)
    assert embedder.model_id == "sentence-transformers:all-MiniLM-L6-v2"
    with pytest.raises(MissingExtra, match=r"driftguard-langgraph\[sentence-transformers\]"):
        embedder.embed(["x"])


@pytest.mark.parametrize(
    "embedder",
    [OnnxEmbedder(), CachedEmbedder(OnnxEmbedder(), 1), LangChainEmbedder(
        DeterministicFakeEmbedding(size=8)
    )],
)  # fmt: skip
def test_every_embedder_keeps_the_protocol(embedder: object) -> None:
    assert isinstance(embedder, Embedder)
