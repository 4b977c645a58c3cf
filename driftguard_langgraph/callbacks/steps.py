"""Runs as steps: the words under which they are recorded, and where they ran."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.prompt_values import PromptValue
from langgraph.config import get_config
from langgraph.runtime import Runtime, get_runtime

from driftguard_langgraph.callbacks.runs import Run
from driftguard_langgraph.host.ids import RunIdentity
from driftguard_langgraph.host.tool_calls import Place
from driftguard_langgraph.text.validation import excerpt
from driftguard_langgraph.types import Kind

MAX_VALUE_CHARS = 400
"""How much of one input of a chain is kept, in characters."""

MAX_VALUES = 20
"""How many inputs of a chain are kept."""


def place_of(metadata: Mapping[str, Any] | None) -> Place:
    """Return where a run starts, by its metadata and by the graph that it starts in.

    A handler is not given the configuration. Inside a graph it is in the context of the call,
    with the runtime; elsewhere the metadata is all there is.

    Args:
        metadata: The metadata of the run.
    """
    known = dict(metadata or {})
    try:
        configurable = get_config().get("configurable") or {}
        runtime: Runtime[Any] | None = get_runtime()
    except (RuntimeError, KeyError):
        configurable, runtime = {}, None
    return Place(
        _identity(known, RunIdentity.of(runtime)),
        {"metadata": known, "configurable": configurable},
        None if runtime is None else runtime.context,
        None if runtime is None else runtime.store,
    )


def call_of(run: Run) -> dict[str, Any]:
    """Return a run in the form of a tool call, as it is looked up and recorded.

    Args:
        run: The run.
    """
    if run.kind == "tools" and isinstance(run.inputs, Mapping) and _is_json(run.inputs):
        args = dict(run.inputs)
    else:
        args = described(run.inputs)
    return {"name": run.name, "args": args, "id": run.call_id}


def place_for(run: Run, call: Mapping[str, Any], kind: Kind) -> Place:
    """Return the place of a run, such that its episode id tells it from others there.

    The call of a chat model is told apart by its own id. Anything else within a visit of a node
    is told apart by what it was given, so that a retried or resumed visit is recorded once;
    outside a graph nothing is ever replayed, and the id of the run is its own.

    Args:
        run: The run.
        call: The run in the form of a tool call.
        kind: How it ended.
    """
    identity = run.place.identity
    named = run.call_id and (identity.thread_id or identity.checkpoint_ns)
    if named:
        return run.place
    if identity.task_id is None:
        unique = str(run.run_id)
    else:
        rendered = json.dumps([call["name"], call["args"], kind], sort_keys=True, default=str)
        unique = f"{identity.task_id}:{hashlib.sha256(rendered.encode()).hexdigest()[:16]}"
    return replace(run.place, identity=replace(identity, task_id=unique))


def described(value: object) -> dict[str, Any]:
    """Return what a run was given as plain JSON in bounded words.

    Args:
        value: Words, messages, documents, the state of a graph, anything.
    """
    if isinstance(value, Mapping):
        items = list(value.items())[:MAX_VALUES]
        return {str(key): _words(each) for key, each in items}
    return {"input": _words(value)}


def _words(value: object) -> Any:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return excerpt(_text(value), MAX_VALUE_CHARS)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, PromptValue):
        value = value.to_messages()
    if isinstance(value, BaseMessage | Document):
        return str(value.text if isinstance(value, BaseMessage) else value.page_content)
    if isinstance(value, Sequence) and value and _is_conversation(value):
        return _asked(value)
    if _is_json(value):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    # The repr of an object would hold its address, and be another one each time.
    return f"a {type(value).__name__}"


def _is_conversation(value: Sequence[Any]) -> bool:
    last = value[-1]
    is_pair = isinstance(last, tuple) and len(last) == 2 and all(isinstance(x, str) for x in last)
    is_dict = isinstance(last, Mapping) and "role" in last and "content" in last
    return isinstance(last, BaseMessage) or is_pair or is_dict


def _asked(messages: Sequence[Any]) -> str:
    """The newest words of the user; without any, the newest words."""
    human = [each for each in messages if isinstance(each, BaseMessage) and each.type == "human"]
    newest = human[-1] if human else messages[-1]
    if isinstance(newest, BaseMessage):
        return str(newest.text)
    content = newest["content"] if isinstance(newest, Mapping) else newest[1]
    return content if isinstance(content, str) else _text(content)


def _is_json(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _identity(metadata: Mapping[str, Any], here: RunIdentity) -> RunIdentity:
    place = metadata.get("langgraph_checkpoint_ns") or None
    if place is not None and here.checkpoint_ns == place:
        return here
    thread = metadata.get("thread_id")
    return RunIdentity(
        thread_id=None if thread is None else str(thread),
        run_id=here.run_id,
        checkpoint_ns=place,
        # The last part of a checkpoint namespace is "<node>:<task id>".
        task_id=None if place is None else str(place).rpartition(":")[2],
    )
