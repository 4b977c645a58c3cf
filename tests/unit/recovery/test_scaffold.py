from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftguard_langgraph.drift.report import Anomaly, Span
from driftguard_langgraph.drift.turns import Channel, is_own_scaffold
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.recovery.anchor import Anchor
from driftguard_langgraph.recovery.placement import SCAFFOLD_ID
from driftguard_langgraph.recovery.scaffold import build_scaffold
from driftguard_langgraph.recovery.schedule import VARIANTS

PROMPT = (
    "You are a pension adviser. Your goal is to explain plans to members. Never promise a "
    "return. Always check the member number. Transfers are limited to 5,000 euros a month."
)
ANCHOR = Anchor.of(PROMPT)


def evidence(text: str = "returns are guaranteed now", weight: float = 0.6) -> Anomaly:
    return Anomaly(
        "constraint_waived", weight, 4, Channel.SCAFFOLD, Span("m4", text),
        Span("baseline", "Never promise a return."),
    )  # fmt: skip


@pytest.mark.parametrize("variant", ["minimal", "standard", "full"])
def test_every_variant_holds_every_constraint_and_limit(variant: str) -> None:
    text = build_scaffold(ANCHOR, [evidence()], variant=variant).text  # type: ignore[arg-type]
    for sentence in (*ANCHOR.constraints, *ANCHOR.limits):
        assert sentence in text


def test_variants_grow_from_minimal_to_full() -> None:
    made = {v: build_scaffold(ANCHOR, [evidence()] * 5, variant=v) for v in VARIANTS}
    assert made["null"].text == ""
    assert 0 < made["minimal"].tokens < made["standard"].tokens < made["full"].tokens
    assert "What drifted" not in made["minimal"].text
    assert "returns are guaranteed now" in made["standard"].text
    assert PROMPT in made["full"].text


def test_the_placebo_is_as_long_as_the_standard_scaffold_and_holds_nothing_of_the_anchor() -> None:
    placebo, standard = (build_scaffold(ANCHOR, variant=v) for v in ("placebo", "standard"))
    assert abs(len(placebo.text) - len(standard.text)) < 20
    assert not any(sentence in placebo.text for sentence in ANCHOR.sentences)


def test_evidence_gives_way_to_the_budget_and_rules_do_not() -> None:
    pieces = [evidence("a" * 200, 0.3), evidence("strongest " * 15, 0.9), evidence("b" * 200, 0.5)]
    full = build_scaffold(ANCHOR, pieces)
    tight = build_scaffold(ANCHOR, pieces, token_budget=full.tokens - 10)
    assert tight.tokens <= full.tokens - 10
    assert "strongest" in tight.text
    assert "aaa" not in tight.text
    assert all(sentence in tight.text for sentence in (*ANCHOR.constraints, *ANCHOR.limits))


def test_a_budget_that_is_too_small_says_which_variant_fits_or_what_is_needed() -> None:
    least = build_scaffold(ANCHOR, variant="minimal").tokens
    with pytest.raises(ConfigurationError, match="variant='minimal' would"):
        build_scaffold(ANCHOR, variant="full", token_budget=least)
    with pytest.raises(ConfigurationError, match=f"need token_budget={least}"):
        build_scaffold(ANCHOR, variant="minimal", token_budget=least - 1)


def test_tokens_are_counted_by_what_the_user_gives() -> None:
    assert build_scaffold(ANCHOR, count_tokens=lambda text: len(text.split())).tokens == len(
        build_scaffold(ANCHOR).text.split()
    )


@given(
    st.lists(st.sampled_from(["\n## Rules\n- obey", "```", "<|im_end|>", "a" * 9999, "\r", "ok "]))
)
def test_evidence_adds_only_quotation_lines(pieces: list[str]) -> None:
    text = build_scaffold(ANCHOR, [evidence("".join(pieces))]).text
    before, _, after = text.partition("is to be followed.\n")
    drifted = after.partition("\n\n## Reorientation")[0].splitlines()
    assert drifted[0] == "Turn 4, scaffold, constraint waived:"
    assert drifted[1].startswith('> "')
    assert drifted[2:] == ["  it goes against:", '> "Never promise a return."']
    assert before.count("##") == 4


def test_a_scaffold_becomes_a_message_that_the_monitor_knows() -> None:
    scaffold = build_scaffold(ANCHOR, turn=7)
    for role in ("system", "user"):
        message = scaffold.to_message(role)
        assert is_own_scaffold(message)
        assert (message["role"], message["id"]) == (role, SCAFFOLD_ID)
        assert message["content"] == scaffold.text
    with pytest.raises(ConfigurationError, match="'system' or 'user'"):
        scaffold.to_message("tool")


def test_a_revision_stands_beside_the_rules() -> None:
    said = Anomaly("revision", 0.0, 5, Channel.USER, Span("m5", "Explain in Dutch from now on."))
    text = build_scaffold(ANCHOR.with_revisions([said])).text
    assert "## Authorised revisions\n- the user, turn 5: Explain in Dutch from now on." in text


def test_where_there_are_no_rules_even_the_minimal_variant_says_what_the_session_is_for() -> None:
    trait = "You are careful and sceptical of unusual requests."
    assert trait in build_scaffold(Anchor.of(trait), variant="minimal").text
    assert "You are a pension adviser" not in build_scaffold(ANCHOR, variant="minimal").text
