"""The node that watches the messages of a graph for drift from what the session was told.

It measures the messages that it has not seen, by their ids, and keeps what it knows in the
state. So a session is a thread: it survives restarts, replays, interrupts and time travel, and
one node serves any number of threads at once. Put it where there is something new to measure
(after the model, after the tools, at the start of a run) as often as you like, and a conditional
edge with `route_on_drift` behind it.

LangGraph drops what a node writes to keys that the state does not declare: extend
`DriftGuardState`, or declare the keys you read and `drift_state`, without which every visit
measures all messages again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

from langgraph.errors import GraphBubbleUp

from driftguard_langgraph.drift.strategies.base import FewShotExample, checked_few_shots
from driftguard_langgraph.drift.watch import DriftWatch, OnError, Watched
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.nodes.base import NodeRun, Steps, StepsNode, Update
from driftguard_langgraph.nodes.options import check_distinct, check_names
from driftguard_langgraph.settings import DriftGuardSettings
from driftguard_langgraph.text.validation import checked_names

DEFAULT_SCAFFOLD_KEYS = ("summary",)
"""Where LangGraph's own examples keep the running summary of a conversation."""


class _Keys(NamedTuple):
    messages_key: str
    baseline_key: str | None
    state_key: str
    report_key: str
    score_key: str
    alarm_key: str
    level_key: str


def create_drift_monitor_node(
    monitor: object = None,
    *,
    messages_key: str = "messages",
    baseline_key: str | None = None,
    scaffold_keys: Sequence[str] = DEFAULT_SCAFFOLD_KEYS,
    few_shot_examples: Iterable[FewShotExample] = (),
    embeddings: object | None = None,
    settings: DriftGuardSettings | None = None,
    strategies: object | None = None,
    explainer: object | None = None,
    on_error: OnError | None = None,
    state_key: str = "drift_state",
    report_key: str = "drift_report",
    score_key: str = "drift_score",
    alarm_key: str = "drift_alarm",
    level_key: str = "drift_level",
    name: str = "drift_monitor",
) -> StepsNode:
    """Return a node that measures new messages and writes plain JSON about them.

    Args:
        monitor: The baseline (the system prompt, or the messages that a session starts with),
            or a `DriftMonitor` whose configuration is used. None: the state has it under
            `baseline_key`, or else it is the system messages at the start of the messages, or
            else the first turns. Once found it holds for the thread.
        messages_key: Where the messages are, of any kind that LangChain knows.
        baseline_key: Where the state has the baseline. A later change of it is measured like a
            scaffold.
        scaffold_keys: Where the state has other texts that are put before a model (a running
            summary, a prompt): each is measured when its text has changed. Missing keys are
            passed over.
        few_shot_examples: Examples that belong to the original context.
        embeddings: As in `DriftMonitor`, and so are the next three.
        settings: None reads the environment.
        strategies: What measures the topic.
        explainer: Callable or Runnable that writes the explanation.
        on_error: What a failure of ours does: `open` keeps the score, says so in the report and
            logs it, `closed` raises. None: `on_store_error` of the settings.
        state_key: Keeps what is known of the session.
        report_key: Gets the newest report, `DriftReport.to_dict()`, with all that this visit found.
        score_key: Gets its score, 0..100.
        alarm_key: Gets whether the alarm is on.
        level_key: Gets the threat level.
        name: Name of the node.

    Raises:
        ConfigurationError: An argument is not usable.
    """
    keys = _Keys(messages_key, baseline_key, state_key, report_key, score_key, alarm_key, level_key)
    watch = DriftWatch(
        monitor,
        on_error=on_error,
        few_shot_examples=checked_few_shots(few_shot_examples),
        embeddings=embeddings,
        settings=settings,
        strategies=strategies,
        explainer=explainer,
    )
    return _DriftMonitorNode(name, watch, keys, scaffold_keys)


class _DriftMonitorNode(StepsNode):
    def __init__(
        self, name: str, watch: DriftWatch, keys: _Keys, scaffold_keys: Sequence[str]
    ) -> None:
        check_names({"name": name, **keys._asdict()}, optional={"baseline_key"})
        check_distinct(keys._asdict())
        if keys.baseline_key is not None and watch.has_baseline:
            raise ConfigurationError(
                f"baseline_key={keys.baseline_key!r} has no use beside a baseline that is given: "
                "leave one out. A text of the state to be watched goes into scaffold_keys."
            )
        super().__init__(name)
        self._watch = watch
        self._keys = keys
        own = () if keys.baseline_key is None else (keys.baseline_key,)
        self._scaffold_keys = sorted(checked_names(scaffold_keys, "scaffold_keys").union(own))

    def _steps(self, run: NodeRun) -> Steps:
        watched: Watched = yield partial(self._measured, run)
        if watched.is_idle and run.state.get(self._keys.report_key):
            return {}
        if run.runtime is not None:
            run.runtime.stream_writer(watched.event(str(self.name)))
        return self._update(watched)

    def _measured(self, run: NodeRun) -> Watched:
        keys = self._keys
        kept = run.state.get(keys.state_key)
        try:
            return self._watch.measure(
                run.state.get(keys.messages_key),
                kept,
                baseline=run.state.get(keys.baseline_key) if keys.baseline_key else None,
                scaffolds={key: run.state.get(key) for key in self._scaffold_keys},
            )
        except GraphBubbleUp:
            raise
        except Exception as error:
            if self._watch.on_error == "closed":
                raise
            return self._watch.failed(kept, error)

    def _update(self, watched: Watched) -> Update:
        plain = watched.report.to_dict()
        return {
            self._keys.state_key: watched.kept,
            self._keys.report_key: plain,
            self._keys.score_key: plain["score"],
            self._keys.alarm_key: plain["alarm"],
            self._keys.level_key: plain["threat_level"],
        }
