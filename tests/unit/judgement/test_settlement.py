"""What an episode says about the review before it, and what metadata of others does not."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftguard_langgraph.errors import InvalidEpisode
from driftguard_langgraph.judgement.settlement import (
    MAX_SETTLEMENTS,
    MAX_TRIGGERS,
    SETTLEMENT_KEY,
    Settlement,
    as_metadata,
    kept_in,
    settlements,
)
from tests.review_samples import UNIT, review, warning


@pytest.mark.parametrize("plain", [False, True])
def test_a_review_and_its_json_settle_the_same(plain: bool) -> None:
    given = review(holdout=0.1)
    through = json.loads(json.dumps(given.to_dict())) if plain else given
    (settled,) = settlements("drop it", through, None)
    assert (settled.review_id, settled.unit, settled.holdout) == ("r1", UNIT, 0.1)
    assert (settled.arm, settled.role, settled.decision) == ("shown", "ran", "warn")
    assert kept_in(json.loads(json.dumps(as_metadata([settled])))) == (settled,)


@pytest.mark.parametrize(
    ("found", "arm"),
    [
        ({"warnings": (), "withheld": (warning(),)}, "withheld"),
        ({"warnings": (), "withheld": (warning(),), "muted": (warning("x"),)}, "withheld"),
        ({"muted": (warning("x"),)}, "shown"),
        ({"warnings": (), "muted": (warning(),)}, "muted"),
    ],
)
def test_the_arm_is_what_was_done_with_the_warnings(found: dict[str, Any], arm: str) -> None:
    (settled,) = settlements("drop it", review(**found), None)
    assert settled.arm == arm


def test_the_trigger_of_a_warning_is_the_same_withheld_shown_or_muted() -> None:
    places: list[dict[str, Any]] = [
        {"warnings": (), "withheld": (warning(),)},
        {"warnings": (), "muted": (warning(),)},
        {},
    ]
    found = [settlements("drop it", review(**place), None)[0].triggers for place in places]
    assert found[0] == found[1] == found[2]


def test_a_review_without_warnings_or_of_another_step_settles_nothing() -> None:
    assert settlements("drop it", review(warnings=()), None) == ()
    assert settlements("keep it", review(), None) == ()


def test_what_ran_in_place_of_a_step_heeds_and_the_step_itself_does_not() -> None:
    (heeded,) = settlements("keep it", None, review())
    assert heeded.role == "instead"
    assert settlements("drop it", None, review()) == ()


def test_an_episode_can_settle_its_own_review_and_those_it_replaces() -> None:
    others = [
        review(f"step {n}", review_id=f"r{n}", warnings=(warning(f"w{n}"),)).to_dict()
        for n in range(3)
    ]
    found = settlements("drop it", review(review_id="own"), others)
    assert [(each.review_id, each.role) for each in found] == [
        ("own", "ran"), ("r0", "instead"), ("r1", "instead"), ("r2", "instead"),
    ]  # fmt: skip


def test_saying_a_refused_step_in_other_words_overrides_its_warning() -> None:
    refused = review("drop it all", review_id="refused")
    own = review(warnings=(), withheld=(warning(),), review_id="own")
    found = settlements("drop it", own, refused)
    assert [(each.review_id, each.role) for each in found] == [("own", "ran"), ("refused", "ran")]


def test_a_review_that_is_given_twice_settles_once() -> None:
    given = review("step 0")
    assert len(settlements("keep it", None, [given, given.to_dict()])) == 1


def test_the_size_is_bounded() -> None:
    many = tuple(warning(f"trigger {n} " + "x" * 5000) for n in range(200))
    others = [review(f"s{n}", review_id=f"r{n}", warnings=many) for n in range(50)]
    found = settlements("drop it", None, others)
    assert len(found) == MAX_SETTLEMENTS
    assert {len(each.triggers) for each in found} == {MAX_TRIGGERS}
    assert len(json.dumps(as_metadata(found))) < 8000


@pytest.mark.parametrize("wrong", ["a text", 3, [3]])
def test_what_is_no_review_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidEpisode, match="instead_of must be a GuardReview"):
        settlements("drop it", None, wrong)
    if not isinstance(wrong, list):
        with pytest.raises(InvalidEpisode, match="review must be a GuardReview"):
            settlements("drop it", wrong, None)


def test_a_mapping_that_is_no_review_settles_nothing() -> None:
    assert settlements("drop it", {"query": "drop it", "warnings": "many"}, {"a": 1}) == ()


_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.floats(), st.integers(), st.text(max_size=20)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=12,
)
_FIELDS = st.dictionaries(
    st.sampled_from(["review_id", "unit", "arm", "decision", "role", "triggers", "holdout"]),
    st.one_of(_JSON, st.sampled_from(["shown", "ran", "warn", UNIT, [UNIT], 0.1])),
)


@given(st.one_of(_JSON, st.lists(_FIELDS)))
def test_foreign_metadata_is_passed_over(found: Any) -> None:
    for settled in kept_in({SETTLEMENT_KEY: found}):
        assert isinstance(settled, Settlement)
        assert settled.triggers


def test_one_broken_settlement_does_not_hide_the_next() -> None:
    good = settlements("drop it", review(), None)
    kept = as_metadata(good)[SETTLEMENT_KEY]
    broken = [{**kept[0], "arm": "loud"}, {**kept[0], "unit": "no digest"}, None]
    assert kept_in({SETTLEMENT_KEY: [*broken, *kept]}) == good


def test_nothing_of_a_withheld_warning_can_be_read_in_the_json_of_its_review() -> None:
    secret = replace(warning("zebra"), action_text="zebra", feedback_text="zebra", remedy="zebra")
    plain = json.dumps(review(warnings=(), withheld=(secret,)).to_dict())
    assert "zebra" not in plain
    assert "zebra" not in review(warnings=(), withheld=(secret,)).explain()
