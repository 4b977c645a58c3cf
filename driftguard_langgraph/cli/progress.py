"""Progress on stderr, for work that takes more than a moment; nothing where nobody looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from driftguard_langgraph.cli import console

OnProgress = Callable[[str, int, int], None]


def working(doing: str) -> AbstractContextManager[object]:
    """Show that something is being done, without saying how far it is, until the block ends.

    Args:
        doing: What is being done.
    """
    screen = console.err()
    return screen.status(doing) if screen.is_terminal else nullcontext()


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
