"""Workflows, hooks, CONTRIBUTING and SECURITY name only what there is."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
HOOKS = ROOT / ".pre-commit-config.yaml"
PROSE = [
    "CONTRIBUTING.md",
    "SECURITY.md",
    *(
        f"examples/{p.parent.name}/README.md"
        for p in sorted((ROOT / "examples").glob("*/README.md"))
    ),
]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TARGETS = set(
    re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
)
MAKE = re.compile(r"\bmake((?: [a-z][a-z-]*\b)+)")
PATH = re.compile(r"`((?:\.github/|[a-z_]+/)[\w./-]*|\.pre-commit-config\.yaml|[A-Z]+\.md)`")
SHA_OR_MAJOR = re.compile(r"@(?:[0-9a-f]{40}|v\d+|release/v\d+)$")


def workflow(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return loaded


def jobs(path: Path) -> Iterator[dict[str, Any]]:
    yield from workflow(path)["jobs"].values()


def steps(path: Path) -> Iterator[dict[str, Any]]:
    for job in jobs(path):
        yield from job.get("steps", ())


def commands(path: Path) -> str:
    return "\n".join(step["run"] for step in steps(path) if "run" in step)


def targets(text: str) -> set[str]:
    return {target for found in MAKE.findall(text) for target in found.split()}


def test_there_are_workflows_for_every_change_and_for_a_release() -> None:
    assert [path.name for path in WORKFLOWS] == ["ci.yml", "release.yml"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_runs_only_make_targets_that_exist(path: Path) -> None:
    assert targets(commands(path))
    assert targets(commands(path)) <= TARGETS


def test_ci_runs_every_check_that_a_checkout_offers() -> None:
    checks = {"test", "test-extras", "notebooks", "docs", "wheel"}
    assert targets(commands(WORKFLOWS[0])) == checks


def test_ci_runs_on_each_python_that_the_package_says_it_is_for() -> None:
    found = (name.rpartition(" :: ")[2] for name in PROJECT["project"]["classifiers"])
    versions = [name for name in found if re.fullmatch(r"3\.\d+", name)]
    assert [job["strategy"]["matrix"]["python"] for job in jobs(WORKFLOWS[0])] == [versions] * 3


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_read_and_nothing_else_but_for_the_step_that_publishes(path: Path) -> None:
    assert workflow(path)["permissions"] == {"contents": "read"}
    given = [job["permissions"] for job in jobs(path) if "permissions" in job]
    assert given == ([{"id-token": "write"}] if path.name == "release.yml" else [])
    checkouts = [s for s in steps(path) if s.get("uses", "").startswith("actions/checkout")]
    assert checkouts
    assert all(step["with"] == {"persist-credentials": False} for step in checkouts)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_jobs_end_and_nothing_of_an_event_is_put_into_a_command(
    path: Path,
) -> None:
    used = [step["uses"] for step in steps(path) if "uses" in step]
    assert [use for use in used if not SHA_OR_MAJOR.search(use)] == []
    assert all("timeout-minutes" in job or "uses" in job for job in jobs(path))
    assert "${{" not in commands(path)


def test_a_release_needs_all_of_ci_and_publishes_what_make_wheel_tried() -> None:
    release = workflow(WORKFLOWS[1])["jobs"]
    assert release["ci"]["uses"] == "./.github/workflows/ci.yml"
    assert (release["build"]["needs"], release["publish"]["needs"]) == ("ci", "build")
    # YAML 1.1 reads the key `on` as true.
    assert "workflow_call" in workflow(WORKFLOWS[0])[True]  # type: ignore[index]
    tried = (ROOT / "scripts" / "check_wheel.py").read_text(encoding="utf-8")
    assert 'DIST = ROOT / "dist"' in tried
    assert {
        step["with"]["path"]
        for step in release["build"]["steps"]
        if "upload" in step.get("uses", "")
    } == {"dist/"}


def test_the_hooks_are_the_make_targets_and_need_no_network() -> None:
    config = yaml.safe_load(HOOKS.read_text(encoding="utf-8"))
    assert [repo["repo"] for repo in config["repos"]] == ["local"]
    hooks = config["repos"][0]["hooks"]
    assert [hook["entry"] for hook in hooks] == ["make lint", "make types", "make layers"]
    assert {hook["language"] for hook in hooks} == {"system"}
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", "validate-config", HOOKS],
        check=False, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", PROSE)
def test_every_path_and_make_target_in_prose_exists(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    paths = [path for path in PATH.findall(text) if "<" not in path]
    made = {"dist/"}
    assert [path for path in paths if path not in made and not (ROOT / path).exists()] == []
    code = re.findall(r"`(make [^`]+)`|^(make [^#\n]+)", text, re.MULTILINE)
    assert targets("\n".join(map("".join, code))) <= TARGETS


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "SECURITY.md"])
def test_prose_names_tests_and_code(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    paths = PATH.findall(text)
    assert sum(path.startswith("tests/") for path in paths) > 3
    assert sum(path.startswith("driftguard_langgraph/") for path in paths) > 1


def test_every_threat_says_what_is_not_defended() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    sections = re.split(r"^### ", text, flags=re.MULTILINE)[1:]
    attacked = [each for each in sections if "shown by |" in each]
    assert len(attacked) >= 6
    assert [each.splitlines()[0] for each in attacked if "**Not defended.**" not in each] == []
