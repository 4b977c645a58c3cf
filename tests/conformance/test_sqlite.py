from __future__ import annotations

from driftguard_langgraph.testing import memory_store_suite
from tests.conformance.stores import sqlite_connection, sqlite_file

TestSqliteFile = memory_store_suite(
    sqlite_file, {"durable", "live", "locking", "cross_process", "files"}
)
TestSqliteConnection = memory_store_suite(
    sqlite_connection, {"durable", "live", "locking", "cross_process"}
)
