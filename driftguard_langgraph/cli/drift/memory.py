"""The commands over a session memory: `drift status`, `history`, `reset`, `freeze`, `unfreeze`.

They touch nothing that is no session memory: not a damaged one, and not another's file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftguard_langgraph.cli import console, options
from driftguard_langgraph.cli.drift.options import show
from driftguard_langgraph.errors import ConfigurationError, CorruptStore, SchemaMismatch

if TYPE_CHECKING:
    from rich.console import RenderableType

    from driftguard_langgraph.drift.tracking.session_document import Document
    from driftguard_langgraph.drift.tracking.session_memory import SessionMemory

File = Annotated[
    Path, typer.Option("--file", "-f", metavar="FILE", help="The session memory of a tracker.")
]
DEFAULT_FILE = Path(".session_memory")
"""Where a tracker keeps its sessions, seen from the folder it runs in."""

LAST = 20
"""Exchanges that `history` shows; as many as context-drift-analyzer's."""


def status(file: File = DEFAULT_FILE, as_json: options.AsJson = False) -> None:
    """Show the sessions that a tracker has kept.

    A DriftTracker with persist=True keeps them in a file, .session_memory in its folder. Says
    also whether the context is frozen.

    Example: driftguard drift status
    Example: driftguard drift status --file bot/.session_memory --json
    """
    from driftguard_langgraph.cli.drift.memory_render import render_status, status_report

    report = status_report(file, _opened(file).document)
    show(report, as_json=as_json, rendered=lambda: render_status(report))


def history(
    file: File = DEFAULT_FILE,
    last: Annotated[
        int, typer.Option("--last", metavar="N", help="The newest N exchanges; 0 for all.")
    ] = LAST,
    as_json: options.AsJson = False,
) -> None:
    """Show the exchanges that a tracker has kept, oldest first.

    Each has its score and verdict.

    Example: driftguard drift history --last 10
    """
    if last < 0:
        raise ConfigurationError(f"--last {last}: must be 0 (for all) or more.")
    exchanges = _exchanges(_opened(file).document)[-last:]
    report = {"file": str(file), "exchanges": exchanges}
    show(report, as_json=as_json, rendered=lambda: _history(exchanges))


def reset(
    file: File = DEFAULT_FILE,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: options.AsJson = False,
) -> None:
    """Delete a session memory with all its sessions, after asking.

    A frozen one is not deleted. Where nobody can be asked, --yes is needed.

    Exit code 1 if the answer is no.

    Example: driftguard drift reset
    Example: driftguard drift reset --yes
    """
    memory = _opened(file)
    if memory.document["context_frozen"]:
        raise ConfigurationError(
            f"{file}: the context is frozen. `driftguard drift unfreeze` it first."
        )
    count = len(memory.document["sessions"])
    wanted = yes or _confirmed(f"Delete {file} with {console.counted(count, 'session')}?")
    if wanted:
        memory.delete()
    line = f"deleted: {file}" if wanted else "nothing was deleted"
    _tell({"file": str(file), "deleted": wanted, "sessions": count}, line, as_json)
    if not wanted:
        raise typer.Exit(console.EXIT_NOT_HELD)


def freeze(file: File = DEFAULT_FILE, as_json: options.AsJson = False) -> None:
    """Freeze the context of a session memory.

    Its summaries and history stay as they are until `driftguard drift unfreeze`.

    Example: driftguard drift freeze
    """
    _set_frozen(file, frozen=True, as_json=as_json)


def unfreeze(file: File = DEFAULT_FILE, as_json: options.AsJson = False) -> None:
    """Unfreeze the context of a session memory.

    From then on sessions are added and summed up again.

    Example: driftguard drift unfreeze
    """
    _set_frozen(file, frozen=False, as_json=as_json)


def _opened(file: Path) -> SessionMemory:
    """Return the memory in a file, as it is now.

    Raises:
        ConfigurationError: There is no such file.
        CorruptStore: It is damaged.
        SchemaMismatch: It is another application's, or a newer release's.
    """
    from driftguard_langgraph.drift.tracking.session_memory import SessionMemory
    from driftguard_langgraph.drift.tracking.session_migration import parse

    try:
        # A memory moves a damaged file aside, which is not for a command that only looks.
        parse(file.read_bytes())
    except FileNotFoundError:
        raise ConfigurationError(
            f"{file}: no session memory there. Name it with --file, or run a DriftTracker "
            "with persist=True first."
        ) from None
    except OSError as error:
        raise ConfigurationError(f"{file}: cannot be read ({error.strerror}).") from None
    except CorruptStore as error:
        raise CorruptStore(
            f"{file}: damaged, {error}. Nothing was changed; mend it, or move it away."
        ) from None
    except SchemaMismatch as error:
        raise SchemaMismatch(f"{file}: {error}") from None
    memory = SessionMemory(file)
    memory.read()
    return memory


def _exchanges(document: Document) -> list[dict[str, Any]]:
    return [
        {"session_number": session["session_number"], **exchange}
        for session in document["sessions"]
        for exchange in session["exchanges"]
    ]


def _history(exchanges: list[dict[str, Any]]) -> RenderableType:
    from driftguard_langgraph.cli.drift.memory_render import render_history

    return render_history(exchanges)


def _set_frozen(file: Path, *, frozen: bool, as_json: bool) -> None:
    memory = _opened(file)
    changed = memory.document["context_frozen"] is not frozen
    if changed:
        memory.commit({"do": "freeze", "frozen": frozen})
    state = "frozen" if frozen else "not frozen"
    line = f"{file}: the context is {state}{' now' if changed else ' already'}"
    _tell({"file": str(file), "context_frozen": frozen, "changed": changed}, line, as_json)


def _confirmed(question: str) -> bool:
    try:
        return typer.confirm(question, err=True)
    except typer.Abort as error:
        if isinstance(error.__context__, KeyboardInterrupt):
            raise
        raise ConfigurationError("nobody answered: give --yes to delete without asking.") from None


def _tell(report: dict[str, Any], line: str, as_json: bool) -> None:
    if as_json:
        console.print_json(report)
    else:
        typer.echo(line)
