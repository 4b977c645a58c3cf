"""Everything is checked before anything is kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from driftguard_langgraph.errors import ConfigurationError, InvalidEpisode
from driftguard_langgraph.memory.episodes import build_episode, receipt_for
from driftguard_langgraph.text.validation import TextLimits
from driftguard_langgraph.types import Episode
from tests.memory_samples import HOME, NOON

LIMITS = TextLimits(max_chars=1000)


def built(action: Any = "step", feedback: Any = "failed", **details: Any) -> Episode:
    return build_episode("mistake", action, feedback, "lost", LIMITS, HOME, **details)


def test_what_is_not_told_has_a_default() -> None:
    before = datetime.now(UTC)
    episode = built()
    assert before <= episode.created_at <= datetime.now(UTC)
    assert (episode.namespace, episode.severity) == (HOME, "medium")
    assert (episode.provenance, episode.metadata) == ({}, {})
    assert built().episode_id != episode.episode_id


def test_what_is_told_is_kept() -> None:
    east = NOON.astimezone(timezone(timedelta(hours=3)))
    episode = built(
        {"name": "move", "args": {"to": 1}},
        namespace=["acme", "user-7"],
        severity="high",
        episode_id="id 1",
        provenance={"thread_id": "t"},
        metadata={"deep": {"list": [1, None]}},
        created_at=east,
    )
    assert episode.namespace == ("acme", "user-7")
    assert (episode.action.tool_name, episode.action.tool_args) == ("move", {"to": 1})
    assert episode.created_at == NOON
    assert episode.created_at.tzinfo is UTC
    assert episode.to_dict()["metadata"] == {"deep": {"list": [1, None]}}


def test_metadata_is_a_copy() -> None:
    metadata = {"list": [1]}
    episode = built(metadata=metadata)
    metadata["list"].append(2)
    assert episode.metadata == {"list": [1]}


def test_output_of_tools_is_made_storable_and_actions_are_refused() -> None:
    assert built(feedback="binary \0 and \ud800").feedback == "binary ␀ and \ufffd"
    for action in ("binary \0", "broken \ud800"):
        with pytest.raises(InvalidEpisode, match="action"):
            built(action)


@pytest.mark.parametrize(
    "details",
    [
        {"severity": "awful"},
        {"severity": None},
        {"severity": ["low"]},
        {"created_at": "2026-01-01"},
        {"created_at": datetime(2026, 1, 1)},  # noqa: DTZ001
        {"created_at": datetime.min.replace(tzinfo=timezone(timedelta(hours=5)))},
        {"created_at": datetime.max.replace(tzinfo=timezone(timedelta(hours=-5)))},
        {"episode_id": ""},
        {"episode_id": 7},
        {"episode_id": "x" * 501},
        {"episode_id": "nul \0"},
        {"provenance": "thread"},
        {"provenance": {"thread_id": 7}},
        {"provenance": {"thread_id": ""}},
        {"provenance": {7: "thread"}},
        {"metadata": [1]},
        {"metadata": {"x": float("nan")}},
        {"metadata": {"x": object}},
        {"metadata": {"x": "\ud800"}},
    ],
    ids=str,
)
def test_a_wrong_detail_is_an_invalid_episode(details: dict[str, Any]) -> None:
    with pytest.raises(InvalidEpisode):
        built(**details)


@pytest.mark.parametrize(
    "namespace", ["text", "", [], [""], ["a", " "], ["a", 7], 7, b"bytes", ["\ud800"]], ids=repr
)
def test_what_is_no_namespace_is_refused(namespace: Any) -> None:
    with pytest.raises(ConfigurationError, match="namespace"):
        built(namespace=namespace)


@pytest.mark.parametrize("value", [None, "", "  \n", 7, ["list"], {}, b"bytes"], ids=repr)
def test_an_action_or_feedback_that_says_nothing_is_refused(value: Any) -> None:
    with pytest.raises(InvalidEpisode):
        built(action=value)
    with pytest.raises(InvalidEpisode):
        built(feedback=value)


def test_a_receipt_tells_what_became_of_the_episode() -> None:
    episode = built("step", episode_id="id")
    assert receipt_for(episode, "stored", nodes_created=2, nodes_merged=1) == {
        "status": "stored",
        "episode_id": "id",
        "kind": "mistake",
        "action": "step",
        "feedback": "failed",
        "outcome": "lost",
        "nodes_created": 2,
        "nodes_merged": 1,
        "error": None,
    }
