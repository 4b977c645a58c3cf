"""Who is running: the ids of a LangGraph run, and the idempotent episode id they give."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langgraph.runtime import Runtime

from driftguard_langgraph.types import Kind

MAX_READABLE_CHARS = 200
"""A longer id is replaced by its digest; well below what a memory accepts."""


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """The ids of one node execution, as far as LangGraph knows them.

    Attributes:
        thread_id: The conversation; None without a checkpointer.
        run_id: The run, when the caller gave it an id.
        checkpoint_ns: Where in the (sub)graphs the node runs.
        task_id: This visit of the node. It stays the same when the visit is replayed
            (resume after an interrupt, retry, crash) and differs between visits.
    """

    thread_id: str | None = None
    run_id: str | None = None
    checkpoint_ns: str | None = None
    task_id: str | None = None

    @classmethod
    def of(cls, runtime: Runtime[Any] | None) -> RunIdentity:
        """Read the ids of the current node execution; all None outside a graph."""
        info = runtime.execution_info if runtime is not None else None
        if info is None:
            return cls()
        return cls(
            thread_id=None if info.thread_id is None else str(info.thread_id),
            run_id=None if info.run_id is None else str(info.run_id),
            checkpoint_ns=info.checkpoint_ns or None,
            task_id=info.task_id or None,
        )


def tool_call_id(action: object) -> str | None:
    """Return the id that a chat model gave to a proposed tool call, if `action` is one."""
    found = action.get("id") if isinstance(action, Mapping) else None
    return found if isinstance(found, str) and found else None


def episode_id(identity: RunIdentity, action: object, kind: Kind) -> str | None:
    """Return an id that replays of the same execution share, or None to have a random one.

    The id of a tool call comes first because it also survives a replay from an older
    checkpoint, which gets new task ids, and because all doors see it: a node, a middleware and
    a callback handler record one call once. The words of what came of it differ between them
    (an error, or the message that something made of it) and are therefore no part of it; whether
    it failed is. Models repeat tool call ids across threads and sometimes within one, hence the
    thread and a digest of the arguments. Without a checkpointer the place in the graph stands
    for the thread, and a task id is random per run and only keeps retries together.

    Args:
        identity: The current node execution.
        action: The executed step, words or a tool call.
        kind: Whether it failed or succeeded.
    """
    call = tool_call_id(action)
    if call is not None and isinstance(action, Mapping):
        digest = _digest([action.get("args"), kind])
        if identity.thread_id is not None:
            return _bounded(f"{identity.thread_id}:{call}:{digest}")
        if identity.checkpoint_ns is not None:
            return _bounded(f"run:{identity.checkpoint_ns}:{call}:{digest}")
    if identity.task_id is None:
        return None
    place = f"{identity.thread_id or 'run'}:{identity.checkpoint_ns or ''}"
    return _bounded(f"{place}:{identity.task_id}")


def review_id(identity: RunIdentity, number: int, action: object = None) -> str | None:
    """Return an id that replays of the same visit share, or None to have a random one.

    Args:
        identity: The current node execution.
        number: Which review of the execution it is.
        action: The reviewed step; the id of a tool call tells apart what one node runs at once.
    """
    if identity.task_id is None:
        return None
    place = f"{identity.thread_id or 'run'}:{identity.checkpoint_ns or ''}"
    call = tool_call_id(action)
    return _bounded(f"{place}:{identity.task_id}:{number}{f':{call}' if call else ''}")


def provenance(identity: RunIdentity, action: object, source: str) -> dict[str, str]:
    """Return where an episode was seen, the known parts only.

    Args:
        identity: The current execution.
        action: The executed step, words or a tool call.
        source: The door that saw it: `node`, `middleware`, `callback`.
    """
    known = {
        "thread_id": identity.thread_id,
        "run_id": identity.run_id,
        "checkpoint_ns": identity.checkpoint_ns,
        "tool_call_id": tool_call_id(action),
        "source": source,
    }
    return {name: value for name, value in known.items() if value and value.strip()}


def _digest(values: object) -> str:
    rendered = json.dumps(values, sort_keys=True, default=str)
    return hashlib.sha256(rendered.encode()).hexdigest()[:16]


def _bounded(text: str) -> str:
    # Each level of nested graphs adds its name and a UUID to the checkpoint namespace.
    if len(text) <= MAX_READABLE_CHARS:
        return text
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
