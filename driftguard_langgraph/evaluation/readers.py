"""Reading recorded runs, entry by entry, without loading the file.

What the files may hold is described by the modules in `formats`; the format is told by the
content. A SQLite database is read as checkpoints. A `.json` file is one document (a list of
entries, or one entry), every other file holds one JSON value per line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from driftguard_langgraph.errors import ConfigurationError, InvalidEpisode
from driftguard_langgraph.evaluation.failures import FailurePredicate, looks_failed
from driftguard_langgraph.evaluation.formats import checkpoints
from driftguard_langgraph.evaluation.formats.base import EntryFormat, EntryReader, Source
from driftguard_langgraph.evaluation.formats.registry import (
    ENTRY_FORMATS,
    FORMAT_NAMES,
    checked_format,
)
from driftguard_langgraph.evaluation.steps import Batch

OnInvalid = Callable[[str], None]
"""Told about an entry that is skipped: file, line and what is wrong."""

OnBytes = Callable[[int], None]
"""Told how many bytes of the file have been read."""


def read_batches(
    path: Path,
    *,
    format: str | None = None,
    is_failure: FailurePredicate = looks_failed,
    on_invalid: OnInvalid | None = None,
    on_bytes: OnBytes | None = None,
) -> Iterator[Batch]:
    """Yield the steps of a file in order, those that were proposed at once together.

    Args:
        path: The file.
        format: Name of its format; told by the content if None.
        is_failure: Decides about results of which the log does not say how they went.
        on_invalid: Called for every entry or message that cannot be read, which is then
            skipped; without it the first one is raised.
        on_bytes: Called with the bytes read so far, after every entry.

    Raises:
        ConfigurationError: The file cannot be opened, or there is no such format.
        InvalidEpisode: An entry is not valid and there is no `on_invalid`.
    """
    check_readable(path)
    chosen = checked_format(format)
    tolerance = _Tolerance(on_invalid)
    source = Source(path.name, is_failure, tolerance.context)
    tell = on_bytes or (lambda read: None)
    if chosen == checkpoints.NAME or (chosen is None and checkpoints.is_database(path)):
        size = path.stat().st_size
        yield from checkpoints.read_checkpoints(path, source, lambda s: tell(round(size * s)))
        return
    reader = _Dispatcher(source, [each for each in ENTRY_FORMATS if chosen in (None, each.name)])
    for where, entry in json_entries(path, tell):
        with tolerance.context():
            yield from reader.add(entry, where)
    yield from reader.flush()


def check_readable(path: Path) -> None:
    """Raise `ConfigurationError` unless `path` is a regular file that can be opened."""
    if not path.exists():
        raise ConfigurationError(f"{path}: no such file. Correct the path.")
    if not path.is_file():
        advice = "give a file in it" if path.is_dir() else "it is read twice, so save it first"
        raise ConfigurationError(f"{path}: not a regular file; {advice}.")
    try:
        path.open("rb").close()
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read ({error.strerror}).") from None


def json_entries(path: Path, on_bytes: OnBytes) -> Iterator[tuple[str, Any]]:
    """Yield every entry of a JSON or JSONL file with its place.

    An entry that cannot be parsed comes as the `InvalidEpisode` to raise for it: a
    generator cannot raise and go on.

    Args:
        path: The file.
        on_bytes: Called with the bytes read so far, after every entry of a JSONL file.
    """
    document = _document(path) if path.suffix.lower() == ".json" else None
    yield from _lines(path, on_bytes) if document is None else document


def _document(path: Path) -> list[tuple[str, Any]] | None:
    """Return the entries of a document; None if the file holds several documents, as lines."""
    document = _parse(path.read_bytes(), str(path))
    if isinstance(document, _SeveralDocuments):
        return None
    if isinstance(document, InvalidEpisode) or not isinstance(document, list):
        return [(f"{path}, entry 1", document)]
    return [(f"{path}, entry {number}", entry) for number, entry in enumerate(document, 1)]


def _lines(path: Path, on_bytes: OnBytes) -> Iterator[tuple[str, Any]]:
    read = 0
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            read += len(line)
            if line.strip():
                where = f"{path}, line {number}"
                yield where, _parse(line, where)
            on_bytes(read)


class _SeveralDocuments(InvalidEpisode):
    """More than one JSON value where one was expected."""


def _parse(raw: bytes, where: str) -> Any:
    try:
        return json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return InvalidEpisode(f"{where}: not UTF-8 (byte {error.start + 1}).")
    except RecursionError:
        return InvalidEpisode(f"{where}: JSON nested too deeply.")
    except json.JSONDecodeError as error:
        kind = _SeveralDocuments if error.msg == "Extra data" else InvalidEpisode
        return kind(f"{where}: not JSON ({error.msg}, column {error.colno}).")


class _Tolerance:
    """Reports what is invalid and goes on, if that is allowed."""

    def __init__(self, on_invalid: OnInvalid | None) -> None:
        self._on_invalid = on_invalid

    @contextmanager
    def context(self) -> Iterator[None]:
        try:
            yield
        except InvalidEpisode as error:
            if self._on_invalid is None:
                raise
            self._on_invalid(str(error))


class _Dispatcher:
    """Hands each entry to the reader of its format."""

    def __init__(self, source: Source, formats: list[EntryFormat]) -> None:
        self._source = source
        self._formats = formats
        self._readers: dict[str, EntryReader] = {}
        self._current: str | None = formats[0].name if len(formats) == 1 else None

    def add(self, entry: Any, where: str) -> Iterator[Batch]:
        if isinstance(entry, InvalidEpisode):
            raise entry
        found = self._format_of(entry, where)
        if found.name != self._current:
            yield from self.flush()
            self._current = found.name
        if found.name not in self._readers:
            self._readers[found.name] = found.open(self._source)
        yield from self._readers[found.name].add(entry, where)

    def flush(self) -> Iterator[Batch]:
        if self._current in self._readers:
            yield from self._readers[self._current].flush()

    def _format_of(self, entry: Any, where: str) -> EntryFormat:
        """Return the format that knows the entry; what none knows belongs to the last one."""
        known = (each for each in self._formats if each.recognises(entry))
        last = (each for each in self._formats if each.name == self._current)
        found = next(known, None) or next(last, None)
        if found is None:
            raise InvalidEpisode(
                f"{where}: in none of the formats {', '.join(FORMAT_NAMES)}; expected a JSON "
                "object or a list of messages."
            )
        return found
