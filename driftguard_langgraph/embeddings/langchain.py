"""LangChain `Embeddings` as embedders, OpenAI's by setting (extra `openai`), and the way back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from driftguard_langgraph.embeddings._lazy import Lazy
from driftguard_langgraph.embeddings.resolve import resolve_embedder
from driftguard_langgraph.errors import ConfigurationError, EmbeddingError, MissingExtra
from driftguard_langgraph.settings import DriftGuardSettings

_T = TypeVar("_T")


class LangChainEmbedder:
    """Embeds with a LangChain `Embeddings` object.

    Args:
        embeddings: The object; it bounds its own inputs.
        model_id: Stable name of the model. By default the class name, with the value of
            the object's `model` or `model_name` where it has one. Give one when neither
            tells two models apart.
    """

    def __init__(self, embeddings: Embeddings, model_id: str | None = None) -> None:
        self._embeddings = embeddings
        self._model_id = model_id or _name_of(embeddings)
        self._seen_dimension: int | None = None
        self._probed = Lazy(self._probe)

    @property
    def model_id(self) -> str:
        """Name of the model."""
        return self._model_id

    @property
    def dimension(self) -> int:
        """Length of the vectors; embeds one word to find out when nothing was embedded yet.

        Raises:
            EmbeddingError: The object failed.
        """
        return self._seen_dimension or self._probed.get()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text, scaled as the wrapped object returns it.

        Raises:
            EmbeddingError: The object failed, or did not return a matrix.
        """
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        vectors = self._call(
            lambda: np.asarray(self._embeddings.embed_documents(list(texts)), dtype=np.float32)
        )
        if vectors.ndim != 2:
            raise EmbeddingError(
                f"{self._model_id} returned an array of shape {vectors.shape} for "
                f"{len(texts)} text(s); it must be one vector per text."
            )
        self._seen_dimension = int(vectors.shape[1])
        return vectors

    def _probe(self) -> int:
        return self._call(lambda: len(self._embeddings.embed_query("dimension")))

    def _call(self, run: Callable[[], _T]) -> _T:
        try:
            return run()
        except Exception as error:
            raise EmbeddingError(f"{self._model_id} failed: {error}.") from error


class DriftGuardEmbeddings(Embeddings):
    """The package's embedder, offline by default, as LangChain `Embeddings`.

    It serves vector stores and retrievers, and shares the model that guards have loaded.

    Args:
        settings: The `embedding_*` settings; None reads the environment.

    Raises:
        ConfigurationError: The settings contradict each other.
        MissingExtra: The chosen backend is not installed.
    """

    def __init__(self, settings: DriftGuardSettings | None = None) -> None:
        self._embedder = resolve_embedder(None, settings or DriftGuardSettings())

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector for each text.

        Raises:
            EmbeddingError: The model failed.
        """
        vectors: list[list[float]] = self._embedder.embed(texts).tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of one text; see `embed_documents`."""
        return self.embed_documents([text])[0]


def openai_embedder(model_name: str) -> LangChainEmbedder:
    """Return an embedder over langchain-openai's `OpenAIEmbeddings`.

    Args:
        model_name: Name of an OpenAI embedding model.

    Raises:
        MissingExtra: langchain-openai is not installed.
        ConfigurationError: The client cannot be made, for example without a key.
    """
    try:
        from langchain_openai import OpenAIEmbeddings
    except ImportError:
        raise MissingExtra.of("embedding_backend='openai'", "openai") from None
    try:
        return LangChainEmbedder(OpenAIEmbeddings(model=model_name))
    except Exception as error:
        raise ConfigurationError(
            f"embedding_backend='openai' cannot be used: {error}. Set OPENAI_API_KEY."
        ) from error


def _name_of(embeddings: Embeddings) -> str:
    name = type(embeddings).__name__
    for attribute in ("model", "model_name"):
        model = getattr(embeddings, attribute, None)
        if isinstance(model, str) and model:
            return f"{name}:{model}"
    return name
