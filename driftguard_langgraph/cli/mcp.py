"""The command `driftguard mcp`."""

from __future__ import annotations

from typing import Annotated, cast

import typer

from driftguard_langgraph.cli import options
from driftguard_langgraph.types import Policy


def mcp(
    policy: Annotated[
        str | None,
        typer.Option(help="warn, block, acknowledge, speed_bump or record_only."),
    ] = None,
    namespace: options.Namespace = None,
    db: options.Db = None,
) -> None:
    """Serve the memory to a client of the Model Context Protocol, over stdin and stdout.

    It ends when the client closes stdin. The memory is the same wherever it was started.

    Example: driftguard mcp --policy block
    """
    from driftguard_langgraph.mcp.server import create_mcp_server

    with options.open_guard(db, namespace) as guard:
        create_mcp_server(guard, policy=cast("Policy | None", policy)).run("stdio")
