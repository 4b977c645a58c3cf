"""What a client gives that is not as the schemas say: refused in one line."""

from __future__ import annotations

from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import ValidationError


class OneLineServer(MCPServer[Any]):
    """A server that says in one line which arguments are wrong, without what they held."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Call a tool.

        Args:
            name: The tool.
            arguments: What the client gave.
            context: The request.

        Raises:
            ToolError: The tool cannot do it.
        """
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            found = error.__cause__.errors(include_url=False, include_input=False)
            wrong = (f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in found)
            told = " ".join("; ".join(wrong).split())
        raise ToolError(f"{name} cannot take these arguments: {told}.")
