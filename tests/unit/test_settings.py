from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from driftguard_langgraph import ConfigurationError, DriftGuardError, DriftGuardSettings


def test_the_defaults_are_those_of_the_description(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DRIFTGUARD_SQLITE_FILEPATH")
    settings = DriftGuardSettings()

    assert settings.retrieval_top_k == 5
    assert settings.retrieval_min_similarity == 0.60
    assert settings.retrieval_recency_weight == 0.15
    assert (settings.traversal_max_depth, settings.traversal_max_branching) == (3, 10)
    assert settings.traversal_max_paths == 100
    assert settings.similarity_threshold_action == 0.72
    assert settings.similarity_threshold_feedback == 0.70
    assert settings.similarity_threshold_outcome == 0.88
    assert (settings.guard_policy, settings.guard_min_confidence) == ("warn", 0.0)
    assert (settings.prune_node_stale_days, settings.prune_edge_min_frequency) == (60, 2)
    assert settings.sqlite_filepath.is_absolute()


def test_variables_set_fields_and_arguments_win(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTGUARD_GUARD_POLICY", "block")
    monkeypatch.setenv("DRIFTGUARD_RETRIEVAL_TOP_K", "9")
    monkeypatch.setenv("DRIFTGUARD_SQLITE_FILEPATH", "/somewhere/else.sqlite3")

    settings = DriftGuardSettings(retrieval_top_k=2)

    assert settings.guard_policy == "block"
    assert settings.retrieval_top_k == 2
    assert settings.sqlite_filepath == Path("/somewhere/else.sqlite3")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("guard_policy", "blok"),
        ("guard_policy", "Block"),
        ("storage_backend", "redis"),
        ("retrieval_top_k", 0),
        ("retrieval_top_k", "many"),
        ("retrieval_min_similarity", 1.5),
        ("retrieval_min_similarity", float("nan")),
        ("retrieval_recency_weight", -1),
        ("retrieval_recency_weight", float("inf")),
        ("similarity_threshold_action", float("nan")),
        ("guard_min_confidence", -0.1),
        ("prune_node_stale_days", 0),
        ("max_text_chars", 10),
        ("text_overflow", "cut"),
        ("log_level", "LOUD"),
        ("language", " "),
        ("on_store_error", "ajar"),
        ("retreival_top_k", 3),
    ],
)
def test_a_wrong_value_or_name_fails_at_construction_and_is_named(name: str, value: Any) -> None:
    with pytest.raises(ConfigurationError, match=name) as caught:
        DriftGuardSettings(**{name: value})
    assert isinstance(caught.value, DriftGuardError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("name", "value"),
    [("DRIFTGUARD_RETRIEVAL_TOP_K", "7.5"), ("DRIFTGUARD_RETRIEVAL_TOP_K", "")],
)
def test_a_wrong_variable_is_an_error(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)

    with pytest.raises(ConfigurationError, match="retrieval_top_k"):
        DriftGuardSettings()


def test_an_unknown_variable_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTGUARD_GAURD_POLICY", "block")

    with pytest.raises(ConfigurationError, match="DRIFTGUARD_GAURD_POLICY"):
        DriftGuardSettings()


def test_settings_cannot_be_changed() -> None:
    settings = DriftGuardSettings()

    with pytest.raises(ValueError, match="frozen"):
        settings.retrieval_top_k = 3


def test_every_field_says_what_it_is() -> None:
    assert all(field.description for field in DriftGuardSettings.model_fields.values())
