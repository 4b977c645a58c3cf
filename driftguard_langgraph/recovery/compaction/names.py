"""Names and acronyms: what a capital letter says where it need not stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from driftguard_langgraph.drift.reading.norms import CLASS_OF, FUNCTION, NEGATIONS, fold
from driftguard_langgraph.recovery.compaction.measures import UNITS
from driftguard_langgraph.recovery.compaction.scanning import Piece

MAX_NAME_WORDS = 5
"""Words of a name; a longer row of capitals is a title."""
_PARTICLES = frozenset("of de der den van von da di du del la le al el bin ibn ter dos y".split())
_NORMS = frozenset({"waive", "drop", "forbid", "must", "need"})
_LANGUAGE_WORDS = 30
_CAPITALISED = 0.3
"""Share of words with a capital from which capitals mark nouns (German), not names, and the
words from which it can be told: English messages have .05 to .15."""

Named = tuple[Sequence[Piece], bool]
"""The pieces of a name, and whether its first one may be a plain word that opens a sentence."""


def acronym(text: str) -> str | None:
    """Return the letters of an acronym (NASA, R&D, U.S.), None if a text is none.

    Args:
        text: One piece of a text.
    """
    letters = text.replace(".", "").replace("&", "")
    if not 2 <= len(letters) <= 8 or not letters.isalpha() or not letters.isupper():
        return None
    word = letters.lower()
    shouted = word in NEGATIONS or (word in FUNCTION and word not in {"us", "it"})
    known = word in UNITS or fold(word) in CLASS_OF or word in {"only", "all"}
    return None if shouted or known else letters


def is_shouted(run: Sequence[str]) -> bool:
    """Whether words in capitals are a shouted sentence, not acronyms.

    Args:
        run: Neighbouring words in capitals.
    """
    return len(run) >= 3 and any(acronym(word) is None for word in run)


def names(found: Sequence[Piece]) -> Iterator[Named]:
    """Yield the names among the pieces of one text.

    A capital that opens a sentence says nothing, so a name never stands on it alone; and a word
    that the text also writes small is none.

    Args:
        found: The text's pieces, in order.
    """
    small = {piece.text for piece in found if piece.text.islower()}
    inner = [piece for piece in found if not piece.opens and piece.text.isalpha()]
    capitals = sum(map(_capitalised, inner))
    of_nouns = len(inner) >= _LANGUAGE_WORDS and capitals > _CAPITALISED * len(inner)
    for run, following in _runs(found):
        if _is_title(run):
            continue
        opens = run[0].opens and not (run[0].labelled and _ends(following))
        sure = run[1:] if opens else run
        if not sure or (len(sure) == 1 and bare(sure[0].text).lower() in small):
            continue
        if not of_nouns or len(sure) > 1:
            yield run, opens


def bare(word: str) -> str:
    """Return a word without a possessive ending."""
    return word[:-2] if word.endswith(("'s", "’s")) else word


def _runs(found: Sequence[Piece]) -> Iterator[tuple[list[Piece], Piece | None]]:
    run: list[Piece] = []
    held: list[Piece] = []
    for piece in found:
        joined = bool(run) and piece.gap == " " and not piece.opens
        if joined and piece.text in _PARTICLES and len(held) < 2:
            held.append(piece)
            continue
        named = piece.shape == "token" and _is_named(piece.text)
        if named and joined:
            run += [*held, piece]
        else:
            if run:
                yield run, held[0] if held else piece
            run = [piece] if named else []
        held = []
    if run:
        yield run, held[0] if held else None


def _capitalised(piece: Piece) -> bool:
    return piece.text[0].isupper() and not piece.text.isupper()


def _is_named(text: str) -> bool:
    word = bare(text)
    letters = word.replace("-", "").replace("'", "").replace("’", "")
    if len(letters) < 2 or not letters.isalpha() or not word[0].isupper() or word.isupper():
        return False
    small = word.lower()
    if small in FUNCTION or small in NEGATIONS or small in UNITS:
        return False
    return CLASS_OF.get(fold(small)) not in _NORMS


def _is_title(run: Sequence[Piece]) -> bool:
    return len(run) > MAX_NAME_WORDS or (run[0].opens and "#" in run[0].gap)


def _ends(following: Piece | None) -> bool:
    return following is None or following.gap[:1] in {",", ";", ".", "\n"} or "\n" in following.gap
