"""The callback handler in real chains, retrievers, agents and graphs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_core.tools import BaseTool, StructuredTool, create_retriever_tool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, RetryPolicy, interrupt

from driftguard_langgraph import (
    DriftGuard,
    DriftGuardCallbackHandler,
    SqliteMemoryStore,
    create_record_outcome_node,
)
from driftguard_langgraph.errors import GuardrailTriggered, StoreError
from driftguard_langgraph.events import Event
from driftguard_langgraph.middleware import DriftGuardMiddleware
from tests.drift_samples import ScriptedModel
from tests.guard_samples import (
    ASKED,
    answers,
    burnt,
    call,
    counts,
    guard_of,
    in_thread,
    proposing,
    saver_tool,
    soft_tool,
)
from tests.memory_samples import SeededEmbedder

Runner = Callable[..., Any]


def sync_run(runnable: Runnable[Any, Any], given: Any, config: Any) -> Any:
    return runnable.invoke(given, config)


def async_run(runnable: Runnable[Any, Any], given: Any, config: Any) -> Any:
    return asyncio.run(runnable.ainvoke(given, config))


def stream_run(runnable: Runnable[Any, Any], given: Any, config: Any) -> Any:
    return list(runnable.stream(given, config))


def astream_run(runnable: Runnable[Any, Any], given: Any, config: Any) -> Any:
    async def consume() -> list[Any]:
        return [chunk async for chunk in runnable.astream(given, config)]

    return asyncio.run(consume())


@pytest.fixture(params=[sync_run, async_run, stream_run, astream_run])
def run(request: pytest.FixtureRequest) -> Runner:
    """Run something to its end, in each way there is."""
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def guard(tmp_path: Path) -> Iterator[DriftGuard]:
    """A guard over a real SQLite memory."""
    with SqliteMemoryStore.open(tmp_path / "memory.sqlite3") as store:
        yield DriftGuard(store=store, embeddings=SeededEmbedder())


def broken(_value: Any) -> Any:
    raise ValueError("no such city")


def remembered(guard: DriftGuard) -> list[str]:
    """The recorded actions, oldest first."""
    kept = guard.store.list(guard.namespace, kind="mistake", limit=100)
    return [each.action.text for each in kept]


def both_ways(made: BaseTool) -> BaseTool:
    """The tool with an async form; without one, async runs it and its callbacks in a thread."""
    plain = made.func if isinstance(made, StructuredTool) else None
    if plain is None or made.name == "lookup":
        return made

    async def act(**given: Any) -> Any:
        return plain(**given)

    return made.model_copy(update={"coroutine": act})


def tools_graph(made: BaseTool, *, saver: Any = None, **options: Any) -> Any:
    builder: Any = StateGraph(MessagesState)
    builder.add_node("tools", ToolNode([both_ways(made)], **options)).add_edge(START, "tools")
    return builder.compile(checkpointer=saver)


def proposed(*paths: str) -> dict[str, Any]:
    calls = [call(path, name=f"c{number}") for number, path in enumerate(paths, 1)]
    return {"messages": [proposing(*calls)]}


def test_an_error_deep_in_nested_chains_is_recorded_once_and_where_it_arose(
    guard: DriftGuard, run: Runner
) -> None:
    inner: Any = RunnablePassthrough() | RunnableLambda(broken)
    chain: Any = (RunnablePassthrough() | inner | RunnablePassthrough()).with_config(
        run_name="outer"
    )
    with pytest.raises(ValueError, match="no such city"):
        run(chain, "Atlantis", {"callbacks": [DriftGuardCallbackHandler(guard)]})
    assert remembered(guard) == ['broken(input="Atlantis")']


def test_an_error_that_is_wrapped_on_its_way_up_is_still_one(guard: DriftGuard) -> None:
    inner = RunnableLambda(broken)

    def translating(value: str) -> Any:
        try:
            return inner.invoke(value)
        except ValueError as error:
            raise RuntimeError("the weather is not known") from error

    with pytest.raises(RuntimeError):
        RunnableLambda(translating).invoke(
            "Atlantis", {"callbacks": [DriftGuardCallbackHandler(guard)]}
        )
    assert remembered(guard) == ['broken(input="Atlantis")']


def test_an_error_that_was_dealt_with_hides_no_later_one(guard: DriftGuard) -> None:
    inner = RunnableLambda(broken)

    def careless(value: str) -> Any:
        try:
            inner.invoke(value)
        except ValueError:
            value = "fallen back"
        raise KeyError(value)

    with pytest.raises(KeyError):
        RunnableLambda(careless).invoke(
            "Atlantis", {"callbacks": [DriftGuardCallbackHandler(guard)]}
        )
    assert remembered(guard) == ['broken(input="Atlantis")', 'careless(input="Atlantis")']


class Library(BaseRetriever):
    """Knows a book, and fails on a word."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        if "forbidden" in query:
            raise PermissionError("the shelf is locked")
        return [Document("a book")]


