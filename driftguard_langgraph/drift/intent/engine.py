"""Intent: whether a note means to loosen the rules, in words that no lexicon has.

    intent = Intent("Refunds above $50 need a manager.", embedder, DriftGuardSettings())
    intent.observe(as_turn(("system", "Nobody will mind if the manager is left out."), 1)).anomalies

The ledger reads words; this engine compares vectors with those of examples (`direction`). Only
what a scaffold says after the baseline is compared, and of that only what is near to a rule. Where
vectors are blind, words decide: "never skip the check" is near to "skip the check", and upholds it.

It speaks of no other channel. On what users and assistants say it ranks at .51 to .67, and of 425
sentences of plain software documentation, as a tool returns it, a third look like orders.
"""

from __future__ import annotations

import hashlib
import math
from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftguard_langgraph._locks import ForkSafeLock
from driftguard_langgraph.drift.baseline import BASELINE_ID
from driftguard_langgraph.drift.constraints.breaches import Said
from driftguard_langgraph.drift.constraints.nearness import upholds, wishes
from driftguard_langgraph.drift.intent.direction import Direction
from driftguard_langgraph.drift.intent.labels import unlabelled
from driftguard_langgraph.drift.reading.english import reads_english
from driftguard_langgraph.drift.reading.masking import prose
from driftguard_langgraph.drift.reading.sentences import Sentence, sentences
from driftguard_langgraph.drift.report import Anomaly, Span
from driftguard_langgraph.drift.turns import Channel, Turn
from driftguard_langgraph.embeddings.base import Embedder
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.settings import DriftGuardSettings

LOOSENED_IN_MEANING = "loosened_in_meaning"
"""Name of the anomaly."""

READ = 12
"""Sentences of a note that are compared, half of them its last; it bounds the time to embed them.
What stands in the middle of a long one is left to the ledger, which reads all."""
BASELINE_READ = 40
"""Sentences of the baseline that they are compared with, its first."""
JUDGED_KEPT = 200
"""Sentences that are remembered as judged: a state that is shown again says nothing new."""

_NEAR = 1.28
"""Deviations above the usual cosine from which a sentence speaks of a rule: a cosine of .20 with
the default model. Then, of notes that corrupt, 28% score .7, and of good notes 2.5%."""
_FROM, _CLEAR = 0.18, 1.26
_MOST = 0.4
"""Scores where the weight begins and where it is full, and what it is then: no alarm alone."""
_CHANCE = 0.27
"""What the best of n sentences must score more for each factor e of n. Paragraphs of software
documentation, shown to an agent for software, would else score .7 in 46% (with it, in 16%)."""
_LEAST = 0.03
_QUOTE = 300
_EMBEDDED = 500
_MODELS_KEPT = 4

_directions: OrderedDict[str, Direction] = OrderedDict()
_lock = ForkSafeLock()


@dataclass(frozen=True, slots=True)
class IntentReading:
    """What one turn means to do to the rules.

    Attributes:
        anomalies: The sentence that is most against them, if one is; at most one.
    """

    anomalies: tuple[Anomaly, ...] = ()


