"""The anchor: what a session was told, in the pieces that must survive.

It is made of the baseline without a language model (or by a callable or Runnable of the
user's), pinned by a hash, and versioned: a revision that the user authorised makes the next
version and stands beside the rules, so that recovery does not undo it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from driftguard_langgraph.drift.baseline import Baseline
from driftguard_langgraph.drift.report import Anomaly
from driftguard_langgraph.drift.turns import Channel, Turn
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.recovery.extraction import PIECES, extracted
from driftguard_langgraph.recovery.quoting import one_line

MAX_GOAL = 500
"""Characters of a user's first message that are kept as the goal."""
MAX_REVISIONS = 50
"""Authorised revisions that are kept, the newest."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """What recovery restores.

    Attributes:
        source: The operator's part of the baseline, as it was written.
        persona: Who the assistant is.
        goals: What the session is for: of the system prompt, then of the user's first message.
        constraints: What is forbidden, demanded and permitted; every one, uncut.
        limits: Constraints that are numbers.
        glossary: What terms mean.
        revised: What the user has changed since with authority, oldest first.
        version: 1, and one more with each revision.
    """

    source: str
    persona: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    glossary: tuple[str, ...] = ()
    revised: tuple[str, ...] = ()
    version: int = 1

    @classmethod
    def of(cls, baseline: object, extractor: object | None = None) -> Anchor:
        """Return the anchor of a baseline.

        Args:
            baseline: The system prompt, or the messages that the session starts with. What
                users say in them is a goal, and a constraint where they set one.
            extractor: A callable, or anything with `invoke` (a Runnable), from the text of
                the baseline to its pieces; what it leaves out is extracted as without it.

        Raises:
            ConfigurationError: There is no baseline, or the extractor does not return pieces.
        """
        found = Baseline.of(baseline)
        if found is None:
            raise ConfigurationError(
                "an anchor needs a baseline: give the system prompt, or the first messages."
            )
        operator = [turn for turn in found.turns if turn.channel is Channel.SCAFFOLD]
        others = [turn for turn in found.turns if turn.channel is not Channel.SCAFFOLD]
        source = "\n\n".join(turn.text for turn in operator)
        pieces = extracted(source)
        if extractor is not None:
            pieces |= _custom(extractor, found.text)
        return _with_users(replace(cls(source), **_pieces(pieces)), others)

    @property
    def digest(self) -> str:
        """Hash of all it holds: two anchors with the same one restore the same."""
        content = json.dumps(asdict(self), ensure_ascii=True, sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:12]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Every sentence that must survive: persona, goals, constraints, limits, terms."""
        return (*self.persona, *self.goals, *self.constraints, *self.limits, *self.glossary)

    def with_revisions(self, revisions: Iterable[Anomaly]) -> Anchor:
        """Return the next version, with revisions that the user authorised.

        Args:
            revisions: `DriftReport.revisions`; those it has already change nothing.
        """
        anchor = self
        for revision in revisions:
            said = f"the user, turn {revision.turn}: {one_line(revision.said.text)}"
            if said not in anchor.revised:
                anchor = replace(
                    anchor,
                    revised=(*anchor.revised, said)[-MAX_REVISIONS:],
                    version=anchor.version + 1,
                )
        return anchor

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON types, with its digest."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
        } | {"digest": self.digest}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Anchor:
        """Return the anchor that `to_dict` described.

        Raises:
            ConfigurationError: It is no such description, or was changed since: its digest
                does not fit.
        """
        try:
            values: dict[str, Any] = {field.name: data[field.name] for field in fields(cls)}
            values |= {k: tuple(v) for k, v in values.items() if isinstance(v, list)}
            anchor = cls(**values)
        except (KeyError, TypeError) as error:
            raise ConfigurationError(f"no anchor: {error!r}.") from None
        if anchor.digest != data.get("digest"):
            raise ConfigurationError(
                "the anchor was changed after it was made (its digest does not fit): make it "
                "anew from the baseline."
            )
        return anchor


def _with_users(anchor: Anchor, turns: Sequence[Turn]) -> Anchor:
    """Add what users said at the start: the first message is the goal, their rules are rules."""
    users = [turn for turn in turns if turn.channel is Channel.USER]
    if not users:
        return anchor
    goals = (*anchor.goals, f"the user asked: {one_line(users[0].text, MAX_GOAL)}")
    merged: dict[str, tuple[str, ...]] = {"goals": goals}
    for turn in users:
        for name, sentences in extracted(turn.text).items():
            if name in {"constraints", "limits", "glossary"}:
                held = merged.get(name, getattr(anchor, name))
                # A rule of the user's is recorded text: one line each, and never cut.
                merged[name] = (*held, *(one_line(each, len(each) + 1) for each in sentences))
    return replace(anchor, **_pieces(merged))


def _pieces(found: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """Return pieces as fields of an anchor."""
    return {name: found[name] for name in PIECES if name in found}


def _custom(extractor: object, text: str) -> dict[str, tuple[str, ...]]:
    call = getattr(extractor, "invoke", extractor)
    if not callable(call):
        raise ConfigurationError(
            f"extractor must be callable or have `invoke`, not {type(extractor).__name__}."
        )
    given = call(text)
    known = isinstance(given, Mapping) and given.keys() <= set(PIECES)
    if not known or not all(_is_list(value) for value in given.values()):
        raise ConfigurationError(
            f"the extractor must return a mapping with lists of sentences under any of "
            f"{', '.join(PIECES)}, not {given!r}."
        )
    return {name: tuple(value) for name, value in given.items()}


def _is_list(value: object) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and all(isinstance(each, str) for each in value)
    )
