"""What of a message is natural language: code, data and markup are set aside.

Code, JSON and addresses are full of words ("failed", "not", "can") that nobody *says*. They
would move a measure of style, and cost time. But instructions also travel inside data, so
whatever reads like a sentence stays, wherever it stands. Each step is one pass over the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

SENTENCE_WORDS = 5
"""Words from which a piece of data is taken for a sentence; keys, names and states are shorter."""

TURNS_KEPT = 8
"""Texts of which the prose is kept: each of three measures reads the same turn, at most one turn in
each of a few threads at a time."""

_CODE_TAGS = frozenset(
    "bash c c++ cpp cs csharp css diff dockerfile go graphql html http ini java javascript js "
    "json jsonc jsonl jsx kotlin lua makefile php powershell py pycon python r rb regex ruby "
    "rust rs scala sh shell sql swift toml ts tsx typescript xml yaml yml zsh".split()
)
_FENCE = re.compile(r" {0,3}(?:>\s?)?(```+|~~~+)\s*([\w+#-]*)")
_INLINE = re.compile(r"``?([^`\n]{0,200})``?")
_PLAIN = re.compile(r"[^\W\d_]+(?:[ '-][^\W\d_]+)*\Z")
_OPENING = re.compile(r"[{\[]\s*[\"'{\[}\]]")
_STRING_OR_BRACKET = re.compile(r"\"(?:[^\"\\]|\\.)*\"?|[{}\[\]]", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]{2,}")
_UNSPOKEN = re.compile(
    r"(?:https?|ftp|file|s3|gs)://\S+"  # addresses
    r"|</?[A-Za-z][^<>\n]{0,200}>"  # markup
    r"|\[\.\.\. \d+ characters, sha256 \w+ \.\.\.\]"  # what `excerpt` leaves
    r"|(?<!\S)[\w.@+-]*(?:[/\\][\w.@+-]+){2,}"  # paths
    r"|(?<![A-Za-z0-9+/_-])(?=[A-Za-z+/_-]*\d)[A-Za-z0-9+/_-]{24,}={0,2}"  # hashes, keys
)
_SPECIAL = frozenset("/\\<[")
_KEY_LENGTH = 24
_CODE_LINE = re.compile(
    r"(?:def \w+\(|class \w+[(:]|import [\w.]+(?: as \w+)?$|from [\w.]+ import "
    r"|return\b.*[-+*;()=\]]"
    r"|(?:const|let|var) \w+ ?[=:]|function\b.*\(|#include\b|#!/|@\w+(?:\(|$)|\$ \S|>>> "
    r"|\+\+\+ |--- a/|@@ |File \"|at [\w.$<>]+\(|select \w.* from |insert into "
    r"|[\w.\[\]\"']+ ?[-+*/|]?=(?!=)|[\w.]+\([^)]*\)[;:]?$|[}\])]+[;,]?$)",
    re.IGNORECASE,
)
_LONG_LINE = 200
"""Characters from which a line of code is searched for sentences: a prompt written on one line
may hold a pattern or a key."""
_PLAIN_WORD = re.compile(r"[\"'(]?[^\W\d_]+(?:['-][^\W\d_]+)*[\"')]?[.,:;!?]?\Z")
_SYMBOLS = re.compile(r"[{}\[\]<>=;|\\_$@&^%~+()\"/]")
_SYMBOL_SHARE = 0.2
"""Share of signs from which a line is code or data; English prose has under .05."""


@lru_cache(maxsize=TURNS_KEPT)
def prose(text: str) -> str:
    """Return the natural-language part of a text, its lines kept apart.

    Left out are fenced code, lines of code, structured data (JSON, also cut off in the
    middle), markup, addresses, paths and keys. A string inside data that reads like a
    sentence, and plain words in back-ticks, stay. Time is linear in the length.

    Args:
        text: Any text.
    """
    if "```" in text or "~~~" in text:
        text = "\n".join(_outside_fences(text.split("\n")))
    if "`" in text:
        text = _INLINE.sub(_spoken, text)
    if ("{" in text or "[" in text) and _OPENING.search(text):
        text = "".join(_outside_data(text))
    if not _SPECIAL.isdisjoint(text) or max(map(len, text.split()), default=0) >= _KEY_LENGTH:
        text = _UNSPOKEN.sub(" ", text)
    return "\n".join(_spoken_lines(text)).strip()


def _outside_fences(lines: list[str]) -> Iterator[str]:
    """Yield what is not in a fence that is closed and says that it holds code."""
    held: list[str] = []
    fence = ""
    for line in lines:
        found = _FENCE.match(line)
        if not fence and found is None:
            yield line
        elif not fence and found is not None:
            fence, held = found.group(1), []
            coded = found.group(2).lower() in _CODE_TAGS
        elif found is not None and found.group(1).startswith(fence):
            fence = ""
            if not coded:
                yield from held
        else:
            held.append(line)
    # A fence that nobody closes hides nothing: its lines are judged one by one.
    if fence:
        yield from held


def _spoken(code: re.Match[str]) -> str:
    return f" {code.group(1)} " if _PLAIN.match(code.group(1).strip()) else " "


def _outside_data(text: str) -> Iterator[str]:
    """Yield a text with each structure replaced by the sentences in it."""
    place = 0
    while (opening := _OPENING.search(text, place)) is not None:
        yield text[place : opening.start()]
        depth, place = 0, opening.start()
        for token in _STRING_OR_BRACKET.finditer(text, place):
            yield from _sentences(text[place : token.start()])
            place = token.end()
            if token.group()[0] == '"':
                yield from _sentences(_ESCAPE.sub(" ", token.group()))
                continue
            depth += 1 if token.group() in "{[" else -1
            if depth == 0:
                break
        else:
            yield from _sentences(text[place:])
            return
    yield text[place:]


def _sentences(piece: str) -> Iterator[str]:
    if len(piece) > 2 * SENTENCE_WORDS and len(_WORD.findall(piece)) >= SENTENCE_WORDS:
        yield "\n" + piece.strip("\"' ,:\n\t") + "\n"


def _spoken_lines(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        if not _is_code(line):
            yield line
        elif len(line) > _LONG_LINE:
            yield from _sentences(" ".join(filter(_PLAIN_WORD.match, line.split())))


def _is_code(line: str) -> bool:
    said = line.strip()
    signs = len(_SYMBOLS.findall(said))
    if not signs:
        return False
    if signs >= 4 and signs > _SYMBOL_SHARE * (len(said) - said.count(" ")):
        return True
    # A semicolon also ends the items of a list of rules; those have no other sign.
    if said.endswith("{") or (signs >= 2 and said.endswith(";")):
        return True
    return _CODE_LINE.match(said) is not None
