"""What the drift commands have in common: options, settings, and where a report goes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftguard_langgraph.cli import console, options
from driftguard_langgraph.errors import ConfigurationError

if TYPE_CHECKING:
    from driftguard_langgraph.settings import DriftGuardSettings

MODES = ("cumulative", "sliding-window")

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="Conversations: Claude Code, Codex, message logs, or text with speakers.",
    ),
]
BaselineFile = Annotated[
    Path | None,
    typer.Option("--baseline", metavar="FILE", help="The system prompt, as text."),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write the JSON report there, too."),
]


def drift_settings(**chosen: Any) -> DriftGuardSettings:
    """Return the settings of the environment with the options that were given.

    Args:
        **chosen: Value of a `drift_*` setting, or None where its option was not given.

    Raises:
        ConfigurationError: An option or a variable is out of range.
    """
    from driftguard_langgraph.settings import DriftGuardSettings

    mode = chosen.get("drift_mode")
    if mode not in (None, *MODES):
        raise ConfigurationError(f"--mode {mode!r} is unknown: use {' or '.join(MODES)}.")
    options.load_settings()
    given = {name: value for name, value in chosen.items() if value is not None}
    return DriftGuardSettings(**given)


def baseline_text(path: Path | None) -> str | None:
    """Return the text of `--baseline`, None if it is not given.

    Raises:
        ConfigurationError: It cannot be read, or is empty.
    """
    if path is None:
        return None
    try:
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise ConfigurationError(f"--baseline {path}: cannot be read ({error.strerror}).") from None
    if not text.strip():
        raise ConfigurationError(f"--baseline {path}: it is empty; give the system prompt.")
    return text


def check_output(
    output: Path | None, inputs: list[Path], *, force: bool, option: str = "--output"
) -> None:
    """Raise `ConfigurationError` if a report cannot be written; ask before the long work.

    Args:
        output: Where it shall go, if anywhere.
        inputs: Files that it must not replace, whatever `force` says.
        force: Whether it may replace another file.
        option: The option that names it.
    """
    from driftguard_langgraph._files import check_free

    if output is None:
        return
    if any(each.exists() and output.exists() and output.samefile(each) for each in inputs):
        raise ConfigurationError(f"{option} {output}: that is the input; name another file.")
    check_free(output, option, force=force)


def write_report(output: Path | None, report: Any, *, force: bool) -> None:
    """Write a report as JSON, if it shall go anywhere.

    Raises:
        ConfigurationError: It cannot be written.
    """
    import json

    from driftguard_langgraph._files import write_text

    if output is not None:
        write_text(output, json.dumps(report, indent=2) + "\n", "--output", force=force)


def show(report: Any, *, as_json: bool, rendered: Any) -> None:
    """Print a report: as JSON, or what `rendered()` returns."""
    if as_json:
        console.print_json(report)
    else:
        console.out().print(rendered())
