"""The command `doctor`: is everything in place, and where is it?"""

from __future__ import annotations

import typer

from driftguard_langgraph.cli import console, options
from driftguard_langgraph.cli.progress import working


def doctor(db: options.Db = None, as_json: options.AsJson = False) -> None:
    """Check memory, model, normaliser and settings; change nothing.

    Says where the memory is and whether it is sound, embeds a text with the model, and lists
    every setting with its value and the variable that set it.

    Exit code 1 if something is wrong.

    Example: driftguard doctor
    Example: driftguard doctor --db other.sqlite3 --json
    """
    with working("looking at memory, model and settings"):
        from driftguard_langgraph.cli.checkup import check_all
        from driftguard_langgraph.cli.settings_table import setting_rows

        checks, rows = check_all(db), setting_rows()
    healthy = all(check.ok for check in checks)
    if as_json:
        console.print_json(
            {
                "ok": healthy,
                "checks": [check.to_dict() for check in checks],
                "settings": [row.to_dict() for row in rows],
            }
        )
    else:
        from driftguard_langgraph.cli.render import checks_table, settings_table

        console.out().print(checks_table(checks), settings_table(rows))
        typer.echo("everything is in place" if healthy else "something is wrong, see above")
    if not healthy:
        raise typer.Exit(console.EXIT_NOT_HELD)
