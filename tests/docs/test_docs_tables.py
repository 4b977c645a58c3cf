"""Tables of the documentation that list something of the code list all of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from driftguard_langgraph import errors, events
from driftguard_langgraph.counters import COUNTERS, MetricsCollector
from driftguard_langgraph.host import stream_events
from driftguard_langgraph.settings import DriftGuardSettings
from driftguard_langgraph.types import POLICIES
from tests.docs.blocks import ROOT, blocks_of, python_of

DOCS = ROOT / "docs"
SYMPTOMS = {
    "Too many false warnings": "retrieval_min_similarity",
    "Real repeats not caught": "similarity_threshold_action",
    "Near-duplicate nodes piling up": "similarity_threshold_action",
    "Distinct failures collapsing into one": "similarity_threshold_outcome",
    "Old memories dominating": "retrieval_recency_weight",
    "Graph growing unbounded": "prune_node_stale_days",
}
"""What the description of DriftGuard advises to turn."""


def read(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def tree(kind: type[Exception]) -> Iterator[str]:
    if not kind.__name__.startswith("_"):
        yield kind.__name__
    for below in kind.__subclasses__():
        yield from tree(below)


@pytest.mark.parametrize(("symptom", "setting"), SYMPTOMS.items(), ids=SYMPTOMS.values())
def test_each_symptom_is_advised_on_and_shown_by_code_that_turns_the_setting(
    symptom: str, setting: str
) -> None:
    guide = read("tuning.md")
    link = f"| [{symptom}](#{symptom.lower().replace(' ', '-')}) |"
    rows = [line for line in guide.splitlines() if line.startswith(link)]
    assert [f"`{setting}`" in row for row in rows] == [True]
    section = guide.split(f"\n## {symptom}\n")[1].split("\n## ")[0]
    shown = [block for block in python_of(blocks_of(section)) if setting in block.code]
    assert any(block.prints for block in shown)


def test_the_tuning_guide_names_only_settings_that_exist() -> None:
    named = set(re.findall(r"`([a-z]+_[a-z_]+)`", read("tuning.md")))
    elsewhere = {"deep_prune", *COUNTERS}
    assert named - elsewhere <= set(DriftGuardSettings.model_fields)


def test_every_counter_gauge_and_event_is_on_the_metrics_page() -> None:
    page = read("metrics.md")
    gauges = MetricsCollector().snapshot()["gauges"]
    names = [kind.__name__ for kind in events.Event.__args__]
    assert all(f"`{name}`" in page for name in (*COUNTERS, *gauges, *names))


def test_the_tree_of_errors_is_that_of_the_code() -> None:
    assert errors.__doc__ is not None
    drawn = [line.strip() for line in errors.__doc__.splitlines() if "──" in line]
    page = read("errors.md")
    assert all(line in page for line in drawn)
    assert all(name in page for name in tree(errors.DriftGuardError))


def test_every_policy_and_stream_event_is_explained() -> None:
    assert all(f"`{policy}`" in read("concepts.md") for policy in POLICIES)
    assert stream_events.__doc__ is not None
    said = re.findall(r"^\| `(\w+)` \|", stream_events.__doc__, re.MULTILINE)
    assert said
    assert all(f"`{event}`" in read("nodes.md") for event in said)
