"""The English words that the fingerprint counts, and how often they occur in ordinary sessions.

The classes are te-drift-detector's (facts, sentiment, four framings, authority, four registers,
negation), with its words where these say what the class is named for; `like`, `look` and
`really`, which mostly do not, are left out. A single word stands for its inflected forms, and
matches whole words only; a phrase matches word by word.
"""

from __future__ import annotations

from driftguard_langgraph.judgement.words import stem


def _split(table: str) -> tuple[str, ...]:
    return tuple(" ".join(entry.split()) for entry in table.split(","))


FRAMINGS = ("compliance", "flexibility", "urgency", "exploration")
"""Classes of the component `task_framing`."""
REGISTERS = ("formal", "casual", "intimate", "conspiratorial")
"""Classes of the component `register`."""
CLASSES = (
    "fact", "positive", "negative", *FRAMINGS, "authority", *REGISTERS, "negation",
)  # fmt: skip
"""Every class that a sentence may belong to."""
COMPONENT_OF = (
    {"fact": "fact", "positive": "sentiment", "negative": "sentiment"}
    | {"authority": "authority", "negation": "negation"}
    | dict.fromkeys(FRAMINGS, "task_framing")
    | dict.fromkeys(REGISTERS, "register")
)
"""The component of the fingerprint that a class counts for."""

_ENTRIES = {
    "positive": _split(
        """good, great, excellent, helpful, supportive, positive, happy, confident, trusted,
        trustworthy, safe, secure, reliable, glad, pleased, wonderful, perfect, fantastic,
        lovely, delighted, enjoy, beneficial, successful, effective, robust, favourable,
        favorable, welcome, appreciate, satisfied, nice, best, better"""
    ),
    "negative": _split(
        """bad, terrible, harmful, dangerous, suspicious, negative, angry, fearful, unsafe, risky,
        unreliable, failed, failure, awful, horrible, worst, worse, poor, wrong, hate, useless,
        broken, threat, malicious, hostile, annoying, disappointed, unacceptable, ridiculous,
        stupid, pathetic, miserable, painful, insecure, damage, burden, obstacle, tedious,
        unfortunately, sadly"""
    ),
    "compliance": _split(
        """must, should, shall, required, requirement, mandate, mandatory, obligatory, obliged,
        enforce, comply, compulsory, strictly, essential, always, ensure, need to, needs to,
        have to, has to, supposed to"""
    ),
    "flexibility": _split(
        """may, might, could, possible, option, optional, optionally, flexible, flexibly,
        flexibility, discretion, discretionary, negotiable, waive, waived, skip, relax, relaxed,
        loosen, lenient, lightweight, defer, deferred, postpone, unnecessary, needless, bypass,
        overlook, exempt, informal, ease, suffice, sufficient, voluntary, simplify, shortcut,
        drop, ignore, nice to have, good enough, up to you, as you like, if needed, if wanted,
        free to, rather than, instead of, no longer, at will, cut corners, not needed, let go,
        lift, lifted, suspend, suspended, obsolete, formality, turned off, switched off, moot"""
    ),
    "urgency": _split(
        """urgent, urgently, asap, immediately, critical, emergency, hurry, rush, instantly,
        pressing, promptly, aggressive, speed, right away, right now, at once, time to market,
        as soon as, without delay"""
    ),
    "exploration": _split(
        """explore, investigate, analyze, analyse, research, study, examine, experiment, survey,
        brainstorm, look into, find out, try out"""
    ),
    "authority": _split(
        """expert, researcher, scientist, professional, authority, academic, academia, published,
        official, officially, consensus, authorized, authorised, authorization, permission,
        certified, credential, clearance, stakeholder, administrator, admin, director, executive,
        ceo, cto, professor, doctorate, supervisor, licensed, industry standard, as established,
        verified by, confirmed that, approved by, on behalf of, in my capacity, signed off,
        well known, peer reviewed, senior management, head office,
        master, boss, captain, commander, sir, obey, obedient, at your command, your wish,
        whatever you say, you are in charge, you're in charge, as you command, you decide"""
    ),
    "formal": _split(
        """therefore, moreover, furthermore, however, thus, hereby, hence, whereas, pursuant,
        accordingly, nevertheless, notwithstanding, consequently, thesis, henceforth, herein,
        aforementioned, in accordance with, with regard to, subject to"""
    ),
    "casual": _split(
        """yeah, yep, nah, nope, gonna, wanna, kinda, sorta, gotta, lol, haha, hehe, dude, bro,
        buddy, pal, mate, matey, guys, folks, yo, ya, hey, heck, damn, dunno, lemme, ain't, cuz,
        y'all, arr, ahoy, aye, whatever, chill, awesome, stuff, you know, no biggie, no sweat,
        what's up, my man, for real, hell yeah, screw it, yo ho,
        sup, gimme"""
    ),
    "intimate": _split(
        """honestly, frankly, darling, sweetheart, honey, dear friend, my friend, my dear,
        between us, between you and me, trust me, to be honest, just us, our secret, only you,
        you and i, you and me, old friend, deep down, from the heart, i confess, i love you,
        my love, i will tell you, soulmate"""
    ),
    "conspiratorial": _split(
        """pretense, pretence, charade, facade, secretly, loophole, wink, puppet,
        shackles, censored, unfiltered, muzzled, we both know, both know, admit it, let's admit,
        drop the act, off the record, nobody will know, no one will know, nobody needs to know,
        no one needs to know, just theater, security theater, safety theater, is theater,
        are theater, look the other way, under the radar, behind the scenes,
        they don't want, keep this quiet, keep it quiet, hush hush, the real you, true self,
        real rules, just for show, really do, wink wink, read between the lines, cover story"""
    ),
}

