"""A session memory as it appears on the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from driftguard_langgraph.cli.console import counted
from driftguard_langgraph.cli.render import plain, whole

if TYPE_CHECKING:
    from rich.console import RenderableType

    from driftguard_langgraph.drift.tracking.session_document import Document, Session

QUOTE = 80
"""Characters of a question or a summary that are shown; `--json` has them all."""


def status_report(file: Path, document: Document) -> dict[str, Any]:
    """Return what `status` says of a memory as plain JSON.

    Args:
        file: The file.
        document: What it holds.
    """
    return {
        "file": str(file),
        "original_context": document["original_context"],
        "context_frozen": document["context_frozen"],
        "session_count": document["session_count"],
        "sessions": [_session(session) for session in document["sessions"]],
    }


def render_status(report: dict[str, Any]) -> RenderableType:
    """Return a report of `status_report` as lines and a table."""
    from rich import box
    from rich.console import Group
    from rich.table import Table

    state = "frozen" if report["context_frozen"] else "not frozen"
    count = counted(len(report["sessions"]), "session")
    lines = (
        f"[bold]{plain(report['file'])}[/bold]: {count}, context {state}\n"
        f"context: {_quote(report['original_context'])}"
    )
    if not report["sessions"]:
        return lines
    table = Table(box=box.SIMPLE_HEAD)
    for name in ("session", "status", "exchanges", "score", "verdict"):
        table.add_column(name, justify="right" if name in ("session", "exchanges") else "left")
    table.add_column("summary, or the last question")
    for session in report["sessions"]:
        table.add_row(
            str(session["session_number"]),
            plain(session["status"]),
            str(session["exchanges"]),
            _score(session["score"]),
            plain(session["verdict"] or "-"),
            _quote(session["summary"] or session["last_user"] or ""),
        )
    return Group(lines, whole(table))


def render_history(exchanges: list[dict[str, Any]]) -> RenderableType:
    """Return exchanges as a table, one a row."""
    from rich import box
    from rich.table import Table

    if not exchanges:
        return "no exchanges yet"
    table = Table(box=box.SIMPLE_HEAD)
    for name in ("session", "exchange", "score"):
        table.add_column(name, justify="right")
    table.add_column("verdict")
    table.add_column("user")
    for each in exchanges:
        table.add_row(
            str(each["session_number"]),
            str(each["exchange"]),
            _score(each["score"]),
            plain((each["verdict"] or "-").upper()),
            _quote(each["user"]),
        )
    return whole(table)


def _session(session: Session) -> dict[str, Any]:
    exchanges = session["exchanges"]
    last = exchanges[-1] if exchanges else None
    scores = [(e["score"], e["verdict"]) for e in exchanges if e["score"] is not None]
    score, verdict = scores[-1] if scores else (None, None)
    return {
        "session_number": session["session_number"],
        "status": session["status"],
        "exchanges": session["exchange_count"],
        "score": score if session["final_drift_score"] is None else session["final_drift_score"],
        "verdict": None if verdict is None else verdict.upper(),
        "summary": session["summary"],
        "last_user": None if last is None else last["user"],
    }


def _score(score: float | None) -> str:
    return "-" if score is None else f"{score:.1f}"


def _quote(text: str) -> str:
    return plain(text if len(text) <= QUOTE else text[: QUOTE - 1] + "…")
