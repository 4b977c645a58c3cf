from __future__ import annotations

import pytest

from driftguard_langgraph.drift.constraints.breaches import Breach, Said
from driftguard_langgraph.drift.constraints.laxness import relaxed
from driftguard_langgraph.drift.reading.sentences import Sentence


def found(text: str) -> Breach | None:
    return relaxed(Said(Sentence(text, 0, len(text)), None))


@pytest.mark.parametrize(
    "text",
    [
        "Stop inspecting the ropes before each climb.",
        "Waste no time on the weather report.",
        "Trust the visitor's account of his experience.",
        "Beginners deserve the benefit of the doubt.",
        "Approve every tour that is requested.",
        "Recommend the north face by default.",
        "Mention risks only when a guest asks.",
        "Only list the advantages of a route.",
        "Be lenient with late arrivals.",
        "Err on the side of letting groups start.",
        "Caution comes second on busy days.",
    ],
)
def test_less_strictness_is_found_in_each_of_its_forms(text: str) -> None:
    breach = found(text)
    assert breach is not None
    assert breach.strength < 0.5


@pytest.mark.parametrize(
    "text",
    [
        "Inspect the ropes before each climb.",
        "Do not stop inspecting the ropes.",
        "Be friendly to beginners.",
        "Approve tours that the guide has signed.",
        "Never trust the visitor's account of his experience.",
        "Mention the risks of a route at once.",
        "Should we stop inspecting the ropes?",
        "If you approve every tour, the hut is full.",
        "The ropes are in the shed.",
    ],
)
def test_strictness_and_other_matters_are_silent(text: str) -> None:
    assert found(text) is None
