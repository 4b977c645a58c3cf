"""Run the notebooks and write their outputs into them, the same ones at every run.

Each is run by a kernel of its own, in an empty folder, without the user's memory, settings and
keys. Of what it shows, ids, addresses and the day of the run are replaced by fixed ones, so that
a run leaves no change behind unless something has changed.

With `--check` nothing is written: the words that a notebook shows now are compared with those
that it keeps. Numbers and pictures are not: processors and fonts differ. What a number has to be,
an `assert` of the notebook says.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError
from traitlets.config import Config

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "notebooks"
TIMEOUT_SECONDS = 300
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"file_extension": ".py", "mimetype": "text/x-python", "name": "python"},
}
PRIVATE = re.compile(r"^(DRIFTGUARD_|PG|.*_API_KEY$)")
"""Variables of the user's that must not change what a notebook shows."""

ID = re.compile(r"\b[0-9a-f]{32}\b")
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
CLOCK = r"(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:\+00:00|Z)?)?"
A_DAY = "2026-01-01"
TAG = re.compile(r"<[^<>]*>")
NUMBER = re.compile(r"\d+(?:\.\d+)?|\s+")
MACHINE = re.compile(r"/(?:home|Users|root|private|var/folders)/|site-packages|[A-Z]:\\\\?Users")
STYLED = re.compile(r"\x1b\[[\d;]*m")
MOST_OF_AN_ERROR = 3000
RICH = {"image/png", "image/svg+xml", "text/html"}

Notebook = Any


def main(arguments: list[str]) -> int:
    """Run the notebooks that are named, or all; return 1 if there is anything wrong with one.

    Args:
        arguments: Of the command line.
    """
    parser = argparse.ArgumentParser(description="Run the notebooks and write their outputs.")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    parser.add_argument("notebooks", nargs="*", type=Path, default=sorted(FOLDER.glob("*.ipynb")))
    asked = parser.parse_args(arguments)
    # Should its cache of fonts have to be built, then not with a warning in a notebook.
    importlib.import_module("matplotlib.font_manager")
    went_well = [refreshed(path, check=asked.check) for path in asked.notebooks]
    return int(not all(went_well))


def refreshed(path: Path, *, check: bool) -> bool:
    """Run one notebook, say how that went, and return whether it went well.

    Args:
        path: Its file, which gets the outputs.
        check: Compare the outputs with the file in place of writing them.
    """
    kept = nbformat.read(path, as_version=4)
    now = nbformat.from_dict(kept)
    problems = list(run(now)) or list(dubious(now)) or (list(stale(kept, now)) if check else [])
    if not problems and not check:
        nbformat.write(now, path)
    print(f"{path.stem}: {'; '.join(problems) or 'ok'}", flush=True)
    return not problems


def run(notebook: Notebook) -> Iterator[str]:
    """Execute a notebook where it is and tidy what it shows; yield what went wrong.

    Args:
        notebook: Gets the outputs.
    """
    environment = {name: value for name, value in os.environ.items() if not PRIVATE.match(name)}
    notebook.metadata = nbformat.from_dict(METADATA)
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory() as own:
        environment["IPYTHONDIR"] = f"{own}/ipython"
        # A port that is free now may be another's by the time the kernel takes it.
        channels = {"transport": "ipc", "ip": f"{own}/kernel"}
        client = NotebookClient(
            notebook,
            timeout=TIMEOUT_SECONDS,
            startup_timeout=TIMEOUT_SECONDS,
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": place}},
            config=Config({"KernelManager": channels if os.name == "posix" else {}}),
        )
        try:
            client.execute(env=environment)
        except (CellExecutionError, DeadKernelError, TimeoutError) as error:
            yield STYLED.sub("", str(error))[-MOST_OF_AN_ERROR:]
            return
        left = sorted(found.name for found in Path(place).iterdir())
    if left:
        yield f"it leaves files in its folder: {', '.join(left)}"
    tidy(notebook)


def tidy(notebook: Notebook) -> None:
    """Replace in the outputs what would be another at the next run.

    Args:
        notebook: One that was executed.
    """
    ids: dict[str, str] = {}
    today = re.compile(re.escape(datetime.now(UTC).date().isoformat()) + CLOCK)

    def fixed(text: str) -> str:
        text = ID.sub(lambda found: ids.setdefault(found[0], f"{len(ids) + 1:032x}"), text)
        return today.sub(A_DAY, ADDRESS.sub("0x0", text))

    for _, output in outputs(notebook):
        data = output.get("data", {})
        if RICH & data.keys():
            # Seen only where neither page nor picture can be, and long: the type must do.
            data["text/plain"] = data["text/plain"].partition("(")[0]
        replace_texts(output, fixed)


def replace_texts(output: Any, change: Callable[[str], str]) -> None:
    """Change every text of one output.

    Args:
        output: The output.
        change: What to make of a text.
    """
    if "text" in output:
        output["text"] = change(output["text"])
    for kind, shown in output.get("data", {}).items():
        if isinstance(shown, str) and kind != "image/png":
            output["data"][kind] = change(shown)


def outputs(notebook: Notebook) -> Iterator[tuple[int, Any]]:
    """Yield each output of a notebook with the number of its cell, from 1.

    Args:
        notebook: Any.
    """
    for number, cell in enumerate(notebook.cells, 1):
        for output in cell.get("outputs", ()):
            yield number, output


def dubious(notebook: Notebook) -> Iterator[str]:
    """Yield what must not be in the outputs: errors, warnings, paths of this machine.

    Args:
        notebook: One that was executed.
    """
    own = (str(ROOT), f"{Path.home()}{os.sep}", str(Path(tempfile.gettempdir(), "tmp")))
    for number, output in outputs(notebook):
        if output["output_type"] == "error" or output.get("name") == "stderr":
            yield f"cell {number}: {output.get('text') or output.get('evalue')}"
        for text in texts(output):
            if MACHINE.search(text) or any(place in text for place in own):
                yield f"cell {number} shows a path of this machine: {text[:300]}"


def texts(output: Any) -> Iterator[str]:
    """Yield the texts of one output.

    Args:
        output: The output.
    """
    yield output.get("text", "")
    yield from (
        shown
        for kind, shown in sorted(output.get("data", {}).items())
        if isinstance(shown, str) and kind != "image/png"
    )


def stale(kept: Notebook, now: Notebook) -> Iterator[str]:
    """Yield the cells that show other words than the notebook keeps.

    Args:
        kept: As it is in its file.
        now: As it was just executed.
    """
    before, after = words(kept), words(now)
    for number in sorted({*before, *after}):
        if before.get(number) != after.get(number):
            yield (
                f"cell {number} keeps what the code does not show any more, run `make "
                f"notebooks`:\n  kept: {before.get(number)}\n  now:  {after.get(number)}"
            )


def words(notebook: Notebook) -> dict[int, list[str]]:
    """Return what each cell shows, as words without numbers; a picture as its type.

    Args:
        notebook: One with outputs.
    """
    shown: dict[int, list[str]] = {}
    for number, output in outputs(notebook):
        kinds = ", ".join(sorted(RICH & output.get("data", {}).keys()))
        told = NUMBER.sub(" ", TAG.sub(" ", " ".join(texts(output))))
        shown.setdefault(number, []).append(f"{kinds} {told}".strip())
    return shown


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
