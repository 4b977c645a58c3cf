"""Write `docs/cli.md`: every command, from the commands themselves.

Usage: cli_reference.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from typer.main import get_group

from driftguard_langgraph.cli.app import app
from driftguard_langgraph.cli.manual import Manual, Row, manual_of, walk

PAGE = Path(__file__).resolve().parents[1] / "docs" / "cli.md"

HEAD = """\
<!-- Written by scripts/cli_reference.py. -->
# The command line

For looking a command up: what it does, what it takes, and how it ends. `driftguard COMMAND
--help` says the same in the terminal.

Answers go to stdout; warnings, progress and errors go to stderr. Progress is shown on a terminal
only. An error is one line; with `--debug`, anywhere in the line, its traceback stands above it.
Colours are left out where stdout is no terminal or `NO_COLOR` is set.

With `--json` a command that ends with 0, 1 or 3 has printed one JSON document on stdout. With any
other exit code nothing is there, and stderr says in one line what is wrong.

```bash
driftguard record "delete the temp directory" "build cache was wiped" "slow build" --json
driftguard review "wipe the tmp folder" --policy block --json   # exit code 3
driftguard stats --json
```"""

COMPLETION = """\
## Completion in the shell

```text
driftguard --install-completion
```

lets your shell complete commands, options, and values such as policies, formats and the
namespaces of the memory; it writes a script and has your shell's start-up file read it. Name the
shell where `SHELL` is not set: `bash`, `zsh`, `fish`, `powershell` or `pwsh`.
`driftguard --show-completion bash` prints the script and changes nothing."""


def render() -> str:
    """Return the page."""
    return "\n".join((HEAD, *_lines())).rstrip() + "\n"


def _lines() -> Iterator[str]:
    program = walk(get_group(app), "driftguard")
    [manual, *others] = [manual_of(command, path) for path, command in program]
    yield from _table("Exit codes", ("code", "meaning"), manual.exit_codes)
    yield from _table("Options of the program", ("option", "meaning"), manual.options)
    yield from ("", *COMPLETION.splitlines())
    for title, rows in manual.panels.items():
        yield from ("", f"## {title}")
        for row in rows:
            for each in others:
                if f"{each.path} ".startswith(f"{manual.path} {row.name} "):
                    yield from _command(each)


def _command(manual: Manual) -> Iterator[str]:
    depth = manual.path.count(" ")
    yield from ("", f"{'#' * (2 + depth)} {manual.path}", "", manual.summary)
    for text in manual.paragraphs:
        yield from ("", text)
    yield from ("", "```text", f"{manual.path} {manual.usage}", "```")
    rows = (*manual.arguments, *(row for row in manual.options if not row.name.startswith("-h")))
    yield from _table("", ("takes", "meaning"), rows)
    yield from _table("", ("exit code", "meaning"), manual.exit_codes)
    yield from ("", "```text", *manual.examples, "```")


def _table(title: str, head: tuple[str, str], rows: Sequence[Row]) -> Iterator[str]:
    if not rows:
        return
    yield from ("", f"## {title}", "") if title else ("",)
    yield from (f"| {' | '.join(head)} |", "|---|---|")
    for row in rows:
        text = row.text.replace("|", "\\|")
        yield f"| `{row.name}` | {text} |"


def main() -> None:
    """Write the page."""
    PAGE.write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()
