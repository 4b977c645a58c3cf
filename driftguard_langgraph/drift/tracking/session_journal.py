"""The journal of a session memory: changes that its JSON file has not taken in yet."""

from __future__ import annotations

import json
from pathlib import Path

from driftguard_langgraph.drift.tracking.session_document import Document, apply_change


def whole_entries(journal: Path, start: int) -> bytes | None:
    """Return the entries of a journal that were written to their end.

    Args:
        journal: The file.
        start: From which byte on.

    Returns:
        Their lines; None if there is no journal.
    """
    try:
        with journal.open("rb") as file:
            file.seek(start)
            data = file.read()
    except FileNotFoundError:
        return None
    return data[: data.rfind(b"\n") + 1]


def replayed(document: Document, line: bytes, max_exchanges: int | None) -> bool:
    """Make the changes of one entry that a document does not have yet.

    Args:
        document: What is changed.
        line: The entry.
        max_exchanges: How many exchanges of a session are kept; None is all.

    Returns:
        Whether it could be read.
    """
    try:
        entry = json.loads(line)
        if entry["revision"] > document["revision"]:
            for change in entry["changes"]:
                apply_change(document, change, max_exchanges)
            document["revision"] = entry["revision"]
    except (ValueError, KeyError, TypeError, AttributeError):
        return False
    return True
