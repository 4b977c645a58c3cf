"""Settings: one frozen object, from arguments or from `DRIFTGUARD_*` variables."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from platformdirs import user_data_path
from pydantic import AfterValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.types import Policy

ENV_PREFIX = "DRIFTGUARD_"

_Share = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
_Count = Annotated[int, Field(ge=1)]


def default_database_path() -> Path:
    """Return the SQLite file in the user's data directory, wherever the process started."""
    return user_data_path("driftguard-langgraph", appauthor=False) / "memory.sqlite3"


def default_json_path() -> Path:
    """Return the JSON file beside the database of `default_database_path`."""
    return default_database_path().with_suffix(".json")


def _stripped(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be empty")
    return value.strip()


def _pattern(value: str) -> str:
    try:
        everywhere = re.compile(value).match("")
    except re.error as error:
        raise ValueError(f"is no regular expression: {error}") from None
    if everywhere:
        raise ValueError("matches where nothing is")
    return value


_Pattern = Annotated[str, AfterValidator(_pattern)]
_Name = Annotated[str, AfterValidator(_stripped)]


class DriftGuardSettings(BaseSettings):
    """Everything that can be tuned; unknown names and values out of range are errors.

    Each field can be set by an argument or by the environment variable `DRIFTGUARD_` plus its
    name in upper case; arguments win. Where DriftGuard has a field, its default is kept.

    Raises:
        ConfigurationError: For an unknown field or variable, or a value out of range.
    """

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX, frozen=True, extra="forbid", validate_default=True
    )

    storage_backend: Literal["sqlite", "json", "postgres", "memory"] = Field(
        "sqlite",
        description="Where episodes live: a SQLite file, a readable JSON file (for small "
        "memories), a PostgreSQL database (extra `postgres`), or this process only.",
    )
    sqlite_filepath: Path = Field(
        default_factory=default_database_path, description="File of the SQLite backend."
    )
    sqlite_durability: Literal["normal", "full"] = Field(
        "normal",
        description="What a power failure may take from the SQLite file: `normal`, at worst the "
        "newest records; `full`, nothing that was acknowledged (every record waits for the disk).",
    )
    json_filepath: Path = Field(
        default_factory=default_json_path, description="File of the JSON backend."
    )
    postgres_dsn: SecretStr = Field(
        SecretStr(""),
        description="Connection string of the Postgres backend; what it leaves open, libpq's "
        "`PG*` variables say.",
    )
    on_store_error: Literal["open", "closed"] = Field(
        "open",
        description="When memory or embedder fail: `open` lets the step run and logs it, "
        "`closed` raises.",
    )

    embedding_backend: Literal["onnx", "sentence-transformers", "openai"] = Field(
        "onnx", description="Who turns text into vectors; all but `onnx` need an extra."
    )
    embedding_model_name: _Name = Field(
        "all-MiniLM-L6-v2", description="Model name or folder for the chosen backend."
    )
    embedding_model_path: Path | None = Field(
        None, description="Folder with another `model.onnx` (and `vocab.txt`) for `onnx`."
    )
    embedding_device: str | None = Field(None, description="Device for sentence-transformers.")
    embedding_cache_size: int = Field(4096, ge=0, description="Vectors that are kept in memory.")
    embedding_max_chars: int = Field(
        4000,
        ge=200,
        description="Longest text that is embedded whole (about 0.1 s per 1,000 characters of "
        "prose); of a longer one head and tail are.",
    )
    reembed_limit: int = Field(
        2000,
        ge=0,
        description="Up to this many stored wordings a change of model re-embeds by itself.",
    )

    normalizer: Literal["simplemma", "spacy"] = Field(
        "simplemma", description="Makes node labels; what is compared is the text as written."
    )
    language: _Name = Field("en", description="Language of the labels, an ISO 639-1 code.")
    spacy_model: _Name = Field(
        "blank", description="`blank` (lookup lemmas of `language`) or an installed pipeline."
    )

    retrieval_top_k: _Count = Field(5, le=1000, description="Remembered actions per review.")
    retrieval_min_similarity: _Share = Field(
        0.60, description="Lowest cosine at which a remembered action can count as the same."
    )
    retrieval_recency_weight: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = Field(
        0.15, description="Share of recency in the confidence, clamped to 0.5."
    )
    traversal_max_depth: _Count = Field(3, description="Longest chain, in edges.")
    traversal_max_branching: _Count = Field(10, description="Neighbours followed per node.")
    traversal_max_paths: _Count = Field(100, description="Chains per review and kind.")
    similarity_threshold_action: _Share = Field(0.72, description="Merge threshold, actions.")
    similarity_threshold_feedback: _Share = Field(0.70, description="Merge threshold, feedback.")
    similarity_threshold_outcome: _Share = Field(0.88, description="Merge threshold, outcomes.")

    guard_policy: Policy = Field("warn", description="What follows from a warning.")
    guard_min_confidence: _Share = Field(
        0.0, description="Lowest confidence at which a policy may stop a step."
    )
    holdout: _Share = Field(
        0.0, description="Share of warned steps whose warnings stay silent: the control arm."
    )
    holdout_seed: int | _Name | None = Field(None, description="Which of them are drawn.")

    judge_band: _Share = Field(
        0.10,
        description="A score this near `retrieval_min_similarity` is undecided: the judge is "
        "asked, if the guard has one.",
    )
    judge_limit: int = Field(3, ge=0, description="Questions to the judge per review.")

    prune_node_stale_days: _Count = Field(
        60, description="Days without being seen or used after which memory is stale."
    )
    prune_edge_min_frequency: _Count = Field(
        2, description="Stale links seen less often than this are pruned first."
    )

    retention_max_age_days: int | None = Field(
        None, ge=1, description="Days after which a prune drops an episode, used or not."
    )
    retention_max_episodes: int | None = Field(
        None,
        ge=1,
        description="How many episodes of a namespace a prune keeps; what was neither seen nor "
        "used for longest goes first.",
    )

    drift_mode: Literal["cumulative", "sliding-window"] = Field(
        "cumulative", description="What is compared with the baseline: all turns, or the last."
    )
    drift_window_size: _Count = Field(10, description="Turns of the sliding window.")
    drift_baseline_turns: _Count = Field(
        1, le=1000, description="Without a baseline, the first turns that become it."
    )
    drift_absolute_threshold: _Share = Field(0.50, description="Anomalous distance.")
    drift_velocity_threshold: _Share = Field(0.30, description="Anomalous distance per turn.")
    drift_component_thresholds: dict[str, _Share] = Field(
        default_factory=dict, description="Anomalous distance by component, for those changed."
    )
    drift_component_weights: dict[str, _Share] = Field(
        default_factory=dict, description="Weight in the distance by component, for those changed."
    )
    drift_smoothing: _Share = Field(
        0.50, description="Share of the newest turn in the topic score; 1 is no smoothing."
    )
    drift_opening_turns: int = Field(
        4, ge=0, le=100, description="First turns that count as context, besides the baseline."
    )
    drift_opening_weight: _Share = Field(0.70, description="How much these count.")
    drift_decay_rate: Annotated[float, Field(gt=0.0, le=1.0, allow_inf_nan=False)] = Field(
        1.0, description="Factor on the topic score per two turns; 1 is no decay."
    )
    drift_topic_window: int = Field(
        1, ge=0, le=1000, description="Assistant turns that are scored as one; 0 is all."
    )
    drift_score_floor: bool = Field(
        False, description="Whether a score never rises again within a session."
    )
    drift_score_map: Literal["calibrated", "zones"] = Field(
        "calibrated", description="How a cosine becomes 0..100: calibrated, or by fixed zones."
    )
    drift_alarm_threshold: _Share = Field(
        0.50, description="Corruption from which the alarm is raised (`drift calibrate` fits it)."
    )
    drift_alarm_release: _Share = Field(0.25, description="Corruption that ends a raised alarm.")
    drift_false_alarm_budget: _Share = Field(
        0.02, description="Share of good conversations that may alarm, for `drift calibrate`."
    )

    max_text_chars: int = Field(
        20_000, ge=200, le=5_000_000, description="Longest text that is kept whole."
    )
    text_overflow: Literal["truncate", "refuse"] = Field(
        "truncate", description="What happens to a longer text."
    )
    redact: bool = Field(
        True, description="Replace keys, tokens, passwords and card numbers in what is given."
    )
    redact_patterns: tuple[_Pattern, ...] = Field(
        (),
        description="Regular expressions of more that is replaced; of one with a named group "
        "only that group is, and the placeholder says its name.",
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] = Field(
        "INFO", description="Level of the CLI's and services' logging."
    )

    def __init__(self, **values: Any) -> None:
        _refuse_unknown_variables(type(self))
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise ConfigurationError(_explain(error)) from None

    @classmethod
    def context_drift_preset(cls, **overrides: Any) -> DriftGuardSettings:
        """Return the settings under which the topic is scored as by context-drift-analyzer.

        The last five answers are one text, compared with the whole context by fixed zones; the
        score decays by 5% every two exchanges and never rises.

        Args:
            overrides: Other settings, which win over the preset's.

        Raises:
            ConfigurationError: For an unknown field or a value out of range.
        """
        preset = {
            "drift_decay_rate": 0.95,
            "drift_topic_window": 5,
            "drift_score_floor": True,
            "drift_score_map": "zones",
            "drift_smoothing": 1.0,
            "drift_opening_turns": 0,
        }
        return cls(**preset | overrides)


