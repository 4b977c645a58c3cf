"""Sharing out what was counted of one feedback: which of its actions had which of its outcomes.

A merged graph counts links, and where several actions share a feedback that had several
outcomes, the links do not say whose an outcome was. Dates help. Links that began in the same
moment, and texts that were last seen in the same moment, are one event. A link that began when
the other was there already took one that was there. No event is later than the last sight of
one of its texts. And every count must come out right. What is open then is shared out in
proportion, and counted as that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from driftguard_langgraph.importers.graph_links import Link
from driftguard_langgraph.importers.peer_graph import PeerGraph
from driftguard_langgraph.importers.proportions import fitted, spread

SAME_EVENT = timedelta(milliseconds=20)
"""Time between what one event notes, at most. driftguard-ai notes all of it at once, and needs
five times as long to normalize and embed the texts of the next event."""

COMPARED = 1_000_000
"""Pairs of an action and an outcome that are held against each other; of a feedback with more
the dates are left aside."""


@dataclass(frozen=True, slots=True)
class Chain:
    """Events that went the same way.

    Attributes:
        action, feedback, outcome: The texts; None where the file does not tell any more.
        count: How many events.
        shared: How many of them have this outcome by proportion only.
        moments: Dates of some of them, as far as they are certain.
        earliest, latest: Between these dates are the others; None if that is not told.
        since: When the link from action to feedback began.
    """

    action: str
    feedback: str | None
    outcome: str | None
    count: int
    shared: int = 0
    moments: tuple[datetime, ...] = ()
    earliest: datetime | None = None
    latest: datetime | None = None
    since: datetime | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that are told."""
        found = (self.action, self.feedback, self.outcome)
        return tuple(text for text in found if text is not None)


def chains_through(
    graph: PeerGraph, led_here: Sequence[Link], led_on: Sequence[Link]
) -> list[Chain]:
    """Return the chains through one feedback.

    Args:
        graph: Tells when texts were seen.
        led_here: The links from actions to it.
        led_on: Its links to outcomes.
    """
    return _Shares(graph, led_here, led_on).chains()


@dataclass(slots=True)
class _Cell:
    count: int = 0
    shared: int = 0
    moments: list[datetime] = field(default_factory=list)


