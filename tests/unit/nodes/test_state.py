from __future__ import annotations

from typing import Annotated, get_args, get_origin, get_type_hints

from driftguard_langgraph.nodes.state import DriftGuardState, latest, union


def test_the_newest_value_wins() -> None:
    assert latest({"a": 1}, {"b": 2}) == {"b": 2}
    assert latest(3, 0) == 0


def test_shown_triggers_are_kept_once_and_in_order() -> None:
    assert union(None, ["b", "a"]) == ["b", "a"]
    assert union(["b", "a"], ["c", "a", "b"]) == ["b", "a", "c"]
    assert union(["b"], None) == ["b"]


def test_every_key_of_the_guard_has_its_reducer_last() -> None:
    hints = get_type_hints(DriftGuardState, include_extras=True)
    guarded = {name: hint for name, hint in hints.items() if name.startswith("guard_")}
    assert len(guarded) == 11
    for name, hint in guarded.items():
        assert get_origin(hint) is Annotated, name
        assert get_args(hint)[-1] in (latest, union), name
