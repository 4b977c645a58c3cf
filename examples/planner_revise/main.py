"""A planner writes SQL, and a person is asked before it repeats a query that failed.

    python main.py [MEMORY_FILE]

Run 1 guesses the name of a column and fails. Run 2, in a thread of its own, is asked something
else and guesses the same column: the graph stops and shows a person what happened the last time.
The person says no, the planner reads the evidence and writes another query.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import tempfile
from contextlib import closing
from typing import Any

from langchain.chat_models import init_chat_model
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command

from driftguard_langgraph import (
    DriftGuard,
    DriftGuardState,
    SqliteMemoryStore,
    create_planner_revise_graph,
)
from driftguard_langgraph.recovery.quoting import quoted

PROMPT = """\
You answer questions about the table `orders` of a shop with one SQLite query. Say the query and
nothing else. Nobody has told you the names of its columns: guess them from the question."""
SHOP = """\
CREATE TABLE orders (order_no, client, total);
INSERT INTO orders VALUES (4711, 'Ann Lee', 30), (4712, 'Bo Chen', 12), (4713, 'Bo Chen', 8);
PRAGMA query_only = on;"""
QUESTIONS = (
    "List the order numbers of the customer Ann Lee.",
    "How much did the customer Bo Chen spend in total?",
)


class State(DriftGuardState, total=False):
    """What the guard's nodes read and write, and the question."""

    question: str


def scripted(messages: list[Any]) -> AIMessage:
    """Stand in for a model: guess `customer_name`, unless the evidence says that it is wrong."""
    asked = messages[-1].text
    query = "SELECT sum(total) FROM orders WHERE customer_name = 'Bo Chen'"
    if asked.startswith(QUESTIONS[0]):
        query = "SELECT order_no FROM orders WHERE customer_name = 'Ann Lee'"
    is_wrong = "no such column: customer_name" in asked
    return AIMessage(query.replace("customer_name", "client") if is_wrong else query)


def model() -> Runnable[Any, AIMessage]:
    """Your model goes here, or its name into EXAMPLE_MODEL: `openai:gpt-4o-mini`."""
    name = os.environ.get("EXAMPLE_MODEL")
    return init_chat_model(name) if name else RunnableLambda(scripted)


def planner(state: State) -> dict[str, Any]:
    """Ask the model for a query and show it what happened to one like it."""
    asked, warning = state["question"], state.get("guard_top_warning")
    if warning:
        asked += f"\nThis query failed before:\n{quoted(warning['action_text'])}"
        asked += f"\nThe database said:\n{quoted(warning['feedback_text'])}\nWrite another one."
    said = model().invoke([SystemMessage(PROMPT), HumanMessage(asked)])
    return {"candidate_action": said.text.strip().removeprefix("```sql").strip("`\n ")}


def executor(state: State) -> dict[str, Any]:
    """Run the query on a table with a column that nobody would guess."""
    with closing(sqlite3.connect(":memory:")) as shop:
        shop.executescript(SHOP)
        try:
            found = shop.execute(str(state["candidate_action"])).fetchall()
        except sqlite3.Error as error:
            told = f"{error} (available: order_no, client, total)"
            return {"success": False, "feedback": told, "outcome": "the question stayed open"}
    return {"success": True, "feedback": str(found), "outcome": "the question was answered"}


def run(graph: CompiledStateGraph[Any, Any, Any, Any], number: int) -> tuple[str, int]:
    """Return what the question led to, and how often a person was asked."""
    config: Any = {"configurable": {"thread_id": f"run-{number}"}}
    print(f"\nRun {number}: {QUESTIONS[number - 1]}")
    state, times_asked = graph.invoke({"question": QUESTIONS[number - 1]}, config), 0
    while "__interrupt__" in state:
        times_asked += 1
        print(f"  the graph asks:  {state['__interrupt__'][0].value['message']}")
        print("  the person says: no, find another way")
        state = graph.invoke(Command(resume="reject"), config)
    print(f"  the query:       {state['candidate_action']}\n  the database:    {state['feedback']}")
    return str(state["feedback"]), times_asked


def main(memory: str) -> int:
    """Return 0 if run 1 failed, unless the memory knew, and run 2 was warned and did better."""
    with SqliteMemoryStore.from_conn_string(memory) as store:
        guard = DriftGuard(store=store)
        knew = guard.stats()["episodes"] > 0
        graph = create_planner_revise_graph(
            planner, executor, guard=guard, policy="acknowledge", max_attempts=1, state_schema=State
        ).compile(checkpointer=InMemorySaver())
        (first, _), (second, times_asked) = run(graph, 1), run(graph, 2)
    kept = ("4711" in first) is knew and "20" in second and times_asked > 0
    print(f"\n{'Warned, and done better' if kept else 'Not as promised'}. Memory: {memory}")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main([*sys.argv[1:], tempfile.mkdtemp() + "/memory.sqlite3"][0]))
