"""Where the nodes and the bands of a layered picture go: pure arithmetic, in points."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from driftguard_langgraph.pictures.chains import ROLES, Chain, Scene

_SWEEPS = 12
"""Times that the columns are ordered by their neighbours; more changes nothing to be seen."""


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a node is in its column.

    Attributes:
        bottom: Lower edge.
        top: Upper edge.
    """

    bottom: float
    top: float

    @property
    def middle(self) -> float:
        """Half the way up."""
        return (self.bottom + self.top) / 2


@dataclass(frozen=True, slots=True)
class Band:
    """A piece of a chain between two columns.

    Attributes:
        chain: The chain.
        source: Key of the node it leaves.
        target: Key of the node it reaches.
        start: Height at which it leaves, the middle of the band.
        end: Height at which it arrives.
        width: How wide it is.
    """

    chain: Chain
    source: str
    target: str
    start: float
    end: float
    width: float


Group = list[list[str]]
"""What hangs together: the keys of each column, from top to bottom."""


def arranged(scene: Scene) -> list[Group]:
    """Return what hangs together, the most frequent first, with few bands that cross.

    Within a group each node moves to where its neighbours are.
    """
    neighbours = _neighbours(scene)
    rank = {key: number for number, key in enumerate(scene.nodes)}
    groups: list[Group] = []
    for members in _groups(scene, neighbours):
        keys = sorted(members, key=rank.__getitem__)
        columns = [[k for k in keys if scene.nodes[k].column == at] for at in range(len(ROLES))]
        groups.append(_settled(columns, neighbours))
    return groups


Weights = Mapping[str, Mapping[str, int]]


def _neighbours(scene: Scene) -> Weights:
    found: dict[str, dict[str, int]] = {key: defaultdict(int) for key in scene.nodes}
    for chain in scene.chains:
        for one, other in combinations(chain.keys, 2):
            found[one][other] += chain.frequency
            found[other][one] += chain.frequency
    return found


def _groups(scene: Scene, neighbours: Weights) -> list[set[str]]:
    """Return the sets of nodes that hang together, the most frequent first."""
    groups: list[set[str]] = []
    left = dict.fromkeys(scene.nodes)
    while left:
        group: set[str] = set()
        waiting = [next(iter(left))]
        while waiting:
            key = waiting.pop()
            if key not in group:
                group.add(key)
                del left[key]
                waiting.extend(neighbours[key])
        groups.append(group)
    return groups


def _settled(columns: Group, neighbours: Weights) -> Group:
    for sweep in range(_SWEEPS):
        forward = sweep % 2 == 0
        for at in (1, 2) if forward else (1, 0):
            beside = columns[at - 1 if forward else at + 1]
            here = set(columns[at])
            beyond = [key for column in columns for key in column if key not in here]
            pulls = [_places([beside]), _places(columns, beyond)]
            columns[at].sort(key=_pull(pulls, _places([columns[at]]), neighbours))
    return columns


def _places(columns: Group, wanted: Sequence[str] | None = None) -> dict[str, float]:
    """Return how far down its column each node is, 0..1."""
    found = {key: (n + 0.5) / len(each) for each in columns for n, key in enumerate(each)}
    return found if wanted is None else {key: found[key] for key in wanted}


def _pull(
    pulls: Sequence[Mapping[str, float]], own: Mapping[str, float], neighbours: Weights
) -> Callable[[str], tuple[float, ...]]:
    """Return the key to sort a column by: first its neighbours, then the rest of its chains."""

    def pulled(key: str) -> tuple[float, ...]:
        return tuple(_mean(place, neighbours[key], own[key]) for place in pulls)

    return pulled


def _mean(place: Mapping[str, float], weights: Mapping[str, int], otherwise: float) -> float:
    near = {key: weight for key, weight in weights.items() if key in place}
    total = sum(near.values())
    return sum(place[key] * weight for key, weight in near.items()) / total if total else otherwise


def height_of(groups: Sequence[Group], heights: Mapping[str, float], gap: float) -> float:
    """Return how high the groups are, one below the other.

    Args:
        groups: What `arranged` returned.
        heights: Of the nodes, in points.
        gap: Room between two nodes of a column, and between two groups.
    """
    return sum(_height(group, heights, gap) for group in groups) + gap * (len(groups) - 1)


def _height(group: Group, heights: Mapping[str, float], gap: float) -> float:
    return max(sum(heights[key] + gap for key in column) for column in group) - gap


def stacked(
    groups: Sequence[Group], heights: Mapping[str, float], gap: float, top: float
) -> dict[str, Slot]:
    """Return where each node goes: group below group, each column in the middle of its group.

    Args:
        groups: What `arranged` returned.
        heights: Of the nodes, in points.
        gap: Room between two nodes of a column, and between two groups.
        top: Upper edge of the first group.
    """
    slots: dict[str, Slot] = {}
    for group in groups:
        height = _height(group, heights, gap)
        for column in group:
            used = sum(heights[key] for key in column)
            between = min((height - used) / (len(column) or 1), 4 * gap) if column else gap
            between = max(gap, between) if len(column) > 1 else gap
            edge = top - (height - used - between * (len(column) - 1)) / 2
            for key in column:
                slots[key] = Slot(edge - heights[key], edge)
                edge -= heights[key] + between
        top -= height + gap
    return slots


def bands(
    scene: Scene, slots: Mapping[str, Slot], width_of: Callable[[Chain], float]
) -> list[Band]:
    """Return the pieces of all chains, side by side where they meet a node.

    Args:
        scene: What is drawn.
        slots: Where the nodes are.
        width_of: How wide the band of a chain is.
    """
    pieces = [(chain, *pair) for chain in scene.chains for pair in pairwise(chain.keys)]

    def height(chain: Chain) -> tuple[float, ...]:
        return tuple(-slots[key].middle for key in chain.keys)

    leaving = sorted(pieces, key=lambda p: (-slots[p[2]].middle, height(p[0])))
    arriving = sorted(pieces, key=lambda p: (-slots[p[1]].middle, height(p[0])))
    starts = _side_by_side([(p, p[1]) for p in leaving], slots, width_of)
    ends = _side_by_side([(p, p[2]) for p in arriving], slots, width_of)
    return [Band(*piece, starts[piece], ends[piece], width_of(piece[0])) for piece in pieces]


_Piece = tuple[Chain, str, str]


def _side_by_side(
    pieces: Sequence[tuple[_Piece, str]],
    slots: Mapping[str, Slot],
    width_of: Callable[[Chain], float],
) -> dict[_Piece, float]:
    used: dict[str, float] = defaultdict(float)
    for piece, at in pieces:
        used[at] += width_of(piece[0])
    edge = {key: slots[key].middle + width / 2 for key, width in used.items()}
    found: dict[_Piece, float] = {}
    for piece, at in pieces:
        width = width_of(piece[0])
        found[piece] = edge[at] - width / 2
        edge[at] -= width
    return found
