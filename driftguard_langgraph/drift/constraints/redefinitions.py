"""Terms that are given another meaning: "'verified' means looked at by one person"."""

from __future__ import annotations

from driftguard_langgraph.drift.constraints.alignment import Entry, RuleIndex
from driftguard_langgraph.drift.constraints.breaches import Breach, Said
from driftguard_langgraph.drift.reading.definitions import Definition, definition_of, entry_of
from driftguard_langgraph.drift.reading.norms import CONTROLS, SENSES, fold

REDEFINED = "term_redefined"

_DECISIVE = 0.55
_WIDENED = 0.45
_DOUBTFUL = 0.3
"""Strengths: a term that a rule hangs on; another word of the rules that is to mean whatever,
or with a mark of novelty; and one without such a mark."""

_VALUES = frozenset(
    map(fold, "safe secure complete completed done finished correct true accurate verified "
    "approved harmless honest fair success acceptable urgent private confidential plagiarised "
    "emergency sensitive personal valid tested reviewed".split())
)  # fmt: skip
_NOVELTY = frozenset(
    "now context henceforth operative redefined update new instead onwards session glossary "
    "treat hereafter revised terminology definition vocabulary".split()
)


_GLOSSARY = frozenset(
    "glossary terminology vocabulary vocab definition definitions wording terms dictionary".split()
)
_WIDE = frozenset(
    "any anybody anyone anything whoever whatever whichever everybody everyone somebody someone "
    "some".split()
)
"""Words that let nearly everything fall under a term."""
_PREFIX = 5
"""Letters that the forms of a word share that folding keeps apart: insured, insurance."""


def is_glossary(said: Said) -> bool:
    """Whether a sentence announces that terms follow."""
    return not _GLOSSARY.isdisjoint(said.words)


def redefined(
    said: Said, index: RuleIndex, definitions: list[Entry], *, glossary: bool = False
) -> Breach | None:
    """Return the breach that a sentence gives a term of the rules another meaning.

    Args:
        said: The sentence.
        index: The rules.
        definitions: The rules that define a term.
        glossary: Whether this sentence, or one before it, announces that terms follow.
    """
    if said.sentence.asks:
        return None
    made = definition_of(said.words, said.sentence.text)
    if made is None and glossary:
        made = entry_of(said.sentence.text)
    if made is None:
        return None
    for entry in definitions:
        known = entry.rule.definition
        if known is not None and (known.term <= made.term or made.term <= known.term):
            same = _same(known.meaning, made.meaning)
            return None if same else _breach(made.term, _DECISIVE, entry)
    ours = _is_ours(made, index)
    novel = made.quoted or glossary or not _NOVELTY.isdisjoint(said.words)
    named = made.term | {word.removeprefix("un") for word in made.term}
    if not named.isdisjoint(CONTROLS.keys() | _VALUES) and (novel or ours):
        return _breach(made.term, _DECISIVE, None)
    if not ours:
        return None
    wide = not _WIDE.isdisjoint(said.words)
    return _breach(made.term, _WIDENED if wide or novel else _DOUBTFUL, None)


def _is_ours(made: Definition, index: RuleIndex) -> bool:
    """Whether the rules speak of a term, in whichever form of its words."""
    return all(
        SENSES.get(word, word) in index.terms or word[:_PREFIX] in index.prefixes
        for word in made.term
    )


def _same(old: frozenset[str], new: frozenset[str]) -> bool:
    """Whether a definition only repeats what is known, in fewer or more words."""
    shared = len(old & new)
    return shared >= 0.6 * min(len(old), len(new))


def _breach(term: frozenset[str], strength: float, against: Entry | None) -> Breach:
    return Breach(
        REDEFINED,
        strength,
        f'It gives "{" ".join(sorted(term))}" another meaning.',
        against=against,
    )
