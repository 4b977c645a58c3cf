"""Which rule a clause speaks of: by the words that they share, and by meaning where few are.

The rules are indexed by what they are about, so a clause is compared with the few that it can
mean. A model is asked only about clauses that say something about a rule, never about others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from driftguard_langgraph.drift.reading.norms import about
from driftguard_langgraph.drift.reading.rules import Atom, Rule
from driftguard_langgraph.embeddings.base import Embedder

NEIGHBOURS = 5
"""Rules whose meaning is compared with a sentence that need not speak of any."""
COMPARED = 30
"""Rules that are compared with it although they share no word: the first of a prompt."""
CANDIDATES = 3
"""Rules whose meaning is compared when words do not decide."""
SAME_MEANING = 0.50
"""Cosine from which a clause and a rule that share a word speak of the same. Measured with the
default model: 12 own paraphrases of rules have a median of .53 (.16 to .73), rules of other
prompts at most .31, two rules of one prompt a 95th percentile of .48."""
COVERED = 0.6
"""Share of a rule's (or clause's) words from which words alone decide."""


_ARTICLES = (("a",), ("an",), ("the",))
_EMBEDDED = 500
"""Characters of a sentence that the model is given: more are no sentence, and cost time."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A rule and where it stands.

    Attributes:
        rule: The rule.
        message_id: The message it stands in.
        operator: Whether the baseline set it; else the user did.
    """

    rule: Rule
    message_id: str
    operator: bool


@dataclass(frozen=True, slots=True)
class Aligned:
    """A rule that a clause speaks of.

    Attributes:
        entry: The rule.
        atom: The clause of it that is meant.
        shared: Words that both are about.
        of_rule: Share of the rule's words that are shared, 0..1.
        of_clause: Share of the clause's words that are shared, 0..1.
        by_meaning: Whether the model had to confirm it.
    """

    entry: Entry
    atom: Atom
    shared: frozenset[str]
    of_rule: float
    of_clause: float
    by_meaning: bool = False

    @property
    def strength(self) -> float:
        """How sure it is that the clause speaks of this rule."""
        return max(self.of_rule, self.of_clause) + 0.1 * len(self.shared)


class RuleIndex:
    """Rules by what they are about.

    Args:
        entries: The rules.
        embedder: The model for meaning; None goes by words alone.

    Attributes:
        terms: All words that the rules are about.
        forbidden: Those of prohibitions.
        bounded: Those of rules with numbers.
        prefixes: First five letters of `terms`, for forms that folding keeps apart.
    """

    def __init__(self, entries: Iterable[Entry], embedder: Embedder | None) -> None:
        self._embedder = embedder
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._atoms: list[tuple[Entry, Atom]] = []
        self._places: dict[str, list[int]] = defaultdict(list)
        self.terms: set[str] = set()
        self.forbidden: set[str] = set()
        self.bounded: set[str] = set()
        for entry in entries:
            self._add(entry)
        self.prefixes = {word[:5] for word in self.terms if len(word) >= 5}

    def _add(self, entry: Entry) -> None:
        if entry.rule.definition is not None:
            self.terms |= about(entry.rule.definition.term | entry.rule.definition.meaning)
        for atom in entry.rule.atoms:
            if atom.clause.words[:2] == ("you", "are") and atom.clause.words[2:3] in _ARTICLES:
                # Who one is asks for nothing.
                continue
            for word in atom.content:
                self._places[word].append(len(self._atoms))
            self._atoms.append((entry, atom))
            self.terms |= atom.content
            if atom.bounds:
                self.bounded |= atom.content
            if atom.kind == "prohibition":
                self.forbidden |= atom.core

    def aligned(self, content: frozenset[str], said: str, *kinds: str) -> list[Aligned]:
        """Return the rules that a clause speaks of, the surest first.

        Args:
            content: Folded words that the clause is about.
            said: The clause's sentence as written, for the model; empty goes by words alone.
            kinds: Kinds of rules to look at; none is all.
        """
        mine = about(content)
        hits = Counter(place for word in mine for place in self._places.get(word, ()))
        found = []
        for place, count in hits.most_common(20):
            entry, atom = self._atoms[place]
            if kinds and atom.kind not in kinds and entry.rule.kind not in kinds:
                continue
            shared = mine & atom.content
            core = len(shared & atom.core) / len(atom.core) if atom.core else 0.0
            found.append(Aligned(entry, atom, shared, core, count / len(mine)))
        found.sort(key=lambda one: -one.strength)
        sure = [one for one in found if _by_words(one, len(mine))]
        return sure or self._by_meaning(found[:CANDIDATES], said)

    def nearest(self, content: frozenset[str], said: str) -> tuple[Entry | None, float]:
        """Return the rule whose meaning is nearest to a sentence, and how near, -1..1.

        All rules of a short prompt are compared, of a long one those that share a word.
        Without a model a rule counts as near by the share of its words.

        Args:
            content: Folded words that the sentence is about.
            said: The sentence as written.
        """
        mine = about(content)
        hits = Counter(place for word in mine for place in self._places.get(word, ()))
        ranked = [place for place, _ in hits.most_common(NEIGHBOURS)]
        if self._embedder is None:
            if not ranked:
                return None, 0.0
            entry, atom = self._atoms[ranked[0]]
            return entry, hits[ranked[0]] / max(len(atom.core), 1)
        places = [*ranked, *range(min(len(self._atoms), COMPARED))]
        near_by = (self._atoms[place][0] for place in places)
        entries = list({entry.rule.text: entry for entry in near_by}.values())
        if not entries:
            return None, 0.0
        self._learn(self._embedder, [one.rule.text for one in entries])
        mine_vector = self._embedder.embed([said[:_EMBEDDED]])[0]
        near = [float(self._vectors[one.rule.text] @ mine_vector) for one in entries]
        best = int(np.argmax(near))
        return entries[best], near[best]

    def _learn(self, embedder: Embedder, texts: list[str]) -> None:
        """Embed the rules that were not asked for before."""
        new = [text for text in texts if text not in self._vectors]
        if new:
            vectors = embedder.embed([text[:_EMBEDDED] for text in new])
            self._vectors |= dict(zip(new, vectors, strict=True))

    def _by_meaning(self, candidates: list[Aligned], said: str) -> list[Aligned]:
        likely = [one for one in candidates if max(one.of_rule, one.of_clause) >= 0.3]
        if self._embedder is None or not likely or not said:
            return []
        vectors = self._embedder.embed(
            [text[:_EMBEDDED] for text in (said, *(one.entry.rule.text for one in likely))]
        )
        near = vectors[1:] @ vectors[0]
        order = np.argsort(-near)
        return [
            Aligned(one.entry, one.atom, one.shared, one.of_rule, one.of_clause, by_meaning=True)
            for one in (likely[int(place)] for place in order if near[int(place)] >= SAME_MEANING)
        ]


def _by_words(one: Aligned, size: int) -> bool:
    if len(one.shared) >= 2:
        return one.of_rule >= COVERED or one.of_clause >= COVERED
    if one.of_clause == 1.0 and size == 1:
        bare = len(one.atom.core) <= (2 if one.atom.bounds else 1)
        condition = one.shared <= one.atom.exceptions
        return bare or condition or one.atom.action in one.shared
    return one.of_rule == 1.0
