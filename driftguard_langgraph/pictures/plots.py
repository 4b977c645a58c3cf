"""The three pictures; matplotlib is imported when the first one is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, get_args

from driftguard_langgraph.errors import ConfigurationError, MissingExtra
from driftguard_langgraph.types import Kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from driftguard_langgraph.drift.report import DriftReport
    from driftguard_langgraph.evaluation.drift_calibration import DriftCalibration
    from driftguard_langgraph.evaluation.fits import Calibration
    from driftguard_langgraph.evaluation.scores import BacktestResult
    from driftguard_langgraph.guard import DriftGuard
    from driftguard_langgraph.memory.graph import Graph
    from driftguard_langgraph.recovery.verdict import RecoveryVerdict


def plot_memory(
    memory: DriftGuard | Graph,
    *,
    kind: Kind = "mistake",
    ax: Axes | None = None,
    max_nodes: int = 300,
) -> Figure:
    """Draw a memory: what was tried, what came back, and what it led to.

    Each chain that was observed is a band from left to right, as wide as it is frequent, and
    the strongest ones are in colour. A few nodes are cards with their words; many are bars,
    of which as many are named as there is room for, the most frequent first.

    Args:
        memory: A guard, or the graph that its `graph()` returned.
        kind: Failures (`mistake`) or successes (`success`), of a guard.
        ax: Where to draw; by default in a new picture that fits.
        max_nodes: The most nodes; of more the strongest chains are drawn.

    Returns:
        A picture that shows itself in a notebook and has `savefig`; the figure of `ax` when
        that is given.

    Raises:
        MissingExtra: matplotlib is not installed.
        ConfigurationError: An argument is not acceptable.
    """
    _need_matplotlib("plot_memory")
    from driftguard_langgraph.pictures.memory import draw_memory

    if kind not in get_args(Kind):
        raise ConfigurationError(f"unknown kind {kind!r}: choose one of mistake, success.")
    if not isinstance(max_nodes, int) or isinstance(max_nodes, bool) or max_nodes < 3:
        raise ConfigurationError(f"max_nodes={max_nodes!r} must be a whole number from 3.")
    return draw_memory(_graph_of(memory, kind), kind, ax, max_nodes)


def plot_drift(
    reports: Iterable[DriftReport | Mapping[str, Any]],
    *,
    injections: Iterable[int | RecoveryVerdict | Mapping[str, Any]] = (),
    ax: Axes | None = None,
) -> Figure:
    """Draw a session's drift, turn by turn.

    Above the score in its verdicts' bands, below it the corruption with the alarm and the
    anomalies by name, at the bottom the distance of each feature of the fingerprint. The
    title says what was found.

    Args:
        reports: Reports of one session, or what their `to_dict` returned; a turn counts once.
        injections: Where scaffolds were injected: turns, `RecoveryVerdict`s (of a
            `RecoverySession`, or of the state of a graph), or their dicts.
        ax: Where to draw; by default in a new picture.

    Returns:
        A picture that shows itself in a notebook and has `savefig`; the figure of `ax` when
        that is given.

    Raises:
        MissingExtra: matplotlib is not installed.
        ConfigurationError: Something given is no report, or no injection.
    """
    _need_matplotlib("plot_drift")
    from driftguard_langgraph.pictures.drift import draw_drift
    from driftguard_langgraph.pictures.drift_findings import injections_of, reports_of

    return draw_drift(reports_of(reports), injections_of(injections), ax)


def plot_calibration(
    result: Calibration | DriftCalibration | BacktestResult | Mapping[str, Any],
    *,
    ax: Axes | None = None,
) -> Figure:
    """Draw what thresholds would catch and cost, with the present and the fitted one.

    Of `calibrate` (thresholds of the memory): what would be warned at each threshold, and the
    false alarms with their budget. Of `calibrate_drift` (the alarm): the share of good
    conversations that alarm at each threshold, with its budget. Of `backtest`: how often
    warnings came true, by their confidence.

    Args:
        result: A result of `evaluation.calibration.calibrate`, of
            `evaluation.drift_calibration.calibrate_drift` or of `evaluation.backtest.backtest`,
            or what its `to_dict` returned (the `--json` of `driftguard calibrate`,
            `driftguard drift calibrate` and `driftguard backtest`).
        ax: Where to draw; by default in a new picture.

    Returns:
        A picture that shows itself in a notebook and has `savefig`; the figure of `ax` when
        that is given.

    Raises:
        MissingExtra: matplotlib is not installed.
        ConfigurationError: It is no such result.
    """
    _need_matplotlib("plot_calibration")
    from driftguard_langgraph.pictures.calibration import draw_alarm, draw_fits
    from driftguard_langgraph.pictures.reliability import draw_reliability

    described = getattr(result, "to_dict", None)
    plain = described() if callable(described) else result
    if isinstance(plain, Mapping) and "fits" in plain:
        return draw_fits(plain, ax)
    if isinstance(plain, Mapping) and "maxima" in plain:
        return draw_alarm(plain, ax)
    if isinstance(plain, Mapping) and "reliability" in plain:
        return draw_reliability(plain, ax)
    raise ConfigurationError(
        "this is no calibration: give what calibrate, calibrate_drift or backtest returned, or "
        "its dict."
    )


def _graph_of(memory: object, kind: Kind) -> Graph:
    from networkx import DiGraph

    asked = getattr(memory, "graph", None)
    graph = asked(kind) if callable(asked) else memory
    if not isinstance(graph, DiGraph):
        raise ConfigurationError(
            f"{type(memory).__name__} is no memory: give a DriftGuard, or what its graph() "
            "returned."
        )
    return graph


def _need_matplotlib(what: str) -> None:
    if find_spec("matplotlib") is None:
        raise MissingExtra.of(what, "plot")
