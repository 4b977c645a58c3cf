"""What a command says of itself, as data: for its help and for the reference in the documentation.

A docstring is the source. Its first paragraph says what the command does. `Example: ...` gives
a line to type, and a paragraph `Exit code N if ...` says what one of its exit codes means.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from driftguard_langgraph.cli.console import EXIT_CODES

Command = TyperCommand | TyperGroup

_EXAMPLE = re.compile(r"(?:^|\s+)Example: ")
_EXIT_CODE = re.compile(r"Exit code (\d+) if (.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Row:
    """A name and what it stands for: an argument, an option, a command or an exit code.

    Attributes:
        name: What is typed, with the placeholder of its value.
        text: What it means.
    """

    name: str
    text: str


HELP = Row("-h, --help", "Show this message and exit.")


@dataclass(frozen=True, slots=True)
class Manual:
    """What a command says of itself.

    Attributes:
        path: The command as it is typed, for example `driftguard drift session`.
        usage: What follows it, for example `[OPTIONS] FILE...`.
        summary: One sentence.
        paragraphs: What else there is to say; plain text without line breaks.
        arguments, options: What it takes.
        panels: The commands of a group, by the title under which they stand.
        examples: Lines to type.
        exit_codes: Those that mean something of their own here; for the whole program all.
    """

    path: str
    usage: str
    summary: str
    paragraphs: tuple[str, ...]
    arguments: tuple[Row, ...]
    options: tuple[Row, ...]
    panels: dict[str, tuple[Row, ...]]
    examples: tuple[str, ...]
    exit_codes: tuple[Row, ...]


def manual_of(command: Command, path: str) -> Manual:
    """Return what a command says of itself.

    Args:
        command: The command, or a group of commands.
        path: How it is typed, from the name of the program on.
    """
    said, examples = _split(inspect.cleandoc(command.help or ""))
    codes = [found for text in said if (found := _EXIT_CODE.fullmatch(text))]
    plain = [text for text in said if not _EXIT_CODE.fullmatch(text)]
    is_program = " " not in path
    every = tuple(Row(str(code), text) for code, text in EXIT_CODES.items())
    own = tuple(Row(code[1], _sentence(code[2])) for code in codes)
    arguments = tuple(_argument(each) for each in command.params if _is_shown(each, TyperArgument))
    options = tuple(_option(each) for each in command.params if _is_shown(each, TyperOption))
    trailing = ["COMMAND ..."] if isinstance(command, TyperGroup) else [a.name for a in arguments]
    return Manual(
        path,
        " ".join(["[OPTIONS]", *trailing]),
        plain[0] if plain else "",
        tuple(plain[1:]),
        arguments,
        (*options, HELP),
        _panels(command),
        tuple(examples),
        every if is_program else own,
    )


def walk(command: Command, path: str) -> Iterator[tuple[str, Command]]:
    """Return every command that is not hidden with the way it is typed, groups before theirs.

    Args:
        command: Where to begin.
        path: How that is typed.
    """
    yield path, command
    if isinstance(command, TyperGroup):
        for name, each in command.commands.items():
            if not each.hidden and isinstance(each, TyperCommand | TyperGroup):
                yield from walk(each, f"{path} {name}")


def _split(text: str) -> tuple[list[str], list[str]]:
    said: list[str] = []
    examples: list[str] = []
    for paragraph in filter(None, text.split("\n\n")):
        first, *others = _EXAMPLE.split(" ".join(paragraph.split()))
        said += [first] if first else []
        examples += others
    return said, examples


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _is_shown(param: Any, kind: type) -> bool:
    return isinstance(param, kind) and not getattr(param, "hidden", False)


def _panels(command: Command) -> dict[str, tuple[Row, ...]]:
    panels: dict[str, tuple[Row, ...]] = {}
    if isinstance(command, TyperGroup):
        for name, each in command.commands.items():
            if each.hidden:
                continue
            title = getattr(each, "rich_help_panel", None) or "Commands"
            [summary, *_], _ = _split(inspect.cleandoc(each.help or "-"))
            panels[title] = (*panels.get(title, ()), Row(name, summary))
    return panels


def _argument(param: Any) -> Row:
    name = param.metavar or str(param.name).upper()
    if param.nargs != 1 and not name.endswith("...") and " " not in name:
        name += "..."
    if not param.required and not name.startswith("["):
        name = f"[{name}]"
    return Row(name, param.help or "")


def _option(param: Any) -> Row:
    names = ", ".join(sorted(param.opts, key=len))
    if param.secondary_opts:
        names = " / ".join((names, *param.secondary_opts))
    if not param.is_flag:
        names += f" {param.metavar or str(param.name).upper()}"
    return Row(names, " ".join(filter(None, (param.help, _default(param)))))


def _default(param: Any) -> str:
    if param.required:
        return "Required."
    unsaid = param.default is None or param.is_flag or not param.show_default
    return "" if unsaid else f"[default: {param.default}]"
