"""Who proposes the demo's steps: a script, or a language model."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from driftguard_langgraph.cli.demo.scenario import Job, Proposal
from driftguard_langgraph.errors import ConfigurationError, MissingExtra

Planner = Callable[[Mapping[str, Any]], dict[str, Any]]

LLM_TIMEOUT = 60.0
"""Seconds to wait for one answer of the language model."""

_INSTRUCTIONS = """\
You operate a build and payment machine. Propose the single next step towards the goal as \
one short imperative sentence, nothing else.
The machine can: delete or create the temp or the logs directory; leave something alone; \
compress the old log files; send the payment webhook with its payload unchanged or with the \
missing currency filled in; apply a migration to production or staging now; schedule a \
migration for the night."""


def scripted_planner(proposals: Sequence[Proposal]) -> Planner:
    """Return a planner that goes on to its next idea whenever the guard objects.

    Args:
        proposals: Its ideas in order; it insists on the last one.
    """

    def planner(state: Mapping[str, Any]) -> dict[str, Any]:
        objections = state.get("guard_revisions") or 0
        return {"candidate_action": proposals[min(objections, len(proposals) - 1)]}

    return planner


def llm_planner(job: Job, model: str) -> Planner:
    """Return a planner that asks an OpenAI-compatible chat model.

    `OPENAI_API_KEY` and, for another server, `OPENAI_BASE_URL` are read from the
    environment by `ChatOpenAI` itself.

    Args:
        job: What the model is asked to do.
        model: Name of the model.

    Raises:
        MissingExtra: langchain-openai is not installed.
        ConfigurationError: There is no API key. At run time: the model cannot be asked.
    """
    check_llm()
    from langchain_openai import ChatOpenAI
    from openai import OpenAIError

    chat = ChatOpenAI(model=model, temperature=0, timeout=LLM_TIMEOUT, max_retries=1)

    def planner(state: Mapping[str, Any]) -> dict[str, Any]:
        try:
            answer = chat.invoke([("system", _INSTRUCTIONS), ("user", _request(job, state))])
        except OpenAIError as error:
            raise ConfigurationError(
                f"the model {model!r} could not be asked ({type(error).__name__}: {error}). "
                "Check OPENAI_API_KEY, OPENAI_BASE_URL and --model."
            ) from error
        return {"candidate_action": _first_line(answer.text)}

    return planner


def check_llm() -> None:
    """Raise unless a language model can be asked.

    Raises:
        MissingExtra: langchain-openai is not installed.
        ConfigurationError: There is no API key.
    """
    try:
        import langchain_openai  # noqa: F401
    except ImportError:
        raise MissingExtra.of("driftguard demo --llm", "openai") from None
    if not os.environ.get("OPENAI_API_KEY"):
        raise ConfigurationError(
            "driftguard demo --llm needs OPENAI_API_KEY (and OPENAI_BASE_URL for another "
            "server). Without them run: driftguard demo"
        )


def _request(job: Job, state: Mapping[str, Any]) -> str:
    lines = [f"Goal: {job.goal}"]
    if state.get("success") is False:
        lines.append(f"The last step that was run failed: {state['feedback']}; {state['outcome']}.")
    if state.get("guard_review"):
        lines.append(f"You proposed: {state['candidate_action']}")
    warning = state.get("guard_top_warning")
    if warning:
        lines.append(
            f"A step like that failed before, as {warning['action_text']!r}: "
            f"{warning['feedback_text']}; {warning['outcome_text']}."
        )
    if len(lines) > 1:
        lines.append("Propose something else.")
    return "\n".join(lines)


def _first_line(text: str) -> str:
    """Return the proposal; an empty answer becomes one that the machine does not know."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0] if lines else "(the model answered nothing)"
