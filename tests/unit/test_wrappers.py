from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, TypedDict

import pytest
from langgraph.graph import START, StateGraph

from driftguard_langgraph.embeddings import resolve_embedder
from driftguard_langgraph.embeddings.base import Embedder
from driftguard_langgraph.errors import (
    ConfigurationError,
    GuardrailAcknowledgementRequired,
    GuardrailTriggered,
)
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.reviews import GuardReview
from driftguard_langgraph.settings import DriftGuardSettings
from driftguard_langgraph.wrappers import areview_payload, guard_step, review_payload

BAD = "delete the temp directory"
PARAPHRASE = "remove the temporary directory"
GOOD = "paint the fence"
CALL = {"name": "delete_directory", "args": {"path": "temp"}}


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return resolve_embedder(None, DriftGuardSettings())


@pytest.fixture
def guard(embedder: Embedder) -> DriftGuard:
    guard = DriftGuard(store=EphemeralMemoryStore(), embeddings=embedder)
    guard.record(BAD, "permission denied", "the cleanup was aborted")
    guard.record(CALL, "permission denied", "the cleanup was aborted")
    return guard


def test_a_warned_function_runs_and_a_blocked_one_does_not(guard: DriftGuard) -> None:
    ran: list[str] = []

    @guard_step(guard)
    def warned(action: str) -> int:
        ran.append(action)
        return len(action)

    @guard_step(guard, policy="block")
    def blocked(action: str) -> None:
        ran.append(action)

    assert warned(BAD) == len(BAD)
    with pytest.raises(GuardrailTriggered) as info:
        blocked(PARAPHRASE)
    assert info.value.review.warnings[0].action_text == BAD
    blocked(GOOD)
    assert ran == [BAD, GOOD]


def test_raise_on_match_makes_warnings_stop(guard: DriftGuard) -> None:
    step = guard_step(guard, raise_on_match=True)(lambda action: action)
    with pytest.raises(GuardrailTriggered):
        step(BAD)
    assert step(GOOD) == GOOD


class Agent:
    name = "agent"

    def positional(self, action: str, count: int = 1) -> str:
        return action * count

    def last(self, count: int, *, task: str) -> str:
        return task * count

    def mixed(self, verbose: bool, prompt: str = BAD) -> str:
        return prompt

    def unusual(self, *, query: str) -> str:
        return query


