"""LangChain's own suites for what this package gives to it."""

from __future__ import annotations

from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.tools import BaseTool
from langchain_tests.integration_tests import EmbeddingsIntegrationTests, ToolsIntegrationTests
from langchain_tests.unit_tests import EmbeddingsUnitTests, ToolsUnitTests

from driftguard_langgraph import DriftGuard, EphemeralMemoryStore, create_search_failures_tool
from driftguard_langgraph.embeddings.langchain import DriftGuardEmbeddings


class _Searching:
    @property
    def tool_constructor(self) -> BaseTool:
        return create_search_failures_tool(DriftGuard(store=EphemeralMemoryStore()))

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {"step": "delete the temp directory"}


class TestSearchFailures(_Searching, ToolsUnitTests):
    pass


class TestSearchFailuresRun(_Searching, ToolsIntegrationTests):
    pass


class _Embedding:
    @property
    def embeddings_class(self) -> type[Embeddings]:
        return DriftGuardEmbeddings


class TestEmbeddings(_Embedding, EmbeddingsUnitTests):
    pass


class TestEmbeddingsRun(_Embedding, EmbeddingsIntegrationTests):
    pass
