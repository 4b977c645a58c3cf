"""The command `demo`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from driftguard_langgraph.cli import console, options
from driftguard_langgraph.errors import ConfigurationError

if TYPE_CHECKING:
    from driftguard_langgraph.cli.demo.expectations import Story
    from driftguard_langgraph.cli.demo.scenario import Phase

DEFAULT_MODEL = "gpt-4o-mini"
"""Small, cheap, and on OpenAI's current list of models."""


def demo(
    db: Annotated[
        Path | None,
        typer.Option("--db", metavar="PATH", help="Keep the memory in this new SQLite file."),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the temporary memory and say where it is.")
    ] = False,
    llm: Annotated[
        bool,
        typer.Option("--llm", help="Let ChatOpenAI plan run 2 (needs OPENAI_API_KEY)."),
    ] = False,
    model: Annotated[
        str, typer.Option(metavar="NAME", help="Chat model for --llm.")
    ] = DEFAULT_MODEL,
    as_json: options.AsJson = False,
    phase: Annotated[str | None, typer.Option(hidden=True)] = None,
) -> None:
    """Watch an agent fail, remember, be warned and do better.

    Run 1 fails and records. Run 2, a new process, proposes the same steps in other words, is
    warned with the evidence, revises and succeeds; look-alikes are not stopped. In run 3 a
    false summary works against the agent's rules: the alarm is raised, a scaffold brings it
    back, and without one it stays astray. No model is called without --llm.

    Exit code 1 if any of that did not happen.

    Example: driftguard demo
    Example: driftguard demo --db demo.sqlite3
    """
    chosen_model = model if llm else None
    if phase is not None:
        _run_here(phase, db, chosen_model)
        return
    if llm:
        from driftguard_langgraph.cli.demo.planners import check_llm

        check_llm()
    options.load_settings()
    with _memory_file(db, keep=keep, quiet=as_json) as path:
        story = _tell(path, chosen_model, quiet=as_json)
    held = _conclude(story, as_json=as_json)
    if db is not None and not as_json:
        typer.echo(f'Ask it yourself: driftguard review "wipe the tmp folder" --db {db}')
    if not held:
        raise typer.Exit(console.EXIT_NOT_HELD)


def _run_here(phase: str, db: Path | None, model: str | None) -> None:
    from driftguard_langgraph.cli.demo.phase import run_phase
    from driftguard_langgraph.cli.demo.recovery import run_recovery

    if phase == "recovery":
        print(json.dumps(run_recovery()))
        return
    if phase not in ("first", "second") or db is None:
        raise ConfigurationError("--phase is for the demo's own processes.")
    print(json.dumps(run_phase(cast("Phase", phase), db, model=model)))


@contextmanager
def _memory_file(db: Path | None, *, keep: bool, quiet: bool) -> Iterator[Path]:
    if db is not None:
        if db.exists():
            raise ConfigurationError(
                f"{db} exists: the demo begins with an empty memory and leaves others' alone. "
                "Give --db a new file."
            )
        yield db
        return
    folder = Path(tempfile.mkdtemp(prefix="driftguard-demo-"))
    if not quiet:
        typer.echo(f"memory: {folder / 'memory.sqlite3'}{'' if keep else ' (removed at the end)'}")
    try:
        yield folder / "memory.sqlite3"
    finally:
        if not keep:
            shutil.rmtree(folder)


def _tell(db: Path, model: str | None, *, quiet: bool) -> Story:
    from driftguard_langgraph.cli.demo import recovery_story, story
    from driftguard_langgraph.cli.demo.expectations import Story
    from driftguard_langgraph.cli.demo.snapshot import snapshot

    screen = console.out()
    screen.quiet = quiet
    before = snapshot(db)
    story.show_memory(screen, "Memory before run 1", before)
    first = _run_elsewhere("first", db, model)
    story.show_run(screen, "Run 1", first)
    between = snapshot(db)
    story.show_memory(screen, "Memory between the runs", between)
    second = _run_elsewhere("second", db, model)
    story.show_run(screen, f"Run 2{f', planned by {model}' if model else ''}", second)
    after = snapshot(db)
    story.show_memory(screen, "Memory after run 2", after)
    third = _run_elsewhere("recovery")
    recovery_story.show_recovery(screen, third)
    return Story((before, between, after), first, second, third, scripted=model is None)


def _run_elsewhere(
    phase: Phase | Literal["recovery"], db: Path | None = None, model: str | None = None
) -> dict[str, Any]:
    """Run a phase in a new process and return its report; its failure becomes ours."""
    command = [sys.executable, "-m", "driftguard_langgraph.cli", "demo", "--phase", phase]
    command += ["--db", str(db)] if db is not None else []
    command += ["--llm", "--model", model] if model is not None else []
    with console.err().status(f"run {phase}: the agent is at work"):
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    sys.stderr.write(done.stderr)
    if done.returncode:
        raise typer.Exit(done.returncode)
    return cast("dict[str, Any]", json.loads(done.stdout))


def _conclude(story: Story, *, as_json: bool) -> bool:
    from driftguard_langgraph.cli.demo.expectations import check
    from driftguard_langgraph.cli.demo.story import show_expectations

    checks = check(story)
    if as_json:
        memories = dict(zip(("before", "between", "after"), story.memories, strict=True))
        console.print_json(
            {
                "memory": memories,
                "first": story.first,
                "second": story.second,
                "third": story.third,
                "expectations": [found.to_dict() for found in checks],
            }
        )
    else:
        show_expectations(console.out(), checks)
    return all(found.held for found in checks)