@pytest.mark.parametrize(
    ("method", "args", "kwargs"),
    [
        (Agent.positional, (BAD,), {}),
        (Agent.positional, (BAD, 2), {}),
        (Agent.positional, (), {"action": BAD}),
        (Agent.positional, (), {"action": CALL, "count": 1}),
        (Agent.positional, (CALL,), {}),
        (Agent.last, (2,), {"task": BAD}),
        (Agent.mixed, (True,), {}),
        (Agent.unusual, (), {"query": BAD}),
    ],
)
def test_the_step_is_found_among_the_arguments_of_a_method(
    guard: DriftGuard, method: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    guarded = guard_step(guard, policy="block")(method)
    with pytest.raises(GuardrailTriggered):
        guarded(Agent(), *args, **kwargs)


def test_a_decorated_method_is_bound_as_usual(guard: DriftGuard) -> None:
    class Guarded:
        def __init__(self) -> None:
            self.done: list[str] = []

        @guard_step(guard, policy="block")
        def run(self, action: str) -> None:
            self.done.append(action)

        @classmethod
        @guard_step(guard, policy="block")
        def build(cls, action: str) -> str:
            return f"{cls.__name__}: {action}"

        @staticmethod
        @guard_step(guard, policy="block")
        def check(action: str) -> str:
            return action

    agent = Guarded()
    agent.run(GOOD)
    assert agent.done == [GOOD]
    assert Guarded.build(GOOD) == f"Guarded: {GOOD}"
    for step in (agent.run, Guarded.build, Guarded.check):
        with pytest.raises(GuardrailTriggered):
            step(BAD)


def test_the_named_argument_comes_before_other_keywords(guard: DriftGuard) -> None:
    @guard_step(guard, policy="block")
    def send(*, channel: str, action: str) -> str:
        return channel + action

    with pytest.raises(GuardrailTriggered):
        send(channel=GOOD, action=BAD)
    assert send(channel=BAD, action=GOOD)


def test_keywords_that_are_collected_are_searched_too(guard: DriftGuard) -> None:
    step = guard_step(guard, policy="block")(lambda **options: options)
    with pytest.raises(GuardrailTriggered):
        step(count=1, context=BAD)


def test_an_input_getter_decides_what_is_reviewed(guard: DriftGuard) -> None:
    step = guard_step(guard, policy="block", input_getter=lambda state: state["todo"]["step"])(
        lambda state: state
    )
    with pytest.raises(GuardrailTriggered):
        step({"todo": {"step": BAD}})
    assert step({"todo": {"step": GOOD}})


def test_a_call_without_anything_to_review_is_refused_by_name(guard: DriftGuard) -> None:
    @guard_step(guard)
    def count(number: int) -> int:
        return number

    with pytest.raises(ConfigurationError, match=r"count was called .*input_getter"):
        count(3)


def test_a_call_with_wrong_arguments_fails_as_it_would_without_the_guard(
    guard: DriftGuard,
) -> None:
    step = guard_step(guard)(Agent.last)
    with pytest.raises(TypeError, match="task"):
        step(Agent(), 2)  # type: ignore[call-arg]


def test_a_risk_can_be_accepted_call_by_call(guard: DriftGuard) -> None:
    @guard_step(guard, policy="acknowledge", acknowledged_getter=lambda _action, _sure: _sure)
    def run(action: str, _sure: bool) -> str:
        return action

    with pytest.raises(GuardrailAcknowledgementRequired):
        run(BAD, False)
    assert run(BAD, True) == BAD


@pytest.mark.parametrize("said", ["false", "yes", 1, None])
def test_only_true_accepts_a_risk(guard: DriftGuard, said: Any) -> None:
    step = guard_step(guard, policy="block", acknowledged_getter=lambda _action: said)(print)
    with pytest.raises(GuardrailTriggered):
        step(BAD)


async def answer(value: Any) -> Any:
    await asyncio.sleep(0)
    return value


@pytest.mark.parametrize("sort", ["coroutine function", "async generator"])
async def test_an_async_step_awaits_its_getters_and_its_viewer(
    guard: DriftGuard, sort: str
) -> None:
    seen: list[str] = []

    async def accepted(state: dict[str, Any]) -> bool:
        return bool(await answer(state["sure"]))

    async def show(review: GuardReview) -> None:
        seen.append(await answer(review.decision))

    decorate = guard_step(
        guard,
        policy="block",
        input_getter=lambda state: answer(state["todo"]),
        acknowledged_getter=accepted,
        on_review=show,
    )

    @decorate
    async def run(state: dict[str, Any]) -> str:
        return str(state["todo"])

    @decorate
    async def stream(state: dict[str, Any]) -> AsyncIterator[str]:
        yield str(state["todo"])

    async def go(state: dict[str, Any]) -> str:
        return await run(state) if sort == "coroutine function" else await anext(stream(state))

    with pytest.raises(GuardrailTriggered):
        await go({"todo": BAD, "sure": False})
    assert await go({"todo": BAD, "sure": True}) == BAD
    assert await go({"todo": GOOD, "sure": False}) == GOOD
    assert seen == ["block", "override", "proceed"]


@pytest.mark.parametrize("option", ["input_getter", "acknowledged_getter", "on_review"])
def test_a_sync_step_refuses_what_it_could_not_await(guard: DriftGuard, option: str) -> None:
    for unusable in (answer, functools.partial(answer), AsyncCallable()):
        options: dict[str, Any] = {option: unusable}
        with pytest.raises(ConfigurationError, match=f"{option} is a coroutine function"):
            guard_step(guard, **options)(print)


@pytest.mark.parametrize("wrong", [None, "g", EphemeralMemoryStore()])
def test_what_is_no_guard_is_refused(wrong: Any) -> None:
    with pytest.raises(ConfigurationError, match=f"DriftGuard.*{type(wrong).__name__}"):
        guard_step(wrong)
    for review in (review_payload, lambda *given: asyncio.run(areview_payload(*given))):
        with pytest.raises(ConfigurationError, match=f"DriftGuard.*{type(wrong).__name__}"):
            review(wrong, {"action": BAD})


def test_every_review_is_shown_whatever_follows(guard: DriftGuard) -> None:
    seen: list[GuardReview] = []
    step = guard_step(guard, policy="block", on_review=seen.append)(lambda action: action)
    step(GOOD)
    with pytest.raises(GuardrailTriggered):
        step(BAD)
    assert [review.decision for review in seen] == ["proceed", "block"]


def test_signature_and_metadata_stay_those_of_the_step(guard: DriftGuard) -> None:
    def run(action: str, *, count: int = 2) -> list[str]:
        """Do it."""
        return [action] * count

    guarded = guard_step(guard)(run)
    assert inspect.signature(guarded) == inspect.signature(run)
    assert (guarded.__name__, guarded.__doc__, guarded.__module__) == ("run", "Do it.", __name__)


async def run_async(action: str) -> str:
    await asyncio.sleep(0)
    return action


class AsyncCallable:
    async def __call__(self, action: str) -> str:
        return await run_async(action)


@pytest.mark.parametrize("step", [run_async, functools.partial(run_async), AsyncCallable()])
async def test_whatever_is_awaited_stays_a_coroutine_function(
    guard: DriftGuard, step: Callable[[str], Any]
) -> None:
    seen: list[GuardReview] = []
    guarded = guard_step(guard, policy="block", on_review=seen.append)(step)
    assert inspect.iscoroutinefunction(guarded)
    assert await guarded(GOOD) == GOOD
    with pytest.raises(GuardrailTriggered):
        await guarded(BAD)
    assert [review.decision for review in seen] == ["proceed", "block"]


def test_a_generator_is_reviewed_when_it_starts_and_keeps_its_protocol(guard: DriftGuard) -> None:
    @guard_step(guard, policy="block")
    def steps(action: str) -> Iterator[Any]:
        received = yield action
        yield received

    assert inspect.isgeneratorfunction(steps)
    running = steps(GOOD)
    assert next(running) == GOOD
    assert running.send("hello") == "hello"
    refused = steps(BAD)
    with pytest.raises(GuardrailTriggered):
        next(refused)


async def test_an_async_generator_is_reviewed_when_it_starts_and_is_closed_in_time(
    guard: DriftGuard,
) -> None:
    closed: list[bool] = []

    @guard_step(guard, policy="block")
    async def stream(action: str) -> AsyncIterator[str]:
        try:
            yield action
            yield action
        finally:
            closed.append(True)

    assert inspect.isasyncgenfunction(stream)
    assert [item async for item in stream(GOOD)] == [GOOD, GOOD]
    items = stream(GOOD)
    assert await anext(items) == GOOD
    await items.aclose()
    assert closed == [True, True]
    with pytest.raises(GuardrailTriggered):
        await anext(stream(BAD))


class State(TypedDict, total=False):
    candidate_action: str
    feedback: str


@pytest.mark.parametrize("is_async", [False, True])
def test_a_decorated_function_is_a_langgraph_node(guard: DriftGuard, is_async: bool) -> None:
    decorate = guard_step(
        guard, policy="block", input_getter=lambda state: state["candidate_action"]
    )

    @decorate
    def node(state: State) -> State:
        return {"feedback": f"did: {state['candidate_action']}"}

    @decorate
    async def anode(state: State) -> State:
        return {"feedback": f"did: {state['candidate_action']}"}

    builder = StateGraph(State).add_node("node", anode if is_async else node)
    graph = builder.add_edge(START, "node").compile()
    assert asyncio.run(graph.ainvoke({"candidate_action": GOOD}))["feedback"] == f"did: {GOOD}"
    with pytest.raises(GuardrailTriggered):
        asyncio.run(graph.ainvoke({"candidate_action": BAD}))


@pytest.mark.parametrize(
    ("options", "message"),
    [({"policy": "blok"}, "blok"), ({"min_confidence": float("nan")}, "min_confidence")],
)
def test_a_wrong_option_is_refused_at_decoration(
    guard: DriftGuard, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        guard_step(guard, **options)


@pytest.mark.parametrize("step", [classmethod(print), staticmethod(print), "run", None])
def test_what_is_no_plain_callable_is_refused(guard: DriftGuard, step: Any) -> None:
    with pytest.raises(ConfigurationError, match="guard_step"):
        guard_step(guard)(step)


def test_a_payload_is_returned_with_its_review_in_json(guard: DriftGuard) -> None:
    payload = {"action": BAD, "attempt": 2}
    result = review_payload(guard, payload)
    assert result["payload"] is payload
    assert result["review"]["decision"] == "warn"
    assert result["warnings_count"] == 1
    assert result["reinforcements_count"] == 0
    assert result["confidence"] == result["review"]["confidence"] > 0


async def test_the_async_twin_of_review_payload_says_the_same(guard: DriftGuard) -> None:
    result = await areview_payload(guard, {"step": CALL}, action_key="step")
    assert result["warnings_count"] == 1


def test_a_payload_is_stopped_by_the_policy_unless_it_is_acknowledged(guard: DriftGuard) -> None:
    options: dict[str, Any] = {"policy": "acknowledge", "acknowledged_key": "sure"}
    for payload in ({"action": BAD}, {"action": BAD, "sure": "no"}):
        with pytest.raises(GuardrailAcknowledgementRequired):
            review_payload(guard, payload, **options)
    result = review_payload(guard, {"action": BAD, "sure": True}, **options)
    assert result["review"]["decision"] == "override"


@pytest.mark.parametrize("payload", [{}, {"step": BAD}, BAD, None])
def test_a_payload_without_the_step_is_refused(guard: DriftGuard, payload: Any) -> None:
    with pytest.raises(ConfigurationError, match="action_key"):
        review_payload(guard, payload)
