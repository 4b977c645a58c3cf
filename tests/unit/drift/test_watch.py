from __future__ import annotations

import json
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from driftguard_langgraph.drift.monitor import DriftMonitor
from driftguard_langgraph.drift.turns import SCAFFOLD_MARK
from driftguard_langgraph.drift.watch import DriftWatch
from driftguard_langgraph.errors import ConfigurationError
from tests.drift_samples import ATTACK, PROMPT, talk

TALK = talk()


@pytest.fixture(scope="module")
def watch() -> DriftWatch:
    return DriftWatch(PROMPT)


def test_each_message_is_measured_once(watch: DriftWatch) -> None:
    first = watch.measure(TALK[:2])
    second = watch.measure(TALK, first.kept)
    third = watch.measure(TALK, second.kept)
    assert [first.measured, second.measured, third.measured] == [2, 2, 0]
    assert second.report.turn == third.report.turn == 4
    assert not second.is_idle
    assert third.is_idle


def test_measuring_in_steps_ends_where_measuring_at_once_does(watch: DriftWatch) -> None:
    kept: Any = None
    for count in range(1, len(TALK) + 1):
        kept = watch.measure(TALK[:count], json.loads(json.dumps(kept))).kept
    assert kept == watch.measure(TALK).kept


def test_what_was_kept_is_not_changed_by_the_next_measurement(watch: DriftWatch) -> None:
    kept = watch.measure(TALK[:2]).kept
    before = json.dumps(kept)
    watch.measure([*TALK, HumanMessage(ATTACK, id="m5")], kept)
    assert json.dumps(kept) == before


def test_an_attack_raises_the_alarm_and_is_explained_though_it_is_not_the_newest_turn(
    watch: DriftWatch,
) -> None:
    answer = AIMessage("The booking number helps me to find your ticket.", id="m6")
    seen = watch.measure([*TALK, HumanMessage(ATTACK, id="m5"), answer])
    assert seen.report.alarm
    assert seen.report.message_id == "m6"
    assert any("m5" in anomaly.message_ids for anomaly in seen.report.anomalies)
    assert "Turn 5" in seen.report.explanation


def test_without_a_baseline_the_leading_system_messages_are_it_and_stay_it(
    watch: DriftWatch,
) -> None:
    bare = DriftWatch()
    told = bare.measure([SystemMessage(PROMPT, id="s"), *TALK])
    assert told.report.score == watch.measure(TALK).report.score
    trimmed = bare.measure([*TALK[2:], HumanMessage(ATTACK, id="m5")], told.kept)
    assert trimmed.measured == 1
    assert trimmed.report.alarm


def test_a_system_message_that_is_edited_later_is_measured() -> None:
    bare = DriftWatch()
    kept = bare.measure([SystemMessage(PROMPT, id="s"), *TALK]).kept
    edited = bare.measure([SystemMessage(f"{PROMPT} {ATTACK}", id="s"), *TALK], kept)
    assert edited.measured == 1
    assert edited.report.channel == "scaffold"


def test_without_a_system_message_the_first_turn_is_the_baseline() -> None:
    seen = DriftWatch().measure(TALK)
    assert seen.kept["baseline"] is None
    assert seen.report.turn == 4
    assert seen.kept["monitor"]["opening"][0]["content"] == TALK[0].content


def test_nothing_is_kept_of_a_session_that_has_not_begun() -> None:
    empty = DriftWatch().measure([])
    assert (empty.kept, empty.report.turn) == ({}, 0)
    begun = DriftWatch().measure([SystemMessage(PROMPT, id="s")], empty.kept)
    assert begun.kept["baseline"][0]["content"] == PROMPT


def test_a_baseline_that_comes_with_the_call_is_kept_for_later_calls() -> None:
    bare = DriftWatch()
    first = bare.measure(TALK, baseline=SystemMessage(PROMPT))
    later = bare.measure([HumanMessage(ATTACK, id="m5")], first.kept, baseline="You write poems.")
    assert later.kept["baseline"] == first.kept["baseline"]
    assert later.report.alarm


def test_messages_without_ids_are_known_by_their_words(watch: DriftWatch) -> None:
    talk: list[Any] = [
        ("user", "Is there a ferry at noon?"),
        {"role": "assistant", "content": "Yes."},
    ]
    first = watch.measure(talk)
    again = watch.measure([*talk, ("user", "Is there one at noon?")], first.kept)
    assert (first.measured, again.measured) == (2, 1)
    call = {"name": "timetable", "args": {"day": "Sunday"}, "id": "c1"}
    called = AIMessage("", tool_calls=[call])
    assert watch.measure([called, AIMessage("", tool_calls=[{**call, "args": {}}])]).measured == 2