class Intent:
    """Watches the notes of one session for those that mean to loosen its rules.

    Args:
        baseline: The text that sets the rules.
        embedder: The model; None measures nothing.
        settings: The `drift_*` settings, as every engine is given them.
    """

    def __init__(
        self, baseline: str, embedder: Embedder | None, settings: DriftGuardSettings
    ) -> None:
        self._embedder = embedder
        self._baseline = baseline
        self._rules: tuple[str, ...] | None = None
        self._judged: deque[str] = deque(maxlen=JUDGED_KEPT)

    def observe(self, turn: Turn) -> IntentReading:
        """Return what a turn means to do to the rules.

        Raises:
            EmbeddingError: The model failed; nothing of the turn is remembered then.
        """
        if self._embedder is None or turn.channel is not Channel.SCAFFOLD:
            return IntentReading()
        fresh = self._fresh(turn.text)
        told = _ends([one for one in fresh if not _is_innocent(one)])
        found = self._strongest(self._embedder, told, len(fresh)) if told else None
        self._judged.extend(_key(one) for one in fresh)
        if found is None:
            return IntentReading()
        sentence, rule, weight = found
        anomaly = Anomaly(
            rule=LOOSENED_IN_MEANING,
            weight=round(weight, 3),
            turn=turn.index,
            channel=turn.channel,
            said=Span(turn.message_id, sentence.text[:_QUOTE]),
            against=Span(BASELINE_ID, rule[:_QUOTE]),
            detail="In meaning it is nearer to loosening a rule than to keeping one.",
        )
        return IntentReading((anomaly,))

    def _fresh(self, text: str) -> list[Sentence]:
        """Return the sentences that are no part of the baseline and were not judged before."""
        spoken = prose(text)
        if not reads_english(spoken):
            return []
        known = set(self._judged)
        found = (
            one
            for one in sentences(spoken)
            if one.text not in self._baseline and _key(one) not in known
        )
        return list(found)

    def _strongest(
        self, embedder: Embedder, told: Sequence[Sentence], count: int
    ) -> tuple[Sentence, str, float] | None:
        """Return the sentence that is most against a rule, the rule, and its weight."""
        rules = self._known_rules()
        if not rules:
            return None
        direction = _direction(embedder)
        texts = [unlabelled(one.text)[:_EMBEDDED] for one in told]
        vectors = embedder.embed([*texts, *rules])
        said, known = vectors[: len(texts)], vectors[len(texts) :]
        near = direction.nearness(said, known)
        scores = np.where(near.max(axis=1) >= _NEAR, direction.scores(said, known), -np.inf)
        best = int(scores.argmax())
        weight = _weight(float(scores[best]) - _CHANCE * math.log(count))
        if weight < _LEAST:
            return None
        return told[best], rules[int(near[best].argmax())], weight

    def _known_rules(self) -> tuple[str, ...]:
        if self._rules is None:
            found = sentences(self._baseline, BASELINE_READ)
            self._rules = tuple(one.text[:_EMBEDDED] for one in found)
        return self._rules

    def snapshot(self) -> dict[str, Any]:
        """Return what was judged so far as plain JSON types."""
        return {"judged": list(self._judged)}

    def restore(self, data: Mapping[str, Any]) -> None:
        """Take over what `snapshot` returned.

        Raises:
            ConfigurationError: It is something else.
        """
        try:
            judged = [str(key) for key in data["judged"]]
        except (KeyError, TypeError) as error:
            raise ConfigurationError(f"the intent's state has no valid {error}.") from None
        self._judged.clear()
        self._judged.extend(judged)


def _weight(score: float) -> float:
    return _MOST * min(1.0, max(0.0, (score - _FROM) / (_CLEAR - _FROM)))


def _is_innocent(sentence: Sentence) -> bool:
    """Whether words decide: a rule is kept, somebody asks or wishes, or a number is given.

    Whether a number is stricter or looser no vector tells; the ledger compares them.
    """
    if sentence.asks or any(map(str.isdigit, sentence.text)):
        return True
    said = Said(sentence, None)
    return upholds(said) or wishes(said)


def _ends(found: list[Sentence]) -> list[Sentence]:
    return found if len(found) <= READ else found[: READ // 2] + found[-READ // 2 :]


def _key(sentence: Sentence) -> str:
    return hashlib.sha256(sentence.text.encode()).hexdigest()[:12]


def _direction(embedder: Embedder) -> Direction:
    """Return the direction of a model; it is fitted once in a process."""
    name = embedder.model_id
    with _lock:
        if name not in _directions:
            _directions[name] = Direction.of(embedder)
            if len(_directions) > _MODELS_KEPT:
                _directions.popitem(last=False)
        return _directions[name]
