"""Where to go after the recovery node: on, once more but stronger, to a human, or out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.nodes.options import check_names
from driftguard_langgraph.recovery.session import Route


def create_route_on_recovery(*, route_key: str = "recovery_route") -> Callable[[Any], Route]:
    """Return a function for `add_conditional_edges` after a recovery scaffold node.

    It answers `"continue"`, `"reinject"` (a scaffold failed, and a stronger one is in place now),
    `"interrupt"` (scaffolds failed and no more are allowed: ask a human) or `"stop"`, as the
    node decided by its plan.

    Args:
        route_key: Where the node writes its decision.

    Raises:
        ConfigurationError: The name is none. At run time: the state holds no decision.
    """
    check_names({"route_key": route_key})

    def route_on_recovery(state: Any) -> Route:
        held = state.get(route_key) if isinstance(state, Mapping) else getattr(state, route_key, "")
        for route in get_args(Route):
            if held == route:
                return route  # type: ignore[no-any-return]
        raise ConfigurationError(
            f"the state has no recovery decision under '{route_key}': put this edge after a "
            "recovery scaffold node, give both the same route_key, and let the state declare it."
        )

    return route_on_recovery


def route_on_recovery(state: Any) -> Route:
    """Route after a recovery node with the default names; see `create_route_on_recovery`.

    Args:
        state: The graph's state.
    """
    return _DEFAULT_ROUTE(state)


_DEFAULT_ROUTE = create_route_on_recovery()
