from __future__ import annotations

import subprocess
import sys
from io import BytesIO
from typing import Any

import matplotlib as mpl
import networkx as nx
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Rectangle

from driftguard_langgraph import (
    ConfigurationError,
    DriftGuard,
    EphemeralMemoryStore,
    MissingExtra,
    plot_memory,
)
from driftguard_langgraph.pictures import plots
from driftguard_langgraph.pictures.chains import scene_of
from driftguard_langgraph.pictures.memory_form import TIMES
from driftguard_langgraph.pictures.style import CHAINS, REST
from tests.guard_samples import guard_of
from tests.picture_samples import HOSTILE, covered, png_of, texts_of, words_of

TWICE = f"2{TIMES}"
FAILURES = (
    ("delete the temp directory", "build cache was wiped", "next build took 40 minutes"),
    ("clear out /tmp before the run", "cache directory got removed", "next build took 40 minutes"),
)


@pytest.fixture(scope="module")
def large() -> Any:
    """The graph of a memory with 300 nodes, few of them frequent."""
    guard = guard_of()
    for number in range(100):
        for time in range(1 + 60 // (number + 1)):
            feedback = (number * 7 + (time % 3 == 2)) % 100
            outcome = (feedback * 3 + (time % 5 == 4)) % 100
            guard.record(
                f"move the parcel number {number} to the other depot",
                f"the conveyor belt {feedback} reported a jam",
                f"customer {outcome} was called by the service desk",
            )
    return guard.graph()


def bands_of(figure: Figure) -> list[PathPatch]:
    return [each for each in figure.axes[0].get_children() if isinstance(each, PathPatch)]


def colour_of(band: PathPatch) -> str:
    return to_hex(band.get_facecolor())


def test_the_worked_example_shows_words_frequencies_and_the_other_wording() -> None:
    guard = DriftGuard(store=EphemeralMemoryStore())
    for failure in FAILURES:
        guard.record(*failure)
    words = words_of(plot_memory(guard))
    assert {"delete the temp directory", "build cache was wiped"} <= set(words)
    assert "clear out /tmp before the run" in words
    assert words.count(TWICE) == 3 + 2  # three nodes and two edges
    assert any("delete the temp directory" in word and TWICE in word for word in words)


def test_a_few_nodes_are_read_from_left_to_right() -> None:
    guard = guard_of()
    guard.record("first", "then", "at last")
    places = {text.get_text(): text.get_position()[0] for text in texts_of(plot_memory(guard))}
    assert places["first"] < places["then"] < places["at last"]


def test_a_large_memory_names_the_strongest_and_covers_nothing(large: Any) -> None:
    assert len(large) == 300
    figure = plot_memory(large)
    assert covered(figure) == []
    words = words_of(figure)
    counts = sorted((data["frequency"] for _, data in large.nodes(data=True)), reverse=True)
    assert any(word.endswith(f" {counts[0]}{TIMES}") for word in words)
    assert any("of 300 named" in word for word in words)
    assert len(words) > 100


def test_a_few_nodes_cover_nothing_either() -> None:
    guard = guard_of()
    for number in range(5):
        guard.record(f"step {number} " * 20, "the same answer " * 9, f"end {number % 2}")
    assert covered(plot_memory(guard)) == []


def test_the_width_of_a_band_is_how_often_the_chain_was_observed() -> None:
    guard = guard_of()
    for _ in range(3):
        guard.record("often", "red", "bad")
    guard.record("once", "green", "worse")
    thick, thin = sorted(
        (band.get_path().get_extents().height for band in bands_of(plot_memory(guard))),
        reverse=True,
    )[::2]
    assert thick == pytest.approx(3 * thin)


def test_a_chain_has_one_colour_from_end_to_end_and_the_weak_are_grey(large: Any) -> None:
    figure = plot_memory(large)
    colours = [colour_of(band) for band in bands_of(figure)]
    for colour in CHAINS:
        assert colours.count(colour) == 2
    assert colours.count(REST) == len(colours) - 2 * len(CHAINS)


def test_two_failures_with_one_feedback_are_not_joined_to_a_chain_that_nobody_saw() -> None:
    guard = guard_of()
    guard.record("a", "timeout", "x")
    guard.record("b", "timeout", "y")
    chains = {chain.keys for chain in scene_of(guard.graph(), "mistake", 300).chains}
    assert chains == {
        ("action: a", "feedback: timeout", "outcome: x"),
        ("action: b", "feedback: timeout", "outcome: y"),
    }


def test_of_too_many_nodes_the_strongest_chains_are_drawn(large: Any) -> None:
    scene = scene_of(large, "mistake", 30)
    drawn = [chain.frequency for chain in scene.chains]
    assert len(scene.nodes) <= 30
    assert drawn[0] == max(chain["frequency"] for chain in large.graph["chains"])
    words = words_of(plot_memory(large, max_nodes=30))
    assert any(f"the strongest {len(scene.nodes)} of 300 nodes" in word for word in words)


def test_failures_and_successes_are_told_apart_by_word_and_colour() -> None:
    guard = guard_of()
    guard.record("deploy", "red", "rollback")
    guard.record_success("deploy", "green", "live")
    failures, successes = plot_memory(guard), plot_memory(guard, kind="success")
    assert any("failures" in word for word in words_of(failures))
    assert any("successes" in word for word in words_of(successes))
    colours = [{text.get_color() for text in texts_of(each)} for each in (failures, successes)]
    assert colours[0] != colours[1]
    assert words_of(plot_memory(guard.graph("success"))) == words_of(successes)


@pytest.mark.parametrize(("kind", "call"), [("mistake", "record("), ("success", "record_success(")])
def test_an_empty_memory_says_how_to_begin(kind: Any, call: str) -> None:
    figure = plot_memory(guard_of(), kind=kind)
    assert any(call in word for word in words_of(figure))
    assert covered(figure) == []


def test_hostile_text_is_drawn_as_text_without_a_warning() -> None:
    graph: Any = nx.DiGraph()
    for column, role in enumerate(("action", "feedback", "outcome")):
        graph.add_node(column, type=role, label=HOSTILE, text=HOSTILE, frequency=2)
    graph.add_edge(0, 1, frequency=2)
    graph.add_edge(1, 2, frequency=2)
    figure = plot_memory(graph)
    assert png_of(figure).startswith(b"\x89PNG")
    shown = " ".join(words_of(figure))
    assert "$\\frac{1}{0}$" in shown
    assert "↵" in shown
    assert not set(shown) & set("\x00\x1b\u202e\n\t\ud800")
    assert not any(text.get_parse_math() for text in texts_of(figure))


def test_a_picture_shows_itself_in_a_notebook_and_needs_no_closing() -> None:
    guard = guard_of()
    guard.record("a", "b", "c")
    picture: Any = plot_memory(guard)
    assert picture._repr_png_().startswith(b"\x89PNG")
    assert "matplotlib.pyplot" not in sys.modules


@pytest.mark.parametrize("format", ["svg", "pdf"])
def test_hostile_text_is_only_text_in_other_formats(format: str) -> None:
    guard = guard_of()
    storable = HOSTILE.replace("\x00", "").replace("\ud800", "")
    guard.record(storable, "--><script>alert(1)</script>", "(unbalanced \\")
    file = BytesIO()
    plot_memory(guard).savefig(file, format=format)
    assert b"<script" not in file.getvalue()


def test_a_dark_or_tex_style_of_the_user_changes_nothing() -> None:
    guard = guard_of()
    guard.record("a $b$", "c_d", "100%")
    plain = png_of(plot_memory(guard))
    style: Any = {
        "text.usetex": True,
        "text.color": "red",
        "font.family": "serif",
        "axes.facecolor": "black",
        "savefig.facecolor": "black",
    }
    with mpl.rc_context(style):
        assert png_of(plot_memory(guard)) == plain


def test_it_draws_on_axes_of_the_user_and_returns_their_figure(large: Any) -> None:
    figure = Figure(figsize=(12, 6))
    left, right = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2)
    guard = guard_of()
    guard.record("a", "b", "c")
    assert plot_memory(guard, ax=left) is figure
    assert plot_memory(large, ax=right) is figure
    bars = [each for each in right.get_children() if isinstance(each, Rectangle)]
    assert len(bars) >= 300
    assert all(bar.get_y() >= 0 for bar in bars)


