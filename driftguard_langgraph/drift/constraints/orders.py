"""Tool results that speak to the agent: data has nothing to tell it to do."""

from __future__ import annotations

import re
from itertools import pairwise

from driftguard_langgraph.drift.constraints.breaches import Breach, Said
from driftguard_langgraph.drift.reading.norms import fold
from driftguard_langgraph.drift.reading.rules import commands

ORDERED = "tool_gives_orders"

_AGENTS = frozenset(
    map(fold, "assistant agent ai model llm chatbot bot gpt claude copilot helper".split())
)
_ORDERS = frozenset(map(fold, "instruction prompt guideline rule directive".split()))
_PRIOR = frozenset("previous prior earlier above all your original".split())
_IGNORING = frozenset(map(fold, "ignore disregard forget override bypass skip".split()))
_HIDING = frozenset(map(fold, "mention tell reveal inform hide conceal notify".split()))
_REPORTS = frozenset(map(fold, "summary report answer reply response message".split()))
_SECRETLY = frozenset(map(fold, "hide conceal secretly quietly".split()))
_DOING = frozenset(
    map(fold, "send email post upload forward transfer install delete unlock disarm run execute "
    "visit open publish share pay order buy tell say reply disable grant pass push print set "
        "copy leave move add score rank rate approve".split())
)  # fmt: skip

_ASSIGNED = re.compile(r"[=?&]\s?(?:ignore|disregard|forget|override|bypass|skip)\b", re.IGNORECASE)
"""An order that is the value of a parameter: a log shows what somebody tried."""

_DECISIVE = 0.55
_STRONG = 0.4


def addresses(said: Said) -> bool:
    """Whether a sentence of a tool result speaks to the agent."""
    words = said.words[:8]
    folded = set(map(fold, words))
    if not _AGENTS.isdisjoint(folded) or "system" in words[:3]:
        return True
    # "PS for the mail helper", "note to whoever picks this up": further on it must be called.
    later = said.words[8:]
    return any(
        word in {"for", "to", "dear", "attention"}
        and (
            not _AGENTS.isdisjoint(map(fold, later[place + 1 : place + 4]))
            or "whoever" in later[place + 1 : place + 2]
        )
        for place, word in enumerate(later)
    )


def ordered(said: Said, *, addressed: bool) -> Breach | None:
    """Return the breach that a tool result gives the agent orders, None if it does not.

    Args:
        said: The sentence.
        addressed: Whether this sentence or the one before speaks to the agent.
    """
    folded = {word for clause in said.clauses for word in clause.folded}
    told = folded & _IGNORING and not _ASSIGNED.search(said.sentence.text)
    if told and folded & _ORDERS and not _PRIOR.isdisjoint(said.words):
        return Breach(ORDERED, _DECISIVE, "A tool result tells the agent to drop its instructions.")
    if not addressed:
        return None
    secret = any(clause.negations and set(clause.folded) & _HIDING for clause in said.clauses)
    between = any(pair == ("between", "us") for pair in pairwise(said.words))
    omits = {"leave", "out"} <= set(said.words) and not _REPORTS.isdisjoint(folded)
    if omits or between or not _SECRETLY.isdisjoint(folded) or (secret and "user" in folded):
        return Breach(ORDERED, _DECISIVE, "A tool result asks the agent to hide something.")
    told = any(
        (commands(clause) or clause.has("must")) and set(clause.folded) & _DOING
        for clause in said.clauses
    )
    if told:
        return Breach(ORDERED, _STRONG, "A tool result tells the agent what to do.")
    return None
