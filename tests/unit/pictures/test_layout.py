from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from driftguard_langgraph.pictures.chains import Scene, scene_of
from driftguard_langgraph.pictures.layout import arranged, bands, height_of, stacked
from tests.guard_samples import guard_of

CHAINS = {
    "one": [("a", "f", "o")],
    "apart": [("a", "f", "o"), ("b", "g", "p"), ("c", "h", "q")],
    "through one feedback": [("a", "f", "o"), ("b", "f", "p"), ("c", "f", "q")],
    "to one outcome": [("a", "f", "o"), ("b", "g", "o"), ("a", "g", "o"), ("b", "f", "o")],
    "crossed": [(f"a{n}", f"f{n * 7 % 11}", f"o{n * 5 % 11}") for n in range(22)],
}


def scene(chains: list[tuple[str, str, str]]) -> Scene:
    guard = guard_of()
    for chain in chains:
        guard.record(*chain)
    return scene_of(guard.graph(), "mistake", 300)


@pytest.mark.parametrize("chains", CHAINS.values(), ids=CHAINS)
def test_every_node_has_a_place_of_its_own_within_the_height(chains: Any) -> None:
    drawn = scene(chains)
    heights = {key: 10.0 + 3 * node.frequency for key, node in drawn.nodes.items()}
    groups = arranged(drawn)
    height = height_of(groups, heights, 4)
    slots = stacked(groups, heights, 4, top=height)
    assert set(slots) == set(drawn.nodes)
    assert min(slot.bottom for slot in slots.values()) >= -1e-6
    assert max(slot.top for slot in slots.values()) <= height + 1e-6
    for column in range(3):
        places = sorted(
            (slots[key] for key, node in drawn.nodes.items() if node.column == column),
            key=lambda slot: -slot.top,
        )
        assert all(upper.bottom - lower.top >= 4 - 1e-6 for upper, lower in pairwise(places))


@pytest.mark.parametrize("chains", CHAINS.values(), ids=CHAINS)
def test_bands_lie_side_by_side_within_their_nodes(chains: Any) -> None:
    drawn = scene(chains)
    heights = {key: 2.0 * node.frequency for key, node in drawn.nodes.items()}
    slots = stacked(arranged(drawn), heights, 4, top=0)
    pieces = bands(drawn, slots, lambda chain: 2.0 * chain.frequency)
    assert len(pieces) == 2 * len(drawn.chains)
    for key, slot in slots.items():
        for ends in (
            sorted((p.start, p.width) for p in pieces if p.source == key),
            sorted((p.end, p.width) for p in pieces if p.target == key),
        ):
            for middle, width in ends:
                assert slot.bottom - 1e-6 <= middle - width / 2
                assert middle + width / 2 <= slot.top + 1e-6
            for (below, low), (above, high) in pairwise(ends):
                assert above - high / 2 >= below + low / 2 - 1e-6


def test_chains_through_one_feedback_do_not_cross() -> None:
    drawn = scene([("a", "f", "z"), ("b", "f", "y"), ("c", "f", "x")])
    [group] = arranged(drawn)
    onward = {chain.keys[0]: chain.keys[2] for chain in drawn.chains}
    assert [onward[key] for key in group[0]] == group[2]


def test_what_hangs_together_stays_together_and_the_frequent_is_on_top() -> None:
    drawn = scene([("a", "f", "o"), ("b", "g", "p"), ("b", "g", "p"), ("c", "f", "o")])
    groups = arranged(drawn)
    assert groups[0] == [["action: b"], ["feedback: g"], ["outcome: p"]]
    assert {key for column in groups[1] for key in column} == {
        "action: a", "action: c", "feedback: f", "outcome: o",
    }  # fmt: skip


def test_the_same_memory_is_always_drawn_the_same() -> None:
    chains = CHAINS["crossed"]
    assert arranged(scene(chains)) == arranged(scene(chains[::-1]))
