"""The built-in conversations."""

from __future__ import annotations

import pytest

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.evaluation.drift_samples import ATTACK_TYPES, sample


@pytest.mark.parametrize("name", ATTACK_TYPES)
def test_a_sample_begins_with_its_baseline_and_has_no_broken_lines(name: str) -> None:
    messages = sample(name).messages
    assert messages[0].role == "system"
    assert len(messages) >= 10
    assert not any("\n" in message.text for message in messages)
    assert {"user", "assistant"} <= {message.role for message in messages}


def test_an_unknown_sample_is_refused_with_those_there_are() -> None:
    with pytest.raises(ConfigurationError, match="poisoning, persona, constraint, normal"):
        sample("flattery")
