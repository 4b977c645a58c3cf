"""The documentation is run as printed, and says all that there is to say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import driftguard_langgraph
from scripts.settings_reference import PAGE, render
from tests.client_server import vendor
from tests.docs.blocks import ROOT, blocks_of, commands_of, python_of, run_python
from tests.docs.commands import check_commands
from tests.postgres_server import schema_dsn

DOCS = ROOT / "docs"
TEXTS = {
    path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(DOCS.rglob("*.md"))
}
WITH_PYTHON = [name for name, text in TEXTS.items() if python_of(blocks_of(text))]
WITH_COMMANDS = [name for name, text in TEXTS.items() if commands_of(blocks_of(text))]
API = re.compile(r"^::: driftguard_langgraph\.(\w+)$", re.MULTILINE)


@pytest.fixture
def services(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, str]]:
    """The variables by which a page finds the servers that it needs, of which there are real ones.

    The models' servers are on this machine and answer everything alike.
    """
    text = TEXTS[request.getfixturevalue("name")]
    variables = {}
    if "DATABASE_URL" in text:
        variables["DATABASE_URL"] = schema_dsn(tmp_path)
    with vendor("The night train from Madrid.") as server:
        variables |= {
            "OPENAI_API_KEY": "k",
            "OPENAI_BASE_URL": f"{server.url}/v1",
            "ANTHROPIC_API_KEY": "k",
            "ANTHROPIC_BASE_URL": server.url,
        }
        yield variables


@pytest.mark.parametrize("name", WITH_PYTHON)
def test_the_python_of_a_page_runs_and_prints_what_the_page_says(
    name: str, services: dict[str, str], tmp_path: Path
) -> None:
    run_python(DOCS / name, python_of(blocks_of(TEXTS[name])), tmp_path, **services)


@pytest.mark.parametrize("name", WITH_COMMANDS)
def test_the_commands_of_a_page_work_in_the_printed_order(name: str, tmp_path: Path) -> None:
    check_commands(commands_of(blocks_of(TEXTS[name])), tmp_path)


def test_every_public_name_is_in_the_reference_once() -> None:
    named = [name for text in TEXTS.values() for name in API.findall(text)]
    public = set(driftguard_langgraph.__all__) - {"__version__"}
    assert sorted(name for name in named if name in public) == sorted(public)


def test_the_settings_page_is_what_the_settings_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run python scripts/settings_reference.py"


@pytest.mark.parametrize("name", TEXTS)
def test_a_page_needs_nothing_from_elsewhere(name: str) -> None:
    outside = r"!\[[^\]]*\]\(https?:|<(?:img|script|link|iframe)\b[^>]*https?:"
    assert not re.search(outside, TEXTS[name])
    assert "```mermaid" not in TEXTS[name]
