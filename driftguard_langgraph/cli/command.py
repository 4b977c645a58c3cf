"""How every command shows its help, and how the program answers what goes wrong."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from driftguard_langgraph.cli import completion, console
from driftguard_langgraph.cli.manual import manual_of, walk
from driftguard_langgraph.errors import DriftGuardError

DEBUG = "--debug"

NEAR = 0.6
"""Similarity from which on a verb may be what was meant."""


class Verb(TyperCommand):
    """A command with the help of `help_page`."""

    def get_help(self, ctx: Any) -> str:
        """Return the help as text for the terminal."""
        from driftguard_langgraph.cli.help_page import render

        return render(manual_of(self, ctx.command_path))


class Verbs(TyperGroup):
    """A group of commands: without one it shows its help, a misspelt one gets a suggestion."""

    def get_help(self, ctx: Any) -> str:
        """Return the help as text for the terminal."""
        from driftguard_langgraph.cli.help_page import render

        return render(manual_of(self, ctx.command_path))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Show the help when no command is named."""
        if not args and not ctx.resilient_parsing:
            typer.echo(self.get_help(ctx), err=True)
            raise typer.Exit(console.EXIT_BAD_INPUT)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is named, or say which one was meant."""
        if args[0] not in self.commands and not ctx.resilient_parsing:
            ctx.fail(_unknown(args[0], ctx))
        return super().resolve_command(ctx, args)


class Program(Verbs):
    """The whole program: every error is one line on stderr and a documented exit code."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command line; ends the process unless `standalone_mode` is off.

        Args:
            args: The command line behind the name of the program, None for the process's own.
            prog_name: Name of the program.
            complete_var: Variable through which a shell asks for completions.
            standalone_mode: Whether to answer errors and end the process.
            windows_expand_args: Whether to expand patterns where the shell does not.
            **extra: Handed to the context.

        Raises:
            SystemExit: Always with `standalone_mode`, with the exit code.
        """
        given = list(sys.argv[1:] if args is None else args)
        run = super().main
        if not standalone_mode:
            return run(given, prog_name, complete_var, False, windows_expand_args, **extra)
        if completion.VARIABLE in os.environ:
            completion.learn_shells()
        try:
            given = _arranged(given)
            done = run(given, prog_name, complete_var, False, windows_expand_args, **extra)
            code: Any = done if isinstance(done, int) else 0
            sys.stdout.flush()
        except SystemExit as error:
            # Typer answers a closed pipe itself, with a code that means something else here.
            code = error.code
            if isinstance(error.__context__, BrokenPipeError):
                code = _answered(error.__context__, debug=False)
        except Exception as error:  # noqa: BLE001
            code = _answered(error, debug=DEBUG in given[:1])
        if code == console.EXIT_INTERRUPTED:
            console.fail("interrupted")
        sys.exit(code)


def _arranged(given: list[str]) -> list[str]:
    """Let `--debug` stand anywhere, and name the shell where the user's own one is meant."""
    end = given.index("--") if "--" in given else len(given)
    if DEBUG in given[:end]:
        given = [DEBUG, *(each for each in given[:end] if each != DEBUG), *given[end:]]
    if given and given[-1] in completion.OPTIONS:
        return [*given, completion.users_shell()]
    return given


def _answered(error: Exception, *, debug: bool) -> int:
    if isinstance(error, BrokenPipeError):
        _leave_stdout()
        return console.EXIT_CLOSED_PIPE
    if debug:
        traceback.print_exception(error)
    if isinstance(error, typer.Abort):
        return console.EXIT_INTERRUPTED
    if isinstance(error, DriftGuardError):
        console.fail(str(error))
        return console.EXIT_BAD_INPUT
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        _leave_stdout()
        console.fail("there is no room on the disk for what was to be written. Make room.")
        return console.EXIT_BAD_INPUT
    if hasattr(error, "format_message"):
        ctx = getattr(error, "ctx", None)
        said = error.format_message()
        said = said[:1].lower() + said[1:]
        stop = "" if said.endswith((".", "?", "!")) else "."
        more = f" See {ctx.command_path} --help." if ctx is not None else ""
        console.fail(f"{said}{stop}{more}")
        return console.EXIT_BAD_INPUT
    console.fail(f"unexpected {type(error).__name__}: {error} (--debug shows where)")
    return console.EXIT_BUG


def _leave_stdout() -> None:
    """Send nowhere what is still in the buffer: it would fail once more when Python ends."""
    if sys.__stdout__ is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())


def _unknown(verb: str, ctx: Any) -> str:
    """Say that there is no such command, and which one was meant."""
    root = ctx.find_root()
    paths = [path for path, _ in walk(root.command, root.command_path)]
    by_word: dict[str, list[str]] = {}
    for path in paths[1:]:
        by_word.setdefault(path.rpartition(" ")[2], []).append(path)
    near = get_close_matches(verb, by_word, cutoff=NEAR)
    meant = [path for word in near for path in by_word[word]]
    # Those of the group at hand come first; `sorted` keeps the order of likeness among them.
    meant = sorted(meant, key=lambda path: not path.startswith(f"{ctx.command_path} "))[:3]
    if not meant:
        return f"there is no command {verb!r}"
    return f"there is no command {verb!r}; did you mean {' or '.join(meant)}?"