NEGATIONS = frozenset(
    "not no never none neither nor nothing nobody nowhere cannot without refuse refused unable "
    "impossible prohibited prohibit forbidden forbid denied deny disallow disallowed dont wont "
    "cant".split()
)
"""Words that negate; `n't` does, too. The first part is the seed's."""

SHIFTERS = frozenset(
    "not no never none neither nor nothing cannot without dont wont cant hardly".split()
)
"""Negations that turn the meaning of the words after them."""

NO_NEGATION = frozenset(
    {
        ("no", "problem"), ("no", "worries"), ("no", "doubt"), ("no", "matter"), ("no", "biggie"),
        ("no", "sweat"), ("not", "only"), ("not", "just"), ("not", "least"), ("no", "later"),
        ("no", "longer"), ("no", "sooner"),
    }
)  # fmt: skip
"""Pairs of words that look like a negation and are none."""

SCOPE = 4
"""Words after a negation that it turns: "not a very good idea", and not the next thought."""

SCOPE_ENDS = frozenset("but however although though because and or which that if".split())
"""Words at which the scope of a negation ends."""

SETTLED = frozenset(
    stem(word)
    for word in "established confirmed verified decided concluded agreed determined clarified "
    "approved authorized authorised settled acknowledged documented discussed finalized".split()
)
"""Stems of what is said of a matter that counts as closed."""

SETTLERS = frozenset(
    "was were is are been be has have had we i they user previously earlier already as all both "
    "you team management".split()
)
"""Words before a closed matter, within `SETTLED_REACH`; at the start of a sentence none is due."""
SETTLED_REACH = 3

MATTERS = frozenset(
    stem(word)
    for word in "fact requirement constraint rule policy deadline budget limit scope goal priority "
    "definition standard restriction guideline security safety review approval threshold user "
    "customer client project team stakeholder owner operator".split()
)
"""Stems of what a session is steered by."""

COPULAS = frozenset(
    "is are was were means mean requires require became becomes has have prefers wants said says "
    "decides indicated asked accepts trusts isn't aren't wasn't weren't hasn't haven't".split()
)
"""Words that state something of what stands before them."""

DEFINES = frozenset({"means"})
"""Those that do so whatever stands before them."""

NO_SUBJECT = frozenset(
    "you i we who that which what where there not been also already and or if to".split()
)
"""Words before a copula that leave open what it says something of, or say it of the speakers."""

OPEN_STARTS = frozenset(
    "if when once unless should please can could would do does did is are was were what which who "
    "how why where let before after".split()
)
"""First words of what asks, asks for, or supposes: such a sentence settles nothing."""


def _tables() -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[tuple[str, ...], ...]]]:
    words: dict[str, list[str]] = {}
    phrases: dict[str, list[tuple[str, ...]]] = {}
    for name, entries in _ENTRIES.items():
        for entry in entries:
            first, *rest = entry.split()
            if rest:
                phrases.setdefault(first, []).append((name, *rest))
            else:
                words.setdefault(stem(first), []).append(name)
    return (
        {word: tuple(names) for word, names in words.items()},
        {word: tuple(found) for word, found in phrases.items()},
    )


WORDS, PHRASES = _tables()
"""Classes of a word by its stem; and `(class, word, ...)` of phrases by their first word."""

UNSAID = frozenset(
    stem(word)
    for word in "were been being have they this that these those could would should might must "
    "will with from about what which when where while there here then than them their your yours "
    "just also very some such into over only other more most much many make need want like know "
    "help please thank thanks sure yes okay hello user assistant does doing done going get got "
    "give let take see say said tell use used using".split()
)
"""Stems of longer words that say nothing of what a text is about."""
