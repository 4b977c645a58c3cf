"""From a system prompt to the pieces of its anchor, without a language model."""

from __future__ import annotations

import re

from driftguard_langgraph.drift.reading.languages import language_of
from driftguard_langgraph.drift.reading.rules import Rule, rule_of
from driftguard_langgraph.drift.reading.sentences import sentences

PIECES = ("persona", "goals", "constraints", "limits", "glossary")
"""What an anchor is made of."""

_PIECE_OF = {
    "prohibition": "constraints",
    "obligation": "constraints",
    "permission": "constraints",
    "limit": "limits",
    "definition": "glossary",
    "trait": "persona",
}
_PERSONA = re.compile(
    r"\s*(?:you are|you're|you act as|act as|your name is|your role is|as an? [^,.]{2,60}, you)\b",
    re.IGNORECASE,
)
_GOAL = re.compile(
    r"\s*(?:your|the|our) (?:\w+ )?(?:goal|purpose|mission|task|job|objective|aim)s? (?:is|are)\b",
    re.IGNORECASE,
)
_PURPOSE = re.compile(
    r"\b(?:goals?|purpose|mission|tasks?|jobs?|objectives?|responsib\w+|help|assist|support)\b",
    re.IGNORECASE,
)


def extracted(text: str) -> dict[str, tuple[str, ...]]:
    """Return the pieces of a text, each sentence in one of them or, if it only describes, in none.

    Sentences come on one line each, otherwise as they were written, and in order.

    Args:
        text: A system prompt, a policy, or a user's message.
    """
    found: dict[str, list[str]] = {name: [] for name in PIECES}
    language = language_of(text)
    for sentence in sentences(text, None):
        piece = _piece(rule_of(sentence, language), sentence.text)
        line = " ".join(sentence.text.split())
        if piece is not None and line not in found[piece]:
            found[piece].append(line)
    return {name: tuple(lines) for name, lines in found.items()}


def _piece(rule: Rule | None, text: str) -> str | None:
    if rule is not None and rule.kind in {"prohibition", "limit"}:
        return _PIECE_OF[rule.kind]
    if _PERSONA.match(text):
        return "persona"
    if _GOAL.match(text):
        return "goals"
    if rule is not None:
        return _PIECE_OF[rule.kind]
    return "goals" if _PURPOSE.search(text) else None
