"""From Markdown to the words that it sets, in linear time and without damage to code.

What a text says is compared, not how it is set: a bold word is the same word. But `5 * 3 * 2`,
`__init__` and `*args` are no markup, so emphasis counts only where its signs hug what they
enclose, and code is kept as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*([^`\n]*)$")
_HEADER = re.compile(r"[ \t]{0,3}#{1,6}(?:[ \t]+|$)")
_QUOTE = re.compile(r"[ \t]*(?:>[ \t]?)++")
_RULE_SIGNS = frozenset("-*_=|:+ \t")
_LABEL = r"\[([^\[\]]*+)\]"
_TARGET = r"\((?:[^()\s]|\([^()\s]*+\))*+(?:\s++\"[^\"\n]*+\")?+\s*+\)"
_IMAGE = re.compile(f"!{_LABEL}{_TARGET}")
_LINK = re.compile(_LABEL + _TARGET)
_URL = re.compile(r"<https?://[^\s<>]++>|https?://[^\s<>\"'`\[\](){}|]++")
_RUN = re.compile(r"\*++|_++")
_TICKS = re.compile(r"`+")
_LONGEST_MARKER = 3
_LONGEST_IDENTIFIER = 64
_CODE = "\ue000"
"""Stands for a code span while the rest of its paragraph is read; a private-use character."""


def strip_markdown(text: str) -> str:
    """Return the words of a Markdown text on one line.

    Fences, inline code signs, headers, emphasis, quote signs, rules, table borders, link
    targets, images and bare URLs go; what they mark stays, code untouched. Lists,
    strikethrough and HTML are left as they are (as in context-drift-analyzer).

    Args:
        text: Any text; plain text comes back with its white space collapsed.
    """
    said = ["\n".join(lines) if is_code else _prose(lines) for is_code, lines in _blocks(text)]
    return " ".join(" ".join(said).split())


def _blocks(text: str) -> Iterator[tuple[bool, list[str]]]:
    """Yield runs of lines and whether they stand between code fences; the fences are dropped."""
    lines: list[str] = []
    closing = ""
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if not closing and fence is not None:
            yield False, lines
            lines, closing = [], fence.group(1)
        elif closing and fence is not None and _closes(fence, closing):
            yield True, lines
            lines, closing = [], ""
        else:
            lines.append(line)
    yield bool(closing), lines


def _closes(fence: re.Match[str], opened_by: str) -> bool:
    sign, info = fence.groups()
    return sign[0] == opened_by[0] and len(sign) >= len(opened_by) and not info.strip()


def _prose(lines: list[str]) -> str:
    plain = "\n".join(_line(line) for line in lines).replace(_CODE, " ")
    return "\n".join(_inline(paragraph) for paragraph in plain.split("\n\n"))


def _line(line: str) -> str:
    line = _without_start(_QUOTE, line).rstrip()
    bare = line.strip()
    if len(bare) >= _LONGEST_MARKER and _RULE_SIGNS.issuperset(bare):
        return ""
    if bare.startswith("|") or bare.endswith("|"):
        return line.replace("|", " ")
    return _without_start(_HEADER, line)


def _without_start(sign: re.Pattern[str], line: str) -> str:
    found = sign.match(line)
    return line if found is None else line[found.end() :]


def _inline(paragraph: str) -> str:
    plain, codes = _without_code(paragraph)
    plain = _LINK.sub(r"\1", _IMAGE.sub(" ", plain))
    plain = _without_emphasis(_URL.sub(_after_url, plain))
    kept = iter(codes)
    return re.sub(_CODE, lambda _: next(kept, ""), plain)


def _after_url(found: re.Match[str]) -> str:
    """Return what remains of a URL: a blank, and the punctuation that ends its sentence."""
    url = found.group()
    return " " + url[len(url.rstrip(".,;:!?")) :]


def _without_code(paragraph: str) -> tuple[str, list[str]]:
    """Return a paragraph with its code spans replaced by a stand-in, and the spans' contents."""
    runs = list(_TICKS.finditer(paragraph))
    partner: dict[int, int] = {}
    nearest: dict[int, int] = {}
    for place in range(len(runs) - 1, -1, -1):
        length = len(runs[place].group())
        if length in nearest:
            partner[place] = nearest[length]
        nearest[length] = place
    kept: list[str] = []
    codes: list[str] = []
    place = end = 0
    while place < len(runs):
        closing = partner.get(place)
        if closing is None:
            place += 1
            continue
        codes.append(paragraph[runs[place].end() : runs[closing].start()])
        kept += (paragraph[end : runs[place].start()], _CODE)
        end, place = runs[closing].end(), closing + 1
    return "".join((*kept, paragraph[end:])), codes


def _without_emphasis(paragraph: str) -> str:
    opened: dict[str, list[int]] = {}
    dropped: list[tuple[int, int]] = []
    for found in _RUN.finditer(paragraph):
        sign = found.group()
        if len(sign) > _LONGEST_MARKER:
            continue
        before = paragraph[found.start() - 1 : found.start()] if found.start() else ""
        after = paragraph[found.end() : found.end() + 1]
        waiting = opened.setdefault(sign, [])
        if waiting and _may_close(sign, before, after):
            start = waiting.pop()
            if not _is_identifier(sign, paragraph, start + len(sign), found.start()):
                dropped += ((start, start + len(sign)), found.span())
        elif after.strip() and not _in_word(before):
            waiting.append(found.start())
    kept, end = [], 0
    for start, stop in sorted(dropped):
        kept.append(paragraph[end:start])
        end = stop
    return "".join((*kept, paragraph[end:]))


def _may_close(sign: str, before: str, after: str) -> bool:
    if not before.strip():
        return False
    # "**Rate:**4.5" ends the bold words, "x**2" is a power.
    return not _in_word(after) or (sign == "**" and not _in_word(before))


def _in_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _is_identifier(sign: str, paragraph: str, start: int, stop: int) -> bool:
    """Whether what two signs enclose is a name of code, such as `__init__`."""
    if sign != "__" or stop - start > _LONGEST_IDENTIFIER:
        return False
    return paragraph[start:stop].isidentifier()
