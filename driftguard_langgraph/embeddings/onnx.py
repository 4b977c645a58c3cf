"""The default embedder: all-MiniLM-L6-v2 with int8 weights, offline, on onnxruntime."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from driftguard_langgraph.embeddings._lazy import Lazy
from driftguard_langgraph.embeddings._pieces import average_pieces, unit
from driftguard_langgraph.embeddings._weights import DEFAULT_MODEL_ID, Weights
from driftguard_langgraph.errors import EmbeddingError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

DEFAULT_DIMENSION = 384
"""Length of the vectors of all-MiniLM-L6-v2."""

MAX_TOKENS = 256
"""Longest input of all-MiniLM-L6-v2, `[CLS]` and `[SEP]` included (its model card)."""

_BATCH_TEXTS = 32
# onnxruntime keeps the memory of its largest batch: with 2 full pieces at a time the process
# stays under 300 MB, with 8 it takes 500 MB and is no faster.
_BATCH_TOKENS = 2 * MAX_TOKENS
# onnxruntime's ERROR: a library's warnings have no place on its user's console.
_LOG_ERRORS_ONLY = 3


@dataclass(frozen=True, slots=True)
class _Model:
    session: InferenceSession
    tokenizer: Tokenizer
    inputs: frozenset[str]
    start: int
    end: int


class OnnxEmbedder:
    """Embeds with a BERT-like ONNX model on one thread of the CPU. Never uses the network.

    The vector of a text does not depend on the texts beside it (beyond float noise). A text
    longer than `MAX_TOKENS` is embedded in pieces, none of it is ignored. Two texts without
    a single word of the vocabulary, such as two emoji, have the same vector.

    Args:
        folder: Folder with `model.onnx` and optionally `vocab.txt` (else that of
            bert-base-uncased). `None` takes the installed default model, whose hash is
            checked. The model maps `input_ids`, `attention_mask` and perhaps
            `token_type_ids` to one vector per token, which are averaged, or per text.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._weights = Weights(folder)
        self._model = Lazy(self._load)

    @property
    def model_id(self) -> str:
        """Name and content hash of the model.

        Raises:
            EmbeddingError: The model's file cannot be read.
        """
        return self._weights.model_id

    @cached_property
    def dimension(self) -> int:
        """Length of the vectors. Loads the model unless it is the default one.

        Raises:
            EmbeddingError: The model cannot be loaded.
        """
        if self.model_id == DEFAULT_MODEL_ID:
            return DEFAULT_DIMENSION
        return int(self.embed([""]).shape[1])

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector per text, shape `(len(texts), dimension)`.

        Raises:
            EmbeddingError: The model cannot be loaded or run.
        """
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        model = self._model.get()
        pieces: list[list[int]] = []
        owners: list[int] = []
        for owner, text in enumerate(texts):
            for piece in _pieces(_token_ids(model.tokenizer, text)):
                pieces.append([model.start, *piece, model.end])
                owners.append(owner)
        order = sorted(range(len(pieces)), key=lambda index: len(pieces[index]))
        vectors = [_run(model, [pieces[i] for i in batch]) for batch in _batches(order, pieces)]
        return average_pieces(
            np.concatenate(vectors),
            [len(pieces[i]) for i in order],
            [owners[i] for i in order],
            len(texts),
        )

    def _load(self) -> _Model:
        try:
            import onnxruntime
        except ImportError as error:
            raise EmbeddingError(
                f"onnxruntime cannot be imported ({error}). Reinstall it, or choose another "
                "embedding_backend."
            ) from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = _LOG_ERRORS_ONLY
        path = self._weights.model_file()
        vocabulary = self._weights.vocabulary()
        try:
            session = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
            inputs = frozenset(item.name for item in session.get_inputs())
            start, end = vocabulary["[CLS]"], vocabulary["[SEP]"]
            return _Model(session, _tokenizer(vocabulary), inputs, start, end)
        except Exception as error:
            raise EmbeddingError(
                f"the embedding model {self.model_id} cannot be loaded: {error}. "
                "Check embedding_model_path, or reinstall the default model."
            ) from error


def _tokenizer(vocabulary: dict[str, int]) -> Tokenizer:
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer

    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    return tokenizer


def _token_ids(tokenizer: Tokenizer, text: str) -> list[int]:
    try:
        return list(tokenizer.encode(text, add_special_tokens=False).ids)
    except Exception as error:
        raise EmbeddingError(f"a text cannot be tokenised: {error}.") from error


def _pieces(ids: list[int]) -> Iterator[list[int]]:
    content = MAX_TOKENS - 2
    for offset in range(0, max(len(ids), 1), content):
        yield ids[offset : offset + content]


def _batches(order: Sequence[int], pieces: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Cut `order`, sorted by length, where the padded batch would grow too large."""
    batch: list[int] = []
    for index in order:
        padded = (len(batch) + 1) * len(pieces[index])
        if batch and (len(batch) == _BATCH_TEXTS or padded > _BATCH_TOKENS):
            yield batch
            batch = []
        batch.append(index)
    yield batch


def _run(model: _Model, batch: Sequence[Sequence[int]]) -> NDArray[np.float32]:
    """Return one unit vector per piece: the mean over its tokens."""
    width = max(map(len, batch))
    ids = np.zeros((len(batch), width), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, piece in enumerate(batch):
        ids[row, : len(piece)] = piece
        mask[row, : len(piece)] = 1
    feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    try:
        output = model.session.run(None, {k: v for k, v in feed.items() if k in model.inputs})[0]
        hidden = np.asarray(output, dtype=np.float32)
    except Exception as error:
        raise EmbeddingError(f"the embedding model failed: {error}.") from error
    if hidden.ndim == 3:
        weights = mask[:, :, np.newaxis].astype(np.float32)
        hidden = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
    if hidden.ndim != 2:
        raise EmbeddingError(
            f"the embedding model's first output has {hidden.ndim} dimensions; it must be one "
            "vector per token or per text."
        )
    return unit(hidden)
