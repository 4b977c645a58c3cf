"""Episodes of a merged graph: dates, ids, what is refused, and what is said of it."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.importers import driftguard_ai
from driftguard_langgraph.importers.graph_chains import find_chains
from driftguard_langgraph.importers.graph_episodes import UNTOLD, Haul, make_episodes
from driftguard_langgraph.importers.graph_files import graph_of_json
from driftguard_langgraph.importers.graph_links import split_links
from driftguard_langgraph.judgement.evidence import confidence, weigh
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.text.redaction import Redactor
from driftguard_langgraph.text.validation import TextLimits
from driftguard_langgraph.types import utc_now
from tests.memory_samples import SeededEmbedder
from tests.peer_samples import START, PeerMemory, shared_feedback

WHOSE = ("acme",)
LIMITS = TextLimits(redactor=Redactor(()))
SECOND = timedelta(seconds=1)


def haul_of(memory: PeerMemory, *, dated: bool = True) -> Haul:
    graph = graph_of_json(memory.node_link(dated=dated))
    return make_episodes(
        graph,
        find_chains(graph, split_links(graph)),
        "mistake",
        namespace=WHOSE,
        limits=LIMITS,
        source="graph.json",
        undated=START,
    )


def names(letter: str) -> st.SearchStrategy[str]:
    return st.sampled_from([f"{letter}{number}" for number in range(3)])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(names("a"), names("f"), names("o")), min_size=1, max_size=25))
def test_an_action_is_seen_as_often_and_as_late_as_before(
    events: list[tuple[str, str, str]],
) -> None:
    memory = PeerMemory()
    for event in events:
        memory.record(*event)
    haul = haul_of(memory)
    assert len({episode.episode_id for episode in haul.episodes}) == len(events)
    for text in {action for action, *_ in events}:
        dates = [e.created_at for e in haul.episodes if e.action.text == text]
        node = memory.nodes[text]
        assert len(dates) == node["frequency"]
        assert abs(min(dates) - datetime.fromisoformat(node["first_seen"])) < SECOND
        assert abs(max(dates) - datetime.fromisoformat(node["last_seen"])) < SECOND


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(names("a"), names("f"), names("o")), min_size=1, max_size=12),
    st.integers(1, 12),
)
def test_a_graph_that_has_grown_adds_what_is_new(
    events: list[tuple[str, str, str]], early: int
) -> None:
    memory = PeerMemory()
    known: set[str] = set()
    for number, event in enumerate(events, 1):
        memory.record(*event)
        if number == early:
            known = {episode.episode_id for episode in haul_of(memory).episodes}
    now = {episode.episode_id for episode in haul_of(memory).episodes}
    assert known <= now
    assert len(now) == len(events)


def test_another_store_with_the_same_texts_is_another_memory() -> None:
    one, other = PeerMemory(), PeerMemory()
    one.record("a", "f", "o")
    other.record("a", "f", "o", START + SECOND)
    [first], [second] = haul_of(one).episodes, haul_of(other).episodes
    assert first.episode_id != second.episode_id


def test_an_episode_says_where_it_is_from_and_how_its_date_is_known() -> None:
    episodes = haul_of(shared_feedback()).episodes
    assert {episode.provenance["source"] for episode in episodes} == {"driftguard-ai"}
    assert {episode.provenance["file"] for episode in episodes} == {"graph.json"}
    known = Counter(episode.metadata["imported"]["date"] for episode in episodes)
    assert known["certain"] == 5
    assert set(known) <= {"certain", "earliest", "latest", "end"}
    assert episodes == sorted(episodes, key=lambda episode: episode.created_at)


def test_a_graph_without_dates_has_those_of_the_file() -> None:
    haul = haul_of(shared_feedback(), dated=False)
    assert {episode.created_at for episode in haul.episodes} == {START}
    assert haul.untold.undated == 9
    assert haul.untold.outcome_of == 8


def test_what_a_prune_took_is_named_in_words() -> None:
    memory = PeerMemory()
    memory.record("a", "f", "o")
    memory.record("a", "g", "p")
    memory.forget_links(("a", "f"), ("g", "p"))
    haul = haul_of(memory)
    assert [(e.feedback, e.outcome) for e in haul.episodes] == [(UNTOLD, UNTOLD), ("g", UNTOLD)]
    assert (haul.untold.feedbacks, haul.untold.outcomes) == (1, 1)
    assert haul.untold.unreached == ["f", "o", "p"]
    first, last = (episode.created_at for episode in haul.episodes)
    assert first < last


@pytest.mark.parametrize("text", ["nul \0 byte", "", "  "], ids=["nul", "empty", "blank"])
def test_what_validation_refuses_is_named_and_the_rest_is_kept(text: str) -> None:
    memory = PeerMemory()
    memory.record(text, "f", "o")
    memory.record(text, "f", "o")
    memory.record("fine", "f", "o")
    haul = haul_of(memory)
    assert [episode.action.text for episode in haul.episodes] == ["fine"]
    [refused] = haul.refused
    assert (refused.chain[0], refused.episodes) == (text, 2)
    assert "action" in refused.reason


def test_secrets_are_redacted_and_output_is_made_visible() -> None:
    memory = PeerMemory()
    memory.record("log in", "answered \0", "password=hunter2")
    [episode] = haul_of(memory).episodes
    assert (episode.feedback, episode.outcome) == ("answered ␀", "password=[redacted:password]")


def test_the_memory_trusts_an_import_as_driftguard_ai_did(tmp_path: Path) -> None:
    memory = PeerMemory()
    for days in (40, 20, 3):
        memory.record("deploy on friday", "rollback", "weekend lost", utc_now() - timedelta(days))
    path = memory.write_json(tmp_path / "driftguard_graph.json")
    guard = DriftGuard(store=EphemeralMemoryStore(), embeddings=SeededEmbedder(), namespace=WHOSE)
    haul = driftguard_ai.read_file(path, memory.document(), None, WHOSE, LIMITS)
    assert guard.import_episodes(haul.episodes) == {"stored": 3, "duplicates": 0, "runs": 0}
    assert guard.import_episodes(haul.episodes) == {"stored": 0, "duplicates": 3, "runs": 0}
    [warning] = guard.review("deploy on friday").warnings
    # Three times, the last time three days ago: the numbers of driftguard-ai's own formula.
    assert warning.confidence == pytest.approx(0.85 * (0.65 * 0.85 + 0.35) + 0.15 * 0.85)
    assert warning.frequency == 3
    told = weigh(3, 3, 1.0, warning.last_seen, utc_now(), 0.15)
    assert warning.confidence == pytest.approx(confidence(told))


def test_a_batch_is_kept_as_a_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    store = EphemeralMemoryStore()
    guard = DriftGuard(store=store, embeddings=SeededEmbedder())
    episodes = haul_of(shared_feedback()).episodes
    append, left = store.append, iter([True] * 5)

    def failing(*arguments: object) -> object:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return append(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(store, "append", failing)
    with pytest.raises(KeyboardInterrupt):
        guard.import_episodes(episodes)
    assert list(store.namespaces()) == []


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("driftguard_graph.json", "mistake"),
        ("driftguard_graph.sqlite3", "mistake"),
        ("driftguard_success_graph.json", "success"),
        ("success_of_my_agent.json", None),
        ("memory.json", None),
    ],
)
def test_only_names_that_driftguard_ai_gives_tell_what_a_file_holds(
    name: str, kind: str | None
) -> None:
    assert driftguard_ai.kind_of(Path(name)) == kind


def test_dates_are_in_utc_and_a_date_without_a_zone_is_taken_for_utc() -> None:
    memory = PeerMemory()
    memory.record("a", "f", "o", START.astimezone())
    for node in memory.nodes.values():
        node["first_seen"] = node["last_seen"] = "2026-09-01T12:00:00"
    for link in memory.links.values():
        link["created_at"] = "2026-09-01T14:00:00+02:00"
    [episode] = haul_of(memory).episodes
    assert episode.created_at == datetime(2026, 9, 1, 12, tzinfo=UTC)