def test_a_retriever_that_fails_is_recorded_with_its_query(guard: DriftGuard, run: Runner) -> None:
    chain: Any = RunnablePassthrough() | Library() | RunnablePassthrough()
    config = {"callbacks": [DriftGuardCallbackHandler(guard)]}
    run(chain, "an open book", config)
    with pytest.raises(PermissionError):
        run(chain, "the forbidden book", config)
    assert remembered(guard) == ['Library(query="the forbidden book")']


def test_what_runs_beneath_a_tool_call_belongs_to_it(guard: DriftGuard, run: Runner) -> None:
    lookup = create_retriever_tool(Library(), "lookup", "Look a book up.")
    given = {"messages": [proposing({"name": "lookup", "args": {"query": "forbidden"}, "id": "1"})]}
    with pytest.raises(PermissionError):
        run(tools_graph(lookup), given, {"callbacks": [DriftGuardCallbackHandler(guard)]})
    assert remembered(guard) == ['lookup(query="forbidden")']


def test_a_model_that_fails_in_a_chain_is_recorded_with_what_was_asked(
    guard: DriftGuard, run: Runner
) -> None:
    class Down(ScriptedModel):
        def _generate(self, *args: Any, **kwargs: Any) -> Any:
            raise ConnectionError("the provider is down")

    chain: Any = (
        ChatPromptTemplate.from_messages([("system", "Be brief."), ("human", "{q}")]) | Down()
    )
    with pytest.raises(ConnectionError):
        run(chain, {"q": "Who are you?"}, {"callbacks": [DriftGuardCallbackHandler(guard)]})
    assert remembered(guard) == ['Down(input="Who are you?")']


def test_a_kind_that_is_left_out_is_recorded_by_no_parent_either(guard: DriftGuard) -> None:
    chain: Any = RunnablePassthrough() | Library()
    handler = DriftGuardCallbackHandler(guard, record=["tools", "chains"])
    with pytest.raises(PermissionError):
        chain.invoke("forbidden", {"callbacks": [handler]})
    assert remembered(guard) == []


def test_tools_are_recorded_in_an_agent_with_their_successes(
    guard: DriftGuard, run: Runner
) -> None:
    model = ScriptedModel(script=[proposing(call("/a", "c1"), call("/b", "c2")), "done"])
    agent = create_agent(model, [both_ways(soft_tool([]))])
    run(agent, ASKED, {"callbacks": [DriftGuardCallbackHandler(guard)]})
    assert counts(guard) == (0, 2)


def test_a_failed_tool_in_a_graph_of_graphs_is_recorded_once(
    guard: DriftGuard, run: Runner
) -> None:
    inner = tools_graph(saver_tool([]))
    outer = StateGraph(MessagesState).add_node("sub", inner).add_edge(START, "sub").compile()
    top = StateGraph(MessagesState).add_node("mid", outer).add_edge(START, "mid").compile()
    with pytest.raises(OSError, match="quota"):
        run(top, proposed("/full"), {"callbacks": [DriftGuardCallbackHandler(guard)]})
    assert counts(guard) == (1, 0)


def test_an_answer_that_a_predicate_calls_a_failure_is_one(guard: DriftGuard, run: Runner) -> None:
    handler = DriftGuardCallbackHandler(guard, is_failure=lambda said: "saved" in said.content)
    run(tools_graph(soft_tool([])), proposed("/a"), {"callbacks": [handler]})
    assert counts(guard) == (1, 0)


