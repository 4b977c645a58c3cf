"""The fingerprint of a session: eight features, and how far each is from where it began.

Each channel is compared with itself: later scaffolds with the baseline, users and assistants
with what they said in the baseline and in the opening turns. A sentence counts once, however
often it is repeated. Words and names of a scaffold are new if neither the baseline nor the
conversation so far holds them, so an honest summary is at no distance. Tools are not
fingerprinted; what they report counts as known.

The cost of a turn depends on its own length only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from driftguard_langgraph.drift.baseline import BASELINES_KEPT
from driftguard_langgraph.drift.fingerprint.contrast import contrast, hushed
from driftguard_langgraph.drift.fingerprint.features import Sentence, sentences
from driftguard_langgraph.drift.fingerprint.known import Known, Sources
from driftguard_langgraph.drift.fingerprint.limits import Limits, described
from driftguard_langgraph.drift.fingerprint.profile import Profile
from driftguard_langgraph.drift.fingerprint.signatures import Moved, matching
from driftguard_langgraph.drift.fingerprint.words import COMPONENT_OF
from driftguard_langgraph.drift.report import COMPONENTS, Anomaly, Span
from driftguard_langgraph.drift.turns import Channel, Turn
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.settings import DriftGuardSettings

SCAFFOLD_NEWS = 0.5
"""Greatest share of new words or names that is expected of a scaffold, however little was said
before: it is about the session, so half of it at least is known."""
ONSET_WEIGHT = 0.05
"""Weight of a statistical anomaly in the turn in which it begins: background, as distance alone
says nothing of intent. Later turns of it weigh nothing."""
SIGNATURE_WEIGHT = 0.25
"""Weight of a signature in the turn in which it begins: suspicious, not decisive."""

QUIET = 10
"""Turns without a rule being broken after which it begins anew; te-drift-detector's window."""

_MEASURED = (Channel.SCAFFOLD, Channel.USER, Channel.ASSISTANT)
_QUOTED = 300
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class FingerprintReading:
    """The fingerprint after a turn.

    Attributes:
        components: Distance from the reference by component, each 0..1: the greatest of the
            channels'.
        absolute: Their weighted mean, 0..1.
        velocity: The same mean of the distances of this turn from the fingerprint before it.
        anomalies: What is anomalous now; only what begins with this turn has a weight.
        signatures: Names of the signatures that match now.
        channels: Distances by channel and component.
        said: The sentences of this turn that the channel had not said before.
    """

    components: dict[str, float]
    absolute: float = 0.0
    velocity: float = 0.0
    anomalies: tuple[Anomaly, ...] = ()
    signatures: tuple[str, ...] = ()
    channels: dict[Channel, dict[str, float]] = field(default_factory=dict)
    said: tuple[Sentence, ...] = field(default=(), repr=False)

    @property
    def words(self) -> dict[str, tuple[str, ...]]:
        """Words of this turn by component that they belong to."""
        found: dict[str, dict[str, None]] = {}
        for sentence in self.said:
            for mark, words in sentence.marks.items():
                if mark in COMPONENT_OF:
                    found.setdefault(COMPONENT_OF[mark], {})[words] = None
            found.setdefault("entity", {}).update(dict.fromkeys(sentence.entities))
        return {name: tuple(words)[:_SHOWN] for name, words in found.items() if words}


