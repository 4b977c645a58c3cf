"""The keys of the Postgres store: digests of whatever is looked up."""

from __future__ import annotations

import json
from uuid import UUID

from driftguard_langgraph.memory.stores import sqlite_rows as rows
from driftguard_langgraph.types import Kind, Namespace, NodeType


def key_of(text: str) -> UUID:
    """Return the digest of a text, a node, or the id of a thread, a run or an episode."""
    return UUID(bytes=rows.digest(text))


def owner_of(namespace: Namespace) -> UUID:
    """Return the digest of a namespace."""
    return key_of(rows.encode_namespace(namespace))


def shelf_of(namespace: Namespace, kind: Kind, role: NodeType) -> UUID:
    """Return the digest of what is searched together."""
    return key_of(json.dumps([kind, role, *namespace], ensure_ascii=False))


def optional_key(text: str | None) -> UUID | None:
    """Return the digest of an id, None where there is none."""
    return None if text is None else key_of(text)
