"""The extra `openai`: chosen by settings; no request is made."""

from __future__ import annotations

import pytest

from driftguard_langgraph.embeddings import resolve_embedder
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.settings import DriftGuardSettings

pytest.importorskip("langchain_openai", reason="needs the extra 'openai'")


def test_settings_choose_an_openai_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-used")
    settings = DriftGuardSettings(
        embedding_backend="openai", embedding_model_name="text-embedding-3-small"
    )
    embedder = resolve_embedder(None, settings)
    assert embedder.model_id == "OpenAIEmbeddings:text-embedding-3-small"


def test_a_missing_key_is_a_configuration_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    settings = DriftGuardSettings(
        embedding_backend="openai", embedding_model_name="text-embedding-3-large"
    )
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        resolve_embedder(None, settings)
