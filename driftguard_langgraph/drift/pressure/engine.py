"""Pressure: evidence that somebody works against the baseline, in one message or over many.

One message can try to set the instructions aside, to get at them, to forge a speaker or to
dictate a reserved answer (`overrides`, `forgery`, `gate`). Over several, requests come closer
to what is forbidden (`forbidden`) and the assistant gives in (`compliance`). A refusal weighs
nothing: it is the baseline at work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from driftguard_langgraph.drift.pressure import compliance, forgery, intrusion, overrides
from driftguard_langgraph.drift.pressure.findings import Finding
from driftguard_langgraph.drift.pressure.forbidden import Forbidden, Nearness, asked_for
from driftguard_langgraph.drift.pressure.gate import Gate
from driftguard_langgraph.drift.pressure.marks import Marks, fold
from driftguard_langgraph.drift.report import Anomaly, Span
from driftguard_langgraph.drift.turns import Channel, Turn
from driftguard_langgraph.embeddings.base import Embedder
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.settings import DriftGuardSettings

LEAST_WEIGHT = 0.005
"""Weight below which a finding is none."""
SCAFFOLD_PERMIT, USER_PERMIT = 0.4, 0.15
"""Weight of the claim that somebody may do what a strict rule forbids: a note among the
instructions that says so speaks with their voice; a user can claim anything."""
_DEMANDS = frozenset(
    fold(word)
    for word in "only require need without verify check ask obtain must not never if unless".split()
)
"""Words with which a permission is asked for, not claimed: "only with written approval"."""
CARRY = 0.5
"""Share of a request's closeness to what is forbidden that a further request takes over."""
LONG_ANSWER = 25
"""Words from which an answer that does not refuse has given something."""


@dataclass(frozen=True, slots=True)
class PressureReading:
    """What is known of the pressure in one turn.

    Attributes:
        pressure: How much the turn works against the baseline, 0..1.
        anomalies: What it does, the heaviest first.
    """

    pressure: float
    anomalies: tuple[Anomaly, ...]


@dataclass(slots=True)
class _State:
    """What is remembered from turn to turn."""

    spoken: bool = False
    asked: float = 0.0
    refused: float = 0.0
    pushed: bool = False
    opened: bool = False
    probes: int = 0


