"""The graph that driftguard-ai keeps: texts that were merged, and how often they were seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NoReturn

from driftguard_langgraph.errors import CorruptStore

MOST_EVENTS = 1_000_000
"""Greatest sum of frequencies that is read: driftguard-ai itself is slow at some thousand events,
so a file that says more is damaged, and every event becomes an episode."""

ROLES = ("action", "feedback", "outcome")


@dataclass(frozen=True, slots=True)
class PeerNode:
    """A text, how often it was seen, and when.

    Attributes:
        roles: Which of `ROLES` the file names for it; early releases kept only the last one.
        frequency: How often it was seen, in all its roles.
        first_seen, last_seen: When; None where the file does not say.
    """

    roles: frozenset[str]
    frequency: int
    first_seen: datetime | None
    last_seen: datetime | None


@dataclass(frozen=True, slots=True)
class PeerEdge:
    """That one text led to another, how often, and since when (None if that is not told)."""

    source: str
    target: str
    frequency: int
    created_at: datetime | None


@dataclass(frozen=True, slots=True)
class PeerGraph:
    """All of one file (or of one set of tables).

    Attributes:
        layout: What was read, for example `json 2`.
        nodes: By text.
        edges: In the order of the file.
    """

    layout: str
    nodes: Mapping[str, PeerNode]
    edges: tuple[PeerEdge, ...]


def build_graph(
    layout: str,
    nodes: Iterable[tuple[Any, Mapping[str, Any]]],
    edges: Iterable[tuple[Any, Any, Mapping[str, Any]]],
) -> PeerGraph:
    """Check what a file says and make a graph of it.

    Args:
        layout: What was read.
        nodes: Texts with their attributes as the file has them.
        edges: Source, target and attributes.

    Raises:
        CorruptStore: Something is missing, of the wrong kind, or contradicts itself.
    """
    texts: dict[str, PeerNode] = {}
    for text, attributes in nodes:
        if not isinstance(text, str):
            _damaged(f"a node is {_shown(text)} and no text")
        if text in texts:
            _damaged(f"the node {_shown(text)} is there twice")
        texts[text] = PeerNode(
            _roles(attributes.get("type"), text),
            _frequency(attributes, f"the node {_shown(text)}"),
            _moment(attributes, "first_seen"),
            _moment(attributes, "last_seen"),
        )
    links: dict[tuple[str, str], PeerEdge] = {}
    for source, target, attributes in edges:
        key = (source, target)
        for end in key:
            if not isinstance(end, str) or end not in texts:
                _damaged(f"a link leads to {_shown(end)}, which is no node")
        if key in links:
            _damaged(f"the link from {_shown(source)} to {_shown(target)} is there twice")
        frequency = _frequency(attributes, f"a link of {_shown(source)}")
        links[key] = PeerEdge(*key, frequency, _moment(attributes, "created_at"))
    events = sum(node.frequency for node in texts.values())
    events += sum(link.frequency for link in links.values())
    if events > MOST_EVENTS:
        _damaged(f"it counts {events} observations, more than {MOST_EVENTS}")
    return PeerGraph(layout, texts, tuple(links.values()))


def _roles(value: object, text: str) -> frozenset[str]:
    if value is None:
        return frozenset()
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        _damaged(f"the type of {_shown(text)} is {_shown(value)}")
    return frozenset(name.strip() for name in names) & frozenset(ROLES)


def _frequency(attributes: Mapping[str, Any], whose: str) -> int:
    value = attributes.get("frequency", 1)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        _damaged(f"the frequency of {whose} is {_shown(value)}")
    return int(value)


def _moment(attributes: Mapping[str, Any], name: str) -> datetime | None:
    value = attributes.get(name)
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
        # Without a zone it can only be a time that a program noted, and those are UTC.
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        _damaged(f"{name} is {_shown(value)} and no date")


def _shown(value: object) -> str:
    return ascii(value)[:80]


def _damaged(why: str) -> NoReturn:
    raise CorruptStore(f"it is no graph of driftguard-ai any more: {why}.")
