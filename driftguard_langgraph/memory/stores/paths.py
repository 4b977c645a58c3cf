"""Where a memory file is."""

from __future__ import annotations

from pathlib import Path

from driftguard_langgraph.errors import ConfigurationError


def checked_path(path: object) -> Path:
    """Return the path of a memory file, `~` expanded.

    Raises:
        ConfigurationError: It is no path, or empty.
    """
    if not isinstance(path, str | Path) or not str(path).strip():
        raise ConfigurationError(
            f"path={path!r} must name a file: 'memory.sqlite3', or 'memory.json'."
        )
    return Path(path).expanduser()
