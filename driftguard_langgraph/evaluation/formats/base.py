"""What every format offers to the reader of files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from driftguard_langgraph.evaluation.failures import FailurePredicate
from driftguard_langgraph.evaluation.steps import Batch


@dataclass(frozen=True, slots=True)
class Source:
    """The file that is read, and how.

    Attributes:
        name: Name of the file; the stream of what names no stream itself.
        is_failure: Decides about results of which the log does not say how they went.
        tolerating: Makes a context in which `InvalidEpisode` is reported instead of raised,
            if the user allows that.
    """

    name: str
    is_failure: FailurePredicate
    tolerating: Callable[[], AbstractContextManager[None]]


class EntryReader(Protocol):
    """Turns the entries of one file into batches of steps."""

    def add(self, entry: Any, where: str) -> Iterator[Batch]:
        """Take one entry as parsed from JSON; yield the batches that it completes.

        Raises:
            InvalidEpisode: The entry is not valid in this format.
        """

    def flush(self) -> Iterator[Batch]:
        """Yield what is left at the end of the file, or where another format begins."""


@dataclass(frozen=True, slots=True)
class EntryFormat:
    """A format whose files hold JSON entries, one a line or in one document.

    Attributes:
        name: Its name on the command line.
        recognises: Says whether an entry is of this format.
        open: Makes the reader of one file.
    """

    name: str
    recognises: Callable[[Any], bool]
    open: Callable[[Source], EntryReader]
