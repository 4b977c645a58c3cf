"""What all nodes share: sync and async from one body, the run they are in, their guard."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.runtime import Runtime, get_runtime
from langgraph.store.base import BaseStore
from pydantic import BaseModel

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.host.guards import GuardSource
from driftguard_langgraph.host.ids import RunIdentity
from driftguard_langgraph.host.namespace import checked_template, filled
from driftguard_langgraph.types import Namespace

Update = dict[str, Any]
Steps = Generator[Callable[[], Any], Any, Update]
"""The body of a node: it yields whatever may block and is sent the result."""


@dataclass(frozen=True, slots=True)
class NodeRun:
    """One execution of a node.

    Attributes:
        state: What the node was given.
        config: The configuration of the run; empty outside one.
        runtime: LangGraph's runtime; None outside a graph.
    """

    state: Mapping[str, Any]
    config: Mapping[str, Any]
    runtime: Runtime[Any] | None

    @classmethod
    def of(cls, state: object, config: RunnableConfig | None) -> NodeRun:
        """Collect what is known about the current execution."""
        try:
            runtime: Runtime[Any] | None = get_runtime()
        except RuntimeError:
            runtime = None
        return cls(_as_mapping(state), config or {}, runtime)

    @property
    def identity(self) -> RunIdentity:
        """The ids of this execution."""
        return RunIdentity.of(self.runtime)

    @property
    def store(self) -> BaseStore | None:
        """The store that the graph was compiled with, None without one."""
        return self.runtime.store if self.runtime is not None else None

    @property
    def context(self) -> object:
        """The run's context, None without one."""
        return self.runtime.context if self.runtime is not None else None

    def require(self, key: str, option: str, writer: str) -> Any:
        """Return a value that the state must hold.

        Args:
            key: The state key.
            option: The factory's argument that names it.
            writer: Who is expected to write it.

        Raises:
            ConfigurationError: The key is missing or None.
        """
        value = self.state.get(key)
        if value is None:
            held = ", ".join(sorted(k for k, v in self.state.items() if v is not None)) or "nothing"
            raise ConfigurationError(
                f"the state has no '{key}' (it holds: {held}). Let {writer} write it, "
                f"or name the right key with {option}=..."
            )
        return value

    def require_truth(self, key: str, option: str, writer: str) -> bool:
        """Return a truth value that the state must hold; see `require`.

        Raises:
            ConfigurationError: The key is missing or None, or holds text.
        """
        value = self.require(key, option, writer)
        if isinstance(value, str):
            raise ConfigurationError(
                f"state['{key}'] must be true or false, not the text {value!r}: "
                "any text, 'false' too, would count as a success."
            )
        return bool(value)

    def text(self, key: str, default: str) -> Any:
        """Return what the state holds under `key`; `default` if that is nothing or blank."""
        value = self.state.get(key)
        blank = value is None or (isinstance(value, str) and not value.strip())
        return default if blank else value

    def emit(self, event: str, **data: Any) -> None:
        """Send a custom stream event; nobody sees it unless `stream_mode` has `custom`."""
        if self.runtime is not None:
            self.runtime.stream_writer({"type": "driftguard", "event": event, **data})


class StepsNode(Runnable[Any, Update]):
    """A node with a sync and an async form of the same body.

    Whatever may block (memory, embedder) is yielded by `_steps` and runs in a worker thread
    under `ainvoke`; the rest stays in the node's own context, where `interrupt()` works.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def _steps(self, run: NodeRun) -> Steps:
        """Do the node's work and return the update of the state."""

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Update:
        """Run the node.

        Args:
            input: The graph's state.
            config: The run's configuration.
            **kwargs: Not used.
        """
        steps, result = self._steps(NodeRun.of(input, config)), None
        try:
            while True:
                result = steps.send(result)()
        except StopIteration as done:
            update: Update = done.value
            return update

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Update:
        """Run the node without blocking the event loop; see `invoke`."""
        steps, result = self._steps(NodeRun.of(input, config)), None
        try:
            while True:
                result = await asyncio.to_thread(steps.send(result))
        except StopIteration as done:
            update: Update = done.value
            return update


class GuardNode(StepsNode):
    """A node that asks a guard, in a namespace that the run may fill in."""

    def __init__(
        self, name: str, guard: DriftGuard | None, namespace: Sequence[str] | None
    ) -> None:
        super().__init__(name)
        self._source = GuardSource(guard)
        self._namespace = checked_template(namespace)

    def _filled_namespace(self, run: NodeRun) -> Namespace | None:
        return filled(self._namespace, run.config, run.context)


def _as_mapping(state: object) -> Mapping[str, Any]:
    if isinstance(state, Mapping):
        return state
    if isinstance(state, BaseModel):
        return {name: getattr(state, name) for name in type(state).model_fields}
    if is_dataclass(state) and not isinstance(state, type):
        return {field.name: getattr(state, field.name) for field in fields(state)}
    raise ConfigurationError(
        f"the graph's state must be a TypedDict, a dataclass or a pydantic model, "
        f"not {type(state).__name__}."
    )
