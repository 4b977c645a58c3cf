from __future__ import annotations

from driftguard_langgraph.testing import memory_store_suite
from tests.conformance.stores import ephemeral

TestEphemeralMemoryStore = memory_store_suite(ephemeral)
