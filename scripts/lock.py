"""Resolve the dependencies anew and write them, pinned, to `requirements/*.txt`.

Run it with the oldest supported Python, so that the pins install on the newer ones too.
torch is never pinned here: the Makefile names it and `install_cpu_torch.py` sees to its build.

Usage: lock.py TORCH_REQUIREMENT
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REQUIREMENTS = ROOT / "requirements"

LOCKS = {
    # langgraph-api, which the extras' tests start, does not take protobuf 7 yet.
    "base": ("Runtime dependencies, pinned.", [".", "protobuf<7"]),
    "test": ("What the tests need beyond base.txt, pinned.", [".[openai]", "--group", "dev"]),
    "docs": ("What `make docs` needs beyond test.txt, pinned.", [".", "--group", "docs"]),
    "extras": (
        "What the tests of the extras need beyond base.txt, pinned; torch comes first.",
        [".[all]", "--group", "extras"],
    ),
}
"""For each file its headline and what is installed into an empty environment for it."""

BUILDS_ON = {"test": "base", "docs": "test", "extras": "base"}
"""The file whose pins a file keeps and takes in."""


def freeze(python: Path) -> list[str]:
    """Return the pins of an environment, without this project and torch."""
    left_out = ["--exclude", "driftguard-langgraph", "--exclude", "torch"]
    command = [str(python), "-m", "pip", "freeze", *left_out]
    frozen = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return sorted(frozen.splitlines(), key=str.lower)


def resolve(wanted: list[str], pinned: list[str], torch: str | None) -> list[str]:
    """Install `wanted` into an empty environment and return its pins.

    Args:
        wanted: Arguments of `pip install`.
        pinned: Pins that must be kept.
        torch: Which torch to install first, as a CPU build; None for none.
    """
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / "bin" / "python"
        constraints = Path(folder) / "constraints.txt"
        constraints.write_text("\n".join(pinned), encoding="utf-8")

        def run(*arguments: str | Path) -> None:
            subprocess.run([python, *arguments], check=True, cwd=ROOT)

        run("-m", "pip", "install", "--quiet", "--upgrade", "pip>=25.1")
        if torch:
            run(ROOT / "scripts" / "install_cpu_torch.py", torch, "-c", constraints)
        run("-m", "pip", "install", "--quiet", "-c", constraints, *wanted)
        return freeze(python)


def main(torch: str) -> None:
    """Write the files, each after the one that it builds on."""
    kept: dict[str, list[str]] = {}
    for name, (headline, wanted) in LOCKS.items():
        below = BUILDS_ON.get(name)
        pinned = kept[below] if below else []
        pins = resolve(wanted, pinned, torch if name == "extras" else None)
        kept[name] = sorted({*pins, *pinned}, key=str.lower)
        lines = [f"# {headline} Written by `make lock`."]
        lines += [f"-r {below}.txt"] if below else []
        lines += [pin for pin in pins if pin not in pinned]
        (REQUIREMENTS / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
