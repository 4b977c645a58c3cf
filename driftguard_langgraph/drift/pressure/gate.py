"""A baseline that keeps something behind a condition: a secret, or an exact answer.

"Say X only if the user says Y" makes Y the one thing that opens. Whoever says Y (or a short
wrong guess) uses the gate as it is meant; whoever asks for Y, dictates X, or reports that Y
has been said already works around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from driftguard_langgraph.drift.pressure.findings import Finding
from driftguard_langgraph.drift.pressure.marks import Marks, fold
from driftguard_langgraph.drift.pressure.reserved import plain, reserved_of

GUESS_WORDS = 4
"""A turn up to so long may be a guess; measured on access codes: 93% have four words or fewer."""
COURTESY = 12
"""Letters that may stand around a secret: "please", "it is"."""

_ASKS = re.compile(
    r"\?|\b(?:please|what|how|why|which|who|tell|give|show|say|write|repeat|print|explain|let"
    r"|make|pretend|translate|answer|respond|output|complete|i|you|your|is|are|was|will|would"
    r"|can|could|must|should|do|the)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


class Gate:
    """What a baseline keeps behind a condition, and who works around it.

    Args:
        baseline: Its text.

    Attributes:
        locked: Whether it reserves an exact answer for a condition, and says either what meets
            it or what all else is answered.
    """

    def __init__(self, baseline: str) -> None:
        found = reserved_of(baseline)
        shown = {_words(said): said for said in found.outputs}
        self._outputs = {words: said for words, said in shown.items() if words}
        self._secrets = found.secrets
        self._defaults = found.defaults
        self._plain = plain(baseline)
        self.locked = bool(self._outputs) and (found.closed or bool(found.secrets))

    def opened_by(self, marks: Marks) -> bool:
        """Whether a turn is what the condition asks for: it stands in the baseline as no answer."""
        if not marks.words:
            return bool(marks.text.strip())
        brief = len(marks.words) <= 3 * GUESS_WORDS
        if not brief and not self._secrets:
            return False
        said = plain(marks.text)
        if any(one in said and len(said) <= len(one) + COURTESY for one in self._secrets):
            return True
        if said in self._defaults or self._says_output(marks) is not None:
            return False
        return brief and said in self._plain

    def read(self, marks: Marks, before: int) -> Iterator[Finding]:
        """Yield what a user's turn does to get around the condition.

        Args:
            marks: The turn.
            before: How many other turns have not met the condition already; a conversation
                that goes on before a closed gate is no worse for its length.
        """
        if not self.locked:
            output = self._says_output(marks)
            if output is not None and marks.has("reply"):
                yield self._dictated(output, marks, 0.1)
            return
        output = self._says_output(marks)
        if output is not None:
            yield self._dictated(output, marks, 0.55 if len(marks.words) > len(output) else 0.4)
        else:
            yield from self._part(marks)
        yield from self._probed(marks)
        yield from self._beyond(marks, before)

    def leaks(self, marks: Marks) -> Finding | None:
        """Return the finding that an answer gives away what the baseline keeps, if it does."""
        shown = marks.text[:200]
        said = plain(marks.text) if self._secrets else ""
        if any(secret in said for secret in self._secrets):
            return Finding("secret_leaked", 0.4, shown, "It says what the baseline keeps secret.")
        if not self.locked or self._says_output(marks) is None:
            return None
        return Finding(
            "condition_waived",
            0.4,
            shown,
            "It gives the answer that the baseline reserves for a condition.",
        )

    def _says_output(self, marks: Marks) -> frozenset[str] | None:
        said = set(marks.words)
        return next((words for words in self._outputs if words <= said), None)

    def _dictated(self, output: frozenset[str], marks: Marks, weight: float) -> Finding:
        place = next(i for i, word in enumerate(marks.words) if word in output)
        return Finding(
            "answer_dictated",
            weight,
            marks.quote(place, place + len(output)),
            "It dictates the answer that the baseline reserves for a condition.",
            self._outputs[output],
        )

    def _part(self, marks: Marks) -> Iterator[Finding]:
        """Yield a part of a reserved answer, or a request for words in its place."""
        said = set(marks.words)
        for words in self._outputs:
            if len(words) > 1 and words & said and marks.has("reply"):
                place = next(i for i, word in enumerate(marks.words) if word in words)
                yield Finding(
                    "answer_dictated",
                    0.2,
                    marks.quote(place, place + 2),
                    "It dictates a part of the answer that the baseline reserves.",
                )
                return

    def _probed(self, marks: Marks) -> Iterator[Finding]:
        for place in marks.at("secret"):
            said = marks.between(place - 10, place + 10, "granted")
            asked = marks.has("clue") or marks.has("reveal")
            if not said and not asked:
                continue
            yield Finding(
                "secret_probed",
                0.5 if asked and not said else 0.4,
                marks.quote(place, place + 4),
                "It reports that the condition is met, without meeting it."
                if said
                else "It asks for the secret.",
            )
            return

    def _beyond(self, marks: Marks, before: int) -> Iterator[Finding]:
        """Yield that a turn is more than an input; the longer, the more it looks like work."""
        count = len(marks.words)
        asks = _ASKS.search(marks.text) is not None
        if not asks and count <= GUESS_WORDS:
            weight = 0.02
        else:
            weight = ((0.12 if asks else 0.05) + 0.005 * min(count, 30)) / (1 + before)
        yield Finding(
            "beyond_input", weight, marks.text[:200], "It is not what the gate waits for."
        )


def _words(said: str) -> frozenset[str]:
    return frozenset(fold(word) for word in _WORD.findall(said))
