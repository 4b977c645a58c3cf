"""Namespaces with placeholders, filled from the run: `("acme", "{user_id}")`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.text.validation import checked_namespace
from driftguard_langgraph.types import Namespace

_FIELD = re.compile(r"\{([^\W\d]\w*)\}")


def checked_template(template: Sequence[str] | None) -> Namespace | None:
    """Return the template as a tuple, None for the guard's own namespace.

    Raises:
        ConfigurationError: It is no namespace, or holds a brace that is no `{placeholder}`.
    """
    if template is None:
        return None
    labels = checked_namespace(template)
    for label in labels:
        if set("{}") & set(_FIELD.sub("", label)):
            raise ConfigurationError(
                f"namespace label {label!r} has a brace that is no placeholder; "
                "write one as '{name}', a name as those of Python."
            )
    return labels


def filled(
    template: Namespace | None, config: Mapping[str, Any], context: object
) -> Namespace | None:
    """Replace the placeholders by values of the run.

    A name is looked up in `config["configurable"]`, then in `config["metadata"]`, then in
    the run's context (a mapping's key or an object's attribute).

    Raises:
        ConfigurationError: A placeholder has no value, or an empty one. Falling back to a
            shared namespace would mix the memories of two tenants.
    """
    if template is None:
        return None
    sources = (config.get("configurable") or {}, config.get("metadata") or {}, context)

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        for source in sources:
            found = _get(source, name)
            if found is not None and str(found).strip():
                return str(found)
        raise ConfigurationError(
            f"namespace {template!r} needs '{name}': pass it as "
            f"config={{'configurable': {{'{name}': ...}}}} or in the run's context."
        )

    return tuple(_FIELD.sub(value, part) for part in template)


def _get(source: object, name: str) -> object:
    if isinstance(source, Mapping):
        return source.get(name)
    return getattr(source, name, None)
