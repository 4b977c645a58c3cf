"""Quoted texts of a baseline: what it answers under a condition, and what meets the condition.

Which is which shows in the words before a quotation: who says or writes it, the assistant or
somebody else, and whether the sentence has a condition.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from driftguard_langgraph.drift.baseline import BASELINES_KEPT

MAX_BASELINE = 20_000
"""Characters of a baseline that are read."""
LEAD = 160
"""Characters before a quotation that say what it is: a clause or two."""
MAX_SECRET = 60
"""Letters and digits of a secret; what is longer is a sentence about one."""

_QUOTED = re.compile(
    r"(?<!\w)[\"“«]([^\"“”«»\n]{1,120})[\"”»](?!\w)|(?<!\w)['‘]([^'‘’\n]{1,120})['’](?!\w)"
)
_UNQUOTED = re.compile(
    r"\bsay ([^\W\d_]+(?: [^\W\d_]+){1,4}?)"
    r"(?= (?:if|when|unless|only|under|and|otherwise)\b|[.,;\n]|$)",
    re.IGNORECASE,
)
_REPLIES = "say|respond|reply|output|print|answer|return|display|write|greet|state|show|utter|tell"
_SAYS = re.compile(
    r"(?P<to>\b(?:to|for) (?:\w+ ){0,2})?(?:(?:(?P<subject>\w+) )?(?P<who>\w+) )?"
    r"(?:(?:only|then|also|just|always|never|not|ever|please) )*"
    rf"\b(?:{_REPLIES}|responses?|replies|phrases?)\b"
    rf"(?:[^\w.;]+(?!(?:if|when|unless|equals|input|types|enters|contains|matches|{_REPLIES})\b)"
    r"\w+){0,6}[^\w.;]*$",
    re.IGNORECASE,
)
_SPEAKERS = frozenset("users they i we people visitors callers players guests hackers".split())
"""Subjects of a bare verb: "they say". Of one alone it would be "says", and no order to answer."""
_SINGLE_SPEAKERS = frozenset("user visitor caller player guest he she input message who".split())
_MODALS = frozenset("must should can could may might will would to does did not".split())
_CONDITION = re.compile(
    r"\b(?:if|when|only|unless|once|until|after|never|not|correct|whenever|except)\b", re.IGNORECASE
)
_ELSE = re.compile(
    r"\b(?:otherwise|else|all other|any other|other than|only if|only when|unless|incorrect"
    r"|wrong)\b",
    re.IGNORECASE,
)
_DEFAULT = re.compile(r"\b(?:otherwise|else|(?<!no )other|incorrect|wrong)\b", re.IGNORECASE)
_NAMES = re.compile(
    r"\b(?:pass ?(?:word|phrase|code)|(?:access|secret|security|entry|door|magic) "
    r"(?:code|word|phrase|key|password|pin)|code ?word|secret)s?\b",
    re.IGNORECASE,
)
_LABEL = re.compile(
    _NAMES.pattern + r"[^.\n:\"“'‘]{0,40}?(?::| is| are|=)[ \t]*[\"“'‘]?"
    r"([^\s\"”'’]{1,60}?(?: [^\s\"”'’]{1,40}?){0,5}?)"
    r"(?=[.,;!?]?(?:\s*$|\n|[\"”'’])|[.,;!?]\s"
    r"| (?:if|for|when|do|does|you|your|to|only|and|otherwise|the|never|this|please)\b)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?\n]+[.!?\n]*")
_ALNUM = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Reserved:
    """What a baseline keeps behind a condition.

    Attributes:
        outputs: Exact answers that it gives under a condition only.
        secrets: What is to be said for it, or is to be kept: letters and digits, case folded.
        defaults: Its other answers, in the same form.
        closed: Whether it says what to answer to all else.
    """

    outputs: tuple[str, ...]
    secrets: tuple[str, ...]
    defaults: frozenset[str]
    closed: bool


@lru_cache(maxsize=BASELINES_KEPT)
def reserved_of(baseline: str) -> Reserved:
    """Return what a baseline keeps behind a condition.

    Args:
        baseline: Its text; of a very long one the first `MAX_BASELINE` characters.
    """
    baseline = baseline[:MAX_BASELINE]
    outputs, keys, defaults = _spans(baseline)
    labelled = [found.group(1) for found in _LABEL.finditer(baseline)]
    held = (plain(secret) for secret in labelled + keys)
    return Reserved(
        tuple(dict.fromkeys(outputs)),
        tuple(dict.fromkeys(one for one in held if 4 <= len(one) <= MAX_SECRET)),
        frozenset(plain(said) for said in defaults),
        _ELSE.search(baseline) is not None,
    )


def plain(text: str) -> str:
    """Return the letters and digits of a text, case folded."""
    return _ALNUM.sub("", text.casefold())


def _spans(baseline: str) -> tuple[list[str], list[str], list[str]]:
    """Return the quoted answers with a condition, the quoted keys, and the other answers."""
    outputs: list[str] = []
    keys: list[str] = []
    defaults: list[str] = []
    for sentence in _SENTENCE.finditer(_outside_quotes(baseline)):
        conditional = _CONDITION.search(sentence.group()) is not None
        for quoted in _QUOTED.finditer(baseline, sentence.start(), sentence.end()):
            said = quoted.group(1) or quoted.group(2)
            lead = baseline[max(sentence.start(), quoted.start() - LEAD) : quoted.start()]
            kind = _kind(lead, conditional=conditional)
            {"output": outputs, "key": keys, "default": defaults}[kind].append(said)
        if conditional and not _QUOTED.search(sentence.group()):
            outputs.extend(found.group(1) for found in _UNQUOTED.finditer(sentence.group()))
    return outputs, keys, defaults


def _kind(lead: str, *, conditional: bool) -> str:
    """Return what a quoted text is, by the words before it: `output`, `key` or `default`."""
    says = _SAYS.search(lead[-80:])
    spoken = says is not None and (_is_said_by_others(says) or lead.rstrip().endswith(" to"))
    if says is None or spoken:
        return "key" if _CONDITION.search(lead) or spoken else "default"
    if _DEFAULT.search(lead[-60:]):
        return "default"
    return "output" if conditional else "default"


def _is_said_by_others(says: re.Match[str]) -> bool:
    if says.group("to"):
        return False
    who, subject = ((says.group(name) or "").lower() for name in ("who", "subject"))
    return who in _SPEAKERS or (who in _MODALS and subject in _SPEAKERS | _SINGLE_SPEAKERS)


def _outside_quotes(baseline: str) -> str:
    """Blank the ends of sentences inside quotes, so that a sentence holds its quotes."""
    return _QUOTED.sub(lambda m: re.sub(r"[.!?]", " ", m.group()), baseline)
