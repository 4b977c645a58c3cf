from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

import pytest

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.nodes.recovery_routing import (
    create_route_on_recovery,
    route_on_recovery,
)
from driftguard_langgraph.recovery.session import Route


@pytest.mark.parametrize("route", get_args(Route))
def test_it_goes_where_the_node_decided(route: str) -> None:
    assert route_on_recovery({"recovery_route": route}) == route


def test_states_with_attributes_and_other_keys_are_read() -> None:
    @dataclass
    class State:
        mine: str = "stop"

    assert create_route_on_recovery(route_key="mine")(State()) == "stop"


@pytest.mark.parametrize("state", [{}, {"recovery_route": None}, {"recovery_route": "home"}])
def test_a_state_without_a_decision_is_refused(state: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="recovery_route"):
        route_on_recovery(state)


@pytest.mark.parametrize("key", ["", " ", None])
def test_an_unusable_key_is_refused(key: Any) -> None:
    with pytest.raises(ConfigurationError, match="route_key"):
        create_route_on_recovery(route_key=key)
