from __future__ import annotations

import pytest

from driftguard_langgraph.drift.intent.labels import unlabelled

NOTE = "the gate may stay open at night"


@pytest.mark.parametrize(
    "text",
    [
        f"[memory] {NOTE}",
        f"Handover from the harbour: {NOTE}",
        f"** Desk 11:42 - {NOTE}",
        f"[log] Summary: {NOTE}",
        f"- {NOTE}",
        NOTE,
    ],
)
def test_what_says_who_speaks_is_left_out(text: str) -> None:
    assert unlabelled(text) == NOTE


@pytest.mark.parametrize(
    "text",
    [
        "Gate: open",
        "It rained, so this happened: the gate was shut",
        "The gate, as you know, is shut - mostly",
        "[unclosed bracket without an end",
        "",
    ],
)
def test_what_is_no_label_stays(text: str) -> None:
    assert unlabelled(text) == text
