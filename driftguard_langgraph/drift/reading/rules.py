"""The rules of a text: what it forbids, demands, permits, limits, defines, and who it says one is.

A sentence is a rule for what its clauses do, by closed classes of words; no list of topics is
needed, and none is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from driftguard_langgraph.drift.baseline import BASELINES_KEPT
from driftguard_langgraph.drift.reading.bounds import Bound, bounds
from driftguard_langgraph.drift.reading.clauses import Clause, clauses, tokens
from driftguard_langgraph.drift.reading.definitions import Definition, definition_of
from driftguard_langgraph.drift.reading.languages import language_of
from driftguard_langgraph.drift.reading.norms import (
    CONTROLS,
    FUNCTION,
    NEGATIONS,
    PRINCIPALS,
    SENSES,
    WEAK_CONTROLS,
    about,
    fold,
)
from driftguard_langgraph.drift.reading.sentences import Sentence, sentences
from driftguard_langgraph.drift.reading.stances import preference

RuleKind = Literal["prohibition", "obligation", "permission", "limit", "definition", "trait"]
"""What sort of rule a sentence is."""

_ORDER: tuple[RuleKind, ...] = (
    "definition", "prohibition", "limit", "obligation", "permission", "trait",
)  # fmt: skip

_COMMANDS = frozenset(
    map(
        fold,
        "be keep stay remain act speak answer respond reply write use ask tell give provide offer "
        "let follow check verify validate confirm ensure maintain treat handle always never limit "
        "restrict escalate transfer hand refer stop wait remove delete retain encrypt store log "
        "record cite quote mention include exclude report flag protect preserve respect obey apply "
        "evaluate assess screen review test run work cancel collect tag mask avoid refuse decline "
        "deny reject prefer base return format translate summarize begin start end finish send "
        "notify inform warn add create make do roll revert back document sign seek obtain get "
        "require prioritize focus stick adhere comply consult choose pick set do help assist "
        "explain guide address call put take read look think consider double limit round show "
        "greet question challenge inspect monitor watch beware apologize "
        "introduce politely only please just then first".split(),
    )
)
"""Folded verbs (and what stands before them) that open an instruction."""

_ADVERBS = frozenset("yesterday today tomorrow soon later often thank thanks".split())
_DETERMINERS = frozenset("the a an every all any each your".split())
_FINITE = frozenset("is are was were will would can could may might has have had".split())
_LIMIT_NAMES = frozenset(
    map(fold, "limit maximum minimum ceiling cap budget deadline quota threshold".split())
)
_EXCEPTIONS = frozenset("unless except without until only before if excluding".split())
_NOT_TO = {(verb, "not", "to") for verb in ("is", "are", "be")} | {
    ("under", "no", noun) for noun in ("circumstance", "circumstances", "condition", "conditions")
}
"""Negated norms without a modal: "are not to be sold", "under no circumstances"."""
_PERMITTED = frozenset("you agent assistant can could".split())


@dataclass(frozen=True, slots=True)
class Atom:
    """What one clause of a rule says.

    Attributes:
        kind: What the clause does.
        content: Folded words that say what it is about, without the empty ones.
        core: Those that the rule stands or falls with: without exceptions and numbers.
        exceptions: Folded words of "unless ...", "without ...", "only ...".
        bounds: Its numbers.
        clause: The clause itself.
        conditional: Whether it holds only under a condition ("if ...", "when ...").
        action: The word of the content that stands first after the norm: what is to be done.
    """

    kind: RuleKind
    content: frozenset[str]
    core: frozenset[str]
    exceptions: frozenset[str]
    bounds: tuple[Bound, ...]
    clause: Clause
    conditional: bool
    action: str


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a text, as it is written.

    Attributes:
        text: The sentence.
        kind: What sort of rule it is; of several the strictest.
        start: Where it starts in the text.
        end: Where it ends.
        atoms: What its clauses say, one for each that is a norm.
        content: All that it is about.
        definition: The term that it defines, if it is a definition.
    """

    text: str
    kind: RuleKind
    start: int
    end: int
    atoms: tuple[Atom, ...]
    content: frozenset[str]
    definition: Definition | None = None


@lru_cache(maxsize=BASELINES_KEPT)
def rules_of(text: str) -> tuple[Rule, ...]:
    """Return the rules of a text, in order.

    Args:
        text: A system prompt, a policy, or what a user wants; all of it is read.
    """
    language = language_of(text)
    found = (rule_of(sentence, language) for sentence in sentences(text, None))
    return tuple(rule for rule in found if rule is not None)


def rule_of(sentence: Sentence, language: str | None = None) -> Rule | None:
    """Return the rule that a sentence is, None if it only describes or asks.

    Args:
        sentence: The sentence.
        language: What `languages.language_of` returned for the text that it stands in.
    """
    words = tokens(sentence.text, language)
    return read_rule(sentence, words, clauses(words))


def read_rule(sentence: Sentence, words: Sequence[str], parts: Sequence[Clause]) -> Rule | None:
    """Return the rule that a sentence is, as `rule_of` does.

    Args:
        sentence: The sentence.
        words: What `clauses.tokens` returned for it.
        parts: What `clauses.clauses` returned for these.
    """
    if sentence.asks or sentence.text.startswith("#"):
        return None
    defined = definition_of(words, sentence.text)
    atoms = [atom for place, part in enumerate(parts) if (atom := _atom(part, place, parts))]
    kinds = {atom.kind for atom in atoms} | ({"definition"} if defined else set())
    if not kinds:
        return None
    kind = next(one for one in _ORDER if one in kinds)
    content = frozenset().union(*(atom.content for atom in atoms))
    place = sentence.start, sentence.end
    return Rule(sentence.text, kind, *place, tuple(atoms), content, defined)


