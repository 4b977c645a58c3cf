"""The command `driftguard mcp`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from driftguard_langgraph.cli import console, options
from driftguard_langgraph.types import Policy


def mcp(
    policy: options.Policy = None,
    namespace: options.Namespace = None,
    db: options.Db = None,
    as_json: options.AsJson = False,
) -> None:
    """Serve the memory over the Model Context Protocol.

    The protocol is spoken over stdin and stdout, and ends when the client closes stdin. The
    memory is the same wherever the server was started. With --json nothing is served: what is
    printed is the entry for the configuration of a client, with the same options.

    Example: driftguard mcp --policy block
    Example: driftguard mcp --policy block --json
    """
    from driftguard_langgraph.mcp.server import create_mcp_server

    with options.open_guard(db, namespace) as guard:
        server = create_mcp_server(guard, policy=cast("Policy | None", policy))
        if not as_json:
            with _ended_by_ctrl_c():
                server.run("stdio")
            return
    console.print_json(_configuration(policy, namespace, db))


@contextmanager
def _ended_by_ctrl_c() -> Iterator[None]:
    """End the process with Ctrl-C: the server waits for stdin in a thread that nothing wakes."""

    def end(*_: object) -> None:
        console.fail("interrupted")
        os._exit(console.EXIT_INTERRUPTED)

    before = signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _configuration(
    policy: str | None, namespace: Sequence[str] | None, db: Path | None
) -> dict[str, Any]:
    arguments = ["-m", "driftguard_langgraph.cli", "mcp"]
    arguments += ["--policy", policy] if policy is not None else []
    for part in namespace or ():
        arguments += ["--namespace", part]
    arguments += ["--db", str(db.absolute())] if db is not None else []
    return {"mcpServers": {"driftguard": {"command": sys.executable, "args": arguments}}}
