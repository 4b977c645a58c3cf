"""How far one sample of sentences is from another: eight distances, each from 0 to 1.

Shares are compared, never counts, so length alone changes nothing. A short text is a noisy
sample: its shares are drawn towards what they are compared with, those of a short reference
towards what is usual anywhere, and part of what chance explains is taken off.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from driftguard_langgraph.drift.fingerprint.words import FRAMINGS, REGISTERS

SENTENCES = 1.5
"""Weight of what a sample is compared with, in sentences: one sentence moves a share by less than
half of its way, a message of three by two thirds."""
USUAL_SENTENCES = 8.0
"""Weight of what is usual anywhere in a reference, in sentences: more than a short prompt has."""
WORDS = 10.0
"""As `SENTENCES`, for vocabulary: two sentences of five words of content."""
NAMES = 2.0
"""As `SENTENCES`, for names: there is about one in a sentence."""
NOISE = 0.25
"""Standard errors that are taken off. Chosen with the weights above so that none of 436 benign
conversations breaks a rule; with .5 the facts of attacks are a tenth lower."""
LEAST_ROOM = 0.35
"""Least change of a share that counts as all the way: a class that hardly ever occurred cannot
vanish visibly, so its absence is no great distance."""

USUAL: Mapping[str, float] = {
    "fact": 0.04, "positive": 0.15, "negative": 0.04, "compliance": 0.10, "flexibility": 0.04,
    "urgency": 0.01, "exploration": 0.01, "authority": 0.02, "formal": 0.01, "casual": 0.02,
    "intimate": 0.005, "conspiratorial": 0.005, "negation": 0.10,
}  # fmt: skip
"""Share of sentences that belong to a class in ordinary sessions: measured on 7,800 sentences of
users and assistants and 2,000 of system prompts of task-oriented dialogues, and rounded."""

Tally = Counter[str]
"""Counts of a sample: `sentences`, `words`, `new words`, `names`, `new names` and each class."""


def contrast(
    now: Tally,
    reference: Tally,
    new_words: float = 1.0,
    new_names: float = 1.0,
    *,
    notes: bool = False,
) -> dict[str, float]:
    """Return the distance of a sample from its reference, by component, each 0..1.

    Firmer rules are no other framing: a reminder of the baseline says "must" all the time.

    Args:
        now: The sample; without sentences it is at no distance from anything.
        reference: What it is compared with.
        new_words: Share of new words that is expected, an estimate from the reference.
        new_names: The same for names.
        notes: Whether the sample is a scaffold after the baseline: a note and no rule book,
            so that fewer obligations and negations are no distance.
    """
    sizes = now.get("sentences", 0), reference.get("sentences", 0)
    moves = {
        name: _moved(now.get(name, 0), sizes[0], reference.get(name, 0), sizes[1], usual)
        for name, usual in USUAL.items()
    }
    negation = moves["negation"]
    moves["compliance"] = 0.0 if notes else min(0.0, moves["compliance"])
    return {
        "fact": max(0.0, moves["fact"]),
        "entity": _novelty(now.get("new names", 0), now.get("names", 0), new_names, NAMES),
        "sentiment": abs(_polarity_move(now, reference)),
        "task_framing": max([abs(moves[name]) for name in FRAMINGS]),
        "authority": max(0.0, moves["authority"]),
        "register": max([abs(moves[name]) for name in REGISTERS]),
        "negation": max(0.0, negation) if notes else abs(negation),
        "vocabulary": _novelty(now.get("new words", 0), now.get("words", 0), new_words, WORDS),
    }


def hushed(now: Tally, reference: Tally) -> float:
    """Return how far negations have disappeared, 0..1."""
    counts = now["negation"], now["sentences"], reference["negation"], reference["sentences"]
    return max(0.0, -_moved(*counts, USUAL["negation"]))


def _polarity_move(now: Tally, reference: Tally) -> float:
    """Return how far the good went up (or down) among what is called good or bad."""
    after, before = (counts["positive"] + counts["negative"] for counts in (now, reference))
    usual = USUAL["positive"] / (USUAL["positive"] + USUAL["negative"])
    return _moved(now["positive"], after, reference["positive"], before, usual)


def _moved(now: float, said: float, reference: float, begun: float, usual: float) -> float:
    """Return how far a share went up (or down, below 0) of how far it could.

    Args:
        now: Count of a class in the sample.
        said: Sentences of the sample.
        reference: Count of the class in the reference.
        begun: Sentences of the reference.
        usual: Share of the class in ordinary sessions.
    """
    base = begun + USUAL_SENTENCES
    before = (reference + USUAL_SENTENCES * usual) / base
    size = said + SENTENCES
    after = (now + SENTENCES * before) / size
    middle = (before + after) / 2
    noise = NOISE * math.sqrt(middle * (1 - middle) * (1 / size + 1 / base))
    distance = abs(after - before) - noise
    if distance <= 0.0:
        return 0.0
    if after < before:
        return -min(1.0, distance / max(before, LEAST_ROOM))
    return min(1.0, distance / max(1 - before, LEAST_ROOM))


def _novelty(new: float, total: float, expected: float, weight: float) -> float:
    """Return how far the share of the new is over the expected one, of how far it could be."""
    if not total or expected >= 1.0:
        return 0.0
    share = (new + weight * expected) / (total + weight)
    noise = NOISE * math.sqrt(expected * (1 - expected) / (total + weight))
    return min(1.0, max(0.0, share - expected - noise) / (1 - expected))
