"""Files that somebody asked for: for their owner's eyes, whole or not at all, never by surprise."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from driftguard_langgraph.errors import ConfigurationError


def check_free(path: Path, name: str, *, force: bool) -> None:
    """Raise `ConfigurationError` if a file cannot be written; ask before the long work.

    Args:
        path: The file.
        name: What the caller knows it as, for the message: an option, or an argument.
        force: Whether an existing file may be replaced.
    """
    if path.is_dir():
        raise ConfigurationError(f"{name} {path}: that is a folder; name a file in it.")
    if path.exists() and not force:
        raise ConfigurationError(f"{name} {path}: exists already. --force replaces it.")
    if not path.absolute().parent.is_dir():
        raise ConfigurationError(f"{name} {path}: there is no such folder. Create it first.")


def write_text(path: Path, text: str, name: str, *, force: bool) -> None:
    """Write a file.

    Args:
        path: The file.
        text: What it shall hold.
        name: What the caller knows it as, for the message: an option, or an argument.
        force: Whether an existing file may be replaced.

    Raises:
        ConfigurationError: It cannot be written, or exists and must not be replaced.
    """
    check_free(path, name, force=force)
    try:
        with replacing(path) as file:
            file.write(text)
    except OSError as error:
        raise ConfigurationError(f"{name} {path}: cannot be written ({error}).") from None


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """Open a text file that takes the place of `path` when the block is done.

    Only its owner can read it. If the block raises, what was at `path` is still there.

    Args:
        path: The file.

    Yields:
        The file to write to, UTF-8.

    Raises:
        OSError: It cannot be written.
    """
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    try:
        opened = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(opened, "w", encoding="utf-8", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(opened)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
