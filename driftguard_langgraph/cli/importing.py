"""What `driftguard import` does with each kind of file, and what it says of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from driftguard_langgraph._files import check_free, write_text
from driftguard_langgraph.cli import options
from driftguard_langgraph.cli.console import counted
from driftguard_langgraph.cli.import_lines import (
    haul_lines,
    kept_line,
    report_line,
    runs_line,
    sessions_line,
)
from driftguard_langgraph.cli.progress import bars, working
from driftguard_langgraph.errors import ConfigurationError, CorruptStore, SchemaMismatch
from driftguard_langgraph.importers import drift_reports, driftguard_ai, session_memories
from driftguard_langgraph.importers.graph_tables import is_dsn
from driftguard_langgraph.importers.recognition import Found, recognise

if TYPE_CHECKING:
    from driftguard_langgraph.importers.graph_episodes import Haul


@dataclass(frozen=True, slots=True)
class Given:
    """The command line of `driftguard import`."""

    file: str
    kind: str | None
    to: Path | None
    log: Path | None
    namespace: list[str] | None
    db: Path | None
    dry_run: bool
    force: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of it, for programs and for people."""

    report: dict[str, Any]
    lines: list[str]


_TAKES: dict[str, frozenset[str]] = {
    "driftguard": frozenset({"--db"}),
    "driftguard-ai": frozenset({"--db", "--kind", "--namespace"}),
    "te-drift-detector": frozenset({"--to", "--log", "--force"}),
    "context-drift-analyzer": frozenset({"--to", "--force"}),
}


def run(given: Given, origin: str) -> Answer:
    """Import a file.

    Args:
        given: What is to be imported, and how.
        origin: Who wrote it, or `auto`.

    Raises:
        ConfigurationError: It is another kind of file, or an option does not go with it.
        StoreError: The file is damaged, or the memory cannot be used.
    """
    if is_dsn(given.file):
        _check_origin("the database", origin, "driftguard-ai")
        _check_options(given, "driftguard-ai")
        return _from_database(given)
    with _reading(given.file), working("reading"):
        found = recognise(Path(given.file))
    _check_origin(given.file, origin, found.origin)
    _check_options(given, found.origin)
    return _HANDLERS[found.origin](given, found)


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """Say of what is wrong with a file which one it is, and that nothing came of it."""
    try:
        yield
    except (CorruptStore, SchemaMismatch) as error:
        raise type(error)(f"{name}: {error} Nothing was imported.") from None


def _check_origin(name: str, wanted: str, found: str) -> None:
    if wanted not in ("auto", found):
        raise ConfigurationError(f"{name}: --from {wanted}, but this was written by {found}.")


def _check_options(given: Given, origin: str) -> None:
    chosen = {
        "--kind": given.kind,
        "--to": given.to,
        "--log": given.log,
        "--namespace": given.namespace,
        "--db": given.db,
        "--force": given.force or None,
    }
    for option, value in chosen.items():
        if value is not None and option not in _TAKES[origin]:
            raise ConfigurationError(f"{option} does not go with a file of {origin}.")


def _from_export(given: Given, found: Found) -> Answer:
    from driftguard_langgraph.memory.transfer import survey

    try:
        with found.path.open(encoding="utf-8") as lines, working("reading"):
            held = survey(lines)
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{found.path}: cannot be read ({error}).") from None
    report: dict[str, Any] = {"from": found.origin, "dry_run": given.dry_run}
    if given.dry_run:
        counts = {"episodes": held["episode"], "runs": held["run"]}
        told = f"{counted(counts['episodes'], 'episode')} and {runs_line(counts['runs'])} in it"
        return Answer({**report, **counts}, [f"{told}; nothing was imported (--dry-run)"])
    total = sum(held.values()) + 1
    with options.open_guard(given.db, None) as guard, bars() as show:
        done = guard.import_jsonl(
            found.path, on_progress=lambda read: show("reading", read, max(total, read))
        )
    kept = kept_line(done["stored"], done["duplicates"])
    return Answer({**report, **done}, [f"{kept}; {runs_line(done['runs'])}"])


