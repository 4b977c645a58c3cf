"""What the tests of whole processes share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

RunCli = Callable[..., "subprocess.CompletedProcess[str]"]

TIMEOUT_SECONDS = 300


@pytest.fixture
def run_cli(tmp_path: Path) -> RunCli:
    """Return a function that runs `driftguard` with some arguments in a new process."""

    def run(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "driftguard_langgraph.cli", *map(str, arguments)],
            check=False,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
        )

    return run
