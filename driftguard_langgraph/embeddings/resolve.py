"""From what the user gave, or set, to the embedder the guard works with."""

from __future__ import annotations

import inspect
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from driftguard_langgraph._locks import ForkSafeLock
from driftguard_langgraph.embeddings.base import Embedder
from driftguard_langgraph.embeddings.cache import CachedEmbedder
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.settings import DriftGuardSettings

_MINILM_NAMES = frozenset({"all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"})
_EMBEDDER_MEMBERS = ("model_id", "dimension", "embed")
_LANGCHAIN_MEMBERS = ("embed_documents", "embed_query")
_sharing = ForkSafeLock()


def resolve_embedder(embeddings: object | None, settings: DriftGuardSettings) -> Embedder:
    """Return the embedder to use, with a cache.

    Nothing is loaded yet. Guards whose settings agree share one model and its cache.

    Args:
        embeddings: An `Embedder`, a LangChain `Embeddings` object, or `None` for the one
            that the settings name.
        settings: The `embedding_*` settings; of those only the size of the cache counts
            when `embeddings` is given.

    Raises:
        ConfigurationError: `embeddings` is neither, or the settings contradict each other.
        MissingExtra: The chosen backend is not installed.
    """
    size = settings.embedding_cache_size
    if embeddings is None:
        with _sharing:
            return _shared(
                settings.embedding_backend,
                settings.embedding_model_name,
                settings.embedding_model_path,
                settings.embedding_device,
                size,
            )
    if isinstance(embeddings, CachedEmbedder):
        return embeddings
    if _has(embeddings, _EMBEDDER_MEMBERS):
        return CachedEmbedder(cast("Embedder", embeddings), size)
    if _has(embeddings, _LANGCHAIN_MEMBERS):
        from driftguard_langgraph.embeddings.langchain import LangChainEmbedder

        return CachedEmbedder(LangChainEmbedder(cast("Any", embeddings)), size)
    raise ConfigurationError(
        f"embeddings must be an Embedder ({', '.join(_EMBEDDER_MEMBERS)}) or a LangChain "
        f"Embeddings object ({', '.join(_LANGCHAIN_MEMBERS)}), not {embeddings!r}."
    )


def _has(candidate: object, members: tuple[str, ...]) -> bool:
    # Looked up without evaluating properties: reading `dimension` may load a model.
    missing = object()
    return not isinstance(candidate, type) and all(
        inspect.getattr_static(candidate, name, missing) is not missing for name in members
    )


@lru_cache(maxsize=8)
def _shared(
    backend: str, model_name: str, model_path: Path | None, device: str | None, size: int
) -> CachedEmbedder:
    return CachedEmbedder(_by_settings(backend, model_name, model_path, device), size)


def _by_settings(
    backend: str, model_name: str, model_path: Path | None, device: str | None
) -> Embedder:
    if backend == "sentence-transformers":
        from driftguard_langgraph.embeddings.sentence_transformers import (
            SentenceTransformersEmbedder,
        )

        return SentenceTransformersEmbedder(model_name, device)
    if backend == "openai":
        if model_name in _MINILM_NAMES:
            raise ConfigurationError(
                "embedding_backend='openai' needs the name of an OpenAI model: set "
                "embedding_model_name (DRIFTGUARD_EMBEDDING_MODEL_NAME), for example to "
                "'text-embedding-3-small'."
            )
        from driftguard_langgraph.embeddings.langchain import openai_embedder

        return openai_embedder(model_name)
    if model_path is None and model_name not in _MINILM_NAMES:
        raise ConfigurationError(
            f"embedding_backend='onnx' brings all-MiniLM-L6-v2 only, not {model_name!r}. Set "
            "embedding_model_path to a folder with its model.onnx, or embedding_backend to "
            "'sentence-transformers'."
        )
    from driftguard_langgraph.embeddings.onnx import OnnxEmbedder

    return OnnxEmbedder(model_path)
