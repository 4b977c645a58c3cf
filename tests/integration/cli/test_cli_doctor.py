"""`driftguard doctor` as a process."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from driftguard_langgraph.settings import DriftGuardSettings

RunCli = Callable[..., "subprocess.CompletedProcess[str]"]


def checks(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    return {check["name"]: check for check in json.loads(done.stdout)["checks"]}


def test_a_new_installation_is_in_order_and_nothing_is_created(
    run_cli: RunCli, user_data_dir: Path
) -> None:
    done = run_cli("doctor", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = checks(done)
    assert str(user_data_dir) in found["memory"]["detail"]
    assert "384 dimensions" in found["embedding"]["detail"]
    assert "delete temp directory" in found["normaliser"]["detail"]
    assert not user_data_dir.parent.exists()


def test_every_setting_is_listed_with_its_origin(run_cli: RunCli) -> None:
    done = run_cli("doctor", "--json", DRIFTGUARD_GUARD_POLICY="block")
    rows = {row["name"]: row for row in json.loads(done.stdout)["settings"]}
    assert rows.keys() == DriftGuardSettings.model_fields.keys()
    assert (rows["guard_policy"]["value"], rows["guard_policy"]["origin"]) == (
        "block",
        "DRIFTGUARD_GUARD_POLICY",
    )
    assert (rows["retrieval_top_k"]["value"], rows["retrieval_top_k"]["origin"]) == (
        "5",
        "default",
    )
    assert all(row["description"] for row in rows.values())


def test_a_used_memory_is_described(run_cli: RunCli, tmp_path: Path) -> None:
    db = tmp_path / "memory.sqlite3"
    run_cli("record", "go", "it broke", "it stayed broken", "--db", db, "--namespace", "acme")
    found = checks(run_cli("doctor", "--json", "--db", db))
    assert found["schema"]["ok"]
    assert found["content"]["detail"] == "namespaces: acme"
    assert found["permissions"]["detail"] == "0600"
    table = run_cli("doctor", "--db", db)
    assert table.returncode == 0
    assert "everything is in place" in table.stdout
    assert "similarity_threshold_action" in table.stdout


def test_a_wrong_variable_is_named_beside_the_settings(run_cli: RunCli) -> None:
    done = run_cli("doctor", "--json", DRIFTGUARD_TOP_K="7", DRIFTGUARD_LANGUAGE="de")
    assert (done.returncode, done.stderr) == (1, "")
    assert "DRIFTGUARD_TOP_K" in checks(done)["settings"]["detail"]
    rows = {row["name"]: row["value"] for row in json.loads(done.stdout)["settings"]}
    assert rows["language"] == "de"


def test_a_damaged_memory_is_reported_and_stays_where_it_is(
    run_cli: RunCli, tmp_path: Path
) -> None:
    db = tmp_path / "memory.sqlite3"
    db.write_bytes(b"no database at all " * 100)
    before = db.read_bytes()
    done = run_cli("doctor", "--json", "--db", db)
    assert done.returncode == 1
    assert "damaged" in checks(done)["schema"]["detail"]
    assert db.read_bytes() == before
    assert "something is wrong" in run_cli("doctor", "--db", db).stdout


def test_a_document_is_no_memory_and_stays_as_it_is(run_cli: RunCli, tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("# Notes\n" * 100, encoding="utf-8")
    done = run_cli("doctor", "--json", "--db", notes)
    assert done.returncode == 1
    assert "no memory can be kept in it. Name another file" in checks(done)["schema"]["detail"]
    refused = run_cli("record", "go", "it broke", "so be it", "--db", notes)
    assert refused.returncode == 2
    assert notes.read_text(encoding="utf-8") == "# Notes\n" * 100


def test_a_foreign_database_is_reported_and_left_alone(run_cli: RunCli, tmp_path: Path) -> None:
    db = tmp_path / "memory.sqlite3"
    with sqlite3.connect(db) as connection:
        connection.execute("CREATE TABLE customers(name TEXT)")
    connection.close()
    before = db.read_bytes()
    done = run_cli("doctor", "--json", "--db", db)
    assert done.returncode == 1
    assert "another application" in checks(done)["schema"]["detail"]
    assert db.read_bytes() == before


def test_a_missing_model_and_an_unknown_language_are_wrong(run_cli: RunCli, tmp_path: Path) -> None:
    done = run_cli(
        "doctor",
        "--json",
        DRIFTGUARD_EMBEDDING_MODEL_PATH=str(tmp_path / "nowhere"),
        DRIFTGUARD_LANGUAGE="tlh",
    )
    assert done.returncode == 1
    found = checks(done)
    assert not found["embedding"]["ok"]
    assert "tlh" in found["normaliser"]["detail"]
