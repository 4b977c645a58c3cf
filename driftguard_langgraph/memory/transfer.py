"""A memory as lines of JSON: written from one store, read into any other.

The first line says what the file is. Episodes follow in the order in which they were
recorded, then verdicts about runs, then when warnings were last shown. Vectors and nodes
are left out: they are made anew from the texts, by the model that reads the file.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypedDict, cast

from driftguard_langgraph._files import replacing
from driftguard_langgraph.errors import ConfigurationError, DriftGuardError
from driftguard_langgraph.memory.engine import MemoryEngine
from driftguard_langgraph.memory.episodes import build_episode
from driftguard_langgraph.memory.retention import KINDS, all_episodes
from driftguard_langgraph.memory.runs import build_verdict
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.text.validation import TextLimits, checked_namespace
from driftguard_langgraph.types import Action, Episode, Kind, Namespace

VERSION = 1
"""Of the format; written into the first line."""

BATCH = 64
"""Lines that are read into one transaction, and whose texts are embedded together."""

Json = dict[str, Any]


class ImportReport(TypedDict):
    """What reading a file changed."""

    stored: int
    duplicates: int
    runs: int


def export_lines(store: BaseMemoryStore, namespaces: Iterable[Namespace]) -> Iterator[Json]:
    """Yield a memory line by line; nobody writes to it meanwhile.

    Args:
        store: The memory.
        namespaces: Whose memory to write.
    """
    yield {"type": "driftguard", "version": VERSION}
    with store.exclusive():
        for namespace in namespaces:
            for episode in all_episodes(store, namespace):
                yield {"type": "episode", **episode.to_dict()}
            for run in store.list_runs(namespace):
                decided = {**asdict(run), "decided_at": run.decided_at.isoformat()}
                yield {"type": "run", "namespace": list(namespace), **decided}
            for kind in KINDS:
                yield from _uses(store, namespace, kind)


def _uses(store: BaseMemoryStore, namespace: Namespace, kind: Kind) -> Iterator[Json]:
    used = {p.action: p.last_used for p in store.paths(namespace, kind) if p.last_used}
    for wording in store.wordings(namespace, kind, "action", [*used]):
        # One wording of a node is enough to find it again.
        last_used = used.pop(wording.node, None)
        if last_used is not None:
            yield {
                "type": "use",
                "namespace": list(namespace),
                "kind": kind,
                "action": wording.action.text,
                "at": last_used.isoformat(),
            }


def write_lines(path: Path, lines: Iterable[Json], on_progress: Callable[[int], None]) -> int:
    """Write lines to a file that only its owner can read, whole or not at all.

    Args:
        path: The file; one that is there is replaced.
        lines: What to write.
        on_progress: Called with the number of lines written so far.

    Returns:
        How many episodes were written.
    """
    episodes = 0
    try:
        with replacing(path) as file:
            for number, line in enumerate(lines, 1):
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
                episodes += line["type"] == "episode"
                on_progress(number)
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be written ({error}).") from None
    return episodes


def survey(lines: Iterable[str]) -> Counter[str]:
    """Count what an exported file holds, by the type of its lines; nothing is kept.

    Raises:
        ConfigurationError: It is no such file, or a line is no JSON.
    """
    numbered = ((n, line) for n, line in enumerate(lines, 1) if line.strip())
    _check_header(next(numbered, (1, "")))
    return Counter(str(_parsed(number, line).get("type")) for number, line in numbered)


@dataclass(frozen=True, slots=True)
class Importer:
    """Reads lines into a memory; see `read`.

    Args:
        engine: The memory, with the embedder that makes the vectors.
        limits: What texts may hold; the same as for what is recorded.
    """

    engine: MemoryEngine
    limits: TextLimits

    def read(self, lines: Iterable[str], on_progress: Callable[[int], None]) -> ImportReport:
        """Read a file. What is there already stays as it is; a second run adds nothing.

        Args:
            lines: Of the file.
            on_progress: Called with the number of lines read so far.

        Raises:
            ConfigurationError: A line cannot be read; the ones before it were.
        """
        report = ImportReport(stored=0, duplicates=0, runs=0)
        numbered = ((n, line) for n, line in enumerate(lines, 1) if line.strip())
        _check_header(next(numbered, (1, "")))
        while batch := list(islice(numbered, BATCH)):
            parsed = [(number, _parsed(number, line)) for number, line in batch]
            texts = {str(line.get(key, "")) for _, line in parsed for key in _TEXTS} - {""}
            # Into the cache of the embedder, all at once.
            self.engine.vectors(*texts)
            with self.engine.store.exclusive():
                for number, line in parsed:
                    self._take(number, line, report)
            on_progress(batch[-1][0])
        return report

    def keep(self, episodes: Sequence[Episode], on_progress: Callable[[int], None]) -> ImportReport:
        """Keep episodes that were read elsewhere, a batch as one transaction.

        Args:
            episodes: What to keep, in the order of recording.
            on_progress: Called with the number of episodes kept so far.
        """
        report = ImportReport(stored=0, duplicates=0, runs=0)
        for start in range(0, len(episodes), BATCH):
            batch = episodes[start : start + BATCH]
            texts = {text for e in batch for text in (e.action.text, e.feedback, e.outcome)}
            self.engine.vectors(*texts)
            with self.engine.store.exclusive():
                for episode in batch:
                    self._keep(episode, report)
            on_progress(start + len(batch))
        return report

    def _keep(self, episode: Episode, report: ImportReport) -> None:
        stored = self.engine.remember(episode).stored
        report["stored" if stored else "duplicates"] += 1

    def _take(self, number: int, line: Json, report: ImportReport) -> None:
        try:
            take = {"episode": self._episode, "run": self._run, "use": self._use}[line["type"]]
            take(checked_namespace(line["namespace"]), line, report)
        except DriftGuardError as error:
            if isinstance(error, ValueError):
                raise _unreadable(number, str(error)) from None
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise _unreadable(number, f"{type(error).__name__}: {error}.") from None

    def _episode(self, namespace: Namespace, line: Json, report: ImportReport) -> None:
        if line["kind"] not in KINDS:
            raise ValueError(f"kind {line['kind']!r}")
        episode = build_episode(
            cast("Kind", line["kind"]),
            Action(line["action"], line["tool_name"], line["tool_args"]),
            line["feedback"],
            line["outcome"],
            self.limits,
            namespace,
            severity=line["severity"],
            episode_id=line["episode_id"],
            provenance=line["provenance"],
            metadata=line["metadata"],
            created_at=datetime.fromisoformat(line["created_at"]),
        )
        self._keep(episode, report)

    def _run(self, namespace: Namespace, line: Json, report: ImportReport) -> None:
        scope: Literal["thread", "run"] = line["scope"]
        verdict = build_verdict(
            line["run"] if scope == "thread" else None,
            line["run"] if scope == "run" else None,
            line["success"],
            line["outcome"],
            line["severity"],
            self.limits,
            decided_at=datetime.fromisoformat(line["decided_at"]),
        )
        known = self.engine.store.get_run(namespace, verdict.scope, verdict.run)
        # The newest verdict about a run is the one that counts, wherever it was given.
        if known is None or known.decided_at < verdict.decided_at:
            self.engine.store.set_run(namespace, verdict)
            report["runs"] += 1

    def _use(self, namespace: Namespace, line: Json, _: ImportReport) -> None:
        store, at = self.engine.store, datetime.fromisoformat(line["at"])
        wording = store.wording(namespace, line["kind"], "action", line["action"])
        if wording is not None:
            store.touch(namespace, line["kind"], [wording.node], at)


_TEXTS: Sequence[str] = ("action", "feedback", "outcome")


def _check_header(first: tuple[int, str]) -> None:
    head = _parsed(*first)
    if head.get("type") != "driftguard" or head.get("version") != VERSION:
        raise ConfigurationError(
            f"this is no file of `driftguard export` that this version reads (version {VERSION})."
        )


def _parsed(number: int, line: str) -> Json:
    try:
        parsed = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _unreadable(number, f"no JSON ({error}).") from None
    if not isinstance(parsed, Mapping):
        raise _unreadable(number, "no JSON object.")
    return dict(parsed)


def _unreadable(number: int, why: str) -> ConfigurationError:
    return ConfigurationError(
        f"line {number} cannot be read: {why} What came before it was; correct the line and "
        "import the file again."
    )
