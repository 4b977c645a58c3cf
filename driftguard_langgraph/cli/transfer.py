"""The commands that move and erase memory: `export`, `import`, `reembed`, `forget`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from driftguard_langgraph.cli import console, options, outfile
from driftguard_langgraph.errors import ConfigurationError


def export(
    file: Annotated[Path, typer.Argument(help="JSONL file to write, readable by you only.")],
    namespace: options.Namespace = None,
    db: options.Db = None,
    force: options.Force = False,
) -> None:
    """Write the memory to a file that any backend can import.

    Everybody's memory, or that of one --namespace. Example: driftguard export memory.jsonl
    """
    from driftguard_langgraph.cli.progress import bars

    outfile.check_free(file, "FILE", force=force)
    with options.open_guard(db, namespace, must_exist=True) as guard, bars() as show:
        whose = guard.namespace if namespace else None
        names = guard.store.namespaces() if whose is None else [whose]
        total = sum(guard.stats(namespace=name)["episodes"] for name in names)
        written = guard.export_jsonl(
            file, namespace=whose, on_progress=lambda done: show("writing", done, max(total, done))
        )
    typer.echo(f"{written} episodes written to {file}")


def import_memory(
    file: Annotated[Path, typer.Argument(help="A file of `driftguard export`.")],
    db: options.Db = None,
    as_json: options.AsJson = False,
) -> None:
    """Read an exported file into the memory; doing it again adds nothing.

    Every text is embedded anew. Example: driftguard import memory.jsonl
    """
    from driftguard_langgraph.cli.progress import bars

    try:
        with file.open("rb") as opened:
            total = sum(1 for _ in opened)
    except OSError as error:
        raise ConfigurationError(f"{file}: cannot be read ({error}).") from None
    with options.open_guard(db, None) as guard, bars() as show:
        report = guard.import_jsonl(file, on_progress=lambda done: show("reading", done, total))
    if as_json:
        console.print_json(report)
        return
    typer.echo(
        f"{report['stored']} episodes imported, {report['duplicates']} were there already; "
        f"{report['runs']} verdicts about runs"
    )


def reembed(db: options.Db = None) -> None:
    """Embed every kept text anew with the model of the settings.

    Example: driftguard reembed
    """
    from driftguard_langgraph.cli.progress import bars

    with options.open_guard(db, None, must_exist=True) as guard, bars() as show:
        count = guard.reembed(
            on_progress=lambda done, total: show("embedding", min(done, total), total)
        )
    typer.echo(f"{count} texts embedded anew")


def forget(
    episode_id: Annotated[str | None, typer.Argument(help="The episode to erase.")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Erase all that the namespace holds.")
    ] = False,
    namespace: options.Namespace = None,
    db: options.Db = None,
) -> None:
    """Erase an episode, or the whole memory of a namespace, from the files as well.

    Example: driftguard forget --all --namespace acme --namespace user-7
    """
    if (episode_id is None) != everything:
        raise ConfigurationError("name one EPISODE_ID, or give --all.")
    with options.open_guard(db, namespace, must_exist=True) as guard:
        gone = guard.forget(guard.namespace if episode_id is None else episode_id)
    typer.echo(f"{gone} episodes erased")
