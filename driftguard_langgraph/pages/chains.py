"""The strongest chains of a memory, with the words that people wrote and the trust they earn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from driftguard_langgraph.judgement import evidence
from driftguard_langgraph.judgement.credit import run_credit, run_trust
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.records import ChainPath
from driftguard_langgraph.pages.texts import bounded, stamp
from driftguard_langgraph.reviews import Evidence
from driftguard_langgraph.types import Kind, Namespace

CHAINS = 20
"""Chains of each kind that the page shows."""

WORDINGS = 5
"""Other wordings of a step that the page shows."""

_COMPARED_WORDINGS = 50
"""Wordings of a step that are looked for among what worked; more are hardly ever merged."""


class ChainTable:
    """Chains of one kind.

    Args:
        store: The memory.
        namespace: Whose memory.
        kind: Mistakes or successes.
        now: The time against which age is measured.
        recency_weight: Share of recency in the confidence.
    """

    def __init__(
        self,
        store: BaseMemoryStore,
        namespace: Namespace,
        kind: Kind,
        now: datetime,
        recency_weight: float,
    ) -> None:
        self.paths: Sequence[ChainPath] = store.paths(namespace, kind)
        self._store = store
        self._namespace = namespace
        self._kind: Kind = kind
        self._other: Kind = "success" if kind == "mistake" else "mistake"
        self._now = now
        self._recency_weight = recency_weight

    def to_dict(self) -> dict[str, Any]:
        """Return the strongest chains as plain JSON: most often seen first, then newest."""
        strongest = sorted(self.paths, key=lambda path: (path.frequency, path.last_seen))
        shown = strongest[::-1][:CHAINS]
        actions, links = Counter[str](), Counter[tuple[str, str]]()
        last: dict[tuple[str, str], datetime] = {}
        for path in self.paths:
            link = path.action, path.feedback
            actions[path.action] += path.frequency
            links[link] += path.frequency
            last[link] = max(path.last_seen, last.get(link, path.last_seen))
        return {
            "count": len(self.paths),
            "chains": [
                self._chain(
                    path,
                    actions[path.action],
                    links[path.action, path.feedback],
                    last[path.action, path.feedback],
                )
                for path in shown
            ],
        }

    def wordings(self, node: str) -> list[str]:
        """Return what was merged into an action node, as written, oldest first."""
        found = self._store.wordings(self._namespace, self._kind, "action", [node])
        return list(dict.fromkeys(wording.action.text for wording in found)) or [node]

    def _chain(self, path: ChainPath, seen: int, led: int, last_seen: datetime) -> dict[str, Any]:
        said = self.wordings(path.action)
        weighed = evidence.weigh(seen, led, 1.0, last_seen, self._now, self._recency_weight)
        weighed = self._against(weighed, path.action, said, last_seen)
        return {
            "action": bounded(said[0]),
            "also": [bounded(text) for text in said[1 : WORDINGS + 1]],
            "wordings": len(said),
            "feedback": bounded(path.feedback_text),
            "outcome": bounded(path.outcome_text),
            "frequency": path.frequency,
            "confidence": round(evidence.confidence(weighed), 4),
            "retired": weighed.redeemed <= evidence.RETIRED,
            "successes_since": weighed.successes_since,
            "severity": path.severity,
            "first_seen": stamp(path.first_seen),
            "last_seen": stamp(path.last_seen),
            "last_used": None if path.last_used is None else stamp(path.last_used),
        }

    def _against(
        self, weighed: Evidence, node: str, said: list[str], last_seen: datetime
    ) -> Evidence:
        """Weigh what speaks against a chain: later successes, or that its runs failed."""
        same = self._same_in_other_graph(said)
        if self._kind == "success":
            shares = self._store.run_shares(
                self._namespace, {self._kind: [node], **({self._other: same} if same else {})}
            )
            return replace(weighed, run_trust=run_trust(run_credit(shares)))
        if not same:
            return weighed
        worked = self._store.count_since(self._namespace, self._other, same, last_seen)
        return evidence.redeem(weighed, worked)

    def _same_in_other_graph(self, said: list[str]) -> list[str]:
        """Return the nodes of the other graph that hold one of these wordings."""
        found = (
            self._store.wording(self._namespace, self._other, "action", text)
            for text in said[:_COMPARED_WORDINGS]
        )
        return sorted({wording.node for wording in found if wording is not None})
