"""New processes that begin with what is slow to import, for pages and commands to run in.

Each is forked from a server that has only imported modules: nothing that one page did is left for
the next, and the imports are paid for once.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any, NamedTuple

PRELOADED = [
    "driftguard_langgraph.cli.app",
    "driftguard_langgraph.drift.monitor",
    "driftguard_langgraph.guard",
    "driftguard_langgraph.middleware",
    "driftguard_langgraph.nodes",
    "networkx",
    "onnxruntime",
    "simplemma",
    "tokenizers",
]
TIMEOUT_SECONDS = 300


class Finished(NamedTuple):
    """How a process ended, and all that it printed."""

    code: int | None
    output: str


@cache
def _context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    return context


def run_fresh(
    work: Callable[..., None], *arguments: Any, folder: Path, variables: dict[str, str]
) -> Finished:
    """Call a function of a module in a new process, in `folder`, and wait for its end.

    It finds the environment of this process, without keys, and with the given variables.
    """
    said = folder / "said.txt"
    said.touch()
    env = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    given = (work, arguments, folder, said, env | variables)
    process = _context().Process(target=_work, args=given)
    process.start()
    process.join(TIMEOUT_SECONDS)
    if process.exitcode is None:
        process.kill()
        process.join()
    return Finished(process.exitcode, said.read_text(encoding="utf-8", errors="replace"))


def _work(
    work: Callable[..., None],
    arguments: tuple[Any, ...],
    folder: Path,
    said: Path,
    env: Mapping[str, str],
) -> None:
    os.environ.clear()
    os.environ.update(env)
    os.chdir(folder)
    sys.path.insert(0, "")
    output = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    # The server's streams are of the test process that started it.
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
    warnings.filterwarnings("error", category=DeprecationWarning, module="__main__")
    try:
        work(*arguments)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
