"""Any LangChain `Embeddings` object as an embedder; OpenAI's by setting (extra `openai`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from driftguard_langgraph.embeddings._lazy import Lazy
from driftguard_langgraph.errors import ConfigurationError, EmbeddingError, MissingExtra

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
