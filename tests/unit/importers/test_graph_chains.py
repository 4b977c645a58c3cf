"""From the counts of a merged graph back to what was observed."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftguard_langgraph.importers.graph_chains import Chains, find_chains
from driftguard_langgraph.importers.graph_files import graph_of_json
from driftguard_langgraph.importers.graph_links import Links, split_links
from driftguard_langgraph.importers.proportions import fitted, spread
from tests.peer_samples import START, PeerMemory, shared_feedback


def links_of(memory: PeerMemory) -> Links:
    return split_links(graph_of_json(memory.document()))


def chains_of(memory: PeerMemory) -> Chains:
    graph = graph_of_json(memory.document())
    return find_chains(graph, split_links(graph))


def counted(chains: Chains) -> Counter[tuple[str, str | None, str | None]]:
    counts = Counter[tuple[str, str | None, str | None]]()
    for chain in chains.chains:
        counts[chain.action, chain.feedback, chain.outcome] += chain.count
    return counts


def really(memory: PeerMemory) -> Counter[tuple[str, str | None, str | None]]:
    return Counter((action, feedback, outcome) for action, feedback, outcome, _ in memory.events)


def names(letter: str) -> st.SearchStrategy[str]:
    return st.sampled_from([f"{letter}{number}" for number in range(4)])


EVENTS = st.lists(st.tuples(names("a"), names("f"), names("o")), min_size=1, max_size=30)
COLLIDING = st.lists(st.tuples(*[st.sampled_from("uvwxyz")] * 3), min_size=1, max_size=20)


@settings(max_examples=60, deadline=None)
@given(EVENTS)
def test_every_count_and_date_of_a_graph_comes_out_as_it_was(
    events: list[tuple[str, str, str]],
) -> None:
    memory = PeerMemory()
    for event in events:
        memory.record(*event)
    chains = chains_of(memory)
    assert (chains.unreached, chains.unclaimed) == ((), 0)
    assert sum(chain.count for chain in chains.chains) == len(events)
    links = Counter[tuple[str, str]]()
    for chain in chains.chains:
        assert chain.feedback is not None
        assert chain.outcome is not None
        links[chain.action, chain.feedback] += chain.count
        links[chain.feedback, chain.outcome] += chain.count
        assert 0 <= chain.shared <= chain.count
        assert len(chain.moments) <= chain.count
    assert links == {key: link["frequency"] for key, link in memory.links.items()}


@settings(max_examples=40, deadline=None)
@given(EVENTS)
def test_what_is_called_certain_is_true(events: list[tuple[str, str, str]]) -> None:
    memory = PeerMemory()
    for event in events:
        memory.record(*event)
    ways = really(memory)
    happened = {
        (action, feedback, outcome, at.replace(microsecond=0))
        for action, feedback, outcome, at in memory.events
    }
    for chain in chains_of(memory).chains:
        assert chain.feedback is not None
        assert chain.outcome is not None
        way = (chain.action, chain.feedback, chain.outcome)
        assert chain.count - chain.shared <= ways[way]
        if chain.shared:
            continue
        for moment in chain.moments:
            when = moment.replace(microsecond=0)
            assert (*way, when) in happened


@settings(max_examples=40, deadline=None)
@given(COLLIDING, st.booleans())
def test_texts_in_several_roles_lose_no_count(
    events: list[tuple[str, str, str]], keeps_roles: bool
) -> None:
    memory = PeerMemory(keeps_roles)
    for event in events:
        memory.record(*event)
    links = links_of(memory)
    found = Counter[tuple[str, str]]()
    for link in (*links.feedback, *links.outcome):
        found[link.source, link.target] += link.count
    assert found == {key: link["frequency"] for key, link in memory.links.items()}


def test_no_choice_that_was_made_is_called_certain() -> None:
    # The first two began their links; whose the other two outcomes were, nothing tells.
    memory = PeerMemory()
    for event in (("a", "f", "o"), ("b", "f", "p"), ("a", "f", "p"), ("b", "f", "o")):
        memory.record(*event)
    for text in "abfop":
        memory.nodes[text]["last_seen"] = None
    chains = {(c.action, c.outcome): c for c in chains_of(memory).chains}
    certain = {way: chain.count - chain.shared for way, chain in chains.items()}
    assert certain["a", "o"] == certain["b", "p"] == 1
    assert sum(certain.values()) == 2
    assert sum(chain.shared for chain in chains.values()) == 2


def test_dates_tell_whose_an_outcome_was() -> None:
    memory = shared_feedback()
    assert counted(chains_of(memory)) == really(memory)


def test_without_dates_outcomes_are_shared_out_and_counted_as_that() -> None:
    memory = shared_feedback()
    graph = graph_of_json(memory.node_link(dated=False))
    chains = find_chains(graph, split_links(graph))
    timeouts = [chain for chain in chains.chains if chain.feedback == "timeout error"]
    assert sum(chain.count for chain in timeouts) == 8
    assert sum(chain.shared for chain in timeouts) == 8
    by_outcome = Counter[str | None]()
    for chain in timeouts:
        by_outcome[chain.outcome] += chain.count
    assert by_outcome == {"pager went off": 3, "dough collapsed": 1, "nobody noticed": 4}
    [alone] = [chain for chain in chains.chains if chain.feedback == "connection refused"]
    assert (alone.outcome, alone.shared) == ("dough collapsed", 0)


@pytest.mark.parametrize("keeps_roles", [True, False], ids=["0.2.1", "before"])
def test_a_text_may_be_outcome_action_and_feedback(keeps_roles: bool) -> None:
    memory = PeerMemory(keeps_roles)
    memory.record("edit the config", "syntax error", "restart the server")
    memory.record("restart the server", "connection refused", "customers waited")
    memory.record("syntax error", "restart the server", "nothing changed")
    memory.record("loop", "loop", "loop")
    graph = graph_of_json(memory.document(2 if keeps_roles else 1))
    assert counted(find_chains(graph, split_links(graph))) == really(memory)


def test_what_a_prune_took_is_left_open() -> None:
    memory = PeerMemory()
    memory.record("a", "f1", "o1")
    memory.record("a", "f1", "o1")
    memory.record("a", "f2", "o2")
    memory.record("gone", "f3", "o3")
    memory.forget_links(("a", "f1"), ("f2", "o2"))
    memory.forget_texts("gone")
    chains = chains_of(memory)
    assert counted(chains) == {("a", None, None): 2, ("a", "f2", None): 1}
    assert chains.unreached == ("f1", "o1", "o2", "f3", "o3")
    assert chains.unclaimed == 3


def test_more_outcomes_than_events_keep_each_outcome_as_far_as_possible() -> None:
    memory = PeerMemory()
    for _ in range(3):
        memory.record("deploy", "rollback", "weekend lost")
    memory.record("deploy", "rollback", "customers angry")
    # Two processes that save one file: the greater count stays.
    memory.links["deploy", "rollback"]["frequency"] = 3
    chains = chains_of(memory)
    assert counted(chains) == {
        ("deploy", "rollback", "weekend lost"): 2,
        ("deploy", "rollback", "customers angry"): 1,
        ("deploy", None, None): 1,
    }
    assert chains.unclaimed == 1


def test_an_event_that_began_neither_link_is_dated_within_bounds() -> None:
    memory = PeerMemory()
    memory.record("a", "f", "o1")
    memory.record("b", "f", "o2")
    memory.record("a", "f", "o2")
    memory.record("c", "g", "o2", START + timedelta(days=9))
    [chain] = [c for c in chains_of(memory).chains if (c.action, c.outcome) == ("a", "o2")]
    assert (chain.count, chain.shared) == (1, 0)
    second, third = memory.events[1][3], memory.events[2][3]
    assert chain.moments == ()
    assert chain.earliest is not None
    assert chain.latest is not None
    assert abs(chain.earliest - second) < timedelta(seconds=1)
    assert abs(chain.latest - third) < timedelta(seconds=1)


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 9), max_size=8),
    st.lists(st.integers(0, 9), max_size=8),
    st.integers(0, 30),
)
def test_sharing_out_exceeds_no_sum_and_leaves_nothing(
    rows: list[int], columns: list[int], total: int
) -> None:
    shares = spread(rows, columns)
    assert sum(shares.values()) == min(sum(rows), sum(columns))
    for (row, column), count in shares.items():
        assert 0 < count <= min(rows[row], columns[column])
    assert all(
        sum(n for (r, _), n in shares.items() if r == row) <= c for row, c in enumerate(rows)
    )
    kept = fitted(columns, total)
    assert sum(kept) == min(sum(columns), total)
    assert all(0 <= each <= count for each, count in zip(kept, columns, strict=True))
    some = sum(count > 0 for count in columns)
    assert sum(each > 0 for each in kept) == min(some, total)


def test_a_feedback_of_very_many_actions_and_outcomes_is_shared_out_in_no_time() -> None:
    moment = datetime.isoformat(START)
    nodes = [{"id": "f", "type": ["feedback"], "frequency": 3000}]
    edges = []
    for number in range(3000):
        nodes += [
            {"id": f"a{number}", "type": ["action"], "frequency": 1},
            {"id": f"o{number}", "type": ["outcome"], "frequency": 1},
        ]
        edges += [
            {"source": f"a{number}", "target": "f", "frequency": 1, "created_at": moment},
            {"source": "f", "target": f"o{number}", "frequency": 1, "created_at": moment},
        ]
    graph = graph_of_json({"nodes": nodes, "edges": edges})
    chains = find_chains(graph, split_links(graph))
    assert len(chains.chains) == 3000
    assert (chains.unreached, chains.unclaimed) == ((), 0)