def checked_settings(settings: DriftGuardSettings | None) -> DriftGuardSettings:
    """Return settings, those of the environment if none are given.

    Raises:
        ConfigurationError: They are something else, or the environment's are wrong.
    """
    if settings is None:
        return DriftGuardSettings()
    if not isinstance(settings, DriftGuardSettings):
        raise ConfigurationError(
            f"settings must be DriftGuardSettings, not {type(settings).__name__}: "
            "DriftGuardSettings(drift_alarm_threshold=0.6), for example."
        )
    return settings


def _refuse_unknown_variables(cls: type[DriftGuardSettings]) -> None:
    known = {ENV_PREFIX + name.upper() for name in cls.model_fields}
    unknown = sorted(
        k for k in os.environ if k.upper().startswith(ENV_PREFIX) and k.upper() not in known
    )
    if unknown:
        raise ConfigurationError(
            f"unknown environment variable {', '.join(unknown)}: "
            "unset it or correct its name (`driftguard doctor` lists the settings)."
        )


def _explain(error: ValidationError) -> str:
    parts = []
    for item in error.errors(include_url=False, include_context=False):
        name = ".".join(str(part) for part in item["loc"]) or "settings"
        if item["type"] == "extra_forbidden":
            parts.append(f"unknown setting '{name}'")
        else:
            parts.append(f"{name}={item['input']!r}: {item['msg']}")
    return "invalid settings: " + "; ".join(parts)
