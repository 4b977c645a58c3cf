"""All formats, in the order in which an entry is held against them."""

from __future__ import annotations

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.evaluation.formats.checkpoints import NAME as CHECKPOINTS
from driftguard_langgraph.evaluation.formats.claude_code import CLAUDE_CODE
from driftguard_langgraph.evaluation.formats.langchain import LANGCHAIN
from driftguard_langgraph.evaluation.formats.langsmith import LANGSMITH
from driftguard_langgraph.evaluation.formats.openai import OPENAI
from driftguard_langgraph.evaluation.formats.trace_steps import TRACE_STEPS

ENTRY_FORMATS = (TRACE_STEPS, CLAUDE_CODE, LANGSMITH, LANGCHAIN, OPENAI)

FORMAT_NAMES = (*(each.name for each in ENTRY_FORMATS), CHECKPOINTS)
"""What `--format` takes."""


def checked_format(name: str | None) -> str | None:
    """Return the name of a format, or None for telling by the content.

    Raises:
        ConfigurationError: There is no such format.
    """
    if name is not None and name not in FORMAT_NAMES:
        raise ConfigurationError(f"--format {name!r} is unknown: use {', '.join(FORMAT_NAMES)}.")
    return name