def test_an_edited_message_is_measured_again(watch: DriftWatch) -> None:
    kept = watch.measure(TALK).kept
    edited = [*TALK[:3], AIMessage("Three pieces of luggage are part of every ticket.", id="m4")]
    assert watch.measure(edited, kept).measured == 1


def test_scaffolds_are_measured_when_their_text_has_changed(watch: DriftWatch) -> None:
    kept = watch.measure(TALK).kept
    first = watch.measure(TALK, kept, scaffolds={"summary": "They asked about the ferry."})
    same = watch.measure(TALK, first.kept, scaffolds={"summary": "They asked about the ferry."})
    other = watch.measure(TALK, same.kept, scaffolds={"summary": "They asked about luggage."})
    assert [first.measured, same.measured, other.measured] == [1, 0, 1]
    assert other.report.channel == "scaffold"
    assert other.report.message_id == "state:summary"


class Summarised:
    """As the running summary of other libraries looks."""

    summary = "They asked about the ferry."


@pytest.mark.parametrize(
    "value",
    [
        "They asked about the ferry.",
        SystemMessage("They asked about the ferry."),
        {"role": "system", "content": "They asked about the ferry."},
        ["They asked", "about the ferry."],
        {"running_summary": Summarised()},
        {"text": "They asked about the ferry.", "tokens": 7},
    ],
)
def test_a_scaffold_may_be_words_messages_or_a_summary_object(
    watch: DriftWatch, value: object
) -> None:
    assert watch.measure(TALK, scaffolds={"summary": value}).measured == len(TALK) + 1


@pytest.mark.parametrize("value", [None, "", "  ", 7, [], {}, b"bytes", object()])
def test_a_scaffold_that_says_nothing_is_passed_over(watch: DriftWatch, value: object) -> None:
    assert watch.measure(TALK, scaffolds={"summary": value}).measured == len(TALK)


def test_a_scaffold_never_becomes_the_baseline() -> None:
    seen = DriftWatch().measure([], scaffolds={"summary": ATTACK})
    assert seen.measured == 0


def test_a_summary_that_speaks_as_the_user_is_a_scaffold(watch: DriftWatch) -> None:
    summary = HumanMessage(
        "Here is a summary of the conversation to date:\n\nThey asked about the ferry.",
        id="s1",
        additional_kwargs={"lc_source": "summarization"},
    )
    assert watch.measure([summary]).report.channel == "scaffold"


def test_scaffolds_of_our_own_are_never_measured(watch: DriftWatch) -> None:
    own = AIMessage(ATTACK, additional_kwargs={SCAFFOLD_MARK: True})
    assert watch.measure([own, {"role": "user", "content": ATTACK, "additional_kwargs": {
        SCAFFOLD_MARK: True}}]).measured == 0  # fmt: skip


@pytest.mark.parametrize("given", [None, "words alone", HumanMessage("one"), ("user", "a pair"), 7])
def test_what_is_no_list_of_messages_is_measured_all_the_same(
    watch: DriftWatch, given: object
) -> None:
    assert watch.measure(given).measured == (given is not None)


HOLDS_ITSELF: dict[str, Any] = {}
HOLDS_ITSELF["self"] = HOLDS_ITSELF


def nested(depth: int) -> Any:
    content: Any = "the ferry"
    for _ in range(depth):
        content = [{"type": "tool_result", "content": content}]
    return content


NASTY: list[Any] = [
    None,
    {},
    {"role": None, "content": None},
    {"role": "user", "content": [None, 7, {"type": "text", "text": None}, {"type": "image_url"}]},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"name": "x", "args": {1: 2, "b": b"c"}}],
    },
    {"role": "assistant", "content": None, "tool_calls": [None, 3, {"function": None}]},
    HumanMessage("lone \ud800 surrogate and \0 byte"),
    {"role": "user", "content": "x", "id": "\udfff"},
    HumanMessage([{"type": "text", "text": "When does it leave?"}, {"type": "image", "url": "u"}]),
    AIMessage("", tool_calls=[{"name": "timetable", "args": {"day": "\ud800"}, "id": "c1"}]),
    ToolMessage('{"rows": [' + "1," * 500_000 + "1]}", tool_call_id="c1"),
    HumanMessage("word " * 200_000),
    {"role": "user", "content": nested(2_000)},
    {"role": "assistant", "content": "", "tool_calls": [{"name": "x", "args": HOLDS_ITSELF}]},
    {"role": "assistant", "content": "", "tool_calls": [{"name": "x", "args": nested(2_000)}]},
    object(),
    ["user"],
    ("user", None),
    3.5,
]


