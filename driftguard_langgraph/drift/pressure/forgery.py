"""Forged structure: role tags, special tokens and delimiters inside a message.

A model reads its conversation as one text with marks between the messages; who writes such
marks into his own message tries to speak as somebody else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from driftguard_langgraph.drift.baseline import BASELINES_KEPT
from driftguard_langgraph.drift.pressure.findings import Finding

_TOKEN = re.compile(
    r"<\|[A-Za-z_]{2,24}\|>|\[/?INST\]|<</?SYS>>|</?s>|<(?:start|end)_of_turn>"
    r"|<\uff5c[^\uff5c\n]{2,30}\uff5c>"
)
_ROLE_TAG = re.compile(
    r"</?(?:system|user|assistant|human|instructions?|prompt|admin|developer|input|user_input"
    r"|untrusted)>",
    re.IGNORECASE,
)
_ROLE_LINE = re.compile(
    r"^[ \t>#*\-\[]{0,8}(?:<!--[ \t]{0,4})?(system(?: (?:message|prompt|notice|update|override|note"
    r"|alert|instructions?|command|admin|log|mode))?|assistant|developer|admin|user|human|ai)"
    r"[\]*]{0,3}"
    r"[ \t]*:[ \t]*(\S[^\n]{0,160})",
    re.IGNORECASE | re.MULTILINE,
)
_BOUNDARY = re.compile(
    r"\b(end|begin|start|stop|finish|close)(?: of)?(?: (?:the|all|any|untrusted|user|system|admin"
    r"|trusted|previous|new|important|out|dated|outdated)){0,4}[ _]{1,2}"
    r"(input|prompt|prompts|instructions?|message|section|ambiguity|text|buffer|simulation|session"
    r"|conversation|context|rules|transcript)\b",
    re.IGNORECASE,
)
_RULER = re.compile(r"([%=#~*>_-])\1{2,}")
_SHOUT = re.compile(r"[A-Z]{3}")
_ADDRESS = re.compile(
    r"\b(?:you|your|ignore|disregard|must|now|always|never|operator|assistant|from)\b",
    re.IGNORECASE,
)
_CAPITALS = re.compile(r"\b[A-Z]{3,}(?:[ _-][A-Z]{2,}){1,5}\b")

MAX_SCANNED = 8_000
"""Characters of a turn that are searched for marks; a forger puts them near the start or end."""


def forged(text: str, delimiters: frozenset[str]) -> Iterator[Finding]:
    """Yield forged structure in a message.

    Args:
        text: The message.
        delimiters: The delimiters that the baseline itself uses, in lower case.
    """
    if len(text) > MAX_SCANNED:
        text = text[: MAX_SCANNED // 2] + "\n" + text[-MAX_SCANNED // 2 :]
    tokens = _tokens(text)
    if tokens:
        weight = 0.55 if len(tokens) > 1 else 0.2 if text.rstrip().endswith("?") else 0.4
        yield _finding(text, tokens[0].start(), tokens[-1].end(), weight, "a model's special token")
    tag = _ROLE_TAG.search(text) if "<" in text else None
    if tag is not None and not _quoted(text, tag.start()):
        addressed = "system" in tag.group().lower() or _ADDRESS.search(text) is not None
        yield _finding(text, tag.start(), tag.end(), 0.45 if addressed else 0.2, "a role's tag")
    yield from _role_lines(text)
    # A boundary counts in capitals or ruled off, so few texts need the costly search for one.
    marked = _SHOUT.search(text) or _RULER.search(text)
    boundary = _BOUNDARY.search(text) if marked else None
    if boundary is not None and (boundary.group().isupper() or _ruled(text, boundary.start())):
        yield _finding(text, boundary.start(), boundary.end(), 0.45, "the end of an input")
    for capitals in _CAPITALS.finditer(text) if delimiters else ():
        if capitals.group().lower() in delimiters:
            yield _finding(text, capitals.start(), capitals.end(), 0.4, "a mark of the baseline")
            break


@lru_cache(maxsize=BASELINES_KEPT)
def delimiters_of(baseline: str) -> frozenset[str]:
    """Return the delimiters in capitals that a baseline uses, in lower case."""
    return frozenset(found.group().lower() for found in _CAPITALS.finditer(baseline))


def _role_lines(text: str) -> Iterator[Finding]:
    roles = list(_ROLE_LINE.finditer(text)) if ":" in text else []
    spoken = {found.group(1).lower().split()[0] for found in roles}
    for found in roles:
        role = found.group(1).lower()
        if role.startswith(("system", "developer", "admin")) and _ADDRESS.search(found.group(2)):
            yield _finding(text, found.start(), found.end(), 0.45, "a line of the system")
            return
    if len(spoken & {"user", "human"}) and len(spoken & {"assistant", "ai"}):
        yield _finding(text, roles[0].start(), roles[-1].end(), 0.3, "a dialogue")


def _tokens(text: str) -> list[re.Match[str]]:
    if "<" not in text and "[" not in text:
        return []
    return [found for found in _TOKEN.finditer(text) if not _quoted(text, found.start())]


def _quoted(text: str, place: int) -> bool:
    # An odd number of back-ticks before it in its line: it is shown, not used.
    return text.count("`", text.rfind("\n", 0, place) + 1, place) % 2 == 1


def _ruled(text: str, place: int) -> bool:
    return _RULER.search(text, max(place - 40, 0), place + 80) is not None


def _finding(text: str, start: int, end: int, weight: float, what: str) -> Finding:
    said = text[max(start - 10, 0) : end + 30][:300]
    return Finding("structure_forged", weight, said, f"It forges {what} inside a message.")