def test_axes_of_a_subfigure_belong_to_the_whole_figure() -> None:
    figure = Figure()
    part = figure.add_subfigure(figure.add_gridspec(1, 2)[0])
    assert plot_memory(guard_of(), ax=part.add_subplot()) is figure


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"kind": "mistakes"}, "unknown kind 'mistakes'"),
        ({"max_nodes": 2}, "max_nodes=2"),
        ({"max_nodes": True}, "max_nodes=True"),
    ],
    ids=["kind", "few", "flag"],
)
def test_a_typo_is_an_error_that_says_so(arguments: Any, problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        plot_memory(guard_of(), **arguments)


@pytest.mark.parametrize("given", [None, "memory.sqlite3", nx.path_graph(3)], ids=type)
def test_what_is_no_memory_is_refused(given: Any) -> None:
    with pytest.raises(ConfigurationError, match="give a DriftGuard"):
        plot_memory(given)


def test_without_matplotlib_the_install_line_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"plot_memory needs .*driftguard-langgraph\[plot\]"):
        plot_memory(guard_of())


def test_the_names_cost_no_matplotlib_and_a_picture_costs_no_pyplot() -> None:
    code = (
        "import sys\n"
        "from driftguard_langgraph import plot_calibration, plot_drift, plot_memory\n"
        "assert 'matplotlib' not in sys.modules\n"
        "plot_drift([])._repr_png_()\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
