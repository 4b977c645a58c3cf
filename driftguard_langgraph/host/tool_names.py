"""Which tools a door guards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from langchain_core.tools import BaseTool

from driftguard_langgraph.errors import ConfigurationError


def tool_names(tools: object) -> frozenset[str]:
    """Return the names of tools that are given by name or as tools.

    Raises:
        ConfigurationError: One is neither, or there is none.
    """
    listed = isinstance(tools, Iterable) and not isinstance(tools, str | Mapping)
    given = list(tools) if listed else []  # type: ignore[call-overload]
    names = [each.name if isinstance(each, BaseTool) else each for each in given]
    if not names or not all(isinstance(name, str) and name.strip() for name in names):
        raise ConfigurationError(
            f"tools={tools!r} must list the guarded tools, by name or as BaseTool; "
            "leave it out to guard all of them."
        )
    return frozenset(names)
