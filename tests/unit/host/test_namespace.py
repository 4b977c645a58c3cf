from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.host.namespace import checked_template, filled


@dataclass
class Context:
    user_id: str | None = None


def test_no_template_means_the_guards_own_namespace() -> None:
    assert filled(checked_template(None), {}, None) is None


def test_placeholders_are_filled_from_configurable_then_metadata_then_context() -> None:
    template = checked_template(("acme", "user-{user_id}"))
    config: dict[str, Any] = {
        "configurable": {"user_id": 7},
        "metadata": {"user_id": "m"},
    }
    assert filled(template, config, Context("c")) == ("acme", "user-7")
    del config["configurable"]
    assert filled(template, config, Context("c")) == ("acme", "user-m")
    assert filled(template, {}, Context("c")) == ("acme", "user-c")
    assert filled(template, {}, {"user_id": "d"}) == ("acme", "user-d")


@pytest.mark.parametrize("missing", [{}, {"configurable": {"user_id": ""}}, {"configurable": None}])
def test_a_placeholder_without_a_value_is_refused_by_name(missing: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="'user_id'"):
        filled(checked_template(("acme", "{user_id}")), missing, Context())


def test_a_value_is_never_expanded_again() -> None:
    config = {"configurable": {"a": "{b}", "b": "other tenant"}}
    assert filled(checked_template(("{a}",)), config, None) == ("{b}",)


@pytest.mark.parametrize(
    "template",
    ["acme", (), ("acme", ""), ("acme", 3), ("{user.id}",), ("{",), ("{}",), ("{a[0]}",)],
)
def test_an_unusable_template_is_refused_when_the_graph_is_built(template: Any) -> None:
    with pytest.raises(ConfigurationError, match="namespace"):
        checked_template(template)
