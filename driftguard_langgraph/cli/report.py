"""The command `report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from driftguard_langgraph.cli import console, options

DEFAULT_PAGE = Path("driftguard-report.html")
"""Where the page goes if nothing else is said, seen from the folder it runs in."""

Page = Annotated[
    Path | None,
    typer.Argument(
        metavar="[OUT.html]",
        help=f"The page, readable by you only; {DEFAULT_PAGE} if left out.",
        show_default=False,
    ),
]
Sessions = Annotated[
    list[Path] | None,
    typer.Option(
        "--session",
        metavar="FILE",
        help="A recorded conversation, or the .session_memory of a tracker; repeat it for more.",
    ),
]


def report(
    out: Page = None,
    session: Sessions = None,
    namespace: options.Namespace = None,
    db: options.Db = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
) -> None:
    """Write the memory as one HTML page.

    It shows chains, warnings, drift and worth, and has a search. The page is one file that loads
    nothing. It holds recorded texts, so share it as you would share these. A memory that is there
    is not changed. With --json what the page says is printed, and a page is written only if
    OUT.html is given.

    Example: driftguard report memory.html --session chat.jsonl
    """
    from driftguard_langgraph._files import check_free, write_text
    from driftguard_langgraph.cli.progress import bars
    from driftguard_langgraph.pages.document import document
    from driftguard_langgraph.pages.report import collect_report

    target = out if out is not None or as_json else DEFAULT_PAGE
    if target is not None:
        check_free(target, "OUT.html", force=force)
    with options.open_guard(db, namespace, must_exist=True) as guard, bars() as progress:
        found = collect_report(guard, session or (), namespace=namespace or None, progress=progress)
    if target is not None:
        write_text(target, document(found), "OUT.html", force=force)
    if as_json:
        console.print_json(found)
        return
    count = found["episodes"]["count"]
    typer.echo(f"{target}: {count:,} episode{'' if count == 1 else 's'}")
