"""Which conversation a request belongs to, and what of it is new."""

from __future__ import annotations

import threading
from typing import Any

from driftguard_langgraph.clients.conversations import MAX_REPLAYED, Conversations
from driftguard_langgraph.clients.messages import Asked, Reply, Said
from driftguard_langgraph.drift.tracking.tracker import DriftTracker

LONG = "The ferry to the island leaves at nine in the morning on Sundays."


class Recorder:
    """Stands for a tracker, and keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def record_user_message(self, text: str) -> None:
        self.told.append(f"user: {text}")

    def record_assistant_message(self, said: Said) -> Any:
        self.told.append(f"assistant: {said.content}")
        return DriftTracker("").record_turn("", "")

    def get_managed_context(self) -> str:
        return ""


def made(limit: int = 10) -> tuple[Conversations, list[Recorder]]:
    trackers: list[Recorder] = []

    def make(_id: str, _system: str) -> Any:
        trackers.append(Recorder())
        return trackers[-1]

    return Conversations(make, limit), trackers


def said(*texts: str, **options: Any) -> Asked:
    roles = ("user", "assistant")
    messages = [Said(roles[at % 2], text) for at, text in enumerate(texts)]  # type: ignore[arg-type]
    return Asked(tuple(messages), **options)


def test_a_growing_history_is_told_once() -> None:
    conversations, trackers = made()
    conversations.record(said("a"), Reply("b"))
    conversations.record(said("a", "b", "c"), Reply("d"))
    assert [each.told for each in trackers] == [["user: a", "assistant: b", "user: c",
                                                 "assistant: d"]]  # fmt: skip


def test_an_edited_history_is_a_new_conversation_that_is_told_it_all() -> None:
    conversations, trackers = made()
    conversations.record(said("a"), Reply("b"))
    conversations.record(said("a", "B!", "c"), Reply("d"))
    assert [len(each.told) for each in trackers] == [2, 4]


def test_two_branches_of_one_history_are_told_apart() -> None:
    conversations, trackers = made()
    conversations.record(said("a"), Reply("b"))
    conversations.record(said("a", "b", "c"), Reply("d"))
    conversations.record(said("a", "b", "other"), Reply("e"))
    assert [len(each.told) for each in trackers] == [4, 4]


def test_scopes_are_kept_apart_even_with_equal_histories() -> None:
    conversations, trackers = made()
    for scope in ("anna", "bert"):
        conversations.record(said("a", scope=scope), Reply("b"))
        conversations.record(said("a", "b", "c", scope=scope), Reply(scope))
    assert [each.told[-1] for each in trackers] == ["assistant: anna", "assistant: bert"]


def test_short_exchanges_do_not_identify_a_cut_history() -> None:
    for answer, count in (("Hello!", 2), (LONG, 1)):
        conversations, trackers = made()
        conversations.record(said("a", "b", "Hi"), Reply(answer))
        conversations.record(said("Hi", answer, "More"), Reply("c"))
        assert len(trackers) == count


def test_a_named_conversation_is_told_a_repeated_request_once() -> None:
    conversations, trackers = made()
    for answer in ("b", "c"):
        conversations.record(said("a", conversation="x"), Reply(answer))
    assert trackers[0].told == ["user: a", "assistant: b", "assistant: c"]


def test_a_long_history_that_is_new_is_told_from_its_newest_messages() -> None:
    conversations, trackers = made()
    conversations.record(said(*map(str, range(301))), Reply("end"))
    assert len(trackers[0].told) == MAX_REPLAYED + 1


def test_the_conversation_unused_for_longest_is_forgotten() -> None:
    conversations, trackers = made(limit=2)
    for opening in ("a", "b", "c"):
        conversations.record(said(opening), Reply("x", reply_id=opening))
    assert not {"a"} & set(conversations._replies)
    conversations.record(said("a", "x", "more"), Reply("y"))
    assert len(trackers) == 4


def test_many_threads_in_one_conversation_lose_nothing() -> None:
    conversations, trackers = made()

    def ask(at: int) -> None:
        conversations.record(said(f"q{at}", conversation="x"), Reply(f"a{at}"))

    threads = [threading.Thread(target=ask, args=(at,)) for at in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told = trackers[0].told
    assert len(told) == 40
    for at in range(20):
        assert told[told.index(f"user: q{at}") + 1] == f"assistant: a{at}"
