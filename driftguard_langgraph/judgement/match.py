"""Is this the same action? The one decision behind merging and warning."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from driftguard_langgraph.judgement.discriminators import Difference, differences, same_bones
from driftguard_langgraph.judgement.features import features
from driftguard_langgraph.types import Action, Match, MatchKind

HARD_FACTOR = 0.4
"""What a hard difference leaves of the score: below any usable threshold, but still
ordered by similarity, so that look-alikes can be ranked among themselves."""

SAME_BONES_SCORE = 0.80
"""Least score of two texts that do the same to the same thing: above the merge threshold of
actions (0.72), below that of outcomes (0.88), where being exact matters more."""

SAME_OPERATION_BONUS = 0.03
"""What naming the same operation adds to a cosine score; fitted as the penalties are."""

FREE_TEXT_WORDS = 4
"""Argument values with fewer words are names of things and are compared exactly."""


def compare(a: Action, b: Action, similarity: float, threshold: float) -> Match:
    """Decide whether two actions are the same step.

    Args:
        a: One action.
        b: The other; the order does not matter.
        similarity: Cosine of the embeddings of their texts, -1..1.
        threshold: Lowest score at which they count as the same.

    Returns:
        The decision with its reason. A tool call is compared by tool, argument names and
        argument values; words are compared by similarity and by what similarity cannot
        see: polarity, direction, numbers, names, order of roles.
    """
    if a.text == b.text:
        return Match(1.0, same=True, similarity=similarity, kind="exact")
    if a.tool_name is not None and b.tool_name is not None:
        return _compare_calls(a, b, similarity, threshold)
    return compare_texts(a.text, b.text, similarity, threshold)


def compare_texts(a: str, b: str, similarity: float, threshold: float) -> Match:
    """Decide whether two texts say the same; see `compare`."""
    if a == b:
        return Match(1.0, same=True, similarity=similarity, kind="exact")
    left, right = features(a), features(b)
    if left.canonical == right.canonical:
        return Match(max(similarity, 0.99), same=True, similarity=similarity, kind="normalized")
    if not (left.is_legible and right.is_legible):
        # Unknown scripts, emoji and lone punctuation all embed alike: only equality counts.
        return _refusal(similarity, (Difference("dissimilar", "cannot be read"),))
    if left.is_code and right.is_code:
        return _refusal(similarity, (Difference("different_arguments", "the code differs"),))
    found = differences(left, right)
    if any(difference.penalty is None for difference in found):
        return _refusal(similarity, found)
    penalty = sum(difference.penalty or 0.0 for difference in found)
    agreement = SAME_OPERATION_BONUS if left.operation == right.operation is not None else 0.0
    score = min(max(similarity - penalty + agreement, 0.0), 1.0)
    if same_bones(left, right):
        score = max(score, SAME_BONES_SCORE)
    same = score >= threshold
    kind: MatchKind = "paraphrase" if same else "dissimilar"
    if not same and similarity >= threshold:
        kind = found[0].kind
    return Match(score, same, similarity, kind, tuple(d.words for d in found))


def _refusal(similarity: float, found: tuple[Difference, ...]) -> Match:
    score = min(max(similarity, 0.0), 1.0) * HARD_FACTOR
    words = tuple(difference.words for difference in found)
    return Match(score, same=False, similarity=similarity, kind=found[0].kind, differences=words)


def _compare_calls(a: Action, b: Action, similarity: float, threshold: float) -> Match:
    if a.tool_name != b.tool_name:
        other = Difference("different_tool", f"{a.tool_name} / {b.tool_name}")
        return _refusal(similarity, (other,))
    if a.tool_args is None or b.tool_args is None:
        return compare_texts(a.text, b.text, similarity, threshold)
    prose = _prose(a.tool_args), _prose(b.tool_args)
    other_values = tuple(
        Difference("different_arguments", f"{key}: {_shown(a, key)} / {_shown(b, key)}")
        for key in sorted(a.tool_args.keys() | b.tool_args.keys())
        if not (key in prose[0] and key in prose[1])
        and _plain(a.tool_args, key) != _plain(b.tool_args, key)
    )
    if other_values:
        return _refusal(similarity, other_values)
    words = ["\n".join(side[key] for key in sorted(side)) for side in prose]
    return _compare_prose(words[0], words[1], similarity, threshold)


def _compare_prose(a: str, b: str, similarity: float, threshold: float) -> Match:
    """Compare values of arguments: other words for the same, and nothing added or left out.

    What a tool is given is what it works on. A sentence around a step may say more or less
    and mean the same step; a search for one word more is another search.
    """
    left, right = features(a), features(b)
    found = compare_texts(a, b, similarity, threshold)
    if found.kind != "paraphrase" or left.things == right.things:
        return found
    added = " ".join(sorted(left.things ^ right.things))
    return _refusal(similarity, (Difference("different_arguments", f"not in both: {added}"),))


def _prose(args: Mapping[str, Any]) -> dict[str, str]:
    return {
        key: value
        for key, value in args.items()
        if isinstance(value, str) and len(value.split()) >= FREE_TEXT_WORDS
    }


def _plain(args: Mapping[str, Any], key: str) -> str:
    value = args.get(key)
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, sort_keys=True)


def _shown(action: Action, key: str) -> str:
    args = action.tool_args or {}
    return _plain(args, key)[:60] if key in args else "(not given)"
