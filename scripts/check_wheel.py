"""Build the source archive and from it the wheel, and try the wheel where no source is.

In a new environment with the pinned runtime dependencies, and in an empty folder: what the wheel
holds, its metadata, the command, the demo, the first example of the README and the conformance
suite. Prints how long each step took; what was built and tried stays in `dist/`.

Usage: check_wheel.py
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "driftguard_langgraph"
DIST = ROOT / "dist"
REQUIREMENTS = ROOT / "requirements"
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")

SUITE = """\
from driftguard_langgraph import SqliteMemoryStore
from driftguard_langgraph.testing import memory_store_suite


def open_store(place):
    return SqliteMemoryStore.open(place / "memory.sqlite3")


TestMyStore = memory_store_suite(open_store, {"durable", "live", "locking", "files"})
"""
"""What a package with a store of its own runs."""


def run(*command: str | Path, folder: Path | None = None) -> str:
    """Run a command that must succeed and return what it printed.

    Raises:
        SystemExit: It failed; its output goes to the terminal.
    """
    # Neither this checkout nor settings of whoever runs this may help or hinder.
    env = {name: value for name, value in os.environ.items() if not name.startswith("DRIFTGUARD_")}
    env.pop("PYTHONPATH", None)
    done = subprocess.run(
        [str(each) for each in command],
        check=False,
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


@contextmanager
def step(what: str) -> Iterator[None]:
    """Say what is done and how many seconds it took."""
    began = time.monotonic()
    yield
    print(f"{time.monotonic() - began:6.1f} s  {what}", flush=True)


def expect(problem: object, what: str) -> None:
    """Stop unless there is no problem.

    Raises:
        SystemExit: There is one.
    """
    if problem:
        sys.exit(f"{what}: {problem}")


def check_contents(wheel: Path) -> None:
    """Compare what the wheel holds with the package, file by file, and read its metadata."""
    with ZipFile(wheel) as archive:
        held = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    source = {
        path.relative_to(ROOT).as_posix(): path.read_bytes()
        for path in (ROOT / PACKAGE).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    info = next(name for name in held if name.endswith(".dist-info/METADATA")).rpartition("/")[0]
    packed = {name: text for name, text in held.items() if not name.startswith(f"{info}/")}
    expect(sorted(packed.keys() ^ source.keys()), "only in the wheel or only in the package")
    expect([name for name, text in packed.items() if source[name] != text], "differs")
    expect(f"{PACKAGE}/py.typed" not in packed, "the wheel has no py.typed")
    expect(f"{info}/licenses/LICENSE" not in held, "the wheel has no licence")
    metadata = Parser().parsestr(held[f"{info}/METADATA"].decode())
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    expect(metadata.get_payload() != readme, "the description is not README.md")


def install(wheel: Path, place: Path) -> Path:
    """Return the `bin` folder of a new environment with the wheel, its pins and pytest."""
    venv.create(place)
    scripts = place / ("Scripts" if os.name == "nt" else "bin")
    pins = ("-r", REQUIREMENTS / "base.txt", "-c", REQUIREMENTS / "test.txt")
    options = ("--quiet", "--no-compile", *pins)
    run(*PIP, "--python", scripts / "python", "install", *options, "pytest", wheel)
    run(*PIP, "--python", scripts / "python", "check")
    return scripts


def try_out(scripts: Path, folder: Path) -> None:
    """Use the installed package as its readers do, from a folder without its source."""
    python, command = scripts / "python", scripts / "driftguard"
    with step("the package is the installed one, and the command knows its version"):
        where = run(python, "-c", f"import {PACKAGE}; print({PACKAGE}.__file__)", folder=folder)
        expect(not Path(where.strip()).is_relative_to(scripts.parent), f"imported {where}")
        said = run(command, "--version", folder=folder)
        expect(version() not in said, f"driftguard --version says {said!r}")
    with step("driftguard demo"):
        run(command, "demo", folder=folder)
    with step("the first example of the README"):
        (folder / "example.py").write_text(first_example(), encoding="utf-8")
        run(python, "example.py", folder=folder)
    with step("the conformance suite on the SQLite store"):
        (folder / "test_stores.py").write_text(SUITE, encoding="utf-8")
        told = run(python, "-m", "pytest", "-q", "-W", "error", "test_stores.py", folder=folder)
        print(f"          {told.splitlines()[-1]}")


def version() -> str:
    """Return the version that the source states."""
    stated = (ROOT / PACKAGE / "_version.py").read_text(encoding="utf-8")
    return stated.split('"')[-2]


def first_example() -> str:
    """Return the first block of Python of the README."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return readme.split("```python\n", 1)[1].split("```", 1)[0]


def main() -> None:
    """Build, look, install, try.

    Raises:
        SystemExit: The wheel is not as it should be.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "empty"
        folder.mkdir()
        with step("the source archive, and the wheel from it"):
            shutil.rmtree(DIST, ignore_errors=True)
            run(sys.executable, "-m", "build", "--no-isolation", "--outdir", DIST, ROOT)
        [wheel] = DIST.glob("*.whl")
        check_contents(wheel)
        with step("a new environment with the pinned dependencies"):
            scripts = install(wheel, Path(place) / "environment")
        try_out(scripts, folder)
        print(f"{wheel.name} is as it should be")


if __name__ == "__main__":
    main()
