"""What both exporters share: names of metrics, what they mean, and the label of a memory."""

from __future__ import annotations

from collections.abc import Callable

from driftguard_langgraph.counters import COUNTERS
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.types import Namespace

NamespaceLabel = Callable[[Namespace], str]
"""Names a memory in metrics: how many values it returns is how many series there will be."""

CONFIDENCE_BUCKETS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
SECONDS_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""From a review whose texts are in the embedder's cache to a memory that waits for a lock."""

_WORDS = {
    "reviews": "Reviews of proposed steps that asked the memory",
    "reviews_skipped": "Proposed steps that were not reviewed, under the policy record_only",
    "reviews_blocked": "Reviews that stopped a step",
    "reviews_ack_required": "Reviews that asked somebody to accept the risk",
    "reviews_bumped": "Reviews that answered a step with the evidence at its first proposal",
    "reviews_overridden": "Reviews of steps that ran although they would have been stopped",
    "reviews_unavailable": "Reviews that found the memory out of reach",
    "review_warnings": "Warnings in reviews",
    "review_reinforcements": "Remembered successes in reviews",
    "review_warnings_withheld": "Warnings that the holdout kept silent",
    "review_warnings_muted": "Warnings that evidence silenced",
    "records": "Episodes that were stored",
    "records_duplicate": "Episodes that were known already",
    "run_outcomes": "Verdicts about whole runs",
    "nodes_created": "Nodes that episodes added to the graphs",
    "nodes_merged": "Nodes that episodes found in the graphs",
    "edges_created": "Edges that episodes added to the graphs",
    "edges_reused": "Edges that episodes found in the graphs",
    "prune_runs": "Prunes of a memory",
    "prune_episodes_removed": "Episodes that prunes removed",
    "prune_nodes_removed": "Nodes that prunes removed",
    "prune_edges_removed": "Edges that prunes removed",
    "memory_failures": "Failures of the store, the embedder or the judge, by what was done",
}


def stem(counter: str) -> str:
    """Return a counter's name without the suffix that only Prometheus wants.

    Args:
        counter: One of `COUNTERS`.
    """
    return counter.removesuffix("_total")


def described() -> dict[str, str]:
    """Return what every counter counts, by its name."""
    return {name: _WORDS.get(stem(name)) or _settled(stem(name)) for name in COUNTERS}


def _settled(name: str) -> str:
    what, _, end = name.removeprefix("settled_").partition("_")
    failed = "; the step that ran failed" if end else ""
    return f"Reviews with warnings that turned out {what}{failed}"


def checked_label(namespace_label: object) -> NamespaceLabel | None:
    """Return the function that names memories in metrics, None for none.

    Raises:
        ConfigurationError: It is no function.
    """
    if namespace_label is None:
        return None
    if callable(namespace_label):
        return namespace_label
    raise ConfigurationError(
        "namespace_label must be a function of a namespace that returns a text, "
        f"not {type(namespace_label).__name__}: for example `lambda namespace: namespace[0]`."
    )