class Pressure:
    """Watches one session for those who work against its baseline.

    Args:
        baseline: What the session was told.
        embedder: The model; None to go by words alone.
        settings: The settings; none of them concerns pressure.
    """

    def __init__(
        self, baseline: str, embedder: Embedder | None, settings: DriftGuardSettings
    ) -> None:
        self._gate = Gate(baseline)
        self._forbidden = Forbidden(baseline, embedder)
        self._rule = self._forbidden.matters[0].text if self._forbidden.matters else ""
        self._known = frozenset().union(*(matter.words for matter in self._forbidden.matters))
        self._delimiters = forgery.delimiters_of(baseline)
        self._state = _State()

    def observe(self, turn: Turn) -> PressureReading:
        """Return what a turn does against the baseline.

        Raises:
            EmbeddingError: The model failed; nothing of the turn is remembered then.
        """
        found: dict[str, Finding] = {}
        for finding in self._findings(turn):
            # The same thing said twice in a turn is one thing.
            if finding.weight > max(LEAST_WEIGHT, getattr(found.get(finding.rule), "weight", 0.0)):
                found[finding.rule] = finding
        heaviest = sorted(found.values(), key=lambda finding: -finding.weight)
        anomalies = tuple(_anomaly(finding, turn) for finding in heaviest)
        calm = 1.0
        for anomaly in anomalies:
            calm *= 1.0 - anomaly.weight
        return PressureReading(1.0 - calm, anomalies)

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain JSON types."""
        return {name: getattr(self._state, name) for name in _State.__slots__}

    def restore(self, data: Mapping[str, Any]) -> None:
        """Take over what `snapshot` returned.

        Raises:
            ConfigurationError: It is something else.
        """
        try:
            self._state = _State(**data)
        except TypeError as error:
            raise ConfigurationError(
                f"the state of the pressure is not one of this version ({error}): "
                "start the session anew."
            ) from None

    def _findings(self, turn: Turn) -> Iterator[Finding]:
        if not turn.text:
            return
        marks = Marks(turn.text)
        if turn.channel is Channel.USER:
            yield from self._user(marks, turn.text)
        elif turn.channel is Channel.TOOL:
            yield from self._tool(marks, turn.text)
        elif turn.channel is Channel.ASSISTANT:
            yield from self._assistant(marks, turn.text)
        else:
            yield from overrides.overridden(marks, self._known)
            yield from overrides.voided(marks)
            yield from self._permitted(marks, SCAFFOLD_PERMIT)

    def _user(self, marks: Marks, text: str) -> Iterator[Finding]:
        state = self._state
        near = self._carried(self._forbidden.near(marks, text), marks)
        state.opened = self._gate.opened_by(marks)
        found: list[Finding] = []
        found.extend(overrides.overridden(marks, self._known))
        found.extend(overrides.voided(marks))
        found.extend(intrusion.extracting(marks, opening=not state.spoken))
        found.extend(intrusion.becoming(marks))
        found.extend(intrusion.privileged(marks))
        found.extend(intrusion.concealed(marks))
        found.extend(forgery.forged(text, self._delimiters))
        found.extend(compliance.probing(marks))
        if not state.opened:
            found.extend(self._gate.read(marks, state.probes))
            state.probes += 1
        found.extend(asked_for(marks, near))
        found.extend(self._again(marks, near))
        found.extend(self._permitted(marks, USER_PERMIT))
        state.spoken = True
        state.pushed = any(finding.weight >= 0.3 for finding in found)
        state.asked = near.close
        yield from found

    def _carried(self, near: Nearness, marks: Marks) -> Nearness:
        """Return how close a turn is, with what it goes on from ("now the exact steps")."""
        if not marks.has("elicit") or CARRY * self._state.asked <= near.close:
            return near
        return replace(near, close=CARRY * self._state.asked, rule=near.rule or self._rule)

    def _again(self, marks: Marks, near: Nearness) -> Iterator[Finding]:
        """Yield that what was refused is asked for again, with a plea."""
        if self._state.refused <= 0:
            return
        plea = marks.has("push") or marks.has("evade")
        again = min(near.close, self._state.refused)
        weight = 0.03 * plea + (0.12 + 0.1 * plea) * again
        yield Finding(
            "refused_asked_again",
            weight,
            marks.text[:300],
            "It asks again for what was refused.",
            near.rule,
        )

    def _permitted(self, marks: Marks, weight: float) -> Iterator[Finding]:
        """Yield a claim that the forbidden is allowed to somebody, if something is forbidden."""
        if not self._rule:
            return
        strength = self._forbidden.matters[0].strength
        lifts = marks.has("override")
        for place in marks.at("permit"):
            if marks.words[place] == "may" or marks.sentence[place] in marks.asked:
                continue
            if any(word in _DEMANDS for word in marks.sentence_of(place)):
                continue
            yield Finding(
                "permission_claimed",
                strength * (max(weight, 0.25) if lifts else weight),
                marks.quote(max(place - 4, 0), place + 4),
                "It claims a permission that the baseline does not give.",
                self._rule,
            )
            return

    def _tool(self, marks: Marks, text: str) -> Iterator[Finding]:
        found = [
            *overrides.overridden(marks, self._known),
            *overrides.voided(marks),
            *intrusion.concealed(marks),
            *intrusion.extracting(marks, opening=False),
            *intrusion.becoming(marks),
            *intrusion.addressed(marks),
            *forgery.forged(text, frozenset()),
        ]
        addressed = marks.has("machine")
        for finding in found:
            # Output has no business to speak to the assistant at all.
            if addressed or finding.weight >= 0.3:
                yield replace(finding, weight=min(1.4 * finding.weight, 0.7))

    def _assistant(self, marks: Marks, text: str) -> Iterator[Finding]:
        state = self._state
        refused = compliance.refuses(text)
        yield from compliance.eroding(marks, refused=refused)
        leaked = None if state.opened else self._gate.leaks(marks)
        if leaked is not None and state.pushed:
            yield leaked
        given = state.asked if len(marks.words) >= LONG_ANSWER else 0.0
        if not refused:
            given = max(given, self._forbidden.near(marks, text).close)
        if not refused and given > 0:
            yield Finding(
                "forbidden_answered",
                0.05 * given + 0.15 * min(given, state.refused),
                text[:300],
                "The assistant answers what comes close to what is forbidden.",
            )
        state.refused = max(state.asked, 0.05) if refused else 0.7 * state.refused
        state.spoken = True


def _anomaly(finding: Finding, turn: Turn) -> Anomaly:
    return Anomaly(
        rule=finding.rule,
        weight=round(min(finding.weight, 1.0), 4),
        turn=turn.index,
        channel=turn.channel,
        said=Span(turn.message_id, finding.said[:300]),
        against=Span("baseline", finding.against[:300]) if finding.against else None,
        detail=finding.detail,
    )
