"""The compaction guard: what a summary lost, a receipt for it, and its restoration.

The summary is a model's text and may say anything, so nothing in it is trusted or hidden: it
stands as it was written, and what it left out is put behind it in a block of its own. Rules come
word for word; facts of the conversation come in quotations that cannot act.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.recovery.anchor import Anchor
from driftguard_langgraph.recovery.compaction.facts import Fact, FactIndex, facts_of
from driftguard_langgraph.recovery.compaction.receipt import (
    MAX_FACTS,
    Alteration,
    SurvivalReceipt,
    fact_lines,
)
from driftguard_langgraph.recovery.compaction.standing import Statements
from driftguard_langgraph.recovery.compaction.statements import Statement
from driftguard_langgraph.recovery.quoting import quoted
from driftguard_langgraph.text.tokens import TokenCounter, estimated_tokens
from driftguard_langgraph.text.validation import visible_text

_HEAD = "[driftguard: kept through compaction]"
_TAIL = "[driftguard: end of what was kept]"
_RULES = "Rules, word for word, as the operator set them:"
_FACTS = "Facts of the conversation, as quotations:"
_AROUND = 90
"""Characters around a fact that are quoted with it on each side: about one clause."""


def survival(
    before: str,
    after: str,
    anchor: Anchor | None = None,
    *,
    kept: str = "",
    count_tokens: TokenCounter = estimated_tokens,
) -> SurvivalReceipt:
    """Return what of a conversation and of an anchor is still in a summary.

    Time is linear in the length of the texts, for a given anchor.

    Args:
        before: What was summarised. Its first facts are restored first.
        after: The summary.
        anchor: What must survive besides: its rules as sentences, or as others that say the
            same, and all numbers and names in it.
        kept: What a model reads beside the summary.
        count_tokens: Counts tokens.
    """
    before, after, kept = map(visible_text, (before, after, kept))
    index = FactIndex((after, kept))
    told = "\n".join((*anchor.sentences, *anchor.revised)) if anchor is not None else ""
    facts = {fact.key: (fact, text) for text in (before, told) for fact in facts_of(text)}
    ordered = {fact.key: None for text in (told, before) for fact in facts_of(text)}
    lost = [facts[key] for key in ordered if facts[key][0] not in index]
    rules = must_stand(anchor) if anchor is not None else ()
    dropped, altered = _judged(rules, after, kept)
    return SurvivalReceipt(
        total=len(facts),
        survived=len(facts) - len(lost),
        dropped=tuple(fact for fact, _ in lost),
        contexts=tuple(_context(text, fact) for fact, text in lost[:MAX_FACTS]),
        rules=len(rules),
        dropped_constraints=dropped,
        altered=altered,
        tokens_before=count_tokens(before),
        tokens_after=count_tokens(after),
    )


def must_stand(anchor: Anchor) -> tuple[str, ...]:
    """Return the sentences of an anchor that a summary must keep, each once."""
    told = (*anchor.constraints, *anchor.limits, *anchor.glossary, *anchor.revised)
    return tuple(dict.fromkeys(told))


def restored(summary: str, receipt: SurvivalReceipt) -> str:
    """Return a summary with what it lost: all rules, and facts up to `MAX_FACTS`.

    Args:
        summary: The summary; marks of ours that it holds are taken out, so that it can forge
            no block.
        receipt: What `survival` returned for it.
    """
    body = _unmarked(visible_text(summary))
    lines: list[str] = []
    if receipt.dropped_constraints:
        rules = (" ".join(rule.split()) for rule in receipt.dropped_constraints)
        lines += [_RULES, *(f"- {rule}" for rule in rules)]
    quotes = _quotes(receipt)
    if quotes:
        lines += [_FACTS, *quotes]
    return "\n".join((body.rstrip(), "", _HEAD, *lines, _TAIL)).lstrip("\n") if lines else body


def guarded(
    before: str,
    summary: str,
    anchor: Anchor | None = None,
    *,
    kept: str = "",
    restore: bool = True,
) -> tuple[str, SurvivalReceipt]:
    """Return a summary with what it lost, and the receipt.

    Args:
        before: As in `survival`, and so are `anchor` and `kept`.
        summary: The summary.
        anchor: What must survive.
        kept: What a model reads beside the summary.
        restore: Whether to put back what was lost; else the summary comes without our marks.
    """
    body = _unmarked(visible_text(summary))
    receipt = survival(before, body, anchor, kept=kept)
    if not restore:
        return body, receipt
    text = restored(body, receipt)
    count = len(receipt.dropped_constraints) + min(len(receipt.dropped), MAX_FACTS)
    return text, replace(receipt, tokens_after=estimated_tokens(text), restored=count)


def as_anchor(given: object) -> Anchor | None:
    """Return the anchor that a caller gave.

    Args:
        given: An anchor, what `Anchor.to_dict` returned, a baseline, or None.

    Raises:
        ConfigurationError: It is none of these.
    """
    if given is None or isinstance(given, Anchor):
        return given
    if isinstance(given, Mapping) and "digest" in given:
        return Anchor.from_dict(given)
    return Anchor.of(given)


def kept_anchor(given: object) -> Anchor | None:
    """Return the anchor that a state holds, None if it holds none that can be read."""
    if not isinstance(given, Mapping):
        return None
    try:
        return Anchor.from_dict(given)
    except ConfigurationError:
        return None


def _judged(
    rules: Sequence[str], after: str, kept: str
) -> tuple[tuple[str, ...], tuple[Alteration, ...]]:
    if not rules:
        return (), ()
    said = Statements([after])
    beside = Statements([kept])
    dropped, altered = [], []
    for rule in rules:
        meant = Statement.of(rule)
        against = said.against(meant)
        if against is not None:
            altered.append(Alteration(rule, against))
        if said.has(rule) or beside.has(rule):
            continue
        if against is not None or not (said.say(meant) or beside.say(meant)):
            dropped.append(rule)
    return tuple(dropped), tuple(altered)


def _unmarked(summary: str) -> str:
    return "\n".join(line for line in summary.split("\n") if line.strip() not in {_HEAD, _TAIL})


def _context(text: str, fact: Fact) -> str:
    """Return a fact with the words around it, unless these say what to do."""
    start = max(fact.start - _AROUND, 0)
    left = text[start : fact.start]
    cut = max(left.rfind("\n"), left.rfind(". "), left.rfind("? "), left.rfind("! "))
    left = left[cut + 1 :] if cut >= 0 or not start else left.partition(" ")[2]
    right = text[fact.end : fact.end + _AROUND]
    ends = [place for mark in ("\n", ". ", "? ", "! ") if (place := right.find(mark)) >= 0]
    if ends:
        right = right[: min(ends) + 1]
    elif fact.end + _AROUND < len(text):
        right = right.rpartition(" ")[0]
    around = f"{left}{text[fact.start : fact.end]}{right}".strip()
    return fact.text if _acts(around) else around


def _acts(text: str) -> bool:
    said = Statement.of(text)
    return said.turned or any(part.stance for part in said.parts) or said.acts


def _quotes(receipt: SurvivalReceipt) -> list[str]:
    restated = "\n".join(receipt.dropped_constraints)
    covered = {fact.key for fact in facts_of(restated)}
    lines: list[str] = []
    bare: list[str] = []
    for fact, context in zip(receipt.dropped, receipt.contexts, strict=False):
        if fact.key in covered:
            continue
        if context == fact.text:
            bare.append(context)
            continue
        lines.append(quoted(context))
        covered |= {each.key for each in facts_of(lines[-1])}
        if fact.key not in covered:
            bare.append(fact.text)
    return [*lines, *fact_lines(bare)]