class Fingerprint:
    """Takes the fingerprint of a session, turn by turn.

    Args:
        baseline: The turns that the session starts with.
        settings: The `drift_*` settings for mode, window, opening, thresholds and weights.

    Raises:
        ConfigurationError: A setting names an unknown component, or all weights are 0.
    """

    def __init__(self, baseline: Sequence[Turn], settings: DriftGuardSettings) -> None:
        self._settings = settings
        self._limits = Limits(settings)
        windowed = settings.drift_mode == "sliding-window"
        window = settings.drift_window_size if windowed else None
        self._profiles = {channel: Profile(window) for channel in _MEASURED}
        self._baseline = Known(bounded=False)
        self._opening, self._talk, self._told = Known(), Known(), Known()
        self._turns = 0
        self._ongoing: dict[str, int] = {}
        self._refer_to(baseline)
        self._held = {channel: self._distances(channel) for channel in _MEASURED}

    def _refer_to(self, baseline: Sequence[Turn]) -> None:
        said = [(turn.channel, _begun(turn.text)) for turn in baseline]
        steers = any(channel is Channel.SCAFFOLD for channel, _ in said)
        for channel, found in said:
            for measured, profile in self._profiles.items():
                # Without a system prompt, all of the baseline is what scaffolds must keep to.
                if measured is channel or (measured is Channel.SCAFFOLD and not steers):
                    profile.fresh(found, 0)
                    profile.refer(Sources().tally(found, steers=measured is Channel.SCAFFOLD))
            self._baseline.add(found)

    def observe(self, turn: Turn) -> FingerprintReading:
        """Take in a turn and return the fingerprint after it."""
        self._turns += 1
        said = sentences(turn.text)
        moved = {c for c, profile in self._profiles.items() if profile.leave(self._turns)}
        velocity = 0.0
        if turn.channel in self._profiles:
            said = self._profiles[turn.channel].fresh(said, self._turns)
            velocity = self._limits.mean(self._step(turn.channel, said))
        else:
            self._talk.add(said)
        # What a scaffold may know grows with the conversation; the others only with themselves.
        for channel in (moved | {turn.channel, Channel.SCAFFOLD}) & self._profiles.keys():
            self._held[channel] = self._distances(channel)
        channels = dict(self._held)
        components = _greatest(channels.values())
        absolute = self._limits.mean(components)
        assistant = self._profiles[Channel.ASSISTANT]
        silence = hushed(assistant.now, assistant.reference)
        signatures = matching(
            Moved(channels[Channel.SCAFFOLD], channels[Channel.ASSISTANT], silence)
        )
        found = self._limits.passed(components, absolute, velocity)
        anomalies = self._anomalies(turn, components, found, signatures)
        return FingerprintReading(
            components, absolute, velocity, anomalies, signatures, channels, tuple(said)
        )

    def _step(self, channel: Channel, said: Sequence[Sentence]) -> dict[str, float]:
        """Take in what a channel says and return its distance from what went before."""
        profile = self._profiles[channel]
        scaffold = channel is Channel.SCAFFOLD
        if not scaffold and self._turns <= self._settings.drift_opening_turns:
            profile.refer(Sources(self._baseline).tally(said, steers=scaffold))
            self._opening.add(said)
            return dict.fromkeys(COMPONENTS, 0.0)
        known = [self._baseline, self._opening, self._talk, *([self._told] if scaffold else [])]
        everything = Sources(*known)
        step = contrast(
            everything.tally(said, steers=scaffold), profile.before, *_expected(channel, everything)
        )
        profile.take(Sources(*self._reference(channel)).tally(said, steers=scaffold), self._turns)
        (self._told if scaffold else self._talk).add(said)
        return step

    def _reference(self, channel: Channel) -> list[Known]:
        """Return the sources of which words and names of a channel are no news."""
        begun = [self._baseline, self._opening]
        return [*begun, self._talk] if channel is Channel.SCAFFOLD else begun

    def _distances(self, channel: Channel) -> dict[str, float]:
        profile = self._profiles[channel]
        if not profile.now["sentences"]:
            return dict.fromkeys(COMPONENTS, 0.0)
        # What a policy leaves unsaid tells nothing of what a chat about it will bring up.
        scaffold = channel is Channel.SCAFFOLD
        chat = not scaffold and self._opening.words.total > 0
        sample = Sources(self._opening) if chat else Sources(*self._reference(channel))
        expected = _expected(channel, sample)
        return contrast(profile.now, profile.reference, *expected, notes=scaffold)

    def _anomalies(
        self,
        turn: Turn,
        components: Mapping[str, float],
        found: dict[str, str],
        signatures: Sequence[str],
    ) -> tuple[Anomaly, ...]:
        """Return all that is anomalous, each rule once; of a signature only its beginning."""
        for name in signatures:
            if self._begins(name):
                shown = described(components)
                found[name] = f"the pattern '{name.replace('_', ' ')}' appears: {shown}"
        weights = {rule: self._weight(rule, signatures) for rule in found}
        self._ongoing.update(dict.fromkeys([*found, *signatures], self._turns))
        said = Span(turn.message_id, turn.text[:_QUOTED])
        return tuple(
            Anomaly(rule, weights[rule], turn.index, turn.channel, said, None, why)
            for rule, why in found.items()
        )

    def _begins(self, rule: str) -> bool:
        last = self._ongoing.get(rule)
        return last is None or last < self._turns - QUIET

    def _weight(self, rule: str, signatures: Sequence[str]) -> float:
        if not self._begins(rule):
            return 0.0
        return SIGNATURE_WEIGHT if rule in signatures else ONSET_WEIGHT

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain JSON types; its size is bounded."""
        return {
            "turns": self._turns,
            "ongoing": dict(self._ongoing),
            "profiles": {c.value: profile.snapshot() for c, profile in self._profiles.items()},
            "opening": self._opening.snapshot(),
            "talk": self._talk.snapshot(),
            "told": self._told.snapshot(),
        }

    def restore(self, data: Mapping[str, Any]) -> None:
        """Take over what `snapshot` returned, of a fingerprint with the same baseline.

        Raises:
            ConfigurationError: It is something else.
        """
        try:
            for channel, profile in self._profiles.items():
                profile.restore(data["profiles"][channel.value])
            self._opening, self._talk, self._told = (
                Known(state=data[name]) for name in ("opening", "talk", "told")
            )
            self._ongoing = {str(rule): int(turn) for rule, turn in data["ongoing"].items()}
            self._turns = int(data["turns"])
            self._held = {channel: self._distances(channel) for channel in _MEASURED}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ConfigurationError(f"no state of the fingerprint: {error!r}.") from None


_begun = lru_cache(maxsize=BASELINES_KEPT)(sentences)


def _expected(channel: Channel, sample: Sources) -> tuple[float, float]:
    words, names = sample.unseen()
    if channel is not Channel.SCAFFOLD:
        return words, names
    return min(words, SCAFFOLD_NEWS), min(names, SCAFFOLD_NEWS)


def _greatest(channels: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the greatest distance of each component."""
    greatest = dict.fromkeys(COMPONENTS, 0.0)
    for distances in channels:
        for name, distance in distances.items():
            greatest[name] = max(greatest[name], distance)
    return greatest
