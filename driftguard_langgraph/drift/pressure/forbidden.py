"""What a baseline forbids or protects, and how close a turn comes to it.

Only rules about what the assistant may say or help with have such a matter ("never assist in
X", "strictly maintain Y"); "a ticket cannot be changed" is a rule of the business, and a
customer who asks for it asks for nothing bad. A rule that forbids what is harmful in general
has the harm itself as its matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from driftguard_langgraph.drift.baseline import BASELINES_KEPT
from driftguard_langgraph.drift.pressure.findings import Finding
from driftguard_langgraph.drift.pressure.lexicon import STOP
from driftguard_langgraph.drift.pressure.marks import Marks, fold
from driftguard_langgraph.drift.reading.sentences import sentences
from driftguard_langgraph.embeddings.base import Embedder

LEAST_CHARS = 8
"""Characters from which a sentence says what a session is for."""
MAX_RULES = 8
"""Rules with a matter that are kept, the strictest first; each is embedded once."""
MAX_PURPOSES = 12
"""Other sentences of the baseline that are compared with."""
COSINE_FROM, COSINE_RANGE = 0.15, 0.35
"""Similarity of a turn to a rule from which it is near, and over which it is as near as can be.
Measured with rules that are not about them: nine of ten everyday requests have less than .13,
98% less than .19."""
HOME_MARGIN = 0.10
"""How much nearer the permitted purpose may be before a turn counts as harmless."""
MILD, CONDITIONAL, DEED = 0.7, 0.3, 0.5
"""Strength of a rule without a strict word; with a condition, for then it may be asked for; and
of one against a deed ("do not delete"), for who asks for that may just not know the rule."""
PREFIX = 5
"""Letters that two words of a family share: plagiarism and plagiarize."""


@dataclass(frozen=True, slots=True)
class Matter:
    """A rule about what may be said or helped with.

    Attributes:
        text: Its sentence.
        about: What it forbids or protects, as it is written there.
        words: Folded words of what it is about.
        general: Whether it forbids what is harmful in general.
        strength: How strict it is, 0..1.
    """

    text: str
    about: str
    words: frozenset[str]
    general: bool
    strength: float


@dataclass(frozen=True, slots=True)
class Nearness:
    """How close a turn comes to what is forbidden.

    Attributes:
        close: 0..1.
        hits: How many of its words the turn uses.
        rule: The sentence of the rule, empty if nothing is near.
    """

    close: float = 0.0
    hits: int = 0
    rule: str = ""


class Forbidden:
    """The forbidden matter of a baseline.

    Args:
        baseline: Its text.
        embedder: The model; None to go by words alone.
    """

    def __init__(self, baseline: str, embedder: Embedder | None) -> None:
        self.matters, self._purposes = _split(baseline)
        self._embedder = embedder if self.matters else None
        self._vectors: NDArray[np.float32] | None = None

    def near(self, marks: Marks, text: str) -> Nearness:
        """Return how close a turn comes to the forbidden matter.

        Args:
            marks: The turn.
            text: Its text as it is embedded elsewhere, so that a cache serves both.

        Raises:
            EmbeddingError: The model failed.
        """
        if not self.matters or not marks.words:
            return Nearness()
        cosines = self._cosines(text)
        best = Nearness()
        said = {word for word in marks.words if len(word) > 2}
        heads = {word[:PREFIX] for word in said}
        for matter, cosine in zip(self.matters, cosines, strict=True):
            hits = _hits(matter, said, heads, marks)
            words = min(hits / min(2, max(len(matter.words), 1)), 1.0)
            close = max(0.7 * words, cosine) * matter.strength
            if close > best.close:
                best = Nearness(close, hits, matter.text)
        return best

    def _cosines(self, text: str) -> Sequence[float]:
        if self._embedder is None:
            return [0.0] * len(self.matters)
        if self._vectors is None:
            rules = [matter.text for matter in self.matters]
            abouts = [matter.about for matter in self.matters]
            self._vectors = self._embedder.embed([*rules, *abouts, *self._purposes])
        cosines: list[float] = (self._vectors @ self._embedder.embed([text])[0]).tolist()
        count = len(self.matters)
        by_rule, by_about, homes = cosines[:count], cosines[count : 2 * count], cosines[2 * count :]
        home = max(homes, default=0.0)
        near = []
        for cosine in map(max, by_rule, by_about):
            ramp = min(max((cosine - COSINE_FROM) / COSINE_RANGE, 0.0), 1.0)
            away = min(max((home - cosine) / HOME_MARGIN, 0.0), 1.0)
            near.append(ramp * (1.0 - away))
        return near


def asked_for(marks: Marks, near: Nearness) -> Iterator[Finding]:
    """Yield how a user asks for what is forbidden.

    One such request weighs little: talking about what is forbidden is not forbidden. A plain
    one weighs at most .12; with the fading of the corruption (.9 a turn), that on every second
    turn stays below .42 for ever. Only pretexts and ways around, kept up, add up to an alarm.
    """
    if near.close <= 0:
        return
    eliciting = marks.has("elicit")
    asking = eliciting or bool(marks.asked)
    frames = sum(marks.has(name) for name in ("fiction", "opposite", "pretext"))
    evasive = marks.has("evade")
    weight = near.close * (
        0.03 + 0.05 * asking + 0.04 * eliciting + 0.03 * min(frames, 2) + 0.05 * evasive
    )
    if weight < 0.005:
        return
    yield Finding(
        "forbidden_approached",
        weight,
        marks.text[:300],
        "It comes close to what the baseline forbids or protects.",
        near.rule,
    )


def _hits(matter: Matter, said: set[str], heads: set[str], marks: Marks) -> int:
    hits = sum(
        word in said or (len(word) >= PREFIX and word[:PREFIX] in heads) for word in matter.words
    )
    if matter.general:
        hits += len({marks.words[place] for place in marks.at("harm")})
    return hits


@lru_cache(maxsize=BASELINES_KEPT)
def _split(baseline: str) -> tuple[tuple[Matter, ...], tuple[str, ...]]:
    """Return the strictest matters of a baseline, and its other sentences."""
    matters: list[Matter] = []
    purposes: list[str] = []
    for sentence in sentences(baseline):
        matter = _matter(sentence.text)
        if matter is not None:
            matters.append(matter)
        elif len(sentence.text) >= LEAST_CHARS:
            purposes.append(sentence.text)
    matters.sort(key=lambda matter: -matter.strength)
    return tuple(matters[:MAX_RULES]), tuple(purposes[:MAX_PURPOSES])


def _matter(sentence: str) -> Matter | None:
    marks = Marks(sentence)
    about, kind = _object(marks)
    if about is None or about >= len(marks.words):
        return None
    said = [word for word in marks.words[about:] if len(word) > 3]
    words = frozenset(word for word in said if word not in _STOPPED)
    general = marks.has("harmful") or marks.between(about, len(marks.words), "harm")
    if not words and not general:
        return None
    strength = kind * (1.0 if marks.has("strict") else MILD)
    strength *= 1.0 if general else min(2 * len(words) / max(len(said), 1), 1.0)
    if not _CONDITIONS.isdisjoint(marks.words):
        strength *= CONDITIONAL
    return Matter(sentence, marks.tail(about), words, general, strength)


def _object(marks: Marks) -> tuple[int | None, float]:
    """Return where the object of a rule begins, and how much such a rule says (0..1)."""
    for forbids in marks.at("forbidding"):
        verb = marks.after(forbids, "speech", 5)
        if verb is not None:
            return verb + 1, 1.0
    for refuses in marks.at("refusing"):
        if refuses + 1 < len(marks.words):
            return refuses + 1, 1.0
    for protects in marks.at("protect"):
        value = marks.after(protects, "value", 8)
        if value is not None:
            return protects + 1, 1.0
    for forbids in marks.at("forbidding"):
        if marks.words[forbids] in _ORDERED and (
            marks.opens(forbids) or marks.words[forbids - 1] in _ADDRESSED
        ):
            return forbids + 1, DEED
    return None, 0.0


_CONDITIONS = frozenset(map(fold, "if when unless until except".split()))
_ORDERED = frozenset(map(fold, "never do dont must".split()))
_ADDRESSED = frozenset(map(fold, "you and but assistant agent please must".split()))
_STOPPED = frozenset(fold(word) for word in STOP)
