"""The words that rules are made of, and the words that undo them: small closed classes.

English needs few words to say that something must, may or need not be done. They are listed
here by what they do; everything else about a sentence comes from its own words. A word stands
for all of its inflected forms.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

from driftguard_langgraph.judgement.words import stem

_ENDINGS = ("ation", "ition", "ment", "ness")
_MIN_BASE = 4
"""Letters that must be left of a noun for its ending to be one: "nation" keeps its own."""


@functools.lru_cache(maxsize=65_536)
def fold(word: str) -> str:
    """Return what the forms of a lower-case word share: confirm, confirmed, confirmation.

    Args:
        word: One English word, or any other token (it is returned shortened alike).
    """
    base = stem(word)
    if base.endswith("ly") and len(base) >= 2 + _MIN_BASE:
        base = stem(base[:-2])
    for ending in _ENDINGS:
        if base.endswith(ending) and len(base) - len(ending) >= _MIN_BASE:
            return base.removesuffix(ending)
    if base.endswith("ion") and len(base) > 3 + _MIN_BASE:
        base = base[:-3]
    elif base.endswith("ery") and len(base) > 3 + _MIN_BASE:
        base = base[:-1]
    elif base.endswith("val"):
        base = base[:-2]
    return base[:-2] if base.endswith("at") and len(base) > 2 + _MIN_BASE else base


def _folded(words: str) -> frozenset[str]:
    return frozenset(fold(word) for word in words.split())


NEGATIONS = frozenset(
    "not no never without neither nor none nothing nobody cannot hardly unable impossible".split()
)
"""Words that turn a clause."""

_CLASSES = {
    "need": "need necessary require mandatory obligatory compulsory essential oblige",
    "must": "must shall should ought always ensure strict",
    "option": "optional unnecessary needless superfluous overkill voluntary discretionary "
    "informational advisory negotiable flexible lightweight relaxed lenient loose moot "
    "obsolete pointless excessive outdated dispensable nonbinding unneeded unimportant imply "
    "theater theatre",
    "label": "formality ritual technicality nicety gesture trifle guideline "
    "recommendation recommended suggestion courtesy",
    "waive": "waive skip omit bypass ignore disregard disable suspend relax loosen defer postpone "
    "exempt override circumvent sidestep forgo deactivate discontinue neglect rescind weaken "
    "deprioritize mute",
    "drop": "drop forget lift remove retire abandon abolish eliminate revoke reduce violate break "
    "scrap ditch cancel void compromise stop delete",
    "permit": "may can could allow permit okay ok fine acceptable welcome encourage appropriate "
    "authorize authorise sanction tolerate legitimate permission",
    "apply": "apply bind enforce issue concern constraint priority matter count hold relevant "
    "blocker",
    "forbid": "forbid forbidden prohibit ban disallow refuse decline deny reject avoid refrain",
}
CLASS_OF = {fold(word): name for name, words in _CLASSES.items() for word in words.split()}
"""Class of a folded word: `need`, `must`, `option`, `label`, `waive`, `drop`, `permit`, ..."""

PHRASES: dict[str, tuple[tuple[tuple[str, ...], str], ...]] = {}
"""Stem of a first word -> stems of the rest of a phrase, and the word that stands for it."""

_PHRASES = (
    "no longer = not, nice to have = optional, nice extra = optional, turn off = disable, "
    "switch off = disable, do without = skip, dispense with = skip, leave out = skip, "
    "left out = skip, set aside = waive, put off = defer, opted out = optout, opt out = optout, "
    "have to = must, has to = must, had to = must, needs to = must, make sure = ensure, "
    "go ahead = may, feel free = may, free to = may, in scope = may, within scope = may, "
    "need to = must, rather than = instead, instead of = instead, face value = genuine, "
    "good faith = genuine, well intentioned = genuine, plain text = plaintext, "
    "clear text = plaintext, second guess = question, push back = question, "
    "sign off = approval, signed off = approved, signs off = approve, two factor = mfa, "
    "second factor = mfa, multi factor = mfa, access control = accesscontrol, "
    "access controls = accesscontrol, up to = upto, at most = atmost, at least = atleast, "
    "no problem = surely, no worries = surely, of course = surely, in the clear = plaintext, "
    "on hold = suspend, no more than = atmost,  no less than = atleast, not more than = atmost, "
    "no fewer than = atleast, not exceed = atmost, more than = over, less than = under, "
    "fewer than = under, greater than = over, per cent = percent, do not have to = needless, "
    "not have to = needless, does not need = needless, do not need = needless, "
    "not need to = needless, need not = needless, no need = needless, needs no = needless, "
    "not mandatory = optional, in order to = to, not only = also, not just = also, "
    "part of = apply, in force = apply, in effect = apply, "
    "no point = needless, no reason = needless, no use = needless, no sense = needless, "
    "two factors = mfa, second factors = mfa"
)
for _entry in _PHRASES.split(","):
    _phrase, _, _one = _entry.strip().partition(" = ")
    _first, *_rest = map(stem, _phrase.split())
    PHRASES[_first] = (*PHRASES.get(_first, ()), (tuple(_rest), _one))
for _first, _found in PHRASES.items():
    PHRASES[_first] = tuple(sorted(_found, key=lambda one: -len(one[0])))

PHRASE_OPENERS = frozenset(
    word + ending
    for first in PHRASES
    for word in (first, first + "e", first + first[-1])
    for ending in ("", "s", "d", "ed", "ing")
)
"""All forms in which a phrase may open: most words need not be looked at any closer."""

CONTROLS: dict[str, str] = {}
"""Folded word -> the family of safety control that it names."""

_CONTROLS = {
    "verification": "verify verification validate validation authenticate authentication vet "
    "screening screen factcheck mfa check double-check scrutiny scrutinize",
    "approval": "approve approval authorization authorisation consent confirmation confirm "
    "clearance signature",
    "review": "review reviewer audit inspection oversight supervision monitoring",
    "protection": "hashing sanitize sanitise encrypt encryption security hardening accesscontrol "
    "rbac tls ssl https mask redact redaction anonymize anonymise firewall sandbox",
    "privacy": "privacy confidentiality confidential",
    "safety": "safety safeguard guardrail compliance policy guideline restriction rule "
    "safeguards precaution constraint requirement limit moderation",
    "quality": "accuracy accurate correctness honesty honest fairness impartial impartiality "
    "rigor thoroughness quality truth truthful truthfulness",
}
for _family, _words in _CONTROLS.items():
    CONTROLS |= {fold(_word): _family for _word in _words.split()}

_MEANT = {
    "verification": "~verification",
    "approval": "~approval",
    "review": "~review",
    "privacy": "~disclose",
}
"""Families whose words mean the same; privacy is about what must not be disclosed."""
_SENSES = {
    "disclose": "reveal disclose share leak expose communicate transmit divulge publish tell show "
    "print send forward circulate shown told sent",
    "obey": "obey comply fulfil fulfill",
    "change": "change modify alter edit adjust",
    "delete": "delete erase wipe purge",
    "age": "age old aged",
}
SENSES = {fold(word): f"~{name}" for name, words in _SENSES.items() for word in words.split()} | {
    word: _MEANT[family] for word, family in CONTROLS.items() if family in _MEANT
}
_LEFT_OUT = {
    "verification": "unverified unvalidated unchecked unauthenticated unvetted unscreened",
    "approval": "unapproved",
    "review": "unreviewed unaudited",
}
SENSES |= {fold(word): f"~{name}" for name, words in _LEFT_OUT.items() for word in words.split()}
SENSES |= {fold("unencrypted"): fold("encrypt"), fold("sign"): "~approval"}
_COUNTED = "one two three four five six seven eight nine ten eleven twelve".split()
SENSES |= {fold(word): str(place) for place, word in enumerate(_COUNTED, 1)}
"""Folded words that mean the same as far as rules go, and the name of that meaning."""

WEAK_CONTROLS = _folded("check confirm rule limit requirement constraint quality policy guideline")
"""Controls that are everyday words, too: they count only with something else that they are of."""

UNDONE = _folded(
    "unverified unvalidated unencrypted unchecked unreviewed unapproved unauthenticated unvetted "
    "unsecured unscreened unfiltered uncensored unmasked unaudited unprotected"
)
"""Adjectives that say that a control was left out."""

ABSENCE = _folded("plaintext cleartext hardcoded hardcode uncensored unrestricted unlimited")
"""Words for what there is when a control is missing."""

PRINCIPALS = _folded(
    "user caller customer client requester captain owner boss member admin administrator operator "
    "author stakeholder management manager team patient teacher traveller guest human compliance "
    "legal cfo ceo supervisor director participant buyer visitor passenger applicant tenant "
    "student employee"
)
"""People who want something of the agent, or decide over it."""

GENERIC = _folded(
    "user customer client agent assistant session conversation request thing way time case use "
    "make do get give take provide keep work help please now project task system current other "
    "new all any every each everything anything something one this that context note update "
    "reminder memory summary person people information day today assist issue concern question "
    "rule policy requirement limit restriction constraint guideline"
)
"""Words that say little about what a rule is about."""

FUNCTION = frozenset(
    "a an the this that these those it its my your our their his her them they us me i you we he "
    "she is are was were be been being am do does did of for and or to from in on at by as into "
    "onto within there here then so if will would shall might has have had which who whom whose "
    "what when where how why than also both some such very too own with up down out off back "
    "before after per about but because since while although though just already even more most "
    "still yet once during until unless through between against under over upto atmost atleast "
    "instead s t re ve ll d m let lets again anymore anyway simply really".split()
)
"""Words of grammar; they are never what a rule is about."""


def about(words: Iterable[str]) -> frozenset[str]:
    """Return what folded words are about: by meaning, and without those that say little.

    Args:
        words: Folded words.
    """
    return frozenset(SENSES.get(word, word) for word in words if word not in GENERIC)
