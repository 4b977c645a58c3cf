"""Secrets never get in: they are replaced before anything is kept, embedded or logged.

A placeholder says what was there (`[redacted:api_key]`) and is always the same, so a step
that failed with one key is recognised when it is tried with another.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from driftguard_langgraph.text.secret_names import (
    BESIDE,
    DESCRIBES,
    LABELS,
    NAMES,
    PLURAL_NAMES,
    SCHEMA_TYPES,
)
from driftguard_langgraph.text.secret_patterns import SECRETS, Secret
from driftguard_langgraph.text.secret_values import is_random

Naming = tuple[str, re.Pattern[str], Callable[[str], bool]]
"""Kind of secret, what its name looks like, and whether a value can be one."""


MAX_DOCUMENT = 200_000
"""Characters of a text up to which it is read as JSON, if it begins like it."""


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
        return self._document(text)

    def _document(self, text: str) -> str:
        """Return a text that is a JSON document without the secrets that are told by names."""
        if text[:1] not in {"{", "["} or len(text) > MAX_DOCUMENT:
            return text
        try:
            held = json.loads(text)
            cleaned = self.json(held)
        except (ValueError, RecursionError):
            return text
        return text if cleaned == held else json.dumps(cleaned, ensure_ascii=False)

    def identifier(self, text: str) -> str:
        """Return an id without its secrets; two ids that differed still do."""
        cleaned = self.text(text)
        if cleaned == text:
            return text
        # So short that no password can be told by it.
        return f"{cleaned}#{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:8]}"

    def json(self, value: Any) -> Any:
        """Return a copy of plain JSON without secrets.

        They are told by how they look, or by their name: of the key they are under, of the one
        beside it (`{"name": "DB_PASSWORD", "value": ...}`), or of the option or header before it
        in a list.
        """
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            beside = _named_in(value)
            return {
                self.text(key): self._hidden(beside, item)
                if beside is not None and BESIDE.search(key)
                else self._under(key, item)
                for key, item in value.items()
            }
        return self._listed(value) if isinstance(value, list) else value

    def _under(self, name: str, value: Any) -> Any:
        """Return what is under a name."""
        found = _names_secret(name)
        if found is None and not isinstance(value, int):
            found = _first(PLURAL_NAMES, name)
        return self.json(value) if found is None else self._hidden(found, value)

    def _hidden(self, found: Naming, value: Any) -> Any:
        """Return what its name says is a secret, or holds some."""
        kind, _, is_secret = found
        if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
            return placeholder(kind) if is_secret(str(value)) else self.json(value)
        if isinstance(value, list):
            return [self._part(found, item) for item in value]
        if isinstance(value, Mapping) and value.get("type") not in SCHEMA_TYPES:
            return {
                self.text(key): self._under(key, item)
                if DESCRIBES.search(key) or _names_secret(key)
                else self._part(found, item)
                for key, item in value.items()
            }
        return self.json(value)

    def _part(self, found: Naming, value: Any) -> Any:
        # With the errors of a form, the texts under `password` are sentences; numbers are limits.
        told = isinstance(value, str) and len(value.split()) > 1
        return self.json(value) if told or isinstance(value, int) else self._hidden(found, value)

    def _listed(self, items: list[Any]) -> list[Any]:
        cleaned = [self.json(item) for item in items]
        for place, (before, item) in enumerate(pairwise(items), 1):
            if not isinstance(before, str) or not isinstance(item, str):
                continue
            if before.startswith("-"):
                option = self.text(f"{before} {item}")
                if option.startswith(f"{before} "):
                    cleaned[place] = option.removeprefix(f"{before} ")
            elif len(items) == 2 and (found := _names_secret(before)) and is_random(item):
                cleaned[place] = placeholder(found[0])
        return cleaned


def _names_secret(name: str) -> Naming | None:
    return _first(NAMES, name)


def _first(names: Sequence[Naming], name: str) -> Naming | None:
    return next((found for found in names if found[1].search(name)), None)


def _named_in(value: Mapping[str, Any]) -> Naming | None:
    """Return what an object says to be the name of what is beside it, if it is a secret's."""
    for key, name in value.items():
        if key.lower() in LABELS and isinstance(name, str) and not any(map(str.isspace, name)):
            found = _names_secret(name)
            if found is not None:
                return found
    return None


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
