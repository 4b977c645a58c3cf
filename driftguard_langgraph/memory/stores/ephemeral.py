"""Memory that lives as long as the process."""

from __future__ import annotations

from driftguard_langgraph.memory.stores.sqlite_tables import SqliteTables, in_memory


class EphemeralMemoryStore(SqliteTables):
    """Memory in this process only: for tests, notebooks and evaluation.

    It is the SQLite store on a database in memory, so it behaves like the real one in
    everything but durability. It is ready to use; `setup()` was called.
    """

    def __init__(self) -> None:
        super().__init__(in_memory())
        self._own()
        self.setup()
