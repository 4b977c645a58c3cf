from __future__ import annotations

from driftguard_langgraph.testing import memory_store_suite
from tests.conformance.stores import json_file

TestJsonMemoryStore = memory_store_suite(
    json_file, {"durable", "live", "locking", "cross_process", "files"}
)