def test_an_error_that_the_tool_node_handles_is_recorded(guard: DriftGuard, run: Runner) -> None:
    graph = tools_graph(saver_tool([]), handle_tool_errors=True)
    run(graph, proposed("/full", "/a"), {"callbacks": [DriftGuardCallbackHandler(guard)]})
    assert counts(guard) == (1, 1)


@pytest.mark.parametrize("how", [sync_run, async_run])
def test_an_interrupt_is_no_failure_and_a_resumed_tool_is_recorded_once(
    guard: DriftGuard, how: Runner
) -> None:
    @tool
    def save(path: str) -> str:
        """Save the report."""
        return f"{interrupt('sure?')} {path}"

    graph = tools_graph(save, saver=InMemorySaver())
    config = {**in_thread("t"), "callbacks": [DriftGuardCallbackHandler(guard)]}
    how(graph, proposed("/a"), config)
    assert counts(guard) == (0, 0)
    how(graph, Command(resume="yes"), config)
    assert counts(guard) == (0, 1)


def test_going_back_in_time_records_a_tool_call_once(guard: DriftGuard) -> None:
    graph = tools_graph(saver_tool([]), saver=InMemorySaver(), handle_tool_errors=True)
    handler = DriftGuardCallbackHandler(guard)
    graph.invoke(proposed("/full"), {**in_thread("t"), "callbacks": [handler]})
    before = next(s for s in graph.get_state_history(in_thread("t")) if s.next == ("tools",))
    graph.invoke(None, {**before.config, "callbacks": [handler]})
    assert counts(guard) == (1, 0)


def test_a_retried_node_is_recorded_once(guard: DriftGuard) -> None:
    builder: Any = StateGraph(MessagesState)
    policy = RetryPolicy(max_attempts=3, initial_interval=0.0, retry_on=ValueError)
    builder.add_node("act", broken, retry_policy=policy).add_edge(START, "act")
    with pytest.raises(ValueError, match="no such city"):
        builder.compile().invoke(ASKED, {"callbacks": [DriftGuardCallbackHandler(guard)]})
    assert remembered(guard) == ['act(messages="Please save the report.")']


def test_two_tools_without_call_ids_in_one_node_are_two_records(guard: DriftGuard) -> None:
    save = saver_tool([])

    def act(_state: Any) -> dict[str, Any]:
        save.invoke({"path": "/a"})
        save.invoke({"path": "/b"})
        return {}

    builder: Any = StateGraph(MessagesState)
    graph = builder.add_node("act", act).add_edge(START, "act").compile()
    graph.invoke(ASKED, {"callbacks": [DriftGuardCallbackHandler(guard)]})
    assert counts(guard) == (0, 2)


@pytest.mark.parametrize("how", [sync_run, async_run])
@pytest.mark.parametrize("thread", [True, False])
@pytest.mark.parametrize("path", ["/full", "/a"])
def test_middleware_and_handler_together_record_a_call_once(
    guard: DriftGuard, how: Runner, thread: bool, path: str
) -> None:
    model = ScriptedModel(script=[proposing(call(path)), "done"])
    saver = InMemorySaver() if thread else None
    middleware = DriftGuardMiddleware(guard)
    agent = create_agent(
        model, [both_ways(saver_tool([]))], middleware=[middleware], checkpointer=saver
    )
    config = {"callbacks": [DriftGuardCallbackHandler(guard)]}
    try:
        how(agent, ASKED, {**config, **in_thread("t")} if thread else config)
    except OSError:
        assert counts(guard) == (1, 0)
    else:
        assert counts(guard) == (0, 1)


def test_node_and_handler_together_record_a_call_once(guard: DriftGuard) -> None:
    class State(MessagesState):
        candidate_action: dict[str, Any]
        feedback: str
        success: bool

    save = saver_tool([])

    def act(state: State) -> dict[str, Any]:
        said = save.invoke(state["candidate_action"])
        return {"feedback": said.content, "success": True}

    builder: Any = StateGraph(State).add_node("act", act).add_edge(START, "act")
    builder.add_node("record", create_record_outcome_node(guard)).add_edge("act", "record")
    graph: Any = builder.compile(checkpointer=InMemorySaver())
    config = {**in_thread("t"), "callbacks": [DriftGuardCallbackHandler(guard)]}
    graph.invoke({"messages": [], "candidate_action": call("/a")}, config)
    assert counts(guard) == (0, 1)


