from __future__ import annotations

from driftguard_langgraph.testing import memory_store_suite
from tests.conformance.stores import langgraph_in_memory, langgraph_sqlite

TestOverInMemoryStore = memory_store_suite(langgraph_in_memory, {"durable", "live", "locking"})
# Not `cross_process`: without a lock, two processes that record one event at the same moment may
# both be told that it is new. That it counts once is shown in `test_langgraph_processes`.
TestOverSqliteStore = memory_store_suite(langgraph_sqlite, {"durable", "live"})
