from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from langchain.agents.middleware.types import ModelRequest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.errors import GraphInterrupt

from driftguard_langgraph.drift.report import Anomaly, DriftReport, Span, ThreatLevel
from driftguard_langgraph.drift.turns import Channel, is_own_scaffold
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.middleware import DriftMonitorMiddleware, recovery
from driftguard_langgraph.middleware.recovery import AgentRecovery
from driftguard_langgraph.recovery.conduct import RecoveryConduct
from driftguard_langgraph.recovery.placement import SCAFFOLD_ID
from driftguard_langgraph.recovery.schedule import InjectionSchedule
from driftguard_langgraph.recovery.session import RecoveryPlan
from tests.drift_samples import PROMPT, ScriptedModel, raising

CALLS = [{"name": "look", "args": {}, "id": "c1"}]
TALK: list[AnyMessage] = [
    HumanMessage("When does it leave?", id="u1"),
    AIMessage("", tool_calls=CALLS, id="a1"),
    ToolMessage("at nine", tool_call_id="c1", id="t1"),
]
EXHAUSTED = RecoveryPlan(InjectionSchedule(cooldown=0, maximum=1), patience=1)


def update(turn: int, *, bad: bool = True) -> dict[str, Any]:
    found = Anomaly("constraint_waived", 0.6, turn, Channel.USER, Span(f"m{turn}", "skip it"))
    report = DriftReport(
        turn, f"m{turn}", Channel.USER, corruption=0.8 if bad else 0.1, alarm=bad,
        threat_level=ThreatLevel.HIGH if bad else ThreatLevel.LOW,
        anomalies=(found,) if bad else (),
    ).to_dict()  # fmt: skip
    return {"drift_report": report, "drift_state": {"baseline": None}}


def of(plan: Any = None, placement: Any = "system_prompt") -> AgentRecovery:
    return AgentRecovery(plan or RecoveryPlan(), placement, PROMPT)


def step(made: AgentRecovery, state: dict[str, Any], turn: int, **options: Any) -> bool:
    more, ends = made.after(update(turn, **options), state, None, name="watch", closed=True)
    state.update(more)
    return ends


def request(prompt: SystemMessage | None = None) -> ModelRequest[Any]:
    return ModelRequest(model=ScriptedModel(), messages=list(TALK), system_message=prompt)


def shown(made: AgentRecovery, prompt: SystemMessage | None = None) -> ModelRequest[Any]:
    state: dict[str, Any] = {}
    step(made, state, 1)
    return made.shown(request(prompt), state["recovery_scaffold"])


def test_it_stands_behind_the_text_of_the_system_prompt() -> None:
    message = shown(of(), SystemMessage(PROMPT)).system_message
    assert message is not None
    assert message.text.startswith(f"{PROMPT}\n\n# Recovery (turn 1")


def test_a_prompt_of_blocks_keeps_its_blocks_and_gets_one_more() -> None:
    block: dict[str, Any] = {"type": "text", "text": PROMPT, "cache_control": {"type": "ephemeral"}}
    message = shown(of(), SystemMessage([block])).system_message
    assert message is not None
    assert message.content[0] == block
    assert len(message.content) == 2
    assert "# Recovery" in message.text


def test_without_a_prompt_it_is_the_prompt() -> None:
    message = shown(of()).system_message
    assert message is not None
    assert message.text.startswith("# Recovery")


@pytest.mark.parametrize(
    ("placement", "place"), [("beginning", 0), ("before_last_user", 0), ("end", 3)]
)
@pytest.mark.parametrize(("role", "kind"), [("system", SystemMessage), ("user", HumanMessage)])
def test_among_the_messages_it_is_one_message_of_the_role(
    placement: Any, place: int, role: str, kind: type[Any]
) -> None:
    conduct = RecoveryConduct(PROMPT, role=role)
    call = shown(of(conduct, placement), SystemMessage(PROMPT))
    assert call.system_message is not None
    assert call.system_message.text == PROMPT
    found = [at for at, each in enumerate(call.messages) if each.id == SCAFFOLD_ID]
    assert found == [place]
    assert type(call.messages[place]) is kind
    assert is_own_scaffold(call.messages[place])


def test_nothing_to_show_leaves_the_call_as_it_is() -> None:
    call = request(SystemMessage(PROMPT))
    assert of().shown(call, None) is call


def test_when_scaffolds_fail_the_plan_decides() -> None:
    for route, ends in (("stop", True), ("continue", False)):
        plan = RecoveryPlan(EXHAUSTED.schedule, patience=1, when_exhausted=route)  # type: ignore[arg-type]
        made, state = of(plan), dict[str, Any]()
        assert [step(made, state, turn) for turn in (1, 2, 3)] == [False, ends, ends]


@contextmanager
def human(*answers: Any) -> Iterator[list[Any]]:
    asked: list[Any] = []
    left = list(answers)

    def answer(question: Any) -> Any:
        asked.append(question)
        return left.pop(0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recovery, "interrupt", answer)
        yield asked


def test_a_human_who_lets_it_go_on_is_asked_again_only_after_the_session_was_back() -> None:
    made, state = of(EXHAUSTED), dict[str, Any]()
    with human(True, "continue", False) as asked:
        assert [step(made, state, turn) for turn in (1, 2, 3, 4)] == [False] * 4
        assert len(asked) == 1
        assert asked[0]["reason"] == "recovery_failed"
        assert not step(made, state, 5, bad=False)
        assert [step(made, state, turn) for turn in (6, 7)] == [False] * 2
        assert len(asked) == 2
        assert not step(made, state, 8, bad=False)
        assert step(made, state, 9)
        assert len(asked) == 3


def test_a_failure_of_ours_is_logged_or_raised(caplog: pytest.LogCaptureFixture) -> None:
    made = of()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RecoveryConduct, "after", raising(RuntimeError("no idea")))
        assert made.after(update(1), {}, None, name="watch", closed=False) == ({}, False)
        assert "could not recover" in caplog.text
        with pytest.raises(RuntimeError, match="no idea"):
            made.after(update(1), {}, None, name="watch", closed=True)
        patch.setattr(RecoveryConduct, "after", raising(GraphInterrupt()))
        with pytest.raises(GraphInterrupt):
            made.after(update(1), {}, None, name="watch", closed=False)


@pytest.mark.parametrize(
    "options",
    [
        {"recovery": "standard"},
        {"recovery": RecoveryPlan(), "recovery_placement": "middle"},
        {"recovery": RecoveryPlan(), "recovery_placement": None},
    ],
)
def test_unusable_options_are_refused_when_the_agent_is_built(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        DriftMonitorMiddleware(**options)