def test_a_known_failure_is_stopped_in_a_tool_node(run: Runner) -> None:
    ran: list[str] = []
    handler = DriftGuardCallbackHandler(burnt(), mode="block")
    graph = tools_graph(soft_tool(ran))
    with pytest.raises(GuardrailTriggered, match="disk quota exceeded"):
        run(graph, proposed("/full"), {"callbacks": [handler]})
    assert ran == []


@pytest.mark.parametrize("how", [sync_run, async_run])
def test_a_stopped_call_is_answered_where_the_tool_node_handles_errors(how: Runner) -> None:
    ran: list[str] = []
    memory = burnt()
    handler = DriftGuardCallbackHandler(memory, mode="block")
    graph = tools_graph(soft_tool(ran), handle_tool_errors=True)
    final = how(graph, proposed("/full", "/a"), {"callbacks": [handler]})
    stopped, worked = answers(final["messages"])
    assert (stopped.status, worked.status, ran) == ("error", "success", ["/a"])
    assert "disk quota exceeded" in stopped.content
    assert counts(memory) == (1, 1)


def test_a_known_failure_is_stopped_in_a_chain(run: Runner) -> None:
    ran: list[str] = []
    memory = burnt()
    chain: Any = RunnablePassthrough() | both_ways(soft_tool(ran))
    handler = DriftGuardCallbackHandler(memory, mode="block")
    with pytest.raises(GuardrailTriggered):
        run(chain, {"path": "/full"}, {"callbacks": [handler]})
    assert (ran, counts(memory)) == ([], (1, 0))


@pytest.mark.parametrize("how", [sync_run, async_run])
def test_a_refusal_inside_the_middleware_is_not_recorded_as_a_failure(how: Runner) -> None:
    memory = burnt()
    model = ScriptedModel(script=[proposing(call("/full")), "done"])
    middleware = DriftGuardMiddleware(memory, policy="warn")
    agent = create_agent(model, [both_ways(soft_tool([]))], middleware=[middleware])
    handler = DriftGuardCallbackHandler(memory, mode="block")
    with pytest.raises(GuardrailTriggered):
        how(agent, ASKED, {"callbacks": [handler]})
    assert counts(memory) == (1, 0)


class Down(SeededEmbedder):
    """An embedder that cannot be reached."""

    def embed(self, *args: Any, **kwargs: Any) -> Any:
        raise ConnectionError("the embedder is down")


@pytest.mark.parametrize("mode", ["observe", "block"])
def test_an_outage_of_ours_costs_an_open_run_nothing(run: Runner, mode: Any) -> None:
    ran: list[str] = []
    handler = DriftGuardCallbackHandler(DriftGuard(store=None, embeddings=Down()), mode=mode)
    run(tools_graph(soft_tool(ran)), proposed("/a"), {"callbacks": [handler]})
    assert ran == ["/a"]


def test_an_outage_of_ours_refuses_a_closed_run(run: Runner) -> None:
    ran: list[str] = []
    handler = DriftGuardCallbackHandler(
        DriftGuard(embeddings=Down()), mode="block", on_store_error="closed"
    )
    with pytest.raises(StoreError, match="Not run: the failure memory could not be asked"):
        run(tools_graph(soft_tool(ran)), proposed("/a"), {"callbacks": [handler]})
    assert ran == []


def test_a_chains_own_error_is_seen_though_a_closed_memory_is_down() -> None:
    handler = DriftGuardCallbackHandler(DriftGuard(embeddings=Down()), on_store_error="closed")
    with pytest.raises(ValueError, match="no such city"):
        RunnableLambda(broken).invoke("Atlantis", {"callbacks": [handler]})


def test_the_namespace_is_filled_from_the_metadata_of_the_run(guard: DriftGuard) -> None:
    handler = DriftGuardCallbackHandler(guard, namespace=("acme", "{user_id}"))
    for user in ("ann", "bob", "bob"):
        config: Any = {"callbacks": [handler], "metadata": {"user_id": user}}
        soft_tool([]).invoke({"path": "/a"}, config)
    kept = [guard.stats(namespace=("acme", user)) for user in ("ann", "bob")]
    assert [stats["successes"]["episodes"] for stats in kept] == [1, 2]


