"""Checks of what the factories are given, made when the graph is built."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from driftguard_langgraph.errors import ConfigurationError


def check_count(name: str, value: int, least: int) -> None:
    """Refuse anything but a whole number of at least `least`.

    Raises:
        ConfigurationError: It is something else.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ConfigurationError(f"{name}={value!r} must be a whole number, {least} or more.")


def check_names(names: Mapping[str, str | None], optional: Collection[str] = ()) -> None:
    """Refuse state keys and node names that are no names.

    Args:
        names: The names by the option that gave them.
        optional: Options that may be None.

    Raises:
        ConfigurationError: A name is not a non-empty string.
    """
    for option, name in names.items():
        if name is None and option in optional:
            continue
        if not isinstance(name, str) or not name.strip():
            raise ConfigurationError(f"{option}={name!r} must be a non-empty string.")


def check_distinct(keys: Mapping[str, str | None]) -> None:
    """Refuse two state keys of one name, of a node that writes or reads each for itself.

    Args:
        keys: The keys by the option that gave them; None is no key.

    Raises:
        ConfigurationError: Two of them are one.
    """
    taken: dict[str, str] = {}
    for option, name in keys.items():
        if name is not None and taken.setdefault(name, option) != option:
            raise ConfigurationError(
                f"{option} and {taken[name]} are both {name!r}: one would overwrite the other."
            )
