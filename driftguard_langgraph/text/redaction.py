"""Secrets never get in: they are replaced before anything is kept, embedded or logged.

A placeholder says what was there (`[redacted:api_key]`) and is always the same, so a step
that failed with one key is recognised when it is tried with another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from driftguard_langgraph.text.secret_patterns import NAMES, SECRETS, Secret


def placeholder(kind: str) -> str:
    """Return what stands in the place of a secret."""
    return f"[redacted:{kind}]"


class Redactor:
    """Replaces secrets in texts and in JSON. What was redacted once stays as it is.

    Args:
        own: Further patterns. Of one with a named group only that group is replaced, and
            the placeholder says its name.
    """

    def __init__(self, own: Sequence[str] = ()) -> None:
        self._secrets = (*map(_own_secret, own), *SECRETS)

    def text(self, text: str) -> str:
        """Return a text without its secrets."""
        lower = text.lower()
        for secret in self._secrets:
            if secret.hint in lower:
                text = secret.pattern.sub(partial(_replaced, secret), text)
        return text

    def json(self, value: Any) -> Any:
        """Return a copy of plain JSON without secrets: told by the name, or by the value."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(key): self._named(key, item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.json(item) for item in value]
        return value

    def _named(self, name: str, value: Any) -> Any:
        if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
            for kind, pattern, is_secret in NAMES:
                if pattern.search(name) and is_secret(str(value)):
                    return placeholder(kind)
        return self.json(value)


def _own_secret(pattern: str) -> Secret:
    compiled = re.compile(pattern)
    return Secret(next(iter(compiled.groupindex), "custom"), "", compiled, bool)


def _replaced(secret: Secret, found: re.Match[str]) -> str:
    group = next(iter(secret.pattern.groupindex), 0)
    whole, value = found[0], found[group]
    if value is None or not secret.is_secret(value):
        return whole
    quote = value[0] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else ""
    start = found.start(group) - found.start()
    return f"{whole[:start]}{quote}{placeholder(secret.kind)}{quote}{whole[start + len(value) :]}"
