"""What may be forgotten: weak links, then stale nodes, then what stands alone."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypedDict, TypeVar

from driftguard_langgraph.memory.retention import Retention, expire
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.records import ChainPath
from driftguard_langgraph.types import Kind, Namespace, NodeType

UNLIMITED = Retention()
"""Neither age nor number is limited."""

_Node = tuple[NodeType, str]
_Edge = tuple[_Node, _Node]
_Part = TypeVar("_Part", bound=Hashable)


class PruneSummary(TypedDict):
    """What a prune of one graph removed.

    Attributes:
        episodes_removed: All episodes that went, those that had expired among them.
        episodes_expired: Those beyond the age or the number that may be kept.
        weak_edges_removed, stale_nodes_removed, isolated_nodes_removed: Of what was left.
    """

    episodes_removed: int
    episodes_expired: int
    weak_edges_removed: int
    stale_nodes_removed: int
    isolated_nodes_removed: int


class PruneReport(TypedDict):
    """What a prune removed from the two graphs."""

    mistakes: PruneSummary
    successes: PruneSummary


@dataclass(frozen=True, slots=True)
class PrunePlan:
    """Which paths of a graph go, and what disappears with them."""

    paths: tuple[ChainPath, ...]
    weak_edges: int
    stale_nodes: int
    isolated_nodes: int


def plan_prune(
    paths: Sequence[ChainPath], now: datetime, stale_days: int, edge_min_frequency: int
) -> PrunePlan:
    """Decide what goes, in this order: weak edges, stale nodes, isolated nodes.

    Something is stale when it was neither seen nor shown in a warning for `stale_days`. An
    edge is weak when it is stale and was seen fewer than `edge_min_frequency` times: fresh
    knowledge is always kept, and so is what still prevents failures.

    Args:
        paths: All paths of one graph.
        now: The time against which age is measured.
        stale_days: Days without being seen or used.
        edge_min_frequency: Stale edges seen less often than this are weak.
    """
    cutoff = now - timedelta(days=stale_days)
    weak = {
        edge
        for edge, through in _grouped(paths, _edges_of).items()
        if _stale(through, cutoff) and sum(p.frequency for p in through) < edge_min_frequency
    }
    strong = [path for path in paths if not weak.intersection(_edges_of(path))]
    stale = {
        node for node, through in _grouped(strong, _nodes_of).items() if _stale(through, cutoff)
    }
    kept = [path for path in strong if not stale.intersection(_nodes_of(path))]
    gone = set(_grouped(paths, _nodes_of)) - set(_grouped(kept, _nodes_of))
    kept_keys = {path.key for path in kept}
    return PrunePlan(
        paths=tuple(path for path in paths if path.key not in kept_keys),
        weak_edges=len(weak),
        stale_nodes=len(stale),
        isolated_nodes=len(gone - stale),
    )


def prune(
    store: BaseMemoryStore,
    namespace: Namespace,
    now: datetime,
    stale_days: int,
    edge_min_frequency: int,
    retention: Retention = UNLIMITED,
) -> PruneReport:
    """Prune both graphs of a namespace, as one transaction; see `expire` and `plan_prune`.

    Verdicts about runs of which no episode is left go with the last one.
    """

    def prune_one(kind: Kind, expired: int) -> PruneSummary:
        plan = plan_prune(store.paths(namespace, kind), now, stale_days, edge_min_frequency)
        return PruneSummary(
            episodes_removed=expired
            + store.delete_paths(namespace, kind, [p.key for p in plan.paths]),
            episodes_expired=expired,
            weak_edges_removed=plan.weak_edges,
            stale_nodes_removed=plan.stale_nodes,
            isolated_nodes_removed=plan.isolated_nodes,
        )

    with store.exclusive():
        expired = expire(store, namespace, now, retention)
        report = PruneReport(
            mistakes=prune_one("mistake", expired["mistake"]),
            successes=prune_one("success", expired["success"]),
        )
        store.drop_idle_runs(namespace)
    return report


def _nodes_of(path: ChainPath) -> tuple[_Node, _Node, _Node]:
    return ("action", path.action), ("feedback", path.feedback), ("outcome", path.outcome)


def _edges_of(path: ChainPath) -> tuple[_Edge, _Edge]:
    action, feedback, outcome = _nodes_of(path)
    return (action, feedback), (feedback, outcome)


def _stale(through: Iterable[ChainPath], cutoff: datetime) -> bool:
    return all(path.last_active < cutoff for path in through)


def _grouped(
    paths: Iterable[ChainPath], parts: Callable[[ChainPath], tuple[_Part, ...]]
) -> dict[_Part, list[ChainPath]]:
    groups: dict[_Part, list[ChainPath]] = {}
    for path in paths:
        for part in parts(path):
            groups.setdefault(part, []).append(path)
    return groups
