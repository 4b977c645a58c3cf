"""Judging what a search found: at length only what is near enough to be the same."""

from __future__ import annotations

import re
from functools import lru_cache

from driftguard_langgraph.judgement.match import compare
from driftguard_langgraph.memory.stores.records import Wording
from driftguard_langgraph.types import Action, Match

_OTHERS = re.compile(r"[\W_]+")

FAR = 0.25
"""A cosine this far below the threshold is never made up for: naming the same operation adds
.03, and texts of the same bones are nearer than that. Comparing such a text would cost more
than all the rest of a review."""


def judge(action: Action, hit: Wording, threshold: float) -> Match:
    """Decide whether a step and a wording that a search found are the same; see `compare`."""
    similarity = hit.similarity
    if similarity < threshold - FAR and _letters(action.text) != _letters(hit.action.text):
        return Match(max(similarity, 0.0), same=False, similarity=similarity, kind="dissimilar")
    return compare(action, hit.action, similarity, threshold)


@lru_cache(4096)
def _letters(text: str) -> str:
    """Return what is left of a text without case, spaces and punctuation."""
    return _OTHERS.sub("", text.casefold())
