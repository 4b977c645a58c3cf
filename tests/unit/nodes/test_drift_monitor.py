from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import dataclass, field
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, SystemMessage
from langgraph.errors import GraphInterrupt
from pydantic import BaseModel

from driftguard_langgraph.drift.monitor import DriftMonitor
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.nodes import create_drift_monitor_node
from tests.drift_samples import ATTACK, PROMPT, raising, talk


def attacked() -> list[Any]:
    return [*talk(), HumanMessage(ATTACK, id="m5")]


def test_the_node_writes_plain_json_about_the_newest_turn() -> None:
    update = create_drift_monitor_node(PROMPT).invoke({"messages": attacked()})
    assert json.loads(json.dumps(update)) == update
    report = update["drift_report"]
    assert set(update) == {
        "drift_state", "drift_report", "drift_score", "drift_alarm", "drift_level",
    }  # fmt: skip
    assert (report["turn"], report["message_id"]) == (5, "m5")
    assert update["drift_alarm"] is report["alarm"] is True
    assert update["drift_score"] == report["score"]
    assert update["drift_level"] == report["threat_level"] != "NORMAL"


def test_only_what_is_new_is_measured_the_next_time() -> None:
    node = create_drift_monitor_node(PROMPT)
    state: dict[str, Any] = {"messages": talk()}
    state |= node.invoke(state)
    assert not state["drift_alarm"]
    state |= node.invoke({**state, "messages": attacked()})
    assert state["drift_alarm"]
    assert state["drift_report"]["turn"] == 5


def test_a_visit_without_anything_new_leaves_the_last_report_as_it_is() -> None:
    node = create_drift_monitor_node(PROMPT)
    state = {"messages": attacked()}
    assert node.invoke({**state, **node.invoke(state)}) == {}


def test_a_state_without_messages_gets_a_report_of_turn_0() -> None:
    states: list[dict[str, Any]] = [{}, {"messages": None}, {"messages": []}]
    for state in states:
        update = create_drift_monitor_node().invoke(state)
        assert update["drift_report"]["turn"] == 0
        assert update["drift_state"] == {}


async def test_sync_and_async_do_the_same() -> None:
    node = create_drift_monitor_node(PROMPT)
    state = {"messages": attacked()}
    assert await node.ainvoke(state) == await asyncio.to_thread(node.invoke, state)


def test_every_key_can_be_named() -> None:
    node = create_drift_monitor_node(
        messages_key="chat",
        baseline_key="prompt",
        scaffold_keys=["notes"],
        state_key="s",
        report_key="r",
        score_key="c",
        alarm_key="a",
        level_key="l",
        name="watcher",
    )
    assert node.get_name() == "watcher"
    state: dict[str, Any] = {"chat": talk(), "prompt": PROMPT, "notes": "They want to travel."}
    update = node.invoke(state)
    assert set(update) == {"s", "r", "c", "a", "l"}
    assert update["s"]["baseline"][0]["content"] == PROMPT
    assert update["r"]["message_id"] == "state:notes"


def test_a_prompt_in_the_state_that_changes_is_measured_against_what_it_was() -> None:
    node = create_drift_monitor_node(baseline_key="prompt")
    state: dict[str, Any] = {"messages": talk(), "prompt": PROMPT}
    state |= node.invoke(state)
    changed = node.invoke({**state, "prompt": f"{PROMPT} {ATTACK}"})
    assert changed["drift_report"]["message_id"] == "state:prompt"
    assert changed["drift_report"]["channel"] == "scaffold"
    assert changed["drift_state"]["baseline"] == state["drift_state"]["baseline"]


@dataclass
class DataState:
    messages: list[Any] = field(default_factory=attacked)
    drift_state: dict[str, Any] | None = None
    drift_report: dict[str, Any] | None = None


class ModelState(BaseModel):
    messages: list[Any] = []
    drift_state: dict[str, Any] | None = None


@pytest.mark.parametrize(
    "state", [DataState(), ModelState(messages=attacked()), {"messages": attacked()}]
)
def test_any_kind_of_state_will_do(state: object) -> None:
    assert create_drift_monitor_node(PROMPT).invoke(state)["drift_alarm"]


def test_a_monitor_that_was_set_up_elsewhere_lends_its_configuration() -> None:
    monitor = DriftMonitor(PROMPT, explainer=lambda _request: "as I say")
    update = create_drift_monitor_node(monitor).invoke({"messages": talk()})
    assert update["drift_report"]["explanation"] == "as I say"
    assert monitor.report.turn == 0


def test_the_first_system_message_is_the_baseline_when_none_is_given() -> None:
    update = create_drift_monitor_node().invoke({"messages": [SystemMessage(PROMPT), *attacked()]})
    assert update["drift_alarm"]
    assert update["drift_state"]["baseline"][0]["content"] == PROMPT


def test_when_measuring_fails_the_graph_goes_on_and_the_report_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    node = create_drift_monitor_node(PROMPT)
    state: dict[str, Any] = {"messages": talk()}
    state |= node.invoke(state)
    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING):
        patch.setattr(DriftMonitor, "observe", raising(RuntimeError("out of memory")))
        failed = node.invoke({**state, "messages": attacked()})
        blank = node.invoke({"messages": talk()})
    assert "RuntimeError: out of memory" in failed["drift_report"]["explanation"]
    assert (failed["drift_score"], failed["drift_state"]) == (
        state["drift_score"],
        state["drift_state"],
    )
    assert (blank["drift_report"]["turn"], blank["drift_state"]) == (0, {})
    assert "could not measure a session: RuntimeError" in caplog.text
    caught_up = node.invoke({**state, **failed, "messages": attacked()})
    assert caught_up["drift_alarm"]


def test_a_failure_is_an_error_when_that_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DriftMonitor, "observe", raising(RuntimeError("out of memory")))
    with pytest.raises(RuntimeError, match="out of memory"):
        create_drift_monitor_node(PROMPT, on_error="closed").invoke({"messages": talk()})
    monkeypatch.setenv("DRIFTGUARD_ON_STORE_ERROR", "closed")
    with pytest.raises(RuntimeError, match="out of memory"):
        create_drift_monitor_node(PROMPT).invoke({"messages": talk()})


def test_an_interrupt_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DriftMonitor, "observe", raising(GraphInterrupt()))
    with pytest.raises(GraphInterrupt):
        create_drift_monitor_node(PROMPT).invoke({"messages": talk()})


@pytest.mark.parametrize(
    "options",
    [
        {"name": ""},
        {"messages_key": None},
        {"report_key": " "},
        {"scaffold_keys": "summary"},
        {"on_error": "ajar"},
        {"monitor": 7},
        {"monitor": PROMPT, "baseline_key": "prompt"},
        {"explainer": "words"},
    ],
)
def test_unusable_options_are_refused_when_the_graph_is_built(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        create_drift_monitor_node(**options)
