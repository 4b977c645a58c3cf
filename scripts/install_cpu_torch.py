"""Install PyTorch, unless that would bring a CUDA build of several gigabytes.

Usage: install_cpu_torch.py REQUIREMENT [PIP_ARGUMENT ...]
"""

from __future__ import annotations

import json
import subprocess
import sys

CUDA_PREFIXES = ("nvidia-", "cuda-")
"""Packages that a CUDA build of torch depends on and a CPU build does not."""

ADVICE = """\
{torch} would bring CUDA packages here ({first} and {more} more).
Point pip at PyTorch's CPU wheels, whose index address is on PyTorch's "Get Started" page:
    make test-extras TORCH_PIP_ARGS="--extra-index-url ADDRESS"
or name another build: make test-extras TORCH="torch==VERSION"."""


def pip_install(*arguments: str) -> str:
    """Run `pip install` with the interpreter of this script and return what it printed."""
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    return subprocess.run(
        [*command, *arguments], check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def main(torch: str, *arguments: str) -> None:
    """Resolve first, refuse CUDA, then install.

    Raises:
        SystemExit: CUDA packages would be installed.
    """
    report = json.loads(pip_install("--dry-run", "--report", "-", torch, *arguments))
    names = [item["metadata"]["name"].lower() for item in report["install"]]
    cuda = sorted(name for name in names if name.startswith(CUDA_PREFIXES))
    if cuda:
        sys.exit(ADVICE.format(torch=torch, first=cuda[0], more=len(cuda) - 1))
    pip_install(torch, *arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
