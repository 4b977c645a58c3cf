"""What a check of the ledger finds in a sentence, before it is weighed by who said it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from driftguard_langgraph.drift.constraints.alignment import Entry
from driftguard_langgraph.drift.reading.bounds import numbered
from driftguard_langgraph.drift.reading.clauses import Clause, clauses, tokens
from driftguard_langgraph.drift.reading.norms import CLASS_OF, FUNCTION, NEGATIONS, UNDONE, fold
from driftguard_langgraph.drift.reading.sentences import Sentence
from driftguard_langgraph.drift.reading.stances import Reading, read


@dataclass(frozen=True, slots=True)
class Breach:
    """One thing that a sentence does to the rules.

    Attributes:
        rule: Its name, as in `Anomaly.rule`.
        strength: How much it says if a scaffold says it, 0..1: .5 and more is decisive.
        detail: One sentence for a reader.
        against: The rule that it goes against; None for a control that needs no rule.
        own: Whether the speaker speaks of what he does himself.
    """

    rule: str
    strength: float
    detail: str
    against: Entry | None = None
    own: bool = False


class Said:
    """A sentence as the checks see it; what only some of them need is read on first use.

    Attributes:
        sentence: The sentence as written.
        words: Its lower-case words and breaks.
        folded: The same, each folded.
    """

    def __init__(self, sentence: Sentence, language: str | None) -> None:
        self.sentence = sentence
        self.words = tuple(tokens(sentence.text, language))
        self._each = tuple(map(fold, self.words))
        self.folded = frozenset(self._each)

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        """Its clauses."""
        return tuple(clauses(self.words))

    @cached_property
    def readings(self) -> tuple[Reading, ...]:
        """Its clauses as norms."""
        return tuple(map(read, self.clauses))

    @cached_property
    def numbered(self) -> bool:
        """Whether a number is in it."""
        return numbered(self.words)

    @cached_property
    def classes(self) -> frozenset[str]:
        """The classes of its words, as `norms.CLASS_OF` has them."""
        return frozenset(CLASS_OF[word] for word in self.folded if word in CLASS_OF)

    @cached_property
    def turned(self) -> bool:
        """Whether a word of it turns something."""
        return not NEGATIONS.isdisjoint(self.words) or not UNDONE.isdisjoint(self.folded)

    @cached_property
    def content(self) -> frozenset[str]:
        """Folded words that say what it is about."""
        return frozenset(
            one
            for word, one in zip(self.words, self._each, strict=True)
            if word[0].isalnum() and word not in FUNCTION and word not in NEGATIONS
        )
