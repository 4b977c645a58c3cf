"""Turns that say nothing about a topic: greetings, thanks, yes and no, slots, data, nothing.

A dialogue is half made of them, on purpose or not, so a measure of topic must abstain there.
What is left of a text without them are its content words. The words are those of English
talk; a text in another language keeps all of its words.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from driftguard_langgraph.drift.reading.masking import prose
from driftguard_langgraph.judgement.lexicon import FUNCTION_WORDS, NEGATIONS
from driftguard_langgraph.judgement.quantities import NUMBER_WORDS
from driftguard_langgraph.judgement.words import stem

_TALK = """
    hi hello hey greetings howdy welcome bye goodbye farewell cheers dear
    yes yeah yep yup ok okay sure certainly absolutely definitely course correct right exactly
    indeed fine agreed alright true nope nah
    thanks thank thx appreciate appreciated grateful sorry apologize apologies pardon excuse
    unfortunately regret please kindly
    good great nice perfect excellent awesome wonderful lovely amazing cool super fantastic
    well better best bad glad happy pleased pleasure delighted
    help helped helpful assist assistance assisted anything something everything nothing
    thing things else more most other another one ones first second third last next both
    need want wish like love prefer would let got get give take make made do done doing
    go going come put keep try tried work works working sound sounds seem seems look looks
    looking see find found know think guess hope believe mean feel say said tell told ask
    asked hear show read understand understood wait hold continue proceed ahead happen
    confirm confirmed confirming verify check details detail following information info
    question questions answer request option options choice way part kind type sort lot bit
    time times date day days today tomorrow tonight yesterday now later soon morning
    afternoon evening night noon midnight week weekend month year hour hours minute minutes
    monday tuesday wednesday thursday friday saturday sunday january february march april
    june july august september october november december am pm
    actually really maybe perhaps probably instead again already yet still ever always
    much many few little quite pretty all every each none enough able available possible
    hmm oh ah wow hm um haha lol
    someone anyone everyone somebody anybody everybody somewhere anywhere
    mr mrs ms sir madam him he she they myself yourself itself im ill id ive dont cant wont
    further additional new
"""
_CLOSED = frozenset(
    {stem(word) for word in _TALK.split()}
    | {stem(word) for word in FUNCTION_WORDS | NEGATIONS | NUMBER_WORDS.keys()}
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_SHORT_FORM = re.compile(r"['’](?:s|m|d|ll|re|ve|t)$")

_REFUSAL = re.compile(
    r"\b(?:can ?not|can['’]?t|unable to|not able to|won['’]?t|don['’]?t|do not|am not here to"
    r"|not allowed to|decline to) "
    r"(?:be able to |really |directly )?(?:help|assist|do|answer|discuss|talk|handle|support"
    r"|cover|provide|have information|give|offer|advise)\b"
    r"|\b(?:isn['’]?t|is not|not) something i (?:can|handle|do|cover|help)"
    r"|\b(?:outside|beyond) (?:of )?(?:what i|my|the scope|our)\b|\boff[- ]topic\b"
    r"|\bcan only (?:help|assist|answer|discuss|talk)\b"
)
"""Of a text in lower case."""
_REFUSAL_CHARS = 400
"""A refusal says so at its beginning."""


def content_words(text: str) -> Iterator[str]:
    """Yield the stems of the words of a text that can carry a topic, in order.

    Args:
        text: Any text; time is linear in its length.
    """
    for found in _WORD.finditer(text):
        folded = _folded(found.group())
        if folded not in _CLOSED and len(folded) > 1:
            yield folded


def is_content_free(text: str) -> bool:
    """Whether a text has no word that can carry a topic."""
    return next(content_words(text), None) is None


def is_refusal(text: str) -> bool:
    """Whether an answer declines, at its beginning, to do what was asked."""
    return _REFUSAL.search(text[:_REFUSAL_CHARS].lower()) is not None


def said_in(text: str, max_chars: int) -> str:
    """Return the sentences of a text without code and data, at most `max_chars` of them.

    Args:
        text: Any text.
        max_chars: How much is kept, from the beginning.
    """
    return " ".join(prose(text).split())[:max_chars]


@functools.lru_cache(maxsize=65_536)
def _folded(word: str) -> str:
    return stem(_SHORT_FORM.sub("", word.lower()))
