"""The tables of a mirror into a JSON file, and back."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from driftguard_langgraph.errors import CorruptStore
from driftguard_langgraph.memory.graph import load_graph
from driftguard_langgraph.memory.stores import sqlite_documents as tables
from driftguard_langgraph.memory.stores.documents import (
    Document,
    PlacedEpisode,
    at,
    episode_document,
    read_episode,
    read_run,
    read_use,
    read_vector,
    run_document,
    texts_of,
    vector_text,
)
from driftguard_langgraph.memory.stores.json_file import JsonFile
from driftguard_langgraph.memory.stores.json_layout import (
    GRAPHS,
    Contents,
    graph_text,
    line,
    parse,
    render,
)
from driftguard_langgraph.memory.stores.sqlite_mirror import Change, MirrorSession, Origin
from driftguard_langgraph.memory.stores.sqlite_rows import digest
from driftguard_langgraph.memory.stores.sqlite_runs import all_runs, write_run
from driftguard_langgraph.types import Kind, Namespace


class JsonOrigin(Origin):
    """A memory that is kept in one JSON file.

    Args:
        path: The file.

    Attributes:
        file: The file.
    """

    def __init__(self, path: Path) -> None:
        self.file = JsonFile(path)
        self._contents: Contents | None = None
        self._lines: dict[Namespace, dict[str, str]] = {}
        self._graphs: dict[tuple[Namespace, Kind], str] = {}

    def alone(self) -> AbstractContextManager[None]:
        """Hold the lock of the file."""
        return self.file.alone()

    def forget(self) -> None:
        """Read the file anew at the next call."""
        self._contents = None

    def leave_to_the_parent(self) -> None:
        """Take the lock anew in a child process."""
        self.file.leave_to_the_parent()
        self.forget()

    def catch_up(self, session: MirrorSession) -> None:
        """Read the file if it is another than before."""
        if self._contents is not None and not self.file.changed():
            return
        try:
            self._load(session)
        except CorruptStore as error:
            # What is in the mirror is of another file, which must not take the place of this one.
            self.forget()
            raise CorruptStore(
                f"the memory file {self.file.path} is damaged and was left as it is: {error} "
                "Correct it there; put a copy of the file in its place; or move it away, and an "
                "empty memory begins."
            ) from error
        except BaseException:
            self.forget()
            raise

    def _load(self, session: MirrorSession) -> None:
        found, old = parse(self.file.read(), self.file.path), self._contents
        with session.applying():
            if old is None or not found.follows(old):
                session.wipe()
                old = Contents()
            _apply(session, old, found)
        self._contents = found
        self._graphs.clear()
        self._lines = {
            namespace: self._lines_of(documents, old.episodes.get(namespace, {}), namespace)
            for namespace, documents in found.episodes.items()
        }

    def _lines_of(
        self, documents: Mapping[str, Document], known: Collection[str], namespace: Namespace
    ) -> dict[str, str]:
        before = self._lines.get(namespace, {})
        return {
            episode_id: before[episode_id] if episode_id in known else line(document)
            for episode_id, document in documents.items()
        }

    def keep(self, session: MirrorSession) -> None:
        """Replace the file if the exclusive block changed anything, or there is none."""
        changes = session.changes()
        if self._contents is None or not (changes or self.file.stamp is None):
            return
        contents = _changed(session, self._contents, changes)
        self._render_changed(session, contents, changes)
        lines = {namespace: held.values() for namespace, held in self._lines.items()}
        self.file.write(render(contents, lines, self._graphs))
        self._contents = contents

    def _render_changed(
        self, session: MirrorSession, contents: Contents, changes: Sequence[Change]
    ) -> None:
        """Write the lines of what was changed; the others are still right."""
        for change in changes:
            if change.what == "episodes":
                held = self._lines.setdefault(change.namespace, {})
                document = contents.episodes.get(change.namespace, {}).get(change.key)
                if document is None:
                    held.pop(change.key, None)
                else:
                    held[change.key] = line(document)
        stale = {change.namespace for change in changes if change.what == "episodes"}
        view = tables.TablesOf(session)
        for namespace in {**contents.episodes, **contents.runs}:
            for kind in GRAPHS:
                if namespace in stale or (namespace, kind) not in self._graphs:
                    graph = load_graph(view, namespace, kind)
                    self._graphs[namespace, kind] = graph_text(graph)


def _apply(session: MirrorSession, old: Contents, new: Contents) -> None:
    """Write into the mirror in what `new` differs from `old`."""
    for namespace, before in old.episodes.items():
        for episode_id in before.keys() - new.episodes.get(namespace, {}).keys():
            tables.erase(session, namespace, episode_id)
    for memory, (namespace, after) in enumerate(new.episodes.items()):
        known = old.episodes.get(namespace, {})
        for number, (episode_id, document) in enumerate(after.items()):
            if episode_id not in known:
                with at(f"memories[{memory}].episodes[{number}]"):
                    placed = _placed(namespace, episode_id, document)
                _insert(session, placed, new)
    if new.runs != old.runs:
        _apply_runs(session, new)
    if new.uses != old.uses:
        _apply_uses(session, new)


def _apply_runs(session: MirrorSession, contents: Contents) -> None:
    session.write("catch up", "DELETE FROM runs")
    for memory, (namespace, runs) in enumerate(contents.runs.items()):
        for number, run in enumerate(runs):
            with at(f"memories[{memory}].runs[{number}]"):
                write_run(session, namespace, read_run(run))


def _apply_uses(session: MirrorSession, contents: Contents) -> None:
    for memory, (namespace, uses) in enumerate(contents.uses.items()):
        for number, use in enumerate(uses):
            with at(f"memories[{memory}].uses[{number}]"):
                tables.set_use(session, namespace, *read_use(use))


def _placed(namespace: Namespace, episode_id: str, document: Document) -> PlacedEpisode:
    placed = read_episode(document)
    if (placed.episode.namespace, placed.episode.episode_id) != (namespace, episode_id):
        raise CorruptStore(f"the episode {episode_id} is in the wrong place.")
    return placed


def _insert(session: MirrorSession, placed: PlacedEpisode, contents: Contents) -> None:
    texts, space = texts_of(placed.episode), contents.space
    held = {role: contents.vectors.get(digest(text).hex()) for role, text in texts.items()}
    if space is None or None in held.values():
        # Somebody edited the file by hand: the memory is re-embedded at its next use.
        tables.insert_placed(session, placed, None, {})
    else:
        vectors = {}
        for role, value in held.items():
            with at(f"vectors[{digest(texts[role]).hex()!r}]"):
                vectors[role] = read_vector(value, space)
        tables.insert_placed(session, placed, space, vectors)


def _changed(session: MirrorSession, old: Contents, changes: Sequence[Change]) -> Contents:
    """Return what the file has to say after these changes."""
    episodes, vectors, erased = dict(old.episodes), dict(old.vectors), False
    for namespace in {change.namespace for change in changes if change.what == "episodes"}:
        episodes[namespace] = dict(episodes.get(namespace, {}))
    for what, namespace, key in changes:
        stored = tables.stored_episode(session, namespace, key) if what == "episodes" else None
        if stored is not None:
            episodes[namespace][key] = episode_document(stored.placed)
            for role, text in texts_of(stored.placed.episode).items():
                vectors[digest(text).hex()] = vector_text(stored.vectors[role])
        elif what == "episodes":
            erased = True
            episodes[namespace].pop(key, None)
    if erased:
        kept = session.read("read texts", "SELECT DISTINCT digest FROM wordings")
        digests = {row["digest"].hex() for row in kept}
        vectors = {name: value for name, value in vectors.items() if name in digests}
    return replace(
        old,
        space=tables.TablesOf(session).space(),
        episodes={namespace: held for namespace, held in episodes.items() if held},
        runs={
            namespace: [run_document(run) for run in runs]
            for namespace, runs in all_runs(session).items()
        },
        uses=_use_documents(session),
        vectors=vectors,
    )


def _use_documents(session: MirrorSession) -> dict[Namespace, list[Document]]:
    return {
        namespace: [
            {"kind": kind, "action": node, "last_used": at.isoformat()} for kind, node, at in uses
        ]
        for namespace, uses in tables.uses(session).items()
    }
