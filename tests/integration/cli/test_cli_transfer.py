"""`driftguard export`, `import`, `reembed` and `forget` as processes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

RunCli = Callable[..., "subprocess.CompletedProcess[str]"]


def test_a_memory_moves_to_another_file_and_is_erased_from_the_first(
    run_cli: RunCli, tmp_path: Path
) -> None:
    old, new, file = tmp_path / "old.sqlite3", tmp_path / "new.sqlite3", tmp_path / "m.jsonl"
    run_cli("record", "delete the temp dir", "cache wiped", "slow build", "--db", old)
    assert run_cli("export", file, "--db", old).stdout == f"1 episode written to {file}\n"
    refused = run_cli("export", file, "--db", old)
    assert refused.returncode == 2
    assert "--force replaces it" in refused.stderr
    report = run_cli("import", file, "--db", new, "--json")
    assert json.loads(report.stdout) == {
        "from": "driftguard",
        "dry_run": False,
        "stored": 1,
        "duplicates": 0,
        "runs": 0,
    }
    assert run_cli("reembed", "--db", new).stdout == "3 texts embedded anew\n"
    assert run_cli("forget", "--all", "--db", old).stdout == "1 episode erased\n"
    assert b"cache wiped" not in b"".join(f.read_bytes() for f in tmp_path.glob("old.sqlite3*"))
    assert run_cli("review", "delete the temp dir", "--db", new).stdout.startswith("warn: ")
    assert run_cli("forget", "--db", new).returncode == 2
