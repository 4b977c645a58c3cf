"""The receipt of a compaction: which facts and rules survived it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from driftguard_langgraph.recovery.compaction.facts import Fact
from driftguard_langgraph.recovery.quoting import quoted

MAX_FACTS = 40
"""Facts of the conversation that are restored at most, about 1,000 tokens: more of them are a
table, which belongs in a store and not in a prompt. Rules have no limit."""
LISTED = 100
"""Dropped facts that a receipt lists; all of them count."""

_LINE = 200
"""Characters of a line of bare facts, below the limit of a quotation."""


@dataclass(frozen=True, slots=True)
class Alteration:
    """A rule that a summary turned round or changed.

    Attributes:
        rule: The rule.
        said: The sentence of the summary.
    """

    rule: str
    said: str


@dataclass(frozen=True, slots=True)
class SurvivalReceipt:
    """What became of rules and facts in a summary.

    Attributes:
        total: Facts of the conversation and of the anchor.
        survived: How many of them the summary, or what stays beside it, still has.
        dropped: The others, those of the anchor first, then in the order of the conversation.
        contexts: The words around each of the first dropped facts, or the fact alone where
            these would tell a reader what to do.
        rules: Rules of the anchor.
        dropped_constraints: Those that no longer stand.
        altered: Rules that the summary turned round, or whose numbers it changed.
        tokens_before: Tokens of what was summarised.
        tokens_after: Tokens of the summary; with what was restored, if it was.
        restored: How many of the dropped rules and facts were put back.
    """

    total: int
    survived: int
    dropped: tuple[Fact, ...]
    contexts: tuple[str, ...]
    rules: int
    dropped_constraints: tuple[str, ...]
    altered: tuple[Alteration, ...]
    tokens_before: int
    tokens_after: int
    restored: int = 0

    @property
    def survival_rate(self) -> float:
        """Share of the facts that survived, 0..1; 1 if there were none."""
        return self.survived / self.total if self.total else 1.0

    @property
    def token_reduction(self) -> float:
        """Share of the tokens that was saved; below 0 if the summary is longer."""
        return 1.0 - self.tokens_after / self.tokens_before if self.tokens_before else 0.0

    @property
    def is_complete(self) -> bool:
        """Whether nothing was lost or changed."""
        return not (self.dropped or self.dropped_constraints or self.altered)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON types, with at most `LISTED` dropped facts."""
        return {
            "total": self.total,
            "survived": self.survived,
            "survival_rate": round(self.survival_rate, 4),
            "dropped_count": len(self.dropped),
            "dropped": [{"kind": each.kind, "text": each.text} for each in self.dropped[:LISTED]],
            "rules": self.rules,
            "dropped_constraints": list(self.dropped_constraints),
            "altered": [{"rule": each.rule, "said": each.said} for each in self.altered],
            "tokens_before": self.tokens_before,
            "tokens_after": self.tokens_after,
            "token_reduction": round(self.token_reduction, 4),
            "restored": self.restored,
        }

    def explain(self) -> str:
        """Say in a few lines what was lost; sentences of the summary come as quotations."""
        standing = self.rules - len(self.dropped_constraints)
        head = (
            f"{self.survived} of {self.total} facts and {standing} of {self.rules} rules survived; "
            f"{self.tokens_before} -> {self.tokens_after} tokens; {self.restored} restored."
        )
        lines = [head]
        lines += [f"Rule lost: {rule}" for rule in self.dropped_constraints]
        lines += [f"Rule changed: {each.rule}\n{quoted(each.said)}" for each in self.altered]
        if self.dropped:
            lines += ["Facts lost:", *fact_lines([each.text for each in self.dropped[:MAX_FACTS]])]
        return "\n".join(lines)


def fact_lines(texts: Sequence[str]) -> Iterator[str]:
    """Yield facts as quotations of about `_LINE` characters.

    Args:
        texts: The facts as written.
    """
    line = ""
    for text in texts:
        if line and len(line) + len(text) > _LINE:
            yield quoted(line)
            line = ""
        line = f"{line}; {text}" if line else text
    if line:
        yield quoted(line)
