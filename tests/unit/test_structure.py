from __future__ import annotations

import ast
import importlib
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

import driftguard_langgraph

PACKAGE = Path(driftguard_langgraph.__file__).parent
ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(PACKAGE.rglob("*.py"))
MAX_MODULE_LINES = 300
MAX_FUNCTION_LINES = 60
HEAVY = {
    "langchain",
    "langchain_core",
    "langgraph",
    "matplotlib",
    "networkx",
    "numpy",
    "onnxruntime",
    "pydantic",
    "rich",
    "simplemma",
    "tokenizers",
    "typer",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def public_definitions(
    tree: ast.Module | ast.ClassDef,
) -> Iterator[Function | ast.ClassDef]:
    for node in tree.body:
        # The name of a check of the conformance suite is its sentence.
        unnamed = ("_", "test_")
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith(unnamed):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from public_definitions(node)


def loaded_after(statement: str) -> set[str]:
    code = f"{statement}\nimport json, sys; print(json.dumps(sorted(sys.modules)))"
    out = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=120
    ).stdout
    return set(json.loads(out))


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_every_module_imports(path: Path) -> None:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    name = ".".join(parts).removesuffix(".__init__")
    assert importlib.import_module(name).__file__ == str(path)


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_every_folder_with_code_is_a_package(path: Path) -> None:
    assert (path.parent / "__init__.py").is_file()


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_no_module_is_longer_than_300_lines(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_MODULE_LINES


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_no_function_is_longer_than_60_lines(path: Path) -> None:
    lengths = {
        f.name: (f.end_lineno or f.lineno) - f.lineno + 1
        for f in functions(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert {name: n for name, n in lengths.items() if n > MAX_FUNCTION_LINES} == {}


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_everything_public_has_a_docstring(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    bare = [node.name for node in public_definitions(tree) if not ast.get_docstring(node)]
    assert bare == []
    assert ast.get_docstring(tree)


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_every_module_that_defines_something_postpones_its_annotations(path: Path) -> None:
    body = ast.parse(path.read_text(encoding="utf-8")).body[1:]
    imports = [n for n in body if isinstance(n, ast.ImportFrom) and n.module == "__future__"]
    assert not body or imports


@pytest.mark.parametrize("name", driftguard_langgraph.__all__)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(driftguard_langgraph, name) is not None


def test_the_public_names_are_sorted_unique_and_all_of_them_have_a_home() -> None:
    names = driftguard_langgraph.__all__
    assert names == sorted(set(names))
    assert set(names) == set(driftguard_langgraph._HOME_OF)


def test_dir_lists_every_public_name() -> None:
    assert set(driftguard_langgraph.__all__) <= set(dir(driftguard_langgraph))


def test_a_star_import_brings_exactly_the_public_names() -> None:
    names: dict[str, object] = {}
    exec("from driftguard_langgraph import *", names)  # noqa: S102
    assert set(names) - {"__builtins__"} == set(driftguard_langgraph.__all__)


def test_an_unknown_name_is_the_usual_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'DriftGard'"):
        driftguard_langgraph.DriftGard  # noqa: B018


def test_importing_the_package_loads_nothing_heavy() -> None:
    roots = {module.partition(".")[0] for module in loaded_after("import driftguard_langgraph")}
    assert roots & HEAVY == set()


def test_importing_the_guard_loads_neither_the_host_nor_a_model() -> None:
    roots = {
        module.partition(".")[0]
        for module in loaded_after("from driftguard_langgraph import DriftGuard")
    }
    assert roots & {"langchain", "langchain_core", "langgraph", "onnxruntime", "torch"} == set()


def test_the_installed_version_is_the_one_in_the_source() -> None:
    assert version("driftguard-langgraph") == driftguard_langgraph.__version__


def test_the_package_is_marked_as_typed() -> None:
    assert (PACKAGE / "py.typed").is_file()


def test_every_test_folder_is_run_by_make_test_or_make_test_extras() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    run = {*config["tool"]["pytest"]["ini_options"]["testpaths"], "tests/extras"}
    folders = {f"tests/{test.relative_to(ROOT / 'tests').parts[0]}" for test in all_tests()}
    assert folders <= run


def all_tests() -> Iterator[Path]:
    return (ROOT / "tests").rglob("test_*.py")


@pytest.mark.parametrize("lock", ["base", "test", "extras"])
def test_every_requirement_is_pinned_and_comes_from_the_index_of_the_user(lock: str) -> None:
    lines = (ROOT / "requirements" / f"{lock}.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith(("#", "-r base.txt"))]
    assert [pin for pin in pins if pin.count("==") != 1 or "@" in pin or "/" in pin] == []
    assert not any(pin.startswith(("torch==", "nvidia", "cuda")) for pin in pins)