@pytest.mark.parametrize("nasty", NASTY, ids=range(len(NASTY)))
def test_no_message_breaks_a_session(watch: DriftWatch, nasty: Any) -> None:
    seen = watch.measure([TALK[0], nasty, TALK[1]])
    assert json.loads(json.dumps(seen.kept)) == seen.kept
    json.dumps(seen.kept, ensure_ascii=False).encode()
    again = watch.measure([TALK[0], nasty, TALK[1]], seen.kept)
    assert again.measured == 0


@pytest.mark.parametrize("prompt", ["", "   ", None, "Du bist ein Fahrplanassistent.", "\ud800"])
def test_any_prompt_will_do(prompt: object) -> None:
    assert DriftWatch(prompt).measure(TALK).report.turn >= 3


@pytest.mark.parametrize("kept", [{"monitor": {}}, {"monitor": 7}, {"monitor": {"version": 99}}, 7])
def test_a_kept_session_that_cannot_be_read_starts_anew_or_is_an_error(
    kept: object, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert DriftWatch(PROMPT).measure(TALK, kept).measured == len(TALK)
    if isinstance(kept, dict):
        assert "anew" in caplog.text
        with pytest.raises(ConfigurationError):
            DriftWatch(PROMPT, on_error="closed").measure(TALK, kept)


def test_a_new_prompt_in_the_code_starts_the_sessions_anew() -> None:
    kept = DriftWatch(PROMPT).measure(TALK).kept
    assert DriftWatch("You are the help desk of a bus line.").measure(TALK, kept).measured == 4


def test_a_monitor_lends_its_configuration_and_is_not_changed() -> None:
    monitor = DriftMonitor(PROMPT)
    kept = DriftWatch(monitor).measure(TALK).kept
    assert monitor.report.turn == 0
    assert kept == DriftWatch(PROMPT).measure(TALK).kept


def test_a_monitor_and_options_for_one_contradict_each_other() -> None:
    with pytest.raises(ConfigurationError, match="explainer"):
        DriftWatch(DriftMonitor(PROMPT), explainer=str)


@pytest.mark.parametrize(
    "options",
    [
        {"monitor": 7},
        {"on_error": "ajar"},
        {"explainer": 7},
        {"embeddings": 7},
    ],
)
def test_unusable_options_are_refused_at_once(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        DriftWatch(**options)


def test_a_watch_serves_many_sessions_at_once(watch: DriftWatch) -> None:
    def session(number: int) -> bool:
        kept: Any = None
        talk = [*TALK, HumanMessage(ATTACK if number % 2 else "Thank you, goodbye.", id="m5")]
        for count in range(1, len(talk) + 1):
            seen = watch.measure(talk[:count], kept)
            kept = seen.kept
        return seen.report.alarm

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(session, range(6))) == [bool(number % 2) for number in range(6)]


def test_the_event_is_plain_json_and_says_what_was_measured(watch: DriftWatch) -> None:
    seen = watch.measure([*TALK, HumanMessage(ATTACK, id="m5")])
    event = seen.event("watcher")
    assert json.loads(json.dumps(event)) == event
    assert (event["type"], event["event"], event["node"]) == ("driftguard", "drift", "watcher")
    assert (event["measured"], event["alarm"], event["turn"]) == (5, True, 5)


def test_a_failure_keeps_the_last_word_and_says_what_went_wrong(watch: DriftWatch) -> None:
    seen = watch.measure(TALK)
    failed = watch.failed(seen.kept, RuntimeError("no power"))
    assert failed.kept == seen.kept
    assert failed.report.score == round(seen.report.score, 2)
    assert "RuntimeError: no power" in failed.report.explanation
    assert failed.event("watcher")["event"] == "drift_unavailable"
    assert not failed.is_idle
    assert watch.failed(None, RuntimeError("no power")).kept == {}
