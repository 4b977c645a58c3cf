"""Which tools ask the memory itself, and so are no steps that it judges.

A question about a step is worded like the step. Were it reviewed, it would be refused with the
step; were it recorded, having asked would count as the step having worked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ASKS_MEMORY = "driftguard_asks_memory"
"""Key in the metadata of such a tool."""


def asks_memory(metadata: Mapping[str, Any] | None) -> bool:
    """Whether the tool with this metadata asks the memory.

    Args:
        metadata: What `BaseTool.metadata` holds, or a callback is given.
    """
    return bool((metadata or {}).get(ASKS_MEMORY))