def _from_graph(given: Given, found: Found) -> Answer:
    return _remember(
        given,
        given.file,
        lambda kind, whose, limits: [
            driftguard_ai.read_file(found.path, found.document, kind, whose, limits)
        ],
    )


def _from_database(given: Given) -> Answer:
    # Its connection string may hold a password, so it is not named.
    return _remember(
        given,
        "the database",
        lambda kind, whose, limits: driftguard_ai.read_database(given.file, kind, whose, limits),
    )


def _remember(given: Given, name: str, read: Callable[..., list[Haul]]) -> Answer:
    from driftguard_langgraph.text.validation import TextLimits

    # The guard opens its memory with the first use: a dry run leaves no trace.
    with options.open_guard(given.db, given.namespace) as guard:
        with _reading(name), working("reading"):
            hauls = read(given.kind, guard.namespace, TextLimits.of(guard.settings))
        report: dict[str, Any] = {
            "from": "driftguard-ai",
            "dry_run": given.dry_run,
            "namespace": list(guard.namespace),
            "graphs": [haul.to_dict() for haul in hauls],
        }
        lines = [line for haul in hauls for line in haul_lines(haul)]
        if given.dry_run:
            return Answer(report, [*lines, "nothing was imported (--dry-run)"])
        episodes = [episode for haul in hauls for episode in haul.episodes]
        with bars() as show:
            done = guard.import_episodes(
                episodes, on_progress=lambda count: show("importing", count, len(episodes))
            )
    report |= {"stored": done["stored"], "duplicates": done["duplicates"]}
    return Answer(report, [*lines, kept_line(done["stored"], done["duplicates"])])


def _from_sessions(given: Given, found: Found) -> Answer:
    with _reading(given.file):
        document = session_memories.read_session_memory(found.path)
    counts = session_memories.count(document)
    report: dict[str, Any] = {"from": found.origin, "dry_run": given.dry_run, **counts.to_dict()}
    lines = [sessions_line(counts)]
    if given.dry_run:
        return Answer({**report, "written": False}, [*lines, "nothing was written (--dry-run)"])
    if given.to is None:
        raise ConfigurationError(
            "say with --to where the sessions shall go. DriftTracker also goes on with the file "
            "itself: persist_path names it."
        )
    _check_target(given.to, found.path)
    written = session_memories.write_session_memory(document, given.to, force=given.force)
    lines.append(f"written to {given.to}" if written else f"{given.to} holds all of it already")
    return Answer({**report, "to": str(given.to), "written": written}, lines)


def _check_target(target: Path, source: Path) -> None:
    if target.exists() and target.samefile(source):
        raise ConfigurationError(f"--to {target}: that is the input; name another file.")


def _from_report(given: Given, found: Found) -> Answer:
    from driftguard_langgraph.cli.remeasuring import measured

    with _reading(given.file):
        reports = drift_reports.read_reports(found.document)
    report: dict[str, Any] = {
        "from": found.origin,
        "dry_run": given.dry_run,
        "te_drift_detector": [{**each.to_dict(), "report": each.content} for each in reports],
    }
    lines = [report_line(each) for each in reports]
    if given.to is not None:
        _check_target(given.to, found.path)
        check_free(given.to, "--to", force=given.force)
    if given.log is not None:
        ours, told = measured(reports, given.log)
        report, lines = {**report, **ours}, [*lines, *told]
    elif reports[0].log is not None:
        lines.append("--log FILE measures the session that it was made of here as well")
    if given.to is None or given.dry_run:
        return Answer({**report, "written": False}, [*lines, "nothing was written"])
    write_text(given.to, json.dumps(report, indent=2) + "\n", "--to", force=given.force)
    return Answer({**report, "written": True}, [*lines, f"written to {given.to}"])


_HANDLERS: dict[str, Callable[[Given, Found], Answer]] = {
    "driftguard": _from_export,
    "driftguard-ai": _from_graph,
    "te-drift-detector": _from_report,
    "context-drift-analyzer": _from_sessions,
}
