"""What a memory looks like in a LangGraph `BaseStore`: namespaces, keys and values.

Below the memory's own root there are

- `(root, "episodes", *namespace)`: one item for each episode, under its id, with its vectors;
- `(root, "runs", *namespace)`: one for each verdict about a run;
- `(root, "uses", *namespace)`: one for each action of which a warning was shown;
- `(root, "heads")`: how often each writer has written, which is all that readers look at while
  nothing happens;
- `(root, "log", writer)`: what its latest writes were about.

Labels are encoded, because a label of a `BaseStore` cannot be empty or hold a full stop.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from driftguard_langgraph.errors import CorruptStore, SchemaMismatch
from driftguard_langgraph.memory.stores import sqlite_documents as tables
from driftguard_langgraph.memory.stores.documents import (
    ROLES,
    Document,
    PlacedEpisode,
    episode_document,
    read_episode,
    read_run,
    read_space,
    read_time,
    read_vector,
    reading,
    run_document,
    vector_text,
)
from driftguard_langgraph.memory.stores.records import EmbeddingSpace, RunVerdict, Vector
from driftguard_langgraph.memory.stores.sqlite_mirror import Change
from driftguard_langgraph.memory.stores.sqlite_rows import digest
from driftguard_langgraph.types import Kind, Namespace, NodeType

VERSION = 1
HEADS = "heads"
LOG = "log"

Labels = tuple[str, ...]
"""A namespace as a `BaseStore` takes it."""


class EpisodeItem(NamedTuple):
    """An episode with its place in the order of recording and its vectors."""

    order: int
    placed: PlacedEpisode
    space: EmbeddingSpace
    vectors: Mapping[NodeType, Vector]


class UseItem(NamedTuple):
    """When a warning from an action node was last shown."""

    kind: Kind
    node: str
    at: datetime


def encode_label(label: str) -> str:
    """Write any text as letters, digits, `_`, `-` and `~`, never empty."""
    quoted = quote(label, safe="").replace(".", "%2E").replace("~", "%7E")
    return quoted.replace("%", "~") or "~"


def decode_label(label: str) -> str:
    """Read a label back."""
    return unquote(label.replace("~", "%")) if label != "~" else ""


def encode_labels(labels: Iterable[str]) -> Labels:
    """Write every label; see `encode_label`."""
    return tuple(encode_label(label) for label in labels)


def item_key(change: Change) -> str:
    """Return the key of the item that a change is about."""
    if change.what != "uses":
        return change.key
    # The name of a node is made of what somebody wrote, and may be long.
    kind, _, node = change.key.partition(":")
    return f"{kind}:{digest(node).hex()}"


def episode_value(stored: tables.Stored, space: EmbeddingSpace) -> Document:
    """Return the item of an episode."""
    return {
        "version": VERSION,
        "order": stored.order,
        "episode": episode_document(stored.placed),
        "embedding": asdict(space),
        "vectors": {role: vector_text(stored.vectors[role]) for role in ROLES},
    }


def run_value(verdict: RunVerdict) -> Document:
    """Return the item of a verdict."""
    return {"version": VERSION, **run_document(verdict)}


def use_value(use: UseItem) -> Document:
    """Return the item of a use."""
    at = use.at.isoformat()
    return {"version": VERSION, "kind": use.kind, "action": use.node, "last_used": at}


def read_value(
    what: str, namespace: Namespace, key: str, value: Any
) -> EpisodeItem | RunVerdict | UseItem:
    """Read an item back.

    Args:
        what: `episodes`, `runs` or `uses`.
        namespace: Whose memory.
        key: Its key.
        value: Its value.

    Raises:
        SchemaMismatch: A newer version wrote it.
        CorruptStore: It is not what it should be.
    """
    name = f"the item {key!r} of the {what} of {namespace}"
    with reading(name):
        if int(value["version"]) > VERSION:
            raise SchemaMismatch(
                f"{name} has version {value['version']}, newer than {VERSION}, which this "
                "version of driftguard-langgraph knows. Upgrade the package."
            )
        if what == "episodes":
            return _read_episode_item(value, namespace, key)
        if what == "runs":
            return read_run(value)
        kind: Kind = "success" if value["kind"] == "success" else "mistake"
        return UseItem(kind, str(value["action"]), read_time(value["last_used"]))


def _read_episode_item(value: Any, namespace: Namespace, key: str) -> EpisodeItem:
    placed = read_episode(value["episode"])
    if (placed.episode.namespace, placed.episode.episode_id) != (namespace, key):
        raise CorruptStore(
            f"the item {key!r} of the episodes of {namespace} holds another episode: delete it."
        )
    space = read_space(value["embedding"])
    vectors = {role: read_vector(value["vectors"][role], space) for role in ROLES}
    return EpisodeItem(int(value["order"]), placed, space, vectors)
