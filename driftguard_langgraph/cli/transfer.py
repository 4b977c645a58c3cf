"""The commands that move and erase memory: `export`, `import`, `reembed`, `forget`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from driftguard_langgraph._files import check_free
from driftguard_langgraph.cli import completion, console, options
from driftguard_langgraph.cli.console import counted
from driftguard_langgraph.errors import ConfigurationError

ORIGINS = ("auto", "driftguard", "driftguard-ai", "te-drift-detector", "context-drift-analyzer")
"""What `--from` takes; `driftguard` is a file of `driftguard export`."""

KINDS = ("mistake", "success")

From = Annotated[
    str,
    typer.Option(
        "--from",
        metavar="NAME",
        autocompletion=completion.one_of(lambda: ORIGINS),
        help="Who wrote the file: driftguard (export), driftguard-ai, te-drift-detector or "
        "context-drift-analyzer; auto tells it by the content.",
    ),
]
KindOption = Annotated[
    str | None,
    typer.Option(
        "--kind",
        metavar="NAME",
        autocompletion=completion.one_of(lambda: KINDS),
        help="mistake or success: what a graph of driftguard-ai holds; needed where the file "
        "does not have the name that driftguard-ai gave it.",
    ),
]
To = Annotated[
    Path | None,
    typer.Option(
        "--to",
        metavar="PATH",
        help="File to write: sessions of context-drift-analyzer, or a report of "
        "te-drift-detector beside what is measured here.",
    ),
]
Log = Annotated[
    Path | None,
    typer.Option(
        "--log",
        metavar="FILE",
        help="The session that a report of te-drift-detector was made of, to be measured anew.",
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what would come; keep and write nothing.")
]


def export(
    file: Annotated[Path, typer.Argument(help="JSONL file to write, readable by you only.")],
    namespace: options.Namespace = None,
    db: options.Db = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
) -> None:
    """Write the memory to a file that any backend can import.

    Everybody's memory, or that of one --namespace.

    Example: driftguard export memory.jsonl
    Example: driftguard export ann.jsonl --namespace acme --namespace ann
    """
    from driftguard_langgraph.cli.progress import bars

    check_free(file, "FILE", force=force)
    with options.open_guard(db, namespace, must_exist=True) as guard, bars() as show:
        whose = guard.namespace if namespace else None
        names = guard.store.namespaces() if whose is None else [whose]
        total = sum(guard.stats(namespace=name)["episodes"] for name in names)
        written = guard.export_jsonl(
            file, namespace=whose, on_progress=lambda done: show("writing", done, max(total, done))
        )
    if as_json:
        console.print_json({"file": str(file), "episodes": written})
        return
    typer.echo(f"{counted(written, 'episode')} written to {file}")


def import_memory(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="The file; for tables of driftguard-ai the connection string of PostgreSQL.",
        ),
    ],
    origin: From = "auto",
    kind: KindOption = None,
    to: To = None,
    log: Log = None,
    namespace: options.Namespace = None,
    db: options.Db = None,
    dry_run: DryRun = False,
    force: options.Force = False,
    as_json: options.AsJson = False,
) -> None:
    """Take over what `driftguard export` or another package wrote.

    Exported files and graphs of driftguard-ai (JSON, SQLite, PostgreSQL) go into the memory, and
    every text is embedded anew. A .session_memory of context-drift-analyzer becomes the file
    --to, which DriftTracker goes on with. A report of te-drift-detector holds no text: it is
    checked and counted, and with --log the session that it was made of is measured here as well.

    The whole file is read before anything is kept; what it cannot tell is counted. Doing it
    again adds nothing.

    Example: driftguard import memory.jsonl
    Example: driftguard import driftguard_graph.json --dry-run
    Example: driftguard import old.sqlite3 --from driftguard-ai --kind success
    Example: driftguard import .session_memory --to sessions.json
    """
    from driftguard_langgraph.cli import importing

    if origin not in ORIGINS:
        raise ConfigurationError(f"--from {origin!r} is unknown: use {', '.join(ORIGINS)}.")
    if kind is not None and kind not in KINDS:
        raise ConfigurationError(f"--kind {kind!r} is unknown: use {' or '.join(KINDS)}.")
    given = importing.Given(
        file=file,
        kind=kind,
        to=to,
        log=log,
        namespace=namespace,
        db=db,
        dry_run=dry_run,
        force=force,
    )
    answer = importing.run(given, origin)
    if as_json:
        console.print_json(answer.report)
        return
    for line in answer.lines:
        typer.echo(line)


def reembed(db: options.Db = None, as_json: options.AsJson = False) -> None:
    """Embed every kept text anew with the model of the settings.

    Example: driftguard reembed
    """
    from driftguard_langgraph.cli.progress import bars

    with options.open_guard(db, None, must_exist=True) as guard, bars() as show:
        count = guard.reembed(
            on_progress=lambda done, total: show("embedding", min(done, total), total)
        )
    if as_json:
        console.print_json({"texts": count})
        return
    typer.echo(f"{counted(count, 'text')} embedded anew")


def forget(
    episode_id: Annotated[str | None, typer.Argument(help="The episode to erase.")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Erase all that the namespace holds.")
    ] = False,
    namespace: options.Namespace = None,
    db: options.Db = None,
    as_json: options.AsJson = False,
) -> None:
    """Erase an episode, or all that a namespace holds.

    It is gone from the files as well.

    Example: driftguard forget 3f2b9c
    Example: driftguard forget --all --namespace acme --namespace user-7
    """
    from driftguard_langgraph.cli.progress import working

    if (episode_id is None) != everything:
        raise ConfigurationError("name one EPISODE_ID, or give --all.")
    with (
        options.open_guard(db, namespace, must_exist=True) as guard,
        working("erasing"),
    ):
        gone = guard.forget(guard.namespace if episode_id is None else episode_id)
    if as_json:
        console.print_json({"episodes": gone})
        return
    typer.echo(f"{counted(gone, 'episode')} erased")
