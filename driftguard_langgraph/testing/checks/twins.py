"""Every method of a store has an async twin that runs it off the event loop."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.records import (
    EmbeddingSpace,
    Placed,
    Placement,
    RunVerdict,
)
from driftguard_langgraph.testing.places import Place, Places
from driftguard_langgraph.testing.samples import HOME, NOON, SPACE, append, episode, vector


def placement(text: str) -> Placement:
    """Place the three texts of an episode in nodes of their own."""
    placed = [Placed(part, part, vector(part), created=False) for part in (text, "f", "o")]
    return Placement(*placed)


ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "setup": (),
    "space": (),
    "append": (episode("e2", "b", "f", "o"), placement("b"), SPACE),
    "search": (HOME, "mistake", "action", vector("x"), 5),
    "wording": (HOME, "mistake", "action", "a"),
    "wordings": (HOME, "mistake", "action", ["a"]),
    "paths": (HOME, "mistake"),
    "count_since": (HOME, "mistake", ["a"], NOON),
    "next_success": (HOME, ["e1"]),
    "get": (HOME, "e1"),
    "list": (HOME,),
    "namespaces": (),
    "touch": (HOME, "mistake", ["a"], NOON),
    "delete": (HOME, "e1"),
    "delete_paths": (HOME, "mistake", [("a", "f", "o")]),
    "replace_vectors": (EmbeddingSpace("b", 8), {t: vector(t, 8) for t in ("a", "f", "o")}),
    "texts": (),
    "set_run": (HOME, RunVerdict("thread", "t", False, "o", "low", NOON)),
    "get_run": (HOME, "thread", "t"),
    "list_runs": (HOME,),
    "run_shares": (HOME, {"mistake": ["a"]}),
    "drop_idle_runs": (HOME,),
    "close": (),
}
"""How each method is called on a memory that holds the episode `e1` of `a`, `f` and `o`."""


class TwinChecks(Places):
    """What is true of a method is true of its twin."""

    @pytest.mark.parametrize("name", ARGUMENTS)
    def test_a_twin_answers_what_its_method_answers(self, place: Place, name: str) -> None:
        answers = []
        for prefix in ("", "a"):
            path = place.path / (prefix or "plain")
            path.mkdir()
            with place.factory(path) as store:
                append(store, episode("e1", "a", "f", "o"))
                answer = getattr(store, prefix + name)(*ARGUMENTS[name])
                answers.append(asyncio.run(answer) if prefix else answer)
        assert answers[0] == answers[1]

    def test_a_twin_runs_off_the_event_loop(self, store: BaseMemoryStore) -> None:
        ran: list[threading.Thread] = []

        class Watched(type(store)):  # type: ignore[misc]
            def texts(self) -> Any:
                ran.append(threading.current_thread())
                return super().texts()

        append(store, episode("e1", "a", "f", "o"))
        store.__class__ = Watched
        assert sorted(asyncio.run(store.atexts())) == ["a", "f", "o"]
        assert ran != [threading.main_thread()]
        assert len(ran) == 1

    def test_twins_run_beside_each_other(self, store: BaseMemoryStore) -> None:
        texts = [f"step {number}" for number in range(20)]

        async def use_them() -> None:
            await asyncio.gather(
                *(store.aappend(episode(t, t, "f", "o"), placement(t), SPACE) for t in texts)
            )
            kept = await store.alist(HOME, limit=100)
            assert sorted(each.action.text for each in kept) == sorted(texts)
            hits = await asyncio.gather(
                *(store.asearch(HOME, "mistake", "action", vector(t), 1) for t in texts)
            )
            assert [hit[0].action.text for hit in hits] == texts

        asyncio.run(use_them())
