"""What a memory store must do.

A store keeps *episodes* (the truth) and the *wordings* they are written in. Every distinct
text of one kind and role is one wording; it carries the embedding of the text and the id of
the graph node it was placed in. Nodes, edges, frequencies and chains are not stored: they
are counted from the episodes (`paths`), so they can never disagree with them.

Shaped like LangGraph's checkpointers: the constructor takes a live connection, `setup()` is
idempotent, `from_conn_string(...)` is a context manager that does both, and every method has
an async twin.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime

from driftguard_langgraph._closing import Closing
from driftguard_langgraph._twins import async_twin
from driftguard_langgraph.memory.stores.records import (
    Appended,
    ChainPath,
    EmbeddingSpace,
    Placement,
    RunKept,
    RunScope,
    RunShare,
    RunVerdict,
    Vector,
    Wording,
)
from driftguard_langgraph.types import Action, Episode, Kind, Namespace, NodeType


class BaseMemoryStore(Closing):
    """The interface of every memory backend; see the module for the data model.

    All methods may raise `StoreUnavailable`, `SchemaMismatch` or `CorruptStore`. All are
    safe to call from several threads.
    """

    @abstractmethod
    def setup(self) -> None:
        """Create or migrate the schema. Calling it again does nothing."""

    @abstractmethod
    def close(self) -> None:
        """Release what the store opened itself. Calling it again does nothing."""

    @abstractmethod
    def exclusive(self) -> AbstractContextManager[None]:
        """Return a context in which nobody else writes, as one transaction.

        What is read inside is current; what is written inside is kept as a whole, or not
        at all if the block raises. It can be nested in the same thread.
        """

    def snapshot(self) -> AbstractContextManager[None]:
        """Return a context in which a store may answer everything as of one moment.

        Nothing is written inside. It is there to save work: by default it does nothing.
        """
        return nullcontext()

    @abstractmethod
    def space(self) -> EmbeddingSpace | None:
        """Return the embedding space of the stored vectors, None while there are none."""

    @abstractmethod
    def append(self, episode: Episode, placement: Placement, space: EmbeddingSpace) -> Appended:
        """Keep one episode, once per `(namespace, episode_id)`.

        Args:
            episode: What was observed.
            placement: Nodes and vectors of its three texts.
            space: The embedding space of those vectors.

        Raises:
            SchemaMismatch: The stored vectors are of another space.
        """

    @abstractmethod
    def search(
        self,
        namespace: Namespace,
        kind: Kind,
        role: NodeType,
        vector: Vector,
        limit: int,
        floor: float | None = None,
    ) -> Sequence[Wording]:
        """Return the wordings nearest to `vector`, nearest first.

        Args:
            namespace: Whose memory to search; never another's.
            kind: Mistakes or successes.
            role: Which texts to search.
            vector: Unit vector, shape `(dimension,)`.
            limit: How many wordings at most.
            floor: Lowest cosine, -1..1; None for any.
        """

    @abstractmethod
    def wording(
        self, namespace: Namespace, kind: Kind, role: NodeType, text: str
    ) -> Wording | None:
        """Return the wording with exactly this text, if it is known."""

    @abstractmethod
    def wordings(
        self, namespace: Namespace, kind: Kind, role: NodeType, nodes: Sequence[str]
    ) -> Sequence[Wording]:
        """Return the wordings merged into each of `nodes`, oldest first."""

    @abstractmethod
    def paths(
        self, namespace: Namespace, kind: Kind, actions: Sequence[str] | None = None
    ) -> Sequence[ChainPath]:
        """Count the episodes by their nodes.

        Args:
            namespace: Whose memory to read.
            kind: Mistakes or successes.
            actions: Only paths that start at these action nodes; None for all.
        """

    @abstractmethod
    def count_since(
        self, namespace: Namespace, kind: Kind, actions: Sequence[str], since: datetime
    ) -> int:
        """Count the episodes of these action nodes that were created after `since`."""

    @abstractmethod
    def next_success(self, namespace: Namespace, episode_ids: Sequence[str]) -> Action | None:
        """Return what succeeded next in the same thread as the newest of these episodes.

        None when that is not known; episodes without a `thread_id` have no thread.
        """

    @abstractmethod
    def set_run(self, namespace: Namespace, verdict: RunVerdict) -> RunKept:
        """Keep a verdict about a run; it takes the place of an earlier one.

        It is kept whether or not there are episodes of the run yet.
        """

    @abstractmethod
    def get_run(self, namespace: Namespace, scope: RunScope, run: str) -> RunVerdict | None:
        """Return the verdict about a run, if there is one."""

    @abstractmethod
    def list_runs(self, namespace: Namespace) -> Sequence[RunVerdict]:
        """Return every verdict of a namespace, the one given first first."""

    @abstractmethod
    def run_shares(
        self, namespace: Namespace, actions: Mapping[Kind, Sequence[str]]
    ) -> Sequence[RunShare]:
        """Say how large a part of each run with a verdict these actions were.

        A run is the distinct action nodes of its episodes; nodes of the same name in the two
        graphs are one action. Runs without any of `actions` are left out.

        Args:
            namespace: Whose memory to read.
            actions: Action nodes of each kind.

        Returns:
            One share for each run of the `WEIGHED_EPISODES` newest episodes of `actions`.
        """

    @abstractmethod
    def drop_idle_runs(self, namespace: Namespace) -> int:
        """Erase verdicts about runs of which there is no episode; return how many."""

    @abstractmethod
    def get(self, namespace: Namespace, episode_id: str) -> Episode | None:
        """Return one episode, if it is kept."""

    @abstractmethod
    def list(
        self,
        namespace: Namespace,
        kind: Kind | None = None,
        *,
        limit: int = 100,
        offset: int = 0,
    ) -> Sequence[Episode]:
        """Return episodes in the order in which they were recorded."""

    @abstractmethod
    def namespaces(self) -> Sequence[Namespace]:
        """Return every namespace that holds an episode."""

    @abstractmethod
    def touch(self, namespace: Namespace, kind: Kind, actions: Sequence[str], at: datetime) -> None:
        """Note that warnings from these action nodes were shown at `at`.

        A store may drop the note when the last one is less than a day old: staleness is
        counted in days, and a review should rarely have to write.
        """

    @abstractmethod
    def delete(self, namespace: Namespace, episode_id: str) -> bool:
        """Erase one episode and every text that no other episode has. True if it was there.

        A store may rewrite itself to leave no trace: put many deletions into one
        `exclusive()` block.
        """

    @abstractmethod
    def delete_paths(
        self, namespace: Namespace, kind: Kind, paths: Sequence[tuple[str, str, str]]
    ) -> int:
        """Erase all episodes on these paths, and their texts; return how many episodes."""

    @abstractmethod
    def replace_vectors(self, space: EmbeddingSpace, vectors: Mapping[str, Vector]) -> None:
        """Put every wording into a new embedding space.

        Args:
            space: The new space.
            vectors: The new vector of every text that is kept.

        Raises:
            SchemaMismatch: A text that is kept has no vector in `vectors`.
        """

    @abstractmethod
    def texts(self) -> Sequence[str]:
        """Return every distinct text that is kept, of all namespaces."""

    @abstractmethod
    def location(self) -> str:
        """Say in words where the memory lives."""

    asetup = async_twin(setup)
    aclose = async_twin(close)
    aspace = async_twin(space)
    aappend = async_twin(append)
    asearch = async_twin(search)
    awording = async_twin(wording)
    awordings = async_twin(wordings)
    apaths = async_twin(paths)
    acount_since = async_twin(count_since)
    anext_success = async_twin(next_success)
    aset_run = async_twin(set_run)
    aget_run = async_twin(get_run)
    alist_runs = async_twin(list_runs)
    arun_shares = async_twin(run_shares)
    adrop_idle_runs = async_twin(drop_idle_runs)
    aget = async_twin(get)
    alist = async_twin(list)
    anamespaces = async_twin(namespaces)
    atouch = async_twin(touch)
    adelete = async_twin(delete)
    adelete_paths = async_twin(delete_paths)
    areplace_vectors = async_twin(replace_vectors)
    atexts = async_twin(texts)
