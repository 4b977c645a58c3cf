"""The reference of the commands in the documentation."""

from __future__ import annotations

from typer.main import get_group

from driftguard_langgraph.cli.app import app
from driftguard_langgraph.cli.manual import walk
from scripts.cli_reference import PAGE, render


def test_the_page_is_what_the_commands_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run python scripts/cli_reference.py"


def test_every_command_but_the_groups_is_on_the_page_once() -> None:
    headings = [line.lstrip("# ") for line in render().splitlines() if line.startswith("###")]
    paths = [path for path, _ in walk(get_group(app), "driftguard")]
    assert sorted(headings) == sorted(paths[1:])
