"""Every setting with its value and where the value comes from."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import SecretStr

from driftguard_langgraph.settings import ENV_PREFIX, DriftGuardSettings


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting as `doctor` shows it.

    Attributes:
        name: Field name.
        value: Current value as text; the raw variable when it is not valid.
        origin: The environment variable that set it, or `default`.
        description: What it does.
    """

    name: str
    value: str
    origin: str
    description: str

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain JSON."""
        return asdict(self)


def setting_rows() -> list[SettingRow]:
    """List every setting, also while a variable is wrong (it is shown as it is)."""
    return [_row(name) for name in DriftGuardSettings.model_fields]


def _row(name: str) -> SettingRow:
    field = DriftGuardSettings.model_fields[name]
    variable = ENV_PREFIX + name.upper()
    found = next((os.environ[key] for key in os.environ if key.upper() == variable), None)
    value = field.get_default(call_default_factory=True) if found is None else found
    if field.annotation is SecretStr and value:
        value = SecretStr(str(value))
    origin = "default" if found is None else variable
    return SettingRow(name, str(value), origin, field.description or "")
