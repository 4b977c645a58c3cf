"""Any sentence-transformers model, by name or folder (extra `sentence-transformers`)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from driftguard_langgraph._locks import ForkSafeLock
from driftguard_langgraph.embeddings._lazy import Lazy
from driftguard_langgraph.embeddings._pieces import average_pieces, unit
from driftguard_langgraph.errors import EmbeddingError, MissingExtra

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_BATCH_TEXTS = 32
_HASH_BLOCK_BYTES = 1 << 20


class SentenceTransformersEmbedder:
    """Embeds with a sentence-transformers model, loaded at the first use.

    A text longer than the model reads is embedded in pieces. A model that is named, rather
    than a folder, may be downloaded by sentence-transformers.

    Args:
        model_name: Name of a model, or a folder that holds one.
        device: PyTorch device such as `cpu` or `cuda:0`; `None` lets the library choose.
    """

    def __init__(self, model_name: str, device: str | None = None) -> None:
        self._name = model_name
        self._device = device
        self._model = Lazy(self._load)
        self._running = ForkSafeLock()

    @cached_property
    def model_id(self) -> str:
        """Name of the model; of a folder, its name and the hash of its content."""
        folder = Path(self._name)
        if not folder.is_dir():
            return f"sentence-transformers:{self._name}"
        return f"sentence-transformers:{folder.resolve().name}@{_content_hash(folder)[:8]}"

    @cached_property
    def dimension(self) -> int:
        """Length of the vectors. Loads and runs the model.

        Raises:
            MissingExtra: sentence-transformers is not installed.
            EmbeddingError: The model cannot be loaded.
        """
        return int(self.embed([""]).shape[1])

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector per text, shape `(len(texts), dimension)`.

        Raises:
            MissingExtra: sentence-transformers is not installed.
            EmbeddingError: The model cannot be loaded or run.
        """
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        model = self._model.get()
        try:
            # A Hugging Face tokenizer keeps padding and truncation in itself: one at a time.
            with self._running:
                pieces = [
                    (piece, tokens, owner)
                    for owner, text in enumerate(texts)
                    for piece, tokens in _pieces(model, text)
                ]
                vectors = model.encode(
                    [piece for piece, _, _ in pieces],
                    batch_size=_BATCH_TEXTS,
                    show_progress_bar=False,
                    convert_to_numpy=True,
                )
        except Exception as error:
            raise EmbeddingError(f"the model '{self._name}' failed: {error}.") from error
        return average_pieces(
            unit(np.asarray(vectors, dtype=np.float32)),
            [tokens for _, tokens, _ in pieces],
            [owner for _, _, owner in pieces],
            len(texts),
        )

    def _load(self) -> SentenceTransformer:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError:
            raise MissingExtra.of(
                "embedding_backend='sentence-transformers'", "sentence-transformers"
            ) from None
        try:
            return SentenceTransformer(self._name, device=self._device)
        except Exception as error:
            raise EmbeddingError(
                f"sentence-transformers cannot load '{self._name}': {error}. Set "
                "embedding_model_name to a folder with the model, or to a name it can reach."
            ) from error


def _pieces(model: SentenceTransformer, text: str) -> list[tuple[str, int]]:
    """Cut a text, between words where it can, into parts the model reads whole.

    Returns:
        The parts with their numbers of tokens.
    """
    limit = model.max_seq_length
    tokenizer: Any = model.tokenizer
    if not limit or not getattr(tokenizer, "is_fast", False):
        return [(text, 1)]
    room = limit - tokenizer.num_special_tokens_to_add()
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    offsets = encoded["offset_mapping"]
    if len(offsets) <= room:
        return [(text, max(len(offsets), 1))]
    pieces = []
    first = 0
    while first < len(offsets):
        behind = _cut(offsets, first, first + room)
        stop = offsets[behind][0] if behind < len(offsets) else len(text)
        pieces.append((text[offsets[first][0] : stop], behind - first))
        first = behind
    return pieces


def _cut(offsets: Sequence[tuple[int, int]], first: int, behind: int) -> int:
    if behind >= len(offsets):
        return len(offsets)
    for token in range(behind, first, -1):
        if offsets[token][0] > offsets[token - 1][1]:
            return token
    return behind


def _content_hash(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode())
        with path.open("rb") as file:
            while block := file.read(_HASH_BLOCK_BYTES):
                digest.update(block)
    return digest.hexdigest()
