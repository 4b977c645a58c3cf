"""Progress on stderr, for work that takes more than a moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from driftguard_langgraph.cli import console

OnProgress = Callable[[str, int, int], None]


@contextmanager
def bars() -> Iterator[OnProgress]:
    """Show a bar for every phase of the work; nothing when stderr is not a terminal.

    Yields:
        A function to call with the phase, how much is done, and how much there is.
    """
    from rich.progress import (
        BarColumn,
        Progress,
        TaskID,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    screen = console.err()
    tasks: dict[str, TaskID] = {}
    with Progress(
        *columns, TimeRemainingColumn(), console=screen, disable=not screen.is_terminal
    ) as progress:

        def show(phase: str, done: int, total: int) -> None:
            if phase not in tasks:
                tasks[phase] = progress.add_task(phase, total=total)
            progress.update(tasks[phase], completed=done)

        yield show
