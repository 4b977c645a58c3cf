"""Files that a command writes: never over another one unless that is wanted."""

from __future__ import annotations

from pathlib import Path

from driftguard_langgraph.errors import ConfigurationError


def check_free(path: Path, option: str, *, force: bool) -> None:
    """Raise `ConfigurationError` if a file cannot be written; ask before the long work.

    Args:
        path: The file.
        option: The option that names it, for the message.
        force: Whether an existing file may be replaced.
    """
    if path.is_dir():
        raise ConfigurationError(f"{option} {path}: that is a folder; name a file in it.")
    if path.exists() and not force:
        raise ConfigurationError(f"{option} {path}: exists already. --force replaces it.")
    if not path.absolute().parent.is_dir():
        raise ConfigurationError(f"{option} {path}: there is no such folder. Create it first.")


def write_text(path: Path, text: str, option: str, *, force: bool) -> None:
    """Write a file.

    Args:
        path: The file.
        text: What it shall hold.
        option: The option that names it, for the message.
        force: Whether an existing file may be replaced.

    Raises:
        ConfigurationError: It cannot be written, or exists and must not be replaced.
    """
    check_free(path, option, force=force)
    try:
        with path.open("w" if force else "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise ConfigurationError(f"{option} {path}: cannot be written ({error}).") from None
