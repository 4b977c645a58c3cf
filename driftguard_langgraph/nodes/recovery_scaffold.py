"""The node that brings a drifted session back: it injects a scaffold and follows what it does.

Put it behind the drift monitor node, on every turn: it needs the reports to say whether the
session is back. The scaffold is in the state under `recovery_scaffold`, for as long as it is
needed; let the node that calls the model put it among the messages:

    messages = with_scaffold(state["messages"], state["recovery_scaffold"])

Nothing is added to the conversation itself unless `persist` is true. What the node decides next
(go on, a stronger scaffold, ask a human, stop) is for a conditional edge with
`route_on_recovery`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from langchain_core.messages import (
    AnyMessage,
    BaseMessage,
    RemoveMessage,
    convert_to_messages,
)

from driftguard_langgraph.drift.turns import SCAFFOLD_MARK
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.nodes.base import NodeRun, Steps, StepsNode, Update
from driftguard_langgraph.nodes.options import check_distinct, check_names
from driftguard_langgraph.recovery.conduct import Conducted, RecoveryConduct
from driftguard_langgraph.recovery.placement import SCAFFOLD_ID, place_for
from driftguard_langgraph.recovery.quarantine import (
    REPLACEMENT,
    Quarantine,
    checked_quarantine,
    removal_of,
)
from driftguard_langgraph.recovery.session import RecoveryPlan
from driftguard_langgraph.text.validation import checked_flag


class _Keys(NamedTuple):
    messages_key: str
    report_key: str
    drift_state_key: str
    state_key: str
    scaffold_key: str
    verdict_key: str
    route_key: str


def create_recovery_scaffold_node(
    anchor_or_baseline: object = None,
    *,
    plan: RecoveryPlan | None = None,
    persist: bool = False,
    quarantine: Quarantine = "off",
    messages_key: str = "messages",
    report_key: str = "drift_report",
    drift_state_key: str = "drift_state",
    state_key: str = "recovery_state",
    scaffold_key: str = "recovery_scaffold",
    verdict_key: str = "recovery_verdict",
    route_key: str = "recovery_route",
    name: str = "recovery_scaffold",
) -> StepsNode:
    """Return a node that recovers a session from drift.

    Args:
        anchor_or_baseline: What to restore: an `Anchor`, a system prompt, or the messages that
            a session starts with; or a `RecoveryConduct`, which has also a plan, a role and a
            token budget. None: the baseline that the drift monitor found, or else the system
            messages and the first user message at the start of the messages.
        plan: When to inject (`InjectionSchedule`), which variant, how long to wait for the
            session to come back, and what follows when it does not.
        persist: Whether to put the scaffold among the messages of the state, under an id of its
            own, and to take it out again when it is not needed any more.
        quarantine: What to do with the messages that did it: `off`, `remove` them, at an
            injection and until the session is back, or `rollback` to before the first of them
            at an injection, and remove what comes after. Tool results and what users said lose
            their words and keep their places. It changes the state's messages.
        messages_key: Where the messages are; `persist` and `quarantine` need `add_messages`
            (or a reducer like it) there.
        report_key: Where the drift monitor writes its report.
        drift_state_key: Where it keeps what it knows.
        state_key: Keeps what is known of the recovery.
        scaffold_key: Gets the scaffold to show to the model, a message mapping; None for none.
        verdict_key: Gets what became of the last injection, `RecoveryVerdict.to_dict()`.
        route_key: Gets what should happen next.
        name: Name of the node.

    Raises:
        ConfigurationError: An argument is not usable, or the rules do not fit the budget.
    """
    keys = _Keys(
        messages_key, report_key, drift_state_key, state_key, scaffold_key, verdict_key, route_key
    )
    check_names({"name": name, **keys._asdict()})
    check_distinct(keys._asdict())
    conduct = _conduct(anchor_or_baseline, plan)
    way = checked_quarantine(quarantine)
    return _RecoveryNode(name, conduct, keys, way, persist=checked_flag(persist, "persist"))


class _RecoveryNode(StepsNode):
    def __init__(
        self, name: str, conduct: RecoveryConduct, keys: _Keys, way: Quarantine, *, persist: bool
    ) -> None:
        super().__init__(name)
        self._conduct = conduct
        self._keys = keys
        self._way = way
        self._persist = persist

    def _steps(self, run: NodeRun) -> Steps:
        done: Conducted = yield partial(self._conducted, run)
        if run.runtime is not None and (done.step.inject or done.step.route != "continue"):
            run.runtime.stream_writer(done.event(str(self.name)))
        update: Update = {
            self._keys.state_key: done.kept,
            self._keys.scaffold_key: done.message,
            self._keys.verdict_key: done.verdict,
            self._keys.route_key: done.step.route,
        }
        changes = self._changes(_messages(run.state.get(self._keys.messages_key)), done)
        return {**update, self._keys.messages_key: changes} if changes else update

    def _conducted(self, run: NodeRun) -> Conducted:
        report = run.state.get(self._keys.report_key)
        if not isinstance(report, Mapping):
            raise ConfigurationError(
                f"the state has no drift report under '{self._keys.report_key}': put this node "
                "behind a drift monitor node, give both the same report_key, and let the state "
                "declare that key."
            )
        watched = run.state.get(self._keys.drift_state_key)
        baseline = watched.get("baseline") if isinstance(watched, Mapping) else None
        return self._conduct.after(
            report,
            run.state.get(self._keys.state_key),
            baseline=baseline,
            messages=_messages(run.state.get(self._keys.messages_key)),
        )

    def _changes(self, messages: list[AnyMessage], done: Conducted) -> list[BaseMessage]:
        changes: list[BaseMessage] = []
        if done.step.active and self._way != "off":
            # Later on a rollback would take the same step back again and again.
            way = self._way if done.step.inject is not None else "remove"
            changes += _quarantined(messages, done.step.suspects, way)
        return changes + (self._persisted(messages, done) if self._persist else [])

    def _persisted(self, messages: list[AnyMessage], done: Conducted) -> list[BaseMessage]:
        held = next((each for each in messages if each.id == SCAFFOLD_ID), None)
        if done.message is None:
            return [RemoveMessage(SCAFFOLD_ID)] if held is not None else []
        if held is not None and held.content == done.message["content"]:
            return []
        # Behind an open tool call it would come between the call and its answer: it waits.
        if held is None and place_for(messages, "end") < len(messages):
            return []
        return [as_message(done.message)]


def _conduct(given: object, plan: RecoveryPlan | None) -> RecoveryConduct:
    if not isinstance(given, RecoveryConduct):
        return RecoveryConduct(given, plan=plan)
    if plan is not None:
        raise ConfigurationError(
            "plan belongs to the RecoveryConduct that was given: give it to that, or give the "
            "anchor instead of a conduct."
        )
    return given


def as_message(scaffold: Mapping[str, Any]) -> BaseMessage:
    """Return the scaffold of a state as a LangChain message.

    Args:
        scaffold: What is under `recovery_scaffold`.
    """
    return convert_to_messages([dict(scaffold)])[0]


def _quarantined(
    messages: list[AnyMessage], suspects: tuple[str, ...], way: Quarantine
) -> list[BaseMessage]:
    removal = removal_of(messages, suspects, way)
    replaced = [_emptied(message) for message in messages if message.id in removal.replace]
    return [*(RemoveMessage(known) for known in removal.remove), *replaced]


def _emptied(message: AnyMessage) -> BaseMessage:
    """Return a message without its words, as one of our own: nobody else has said the new ones."""
    extra = {**message.additional_kwargs, SCAFFOLD_MARK: True}
    return message.model_copy(update={"content": REPLACEMENT, "additional_kwargs": extra})


def _messages(held: Any) -> list[Any]:
    if held is None:
        return []
    return list(convert_to_messages(held if isinstance(held, list) else [held]))
