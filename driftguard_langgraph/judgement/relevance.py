"""Does the identifier matter? Evidence says: a missing permission fails for all of them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from driftguard_langgraph.judgement.features import features
from driftguard_langgraph.types import Action

MIN_IDENTIFIERS = 2
"""Different identifiers under which a step must have failed alike before its failing is put
down to the step and not to one of them."""


def slots(action: Action) -> dict[str, str]:
    """Return the places of an action where an identifier stands, with what stands there.

    Args:
        action: The step.

    Returns:
        For each place a key made of everything else: two actions with a common key differ
        at most in that place.
    """
    if action.tool_args is None:
        return dict(_text_slot("", action.text))
    found: dict[str, str] = {}
    for key, value in action.tool_args.items():
        others = {name: other for name, other in action.tool_args.items() if name != key}
        place = json.dumps([action.tool_name, key, others], sort_keys=True)
        if isinstance(value, str) and len(value.split()) > 1:
            found.update(_text_slot(place, value))
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            found[place] = str(value)
    return found


def _text_slot(place: str, text: str) -> Iterator[tuple[str, str]]:
    """Mask the names and numbers of a text; none, or code, has no place for identifiers."""
    read = features(text)
    identifiers = [*sorted(read.names), *read.numbers]
    if identifiers and not read.is_code:
        yield f"{place}|{' '.join(read.meanings)}", " ".join(identifiers)


def names_identifier(feedback: str, identifier: str) -> bool:
    """Whether feedback speaks of the identifier, so that it is about this one."""
    said = feedback.lower()
    return any(part in said for part in identifier.lower().split())
