"""What became of a review: told by the episode that was recorded after it. Pure.

An episode that is recorded with its review settles it. The settlement is a small JSON object in
the episode's metadata, so every store keeps it, an export carries it, and it cannot disagree
with what happened: an episode that is recorded twice settles once, one that is erased takes its
settlement along. Labels of remembered steps are kept as digests, which bounds them and shows
nothing of a warning that was to stay silent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, cast, get_args

from driftguard_langgraph.errors import InvalidEpisode
from driftguard_langgraph.reviews import GuardReview, trigger_digest
from driftguard_langgraph.text.validation import MAX_ID_CHARS
from driftguard_langgraph.types import Arm, Decision, Role

SETTLEMENT_KEY = "driftguard_settled"
"""The key of an episode's metadata that holds its settlements."""

MAX_SETTLEMENTS = 8
"""Settlements of one episode: its own review, and of those it ran in place of the newest."""

MAX_TRIGGERS = 32
"""Triggers of one settlement; a review has at most `retrieval_top_k` of each sort, rarely 2."""

ReviewLike = GuardReview | Mapping[str, Any]
"""A review, or what its `to_dict` returned."""

_DIGEST = re.compile(r"[0-9a-f]{8,64}")


@dataclass(frozen=True, slots=True)
class Settlement:
    """What became of one review.

    Attributes:
        review_id: Id of the review.
        unit: What was drawn for the holdout; see `judgement.holdout`.
        arm: What was done with the warnings.
        decision: What the review decided.
        role: Whether the reviewed step ran.
        triggers: Digests of the remembered steps that it was warned of.
        holdout: The share that was held out at the time, 0..1; with 0 nothing was drawn.
    """

    review_id: str
    unit: str
    arm: Arm
    decision: Decision
    role: Role
    triggers: tuple[str, ...]
    holdout: float


def settlements(
    step: str, review: ReviewLike | None, instead_of: ReviewLike | Sequence[ReviewLike] | None
) -> tuple[Settlement, ...]:
    """Return what an episode settles.

    Args:
        step: The recorded step as it is compared.
        review: The review of this step. One of another step settles nothing.
        instead_of: Reviews of steps in whose place it ran. Those of this very step settle
            nothing, and one that warned of the same as `review` did was not heeded either:
            proposing a step again, in other words or not, is overriding its warning.

    Raises:
        InvalidEpisode: One is not a review.
    """
    ran = _plain(review, "review") if review is not None else None
    given_up = [_plain(each, "instead_of") for each in _several(instead_of)]
    own = _settled(ran, "ran") if ran is not None and ran.get("query") == step else None
    found = [own, *(_settled(each, "instead") for each in given_up if each.get("query") != step)]
    if own is not None:
        found = [_reworded(each, own) for each in found]
    unique = {each.review_id: each for each in reversed(found) if each is not None}
    return tuple(reversed(unique.values()))[:MAX_SETTLEMENTS]


def kept_in(metadata: Mapping[str, Any]) -> tuple[Settlement, ...]:
    """Return the settlements in an episode's metadata; what is none of ours is passed over."""
    found = metadata.get(SETTLEMENT_KEY)
    if not isinstance(found, list | tuple):
        return ()
    read = (_read(each) for each in found[:MAX_SETTLEMENTS])
    return tuple(each for each in read if each is not None)


def as_metadata(settled: Iterable[Settlement]) -> dict[str, Any]:
    """Return what an episode's metadata keeps of settlements, plain JSON; nothing of none."""
    kept = [{**asdict(each), "triggers": list(each.triggers)} for each in settled]
    return {SETTLEMENT_KEY: kept} if kept else {}


def _several(given: ReviewLike | Sequence[ReviewLike] | None) -> Iterator[ReviewLike]:
    if isinstance(given, Sequence):
        yield from given
    elif given is not None:
        yield given


def _plain(review: object, name: str) -> Mapping[str, Any]:
    if isinstance(review, GuardReview):
        return review.to_dict()
    if isinstance(review, Mapping):
        return review
    raise InvalidEpisode(
        f"{name} must be a GuardReview or what its to_dict() returned, not "
        f"{type(review).__name__}: pass the review of the step."
    )


def _settled(review: Mapping[str, Any], role: Role) -> Settlement | None:
    """Return what a review settles, None if it found nothing to warn of."""
    shown, muted = (_digests(review.get(key)) for key in ("warnings", "muted"))
    withheld = _items(review.get("withheld"))
    arm: Arm = "shown" if shown else "withheld" if withheld else "muted"
    return _read(
        {
            **{key: review.get(key) for key in ("review_id", "unit", "decision", "holdout")},
            "arm": arm,
            "role": role,
            "triggers": [*shown, *withheld, *muted],
        }
    )


def _reworded(settled: Settlement | None, own: Settlement) -> Settlement | None:
    """Return a settlement with the role `ran` if what ran was warned of the same."""
    if settled is None or not set(settled.triggers) & set(own.triggers):
        return settled
    return replace(settled, role="ran")


def _digests(warnings: object) -> list[str]:
    named = (each.get("trigger") for each in _items(warnings) if isinstance(each, Mapping))
    return [trigger_digest(trigger) for trigger in named if isinstance(trigger, str)]


def _items(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def _read(value: object) -> Settlement | None:
    """Return the settlement that a mapping describes, None if it describes none."""
    if not isinstance(value, Mapping):
        return None
    review_id, unit, share = (value.get(key) for key in ("review_id", "unit", "holdout"))
    digests = [each for each in _items(value.get("triggers")) if _is_digest(each)]
    sound = (
        isinstance(review_id, str)
        and 0 < len(review_id) <= MAX_ID_CHARS
        and _is_digest(unit)
        and isinstance(share, int | float)
        and 0 <= share <= 1
        and all(value.get(key) in words for key, words in _WORDS.items())
    )
    if not sound or not digests:
        return None
    return Settlement(
        review_id=cast("str", review_id),
        unit=cast("str", unit),
        arm=cast("Arm", value["arm"]),
        decision=cast("Decision", value["decision"]),
        role=cast("Role", value["role"]),
        triggers=tuple(dict.fromkeys(digests))[:MAX_TRIGGERS],
        holdout=float(cast("float", share)),
    )


_WORDS: Mapping[str, tuple[str, ...]] = {
    "arm": get_args(Arm),
    "decision": get_args(Decision),
    "role": get_args(Role),
}


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None