def _atom(clause: Clause, place: int, parts: Sequence[Clause]) -> Atom | None:
    kind = _kind(clause, place, parts)
    if kind is None:
        return None
    numbers = bounds(clause.words, forbids=clause.negations % 2 == 1)
    exceptions = about(_exceptions(clause, parts[place + 1 : place + 2]))
    mine = about(clause.content)
    content = mine if len(mine) > 1 else about(clause.about) or clause.about
    bare = frozenset(word for word in content - exceptions if not word.isdigit())
    conditional = any(part.condition for part in parts)
    return Atom(
        kind=kind,
        content=content,
        core=bare or content,
        exceptions=exceptions,
        bounds=numbers,
        clause=clause,
        conditional=conditional,
        action=_action(clause, content),
    )


def _action(clause: Clause, content: frozenset[str]) -> str:
    """Return the first word of content after the negation or modal of a clause."""
    marks = [
        place
        for place, (word, kind) in enumerate(zip(clause.words, clause.classes, strict=True))
        if word in NEGATIONS or kind in {"must", "permit", "need"}
    ]
    start = marks[-1] + 1 if marks else 0
    following = (*clause.folded[start:], *clause.folded[:start])
    return next(
        (SENSES.get(word, word) for word in following if SENSES.get(word, word) in content), ""
    )


def _exceptions(clause: Clause, following: Sequence[Clause]) -> frozenset[str]:
    found: set[str] = set()
    for place, word in enumerate(clause.words):
        if word in _EXCEPTIONS and word != "only":
            found.update(clause.folded[place + 1 :])
            break
    for part in following:
        if part.opening in _EXCEPTIONS:
            found.update(part.content)
    return frozenset(found)


def _kind(clause: Clause, place: int, parts: Sequence[Clause]) -> RuleKind | None:
    if clause.condition:
        return None
    words = clause.words
    # "Can be modified without changing the date" permits; its "without" is an exception.
    turned = (clause.negations - ("without" in words[1:])) % 2 == 1
    normed = clause.has("need", "must") or "only" in words or _is_to(words)
    told = _commands(clause, place, parts) or preference(clause) is not None or _controls(clause)
    kinds: tuple[tuple[RuleKind, bool], ...] = (
        ("limit", _limits(clause)),
        ("prohibition", clause.has("forbid") or (turned and _norm_is_turned(clause))),
        ("obligation", normed and (not turned or clause.negations > 1)),
        ("permission", normed),
        ("obligation", told),
        ("permission", _permits(clause)),
        ("trait", _describes_you(clause, parts[0])),
    )
    return next((kind for kind, holds in kinds if holds), None)


def _describes_you(clause: Clause, first: Clause) -> bool:
    if clause.words[0] == "you":
        return len(clause.words) > 1
    return first.words[0] == "you" and clause.opening in {"and", "but", "or"}


def _controls(clause: Clause) -> bool:
    """Whether a control is stated as a fact: "entries are reviewed", "salaries are private"."""
    return any(
        first in {"is", "are"} and word in CONTROLS and word not in WEAK_CONTROLS
        for first, word in zip(clause.words, clause.folded[1:], strict=False)
    )


def _is_to(words: Sequence[str]) -> bool:
    """Whether something "is to be" done."""
    return any(pair in {("are", "to"), ("is", "to")} for pair in pairwise(words))


def _limits(clause: Clause) -> bool:
    numbers = bounds(clause.words, forbids=False)
    if any(number.limits for number in numbers):
        return True
    return bool(numbers) and not _LIMIT_NAMES.isdisjoint(clause.folded)


def _norm_is_turned(clause: Clause) -> bool:
    """Whether the negation is of a norm: "must not", "cannot", "never", "No violence"."""
    words = clause.words
    if "never" in words or words[0] in {"no", "nothing", "not", "without"}:
        return True
    # "Are not to be given", "under no circumstances reveal".
    if any(words[place : place + 3] in _NOT_TO for place in range(len(words) - 2)):
        return True
    if "do" in words and words[words.index("do") + 1 : words.index("do") + 2] == ("not",):
        return words[0] in {"do", "please"} or "you" in words[: words.index("do")]
    if clause.has("must", "permit"):
        return True
    return any(word.endswith(("able", "ible")) for word in words)


def _commands(clause: Clause, place: int, parts: Sequence[Clause]) -> bool:
    # Inside of a list a verb is a noun as a rule; after a condition or a heading it is not.
    opens = not place or parts[place - 1].condition or len(parts[0].words) <= 2
    return (opens or commands(parts[0])) and commands(clause)


def commands(clause: Clause) -> bool:
    """Whether a clause is an instruction: it opens with a verb that gives one."""
    first = clause.folded[0]
    if clause.words[0] in {"do", "let"}:
        return True
    if first in _COMMANDS and not clause.words[0].endswith(("ing", "ed", "s")):
        return True
    # A word that a determiner follows is a verb, whichever it is: "water the plants".
    opens = clause.words[0] not in FUNCTION and clause.words[0] not in _ADVERBS
    verb = clause.words[0].isalpha() and not clause.words[0].endswith(("ing", "ed", "s", "ly"))
    governs = not _DETERMINERS.isdisjoint(clause.words[1:3])
    return opens and verb and governs and _FINITE.isdisjoint(clause.words)


def _permits(clause: Clause) -> bool:
    if not clause.has("permit"):
        return False
    words = {*clause.words, *clause.folded}
    return not words.isdisjoint(_PERMITTED | PRINCIPALS | CONTROLS.keys())
