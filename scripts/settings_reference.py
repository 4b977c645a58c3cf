"""Write `docs/settings.md`: every setting, from `DriftGuardSettings` itself.

Usage: settings_reference.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from driftguard_langgraph.settings import ENV_PREFIX, DriftGuardSettings

PAGE = Path(__file__).resolve().parents[1] / "docs" / "settings.md"

GROUPS = {
    "storage_backend": "Where the memory lives",
    "embedding_backend": "How texts are compared",
    "retrieval_top_k": "What a review finds",
    "similarity_threshold_action": "What is merged",
    "guard_policy": "What follows from a warning",
    "judge_band": "The optional judge",
    "prune_node_stale_days": "What is forgotten",
    "drift_mode": "Drift",
    "max_text_chars": "Texts, secrets and logging",
}
"""Title of the group that begins at a setting, in the order of the fields."""

HEAD = """\
<!-- Written by scripts/settings_reference.py. -->
# Settings

For looking a setting up: each with its default, its values and what it does. It is given as an
argument of `DriftGuardSettings` or as a variable of the environment.

```python
from driftguard_langgraph import DriftGuard, DriftGuardSettings

settings = DriftGuardSettings(guard_policy="speed_bump", guard_min_confidence=0.7)
guard = DriftGuard(settings=settings)
print(guard.settings.guard_policy)  # -> speed_bump
```

```bash
DRIFTGUARD_GUARD_POLICY=speed_bump driftguard doctor
```

The variable of a setting is `DRIFTGUARD_` and its name in upper case; arguments win. An unknown
name, an unknown variable that begins with `DRIFTGUARD_`, and a value out of range are errors when
the settings are made, not later. Lists and tables are given as JSON in a variable. `driftguard
doctor` shows what holds, and where it comes from. What to turn when is in the
[tuning guide](tuning.md)."""


def render() -> str:
    """Return the page."""
    return "\n".join((HEAD, *_tables())).rstrip() + "\n"


def _tables() -> Iterator[str]:
    for name, field in DriftGuardSettings.model_fields.items():
        if name in GROUPS:
            yield from ("", f"## {GROUPS[name]}", "")
            yield from ("| setting | default | values | what it does |", "|---|---|---|---|")
        cells = (f"`{name}`", _default(name, field), _values(field), field.description or "")
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _default(name: str, field: FieldInfo) -> str:
    if name.endswith("_filepath"):
        return "a file in your data directory"
    value: Any = field.get_default(call_default_factory=True, validated_data={})
    if value is PydanticUndefined:
        raise ValueError(f"{ENV_PREFIX}{name.upper()} has no default: say on the page how it is.")
    if value is None or value in ((), {}) or str(value) == "":
        return "none"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _values(field: FieldInfo) -> str:
    shown = str(field.annotation)
    if "Literal[" in shown:
        return ", ".join(f"`{word}`" for word in re.findall(r"'([^']*)'", shown))
    limits = _limits(field)
    kind = "text"
    for mark, word in (("bool", "true or false"), ("int", "whole number"), ("float", "number")):
        if mark in shown:
            kind = word
            break
    if "Path" in shown:
        kind = "path"
    if "int |" in shown and "str" in shown:
        kind = "whole number or text"
    if "dict" in shown or "tuple" in shown:
        kind = "JSON object" if "dict" in shown else "JSON list"
        limits = ""
    return f"{kind}{limits}"


def _limits(field: FieldInfo) -> str:
    found = {
        mark: getattr(each, mark)
        for each in field.metadata
        for mark in ("ge", "gt", "le")
        if getattr(each, mark, None) is not None
    }
    low = f"from {found['ge']:,}" if "ge" in found else f"above {found['gt']:,}" if found else ""
    high = f"to {found['le']:,}" if "le" in found else ""
    words = " ".join(filter(None, (low, high)))
    return f", {words.replace('.0', '')}" if words else ""


def main() -> None:
    """Write the page."""
    PAGE.write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()
