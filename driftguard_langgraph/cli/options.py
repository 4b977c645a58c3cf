"""Options that several commands share, and the guard they open."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftguard_langgraph.cli import completion, console
from driftguard_langgraph.errors import ConfigurationError

if TYPE_CHECKING:
    from driftguard_langgraph.guard import DriftGuard
    from driftguard_langgraph.settings import DriftGuardSettings

Db = Annotated[
    Path | None,
    typer.Option("--db", metavar="PATH", help="SQLite file of the memory, instead of the set one."),
]
Namespace = Annotated[
    list[str] | None,
    typer.Option(
        "--namespace",
        "-n",
        metavar="PART",
        autocompletion=completion.namespaces,
        help="Whose memory; repeat it for each part of the name.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there already.")]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        autocompletion=completion.one_of(completion.run_formats),
        help="What the runs are: steps, openai, langchain, langsmith, claude-code or "
        "checkpoints; told by the content if left out.",
    ),
]
Policy = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="NAME",
        autocompletion=completion.one_of(completion.policies),
        help="warn, block, acknowledge, speed_bump or record_only; that of the settings if left "
        "out.",
    ),
]
Severity = Annotated[
    str,
    typer.Option(
        "--severity",
        metavar="NAME",
        autocompletion=completion.one_of(completion.severities),
        help="low, medium, high or critical.",
    ),
]
Tool = Annotated[
    str | None,
    typer.Option("--tool", metavar="NAME", help="The step is a call of this tool, not words."),
]
Args = Annotated[
    str | None, typer.Option("--args", metavar="JSON", help="Arguments of the tool call.")
]


def load_settings(db: Path | None = None) -> DriftGuardSettings:
    """Return the settings of the environment, with the memory in `db` if one is given.

    Raises:
        ConfigurationError: A `DRIFTGUARD_*` variable is unknown or out of range.
    """
    from driftguard_langgraph.settings import DriftGuardSettings

    chosen = {} if db is None else {"storage_backend": "sqlite", "sqlite_filepath": db}
    settings = DriftGuardSettings(**chosen)
    console.log_to_stderr(settings.log_level)
    return settings


@contextmanager
def open_guard(
    db: Path | None,
    namespace: Sequence[str] | None,
    *,
    must_exist: bool = False,
    must_answer: bool = False,
) -> Iterator[DriftGuard]:
    """Open a guard on the memory that the options name; it holds nothing out.

    Args:
        db: SQLite file, or None for the settings' one.
        namespace: Parts of the namespace, or None for the default one.
        must_exist: Refuse a `db` that is not there, instead of beginning it.
        must_answer: Raise when the memory fails, whatever `on_store_error` says.

    Raises:
        ConfigurationError: A setting is wrong, or `db` is missing and must not be.
        StoreError: The memory cannot be opened.
    """
    from driftguard_langgraph.guard import DriftGuard

    # What is asked here is not settled later, so a silent warning would teach nothing.
    closed = {"on_store_error": "closed"} if must_answer else {}
    settings = load_settings(db).model_copy(update={"holdout": 0.0, **closed})
    if must_exist and db is not None and not db.exists():
        raise ConfigurationError(f"{db}: no memory there. Correct --db, or record something first.")
    chosen: dict[str, Any] = {"namespace": tuple(namespace)} if namespace else {}
    with DriftGuard(settings=settings, **chosen) as guard:
        yield guard


def tool_call(tool: str | None, args: str | None) -> dict[str, Any] | None:
    """Return the tool call that `--tool` and `--args` describe, None without `--tool`.

    Raises:
        ConfigurationError: `--args` is no JSON object, or is given without `--tool`.
    """
    if tool is None:
        if args is not None:
            raise ConfigurationError("--args needs --tool NAME.")
        return None
    try:
        parsed = json.loads(args) if args is not None else {}
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"--args is not JSON: {error}.") from None
    if not isinstance(parsed, dict):
        raise ConfigurationError('--args must be a JSON object, for example \'{"path": "tmp"}\'.')
    return {"name": tool, "args": parsed}