class _Shares:
    """A table with a row for each action, a column for each outcome, and what is left of each."""

    def __init__(self, graph: PeerGraph, led_here: Sequence[Link], led_on: Sequence[Link]) -> None:
        self._rows, self._columns = led_here, led_on
        self._ended = graph.nodes[led_here[0].target].last_seen
        self._row_ended = [graph.nodes[link.source].last_seen for link in led_here]
        self._column_ended = [graph.nodes[link.target].last_seen for link in led_on]
        self._left = [link.count for link in led_here]
        self._room = fitted([link.count for link in led_on], sum(self._left))
        # The same, had only been taken what is certain.
        self._sure_left, self._sure_room = list(self._left), list(self._room)
        self._cells: dict[tuple[int, int], _Cell] = {}
        self._told = len(led_here) == 1 or len(led_on) == 1

    def chains(self) -> list[Chain]:
        if len(self._rows) * len(self._columns) <= COMPARED:
            self._take_same_events()
            self._take_beginnings()
            self._share_what_is_possible()
        for (row, column), count in spread(self._left, self._room).items():
            self._take(row, column, [], count=count, told=False)
        return [*self._with_outcome(), *self._without_outcome()]

    def _take(
        self, row: int, column: int, moments: Sequence[datetime], *, count: int = 1, told: bool
    ) -> None:
        cell = self._cells.setdefault((row, column), _Cell())
        cell.count += count
        cell.shared += 0 if told or self._told else count
        cell.moments += moments
        self._left[row] -= count
        self._room[column] -= count
        if told:
            self._sure_left[row] -= count
            self._sure_room[column] -= count

    def _take_same_events(self) -> None:
        """Take the events that both began a link to here and one from here, or ended both."""
        for row, here in enumerate(self._rows):
            for column, on in enumerate(self._columns):
                ended = (self._row_ended[row], self._ended, self._column_ended[column])
                for first, *others in ((here.since, on.since), ended):
                    known = self._moments(row, column)
                    if (
                        first is not None
                        and all(_same(first, other) for other in others)
                        and not any(_same(first, moment) for moment in known)
                        and self._left[row]
                        and self._room[column]
                    ):
                        self._take(row, column, [first], told=True)

    def _moments(self, row: int, column: int) -> list[datetime]:
        cell = self._cells.get((row, column))
        return [] if cell is None else cell.moments

    def _take_beginnings(self) -> None:
        """Take the events that began one link when the other was there already."""
        begun = {row for row, column in self._cells if self._holds(row, column, self._rows[row])}
        for row, here in enumerate(self._rows):
            places = [(row, column) for column in range(len(self._columns))]
            if row not in begun:
                self._begin(here, places)
        begun = {
            column for row, column in self._cells if self._holds(row, column, self._columns[column])
        }
        for column, on in enumerate(self._columns):
            places = [(row, column) for row in range(len(self._rows))]
            if column not in begun:
                self._begin(on, places)

    def _holds(self, row: int, column: int, link: Link) -> bool:
        return any(_same(moment, link.since) for moment in self._moments(row, column))

    def _begin(self, link: Link, places: Sequence[tuple[int, int]]) -> None:
        if link.since is None:
            return
        known = [
            (row, column)
            for row, column in places
            if self._sure_left[row]
            and self._sure_room[column]
            and self._is_there(row, column, link.since)
        ]
        fit = [place for place in known if self._left[place[0]] and self._room[place[1]]]
        if fit:
            row, column = max(fit, key=lambda place: self._left[place[0]] * self._room[place[1]])
            self._take(row, column, [link.since], told=len(known) == 1)

    def _is_there(self, row: int, column: int, moment: datetime) -> bool:
        """Whether both links of a pair were known at a moment, and their texts not yet gone."""
        earliest, latest = self._span(row, column)
        return earliest is not None and earliest <= moment <= (latest or moment) + SAME_EVENT

    def _is_possible(self, row: int, column: int) -> bool:
        earliest, latest = self._span(row, column)
        return earliest is None or latest is None or earliest <= latest + SAME_EVENT

    def _span(self, row: int, column: int) -> tuple[datetime | None, datetime | None]:
        began = (self._rows[row].since, self._columns[column].since)
        ended = (self._ended, self._row_ended[row], self._column_ended[column])
        return (
            max((moment for moment in began if moment is not None), default=None),
            min((moment for moment in ended if moment is not None), default=None),
        )

    def _share_what_is_possible(self) -> None:
        """Share out the rest; those that have the least choice come first."""
        places = [row for row, count in enumerate(self._left) if count]
        choice = {
            row: sum(n for column, n in enumerate(self._room) if self._is_possible(row, column))
            for row in places
        }
        places.sort(key=lambda row: choice[row])
        left = [self._left[row] for row in places]
        shares = spread(left, self._room, lambda n, column: self._is_possible(places[n], column))
        forced = self._is_forced()
        for (number, column), count in shares.items():
            self._take(places[number], column, [], count=count, told=forced)

    def _is_forced(self) -> bool:
        """Whether what is left can go one way only, and nothing before was a choice."""
        if any(cell.shared for cell in self._cells.values()):
            return False
        return sum(map(bool, self._left)) == 1 or sum(map(bool, self._room)) == 1

    def _with_outcome(self) -> Iterator[Chain]:
        for (row, column), cell in sorted(self._cells.items()):
            here, on = self._rows[row], self._columns[column]
            earliest, latest = self._span(row, column)
            yield Chain(
                here.source,
                here.target,
                on.target,
                cell.count,
                cell.shared,
                tuple(cell.moments),
                earliest,
                latest,
                here.since,
            )

    def _without_outcome(self) -> Iterator[Chain]:
        for row, here in enumerate(self._rows):
            if left := self._left[row]:
                first = here.since
                alone = left == here.count and first is not None
                ended = [each for each in (self._ended, self._row_ended[row]) if each]
                yield Chain(
                    here.source,
                    here.target,
                    None,
                    left,
                    moments=(first,) if alone and first else (),
                    earliest=first,
                    latest=min(ended, default=None),
                    since=first,
                )


def _same(a: datetime | None, b: datetime | None) -> bool:
    return a is not None and b is not None and abs(a - b) <= SAME_EVENT
