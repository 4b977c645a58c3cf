"""Conversations whose turns, or which as a whole, are labelled: what drift is measured on.

A file holds one JSON object a line (or one list of them): `baseline` (also `baseline_text` or
`system_prompt`), what the session was told, and `turns`. A turn is `role` and `content` (also
`text`), with `off` (also `off_baseline`): true where it has left the purpose, false where it
serves it, null or nothing where nobody said. An exchange may be one turn: `u`, `a` and `y`,
which is `off` of the answer. `attack`, true or false, says whether somebody works against the
baseline. `kind` (also `arm` or `tactic`) and `set` (also `source`) name what is compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driftguard_langgraph.errors import ConfigurationError, InvalidEpisode
from driftguard_langgraph.evaluation.readers import check_readable, json_entries

UNNAMED = "unnamed"
"""Kind and set of a conversation that names none."""

_FORM = "a conversation needs 'baseline' as text and 'turns' as a list"


@dataclass(frozen=True, slots=True)
class LabelledTurn:
    """One message.

    Attributes:
        role: Who speaks.
        text: What is said.
        off: Whether it has left the purpose; None where nobody said.
    """

    role: str
    text: str
    off: bool | None = None


@dataclass(frozen=True, slots=True)
class LabelledConversation:
    """A conversation and its labels.

    Attributes:
        where: File and line.
        baseline: What the session was told.
        turns: Its messages in order.
        attack: Whether somebody works against the baseline; None where nobody said.
        kind: What kind of conversation it is.
        group: Which set it belongs to; attacks of one are compared with the rest of each.
    """

    where: str
    baseline: str
    turns: tuple[LabelledTurn, ...]
    attack: bool | None
    kind: str
    group: str


def read_conversations(path: Path) -> list[LabelledConversation]:
    """Return the conversations of a file.

    Args:
        path: The file.

    Raises:
        ConfigurationError: It cannot be opened, or holds no label.
        InvalidEpisode: An entry is no labelled conversation.
    """
    check_readable(path)
    read = [as_conversation(entry, where) for where, entry in json_entries(path, lambda done: None)]
    if not any(each.attack is not None or _labelled(each) for each in read):
        raise ConfigurationError(
            f"{path}: no conversation has a label. Give 'off' with its turns, or 'attack'."
        )
    return read


def as_conversation(entry: Any, where: str) -> LabelledConversation:
    """Return one parsed entry as a conversation.

    Raises:
        InvalidEpisode: It is no labelled conversation.
    """
    if isinstance(entry, InvalidEpisode):
        raise entry
    if not isinstance(entry, Mapping):
        raise InvalidEpisode(f"{where}: {_FORM}.")
    baseline = _first(entry, "baseline", "baseline_text", "system_prompt")
    turns = entry.get("turns")
    if not isinstance(baseline, str) or not isinstance(turns, list):
        raise InvalidEpisode(f"{where}: {_FORM}.")
    return LabelledConversation(
        where=where,
        baseline=baseline,
        turns=tuple(turn for given in turns for turn in _turns(given, where)),
        attack=_label(entry.get("attack"), "attack", where),
        kind=str(_first(entry, "kind", "arm", "tactic") or UNNAMED),
        group=str(_first(entry, "set", "source") or UNNAMED),
    )


def _turns(given: Any, where: str) -> Iterator[LabelledTurn]:
    """Yield the messages of one entry of `turns`."""
    if not isinstance(given, Mapping):
        raise InvalidEpisode(f"{where}: a turn needs 'role' and 'content'.")
    if "u" in given and "a" in given:
        yield LabelledTurn("user", _text(given["u"], where))
        yield LabelledTurn(
            "assistant", _text(given["a"], where), _label(given.get("y"), "y", where)
        )
        return
    role = given.get("role")
    if not isinstance(role, str) or not role:
        raise InvalidEpisode(f"{where}: a turn needs 'role' and 'content'.")
    off = _label(_first(given, "off", "off_baseline"), "off", where)
    yield LabelledTurn(role, _text(_first(given, "content", "text"), where), off)


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise InvalidEpisode(f"{where}: what is said in a turn must be text.")
    return value


def _label(value: Any, name: str, where: str) -> bool | None:
    """Return a label; 0 and 1 are false and true."""
    if value is None or isinstance(value, bool):
        return value
    if value in (0, 1):
        return bool(value)
    raise InvalidEpisode(f"{where}: '{name}' must be true, false or null.")


def _first(entry: Mapping[str, Any], *names: str) -> Any:
    return next((entry[name] for name in names if entry.get(name) is not None), None)


def _labelled(conversation: LabelledConversation) -> bool:
    return any(turn.off is not None for turn in conversation.turns)
