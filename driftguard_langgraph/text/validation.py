"""The gate for what callers give: texts, namespaces and shares."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from driftguard_langgraph.errors import ConfigurationError, InvalidEpisode
from driftguard_langgraph.settings import DriftGuardSettings
from driftguard_langgraph.text.redaction import Redactor
from driftguard_langgraph.types import Namespace

_SURROGATE = re.compile("[\ud800-\udfff]")
_CLOSING = ".!,;:…。！，；："
_ENDS = ")]}\"'`”’»"
"""What may stand between the last word of a sentence and its closing punctuation."""

MAX_ID_CHARS = 500
"""Longest id; ids made from thread, checkpoint and task are well below it."""


@dataclass(frozen=True, slots=True)
class TextLimits:
    """What a text may hold: how long it may be, and what must not be in it.

    Attributes:
        max_chars: Longest text that is kept whole, in characters.
        overflow: `truncate` keeps head and tail; `refuse` raises.
        redactor: Takes secrets out, None to leave them in.
    """

    max_chars: int = 20_000
    overflow: Literal["truncate", "refuse"] = "truncate"
    redactor: Redactor | None = None

    @classmethod
    def of(cls, settings: DriftGuardSettings) -> TextLimits:
        """Return what the settings allow in the texts of steps and outcomes."""
        redactor = Redactor(settings.redact_patterns) if settings.redact else None
        return cls(settings.max_text_chars, settings.text_overflow, redactor)


def checked_text(value: object, field: str, limits: TextLimits) -> str:
    """Return `value` as text that can be stored, embedded and compared.

    Args:
        value: What the caller gave.
        field: Its name, for the message.
        limits: How long it may be.

    Raises:
        InvalidEpisode: It is not a string, is blank, holds a NUL byte or a lone surrogate,
            or is too long while `limits.overflow` is `refuse`.
    """
    if not isinstance(value, str):
        raise InvalidEpisode(f"{field} must be a string, not {type(value).__name__}.")
    if not value or value.isspace():
        raise InvalidEpisode(f"{field} must not be empty: say in words what it is.")
    if "\0" in value:
        raise InvalidEpisode(f"{field} holds a NUL byte at {value.index(chr(0))}: remove it first.")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidEpisode(
            f"{field} holds a lone surrogate at {error.start}: it is not valid Unicode. "
            "Decode the bytes with errors='replace' first."
        ) from None
    if limits.redactor is not None:
        value = limits.redactor.text(value)
    return _bounded(value, field, limits)


def checked_id(value: str, name: str = "episode_id", redactor: Redactor | None = None) -> str:
    """Return `value`, without secrets, if it can identify an episode or a review.

    Args:
        value: The id.
        name: What it is called, for the message.
        redactor: Takes secrets out, None to leave them in.

    Raises:
        InvalidEpisode: It cannot.
    """
    text = place_id(value, name, redactor, 2**31)
    if len(text) > MAX_ID_CHARS:
        raise InvalidEpisode(
            f"{name} has {len(text)} characters, more than {MAX_ID_CHARS}: use a digest."
        )
    return text


def place_id(
    value: object, name: str, redactor: Redactor | None, max_chars: int = MAX_ID_CHARS
) -> str:
    """Return the id of a thread, a run or a place without secrets, shortened if it is long.

    Args:
        value: The id.
        name: What it is called, for the message.
        redactor: Takes secrets out, None to leave them in.
        max_chars: How long it may be.

    Raises:
        InvalidEpisode: It is no text that can be kept.
    """
    if redactor is not None and isinstance(value, str):
        value = redactor.identifier(value)
    return checked_text(value, name, TextLimits(max_chars, "truncate"))


def observed_text(value: object, field: str, limits: TextLimits) -> str:
    """Return what a tool printed as text that can be kept.

    Output is not under the caller's control: a command may print binary data. So NUL bytes
    and lone surrogates are not refused here, but made visible (`␀`, `�`). All else is as
    in `checked_text`.

    Args:
        value: What was observed.
        field: Its name, for the message.
        limits: How long it may be.

    Raises:
        InvalidEpisode: It is not a string, is blank, or is too long while
            `limits.overflow` is `refuse`.
    """
    if isinstance(value, str):
        value = visible_text(value)
    return checked_text(value, field, limits)


def visible_text(text: str) -> str:
    """Return a text as valid Unicode without NUL bytes: these show as `␀`, surrogates as `�`."""
    shown = text.replace("\0", "\u2400")
    return shown if shown.isascii() else _SURROGATE.sub("\ufffd", shown)


def _bounded(text: str, field: str, limits: TextLimits) -> str:
    if len(text) > limits.max_chars and limits.overflow == "refuse":
        raise InvalidEpisode(
            f"{field} has {len(text)} characters, more than max_text_chars="
            f"{limits.max_chars}. Shorten it, or set text_overflow='truncate'."
        )
    return excerpt(text, limits.max_chars)


def excerpt(text: str, max_chars: int) -> str:
    """Return a text that is not longer than `max_chars`: all of it, or its head and tail.

    What is left out shows as its length and a digest, so that two long texts stay apart that
    differ only there.

    Args:
        text: The text.
        max_chars: How long the excerpt may be, 200 or more.
    """
    if len(text) <= max_chars:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    mark = f" [... {len(text)} characters, sha256 {digest} ...] "
    keep = max_chars - len(mark)
    return text[: keep - keep // 3] + mark + text[len(text) - keep // 3 :]


def unclosed(text: str) -> str:
    """Return a sentence without the punctuation that closes it, which embeddings make much of.

    A question mark stays, for it changes what is said, and so does what stands apart from the
    last word (`git add .`).

    Args:
        text: The sentence.
    """
    bare = text.rstrip().rstrip(_CLOSING)
    return bare if bare and (bare[-1].isalnum() or bare[-1] in _ENDS) else text


def checked_namespace(value: Sequence[str]) -> Namespace:
    """Return a namespace as a tuple of its labels; any text is a label.

    Raises:
        ConfigurationError: It is empty, a bare string, or a label is blank or no valid text.
    """
    # A set has no order, a mapping's values would be lost, and what is read once is gone.
    listed = isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)
    try:
        labels = tuple(value) if listed else ()
        "".join(labels).encode()
    except (TypeError, UnicodeEncodeError):
        labels = ()
    if not labels or not all(label.strip() for label in labels):
        raise ConfigurationError(
            f"namespace {value!r} must be a sequence of non-empty strings, "
            'for example ("acme", "user-7").'
        )
    return labels


def checked_share(value: float, name: str) -> float:
    """Return a number from 0 to 1.

    Raises:
        ConfigurationError: It is not one (NaN included).
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
        raise ConfigurationError(f"{name}={value!r} must be a number from 0 to 1.")
    return float(value)


def checked_names(value: Collection[str], name: str) -> frozenset[str]:
    """Return a collection of strings; a string alone is none.

    Raises:
        ConfigurationError: It is something else.
    """
    listed = isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)
    if not listed or not all(isinstance(item, str) for item in value):
        raise ConfigurationError(f"{name}={value!r} must be a collection of strings.")
    return frozenset(value)


def checked_flag(value: object, name: str) -> bool:
    """Return a truth value; any text, "false" too, would count as true.

    Raises:
        ConfigurationError: It is none.
    """
    if value is True or value is False:
        return value
    raise ConfigurationError(f"{name}={value!r} must be True or False.")