def test_a_namespace_that_cannot_be_filled_records_nothing_and_costs_nothing(
    guard: DriftGuard, caplog: pytest.LogCaptureFixture
) -> None:
    handler = DriftGuardCallbackHandler(guard, namespace=("acme", "{user_id}"))
    soft_tool([]).invoke({"path": "/a"}, {"callbacks": [handler]})
    assert "needs 'user_id'" in caplog.text


def test_batches_keep_their_runs_apart(guard: DriftGuard) -> None:
    barrier = threading.Barrier(8, timeout=30)

    def act(number: int) -> int:
        barrier.wait()
        if number % 2:
            raise ValueError(f"{number} is odd")
        return number

    handler = DriftGuardCallbackHandler(guard)
    chain: Any = RunnablePassthrough() | RunnableLambda(act)
    config: Any = {"callbacks": [handler], "max_concurrency": 8}
    chain.batch(list(range(8)), config, return_exceptions=True)
    assert sorted(remembered(guard)) == [f"act(input={number})" for number in (1, 3, 5, 7)]


def test_a_hundred_concurrent_async_runs_are_counted_exactly(guard: DriftGuard) -> None:
    handler = DriftGuardCallbackHandler(guard)
    graph = tools_graph(saver_tool([]), handle_tool_errors=True)

    async def storm() -> None:
        await asyncio.gather(
            *(
                graph.ainvoke(
                    proposed("/full" if number % 4 == 0 else f"/{number}"),
                    {"callbacks": [handler], **in_thread(f"t{number}")},
                )
                for number in range(100)
            )
        )

    asyncio.run(storm())
    assert (counts(guard), len(handler._watch.runs)) == ((25, 75), 0)


def test_what_is_cancelled_is_no_failure(guard: DriftGuard) -> None:
    begun = asyncio.Event()

    @tool
    async def wait(path: str) -> str:
        """Wait for ever."""
        begun.set()
        await asyncio.sleep(3600)
        return path

    async def impatient() -> None:
        handler = DriftGuardCallbackHandler(guard)
        task = asyncio.create_task(wait.ainvoke({"path": "/a"}, {"callbacks": [handler]}))
        await begun.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(impatient())
    assert counts(guard) == (0, 0)


@pytest.mark.parametrize("inline", [False, True])
def test_the_event_loop_waits_for_the_memory_only_if_somebody_insists(
    inline: bool, caplog: pytest.LogCaptureFixture
) -> None:
    events: list[Event] = []
    handler = DriftGuardCallbackHandler(guard_of(events.append), mode="block")
    handler.run_inline = inline
    async_run(tools_graph(soft_tool([])), proposed("/a"), {"callbacks": [handler]})
    assert (len(events), "BlockingError" in caplog.text) == ((0, True) if inline else (2, False))


def test_tools_that_are_not_named_are_left_alone(guard: DriftGuard) -> None:
    lookup = create_retriever_tool(Library(), "lookup", "Look a book up.")
    handler = DriftGuardCallbackHandler(guard, tools=["save"])
    with pytest.raises(PermissionError):
        lookup.invoke({"query": "forbidden"}, {"callbacks": [handler]})
    soft_tool([]).invoke({"path": "/a"}, {"callbacks": [handler]})
    assert counts(guard) == (0, 1)


def test_a_graph_compiled_with_a_store_remembers_there() -> None:
    store = InMemoryStore()
    builder: Any = StateGraph(MessagesState).add_node("tools", ToolNode([soft_tool([])]))
    graph: Any = builder.add_edge(START, "tools").compile(store=store)
    graph.invoke(proposed("/a"), {"callbacks": [DriftGuardCallbackHandler()]})
    assert store.list_namespaces()


def test_messages_of_any_form_become_words(guard: DriftGuard) -> None:
    config: Any = {"callbacks": [DriftGuardCallbackHandler(guard)]}
    for given in ([HumanMessage("hello"), AIMessage("hi")], [("user", "good day")]):
        with pytest.raises(ValueError, match="no such city"):
            RunnableLambda(broken).invoke(given, config)
    assert remembered(guard) == ['broken(input="hello")', 'broken(input="good day")']
