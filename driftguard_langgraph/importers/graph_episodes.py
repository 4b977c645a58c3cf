"""Episodes of the chains of a merged graph: so many as were counted, with the dates it tells.

The graph keeps of many events only when links began and texts were last seen. What follows from
that with certainty is an episode's date; of the others of a chain the last one has the latest
date that is possible, the rest the earliest: as recent as the file says, and not more.

Ids are made of the texts and of the moment at which the link was first seen, which differs from
store to store, so the same graph adds nothing when it is read again (as another file, or from
another backend), and one that has grown adds what is new.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, Literal

from driftguard_langgraph.errors import InvalidEpisode
from driftguard_langgraph.importers.graph_chains import Chains
from driftguard_langgraph.importers.graph_shares import SAME_EVENT, Chain
from driftguard_langgraph.importers.peer_graph import PeerGraph, PeerNode
from driftguard_langgraph.memory.episodes import build_episode
from driftguard_langgraph.text.validation import TextLimits, visible_text
from driftguard_langgraph.types import Episode, Kind, Namespace

PEER = "driftguard-ai"
UNTOLD = "[not told by the imported graph]"
"""Stands for a feedback or outcome that the graph does not tell any more."""

Dated = Literal["certain", "end", "earliest", "latest", "untold"]
"""How a date is known: `end` is the first or last sight of the action, `earliest` and `latest`
are the bounds of what is possible."""
Told = Literal["told", "shared", "untold"]

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True)
class Untold:
    """What a merged graph cannot tell, in episodes unless it says otherwise.

    Attributes:
        wordings: Texts that are there in normalized form only: all of them.
        dates: Whose date is only known within bounds.
        undated: Without any date; they have that of the file.
        outcome_of: Whose outcome was shared out in proportion.
        outcomes: Without an outcome.
        feedbacks: Without a feedback.
        unclaimed: Outcomes that were counted and belong to no action of the file.
        unreached: Texts that no action leads to; they are left out.
    """

    wordings: int = 0
    dates: int = 0
    undated: int = 0
    outcome_of: int = 0
    outcomes: int = 0
    feedbacks: int = 0
    unclaimed: int = 0
    unreached: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Refused:
    """A chain that cannot be kept.

    Attributes:
        chain: Its texts.
        episodes: How many events it had.
        reason: Why not.
    """

    chain: tuple[str, ...]
    episodes: int
    reason: str


@dataclass(slots=True)
class Haul:
    """What a graph gives.

    Attributes:
        kind: Failures or successes.
        graph: What was read.
        episodes: What is to be kept.
        refused: What validation refuses.
        untold: What the graph cannot tell.
    """

    kind: Kind
    graph: PeerGraph
    episodes: list[Episode] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    untold: Untold = field(default_factory=Untold)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, and what was refused, as plain JSON."""
        return {
            "kind": self.kind,
            "layout": self.graph.layout,
            "nodes": len(self.graph.nodes),
            "links": len(self.graph.edges),
            "episodes": len(self.episodes),
            "refused": [asdict(each) for each in self.refused],
            "untold": asdict(self.untold),
        }


def make_episodes(
    graph: PeerGraph,
    chains: Chains,
    kind: Kind,
    *,
    namespace: Namespace,
    limits: TextLimits,
    source: str,
    undated: datetime,
) -> Haul:
    """Make the episodes of a graph.

    Args:
        graph: The graph.
        chains: Its chains.
        kind: Whether it holds failures or successes.
        namespace: Whose memory they will be in.
        limits: What texts may hold; the same as for what is recorded.
        source: Name of the file, for the provenance.
        undated: The date of episodes of which the graph has none.
    """
    haul = Haul(kind, graph)
    haul.untold.wordings = len(graph.nodes)
    haul.untold.unclaimed = chains.unclaimed
    haul.untold.unreached = list(chains.unreached)
    provenance = {"source": PEER, "file": visible_text(source) or PEER}
    refused: dict[tuple[str, ...], list[str]] = {}
    for events in _by_link(graph, chains.chains):
        for number, event in enumerate(events, 1):
            chain = event.chain
            try:
                episode = build_episode(
                    kind,
                    chain.action,
                    UNTOLD if chain.feedback is None else chain.feedback,
                    UNTOLD if chain.outcome is None else chain.outcome,
                    limits,
                    namespace,
                    episode_id=_episode_id(kind, chain, number),
                    provenance=provenance,
                    metadata={"imported": {"date": event.dated, "outcome": event.outcome}},
                    created_at=event.at or undated,
                )
            except InvalidEpisode as error:
                refused.setdefault(chain.texts, []).append(str(error))
                continue
            haul.episodes.append(episode)
            _count(haul.untold, event)
    haul.refused = [Refused(texts, len(why), why[0]) for texts, why in refused.items()]
    haul.episodes.sort(key=lambda episode: episode.created_at)
    return haul


@dataclass(frozen=True, slots=True)
class _Event:
    chain: Chain
    at: datetime | None
    dated: Dated
    outcome: Told


def _by_link(graph: PeerGraph, chains: Iterable[Chain]) -> Iterator[list[_Event]]:
    """Yield the events of each link from an action to a feedback, the oldest first."""
    for action, own in groupby(chains, key=lambda chain: chain.action):
        events = [event for chain in own for event in _events(chain)]
        _keep_ends(events, graph.nodes[action])
        links: dict[str | None, list[_Event]] = {}
        for event in events:
            links.setdefault(event.chain.feedback, []).append(event)
        for together in links.values():
            yield sorted(together, key=lambda event: event.at or _LONG_AGO)


def _events(chain: Chain) -> Iterator[_Event]:
    told = chain.count - chain.shared
    for number in range(chain.count):
        outcome: Told = "untold" if chain.outcome is None else "told" if number < told else "shared"
        if number < len(chain.moments):
            yield _Event(chain, chain.moments[number], "certain", outcome)
        elif chain.earliest is None and chain.latest is None:
            yield _Event(chain, None, "untold", outcome)
        elif number < chain.count - 1:
            yield _Event(chain, chain.earliest or chain.latest, "earliest", outcome)
        else:
            yield _Event(chain, chain.latest or chain.earliest, "latest", outcome)


def _keep_ends(events: list[_Event], action: PeerNode) -> None:
    """Let the first and the last event of an action be when the action was first and last seen."""
    for moment, newest in ((action.last_seen, True), (action.first_seen, False)):
        dated = [event.at for event in events if event.at is not None]
        if moment is None or not dated:
            continue
        end = max(dated) if newest else min(dated)
        if abs(end - moment) <= SAME_EVENT:
            continue
        free = [n for n, event in enumerate(events) if event.dated not in ("certain", "end")]
        if free:
            pick = max if newest else min
            place = pick(free, key=lambda n: events[n].at or moment)
            events[place] = replace(events[place], at=moment, dated="end")


def _episode_id(kind: Kind, chain: Chain, number: int) -> str:
    since = None if chain.since is None else chain.since.isoformat()
    told = [PEER, kind, chain.action, chain.feedback, since, number]
    return f"{PEER}:{hashlib.sha256(json.dumps(told).encode()).hexdigest()[:32]}"


def _count(untold: Untold, event: _Event) -> None:
    untold.dates += event.dated in ("earliest", "latest")
    untold.undated += event.dated == "untold"
    untold.outcome_of += event.outcome == "shared"
    untold.feedbacks += event.chain.feedback is None
    untold.outcomes += event.chain.outcome is None and event.chain.feedback is not None
