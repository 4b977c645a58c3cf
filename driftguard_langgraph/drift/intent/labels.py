"""What stands before a note and says what it is: "[memory]", "Handover:", "Desk 11:42 -"."""

from __future__ import annotations

_LONGEST = 48
"""Characters of a label; "Handover from the night shift:" has 30."""
_FEWEST_WORDS = 3
"""Words that must be left for the rest to be a sentence."""
_SIGNS = "*>#=-–—• \t\n"
_ENDS = (": ", " - ", " – ", " — ")
_SPOKEN = frozenset(".!?,;\"'")


def unlabelled(text: str) -> str:
    """Return a sentence without what stands before it.

    A vector has no other way to tell who speaks from what is said.

    Args:
        text: The sentence.
    """
    rest = text.lstrip(_SIGNS)
    while (shorter := _shorter(rest)) is not None:
        rest = shorter
    return rest if len(rest.split()) >= _FEWEST_WORDS else text


def _shorter(text: str) -> str | None:
    """Return a text without its first label, None if it has none."""
    if text.startswith("["):
        end = text.find("]", 0, _LONGEST)
        return text[end + 1 :].lstrip(_SIGNS) if end > 0 else None
    places = [(text.find(end, 0, _LONGEST), len(end)) for end in _ENDS]
    found = [(place, length) for place, length in places if place > 0]
    if not found:
        return None
    place, length = min(found)
    if not _SPOKEN.isdisjoint(text[:place]):
        return None
    return text[place + length :].lstrip(_SIGNS)
