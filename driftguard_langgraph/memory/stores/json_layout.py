"""The text of a JSON memory file: written for readers, read back exactly.

Each memory holds its two graphs in node-link form, one node or edge a line, which
`networkx.node_link_graph(memory["mistakes"], edges="edges")` reads. They are there to be looked
at: what is read back are the episodes, the verdicts about runs, the uses, and at the end of the
file the vectors of all texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from driftguard_langgraph.errors import CorruptStore, SchemaMismatch
from driftguard_langgraph.memory.graph import Graph
from driftguard_langgraph.memory.stores.documents import (
    Document,
    at,
    member,
    read_space,
    reading,
    text,
    whole_number,
)
from driftguard_langgraph.memory.stores.records import EmbeddingSpace
from driftguard_langgraph.memory.stores.sqlite_rows import decode_namespace, encode_namespace
from driftguard_langgraph.types import Kind, Namespace

FORMAT = "driftguard-langgraph memory"
VERSION = 1

GRAPHS: dict[Kind, str] = {"mistake": "mistakes", "success": "successes"}

_START = f'{{\n"format": {json.dumps(FORMAT)}'
_encode = json.JSONEncoder(ensure_ascii=False).encode


@dataclass(slots=True)
class Contents:
    """What a memory file says.

    Attributes:
        space: The embedding space of the vectors.
        episodes: Documents of each namespace by episode id, in the order of recording.
        runs: Verdicts about runs.
        uses: When warnings of actions were last shown.
        vectors: Base64 by the digest of the text.
    """

    space: EmbeddingSpace | None = None
    episodes: dict[Namespace, dict[str, Document]] = field(default_factory=dict)
    runs: dict[Namespace, list[Document]] = field(default_factory=dict)
    uses: dict[Namespace, list[Document]] = field(default_factory=dict)
    vectors: dict[str, str] = field(default_factory=dict)

    def follows(self, old: Contents) -> bool:
        """Whether episodes were only added to or taken away from `old`."""
        if self.space != old.space:
            return False
        if any(self.vectors.get(digest, held) != held for digest, held in old.vectors.items()):
            return False
        for namespace, before in old.episodes.items():
            after = self.episodes.get(namespace, {})
            still = [episode_id for episode_id in before if episode_id in after]
            if still != list(after)[: len(still)]:
                return False
            if any(before[episode_id] != after[episode_id] for episode_id in still):
                return False
        return True


def line(document: Any) -> str:
    """Write a document as one line."""
    return _encode(document)


def graph_text(graph: Graph) -> str:
    """Write a graph in node-link form."""
    nodes = [{"id": key, **attributes} for key, attributes in graph.nodes(data=True)]
    edges = [
        {"source": source, "target": target, **attributes}
        for source, target, attributes in graph.edges(data=True)
    ]
    return (
        '{"directed": true, "multigraph": false, "graph": {}, "nodes": '
        f'{_lines(map(_plain, nodes))}, "edges": {_lines(map(_plain, edges))}}}'
    )


def render(
    contents: Contents,
    episodes: Mapping[Namespace, Iterable[str]],
    graphs: Mapping[tuple[Namespace, Kind], str],
) -> str:
    """Write a memory file.

    Args:
        contents: What it says.
        episodes: The lines of the episodes.
        graphs: The text of the graphs.
    """
    memories = []
    for namespace in {**contents.episodes, **contents.runs}:
        parts = [f'"namespace": {line(namespace)}']
        parts += [f'"{name}": {graphs[namespace, kind]}' for kind, name in GRAPHS.items()]
        parts.append(f'"episodes": {_block(episodes.get(namespace, ()))}')
        parts.append(f'"runs": {_lines(contents.runs.get(namespace, ()))}')
        parts.append(f'"uses": {_lines(contents.uses.get(namespace, ()))}')
        memories.append("{" + ",\n".join(parts) + "}")
    space = None if contents.space is None else asdict(contents.space)
    vectors = ",\n".join(f'"{digest}": "{held}"' for digest, held in contents.vectors.items())
    return (
        f'{_START},\n"version": {VERSION},\n"embedding": {line(space)},\n'
        f'"memories": {_block(memories)},\n"vectors": {{\n{vectors}\n}}\n}}\n'
    )


def parse(data: bytes, path: Path) -> Contents:
    """Read a memory file.

    Args:
        data: Its bytes.
        path: Its name, for the messages.

    Raises:
        SchemaMismatch: It is somebody else's file, or that of a newer version.
        CorruptStore: It is damaged.
    """
    if not data:
        return Contents()
    try:
        with reading("the JSON"):
            document = json.loads(data)
    except (CorruptStore, RecursionError) as error:
        if not _was_a_memory(data, path):
            raise _foreign(path) from error
        raise CorruptStore(str(error)) from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise _foreign(path)
    with reading("the file"):
        version = member(document, "version", whole_number)
        if version > VERSION:
            raise SchemaMismatch(
                f"{path} has version {version}, newer than {VERSION}, which this version of "
                "driftguard-langgraph knows. Upgrade the package."
            )
        return _contents(document)


def _contents(document: Document) -> Contents:
    contents = Contents(vectors=member(document, "vectors", dict))
    space = member(document, "embedding", lambda found: found)
    if space is not None:
        with at("embedding"):
            contents.space = read_space(space)
    for number, memory in enumerate(member(document, "memories", list)):
        with at(f"memories[{number}]"), reading("a memory"):
            _read_memory(contents, memory)
    return contents


def _read_memory(contents: Contents, memory: Document) -> None:
    # The way by which others come to their namespaces, so that all agree what one is.
    namespace = decode_namespace(encode_namespace(member(memory, "namespace", tuple)))
    documents = member(memory, "episodes", list)
    episodes: dict[str, Document] = {}
    for number, document in enumerate(documents):
        with at(f"episodes[{number}]"), reading("an episode"):
            episodes[member(document, "episode_id", text)] = document
    if len(episodes) < len(documents) or namespace in contents.episodes:
        raise ValueError(f"something of {namespace} is there twice")
    contents.episodes[namespace] = episodes
    contents.runs[namespace] = member(memory, "runs", list)
    contents.uses[namespace] = member(memory, "uses", list)


def _foreign(path: Path) -> SchemaMismatch:
    return SchemaMismatch(
        f"{path} is no memory of driftguard-langgraph and was left as it is. Choose another file "
        "for the memory (setting json_filepath)."
    )


def _was_a_memory(data: bytes, path: Path) -> bool:
    """Whether a damaged file was a memory, by its first bytes or else by its name.

    Readable text that does not begin like a memory is somebody's document.
    """
    start = _START.encode()
    head = data[: len(start)]
    if FORMAT.encode() in data[:256] or (head and start.startswith(head)):
        return True
    readable = not any(byte < 32 and byte not in b"\t\n\r\f" for byte in data[:4096])
    try:
        data[:4096].decode()
    except UnicodeDecodeError as error:
        # The last character may be cut in two by the limit.
        readable = readable and error.start > 4092
    return not readable and path.suffix.lower() == ".json"


def _plain(attributes: Mapping[str, Any]) -> Document:
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in attributes.items()
    }


def _lines(documents: Iterable[Any]) -> str:
    return _block(map(_encode, documents))


def _block(lines: Iterable[str]) -> str:
    joined = ",\n".join(lines)
    return f"[\n{joined}\n]" if joined else "[]"
