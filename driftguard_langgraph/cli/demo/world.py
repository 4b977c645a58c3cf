"""A small machine on which the demo's steps have effects.

The executor of the demo runs every step here. Nothing says beforehand which step fails: it
fails when its effects break something, whatever words or tool call brought them about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

BUILD_MINUTES = {True: 4, False: 40}
"""How long a build takes with and without its cache."""

BUILD_LIMIT = 10
"""Minutes a build may take."""

REQUIRED_FIELDS = frozenset({"invoice", "amount", "currency"})
"""What the payment provider insists on."""

COMPRESSION = 5
"""How many times smaller compressed logs are."""

LOCK_LIMIT = 100
"""Requests per second above which a table lock times out."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What a step did.

    Attributes:
        success: Whether everything is well afterwards.
        feedback: The immediate signal.
        outcome: What it led to.
    """

    success: bool
    feedback: str
    outcome: str


class World:
    """The state of the machine, and the operations on it.

    Attributes:
        files: Directories, what is in them, and its size in GB on a disk of 100 GB.
        payload: What is sent to the payment provider.
        paid: Whether the provider accepted it.
        requests_per_second: Load of each environment.
        migrated: Environments that have, or are certain to get, the migration.
        log: Every step that was run.
    """

    def __init__(self) -> None:
        self.files = {
            "system": {"everything else": 64},
            "logs": {"old logs": 20},
            "temp": {"build cache": 6, "scratch": 1},
        }
        self.payload: dict[str, object] = {"invoice": "A-17", "amount": 40}
        self.paid = False
        self.requests_per_second = {"production": 240, "staging": 0}
        self.migrated: set[str] = set()
        self.log: list[str | dict[str, Any]] = []
        self._operations: dict[str, Callable[[Mapping[str, Any]], Effect]] = {
            "delete_directory": self._delete_directory,
            "create_directory": self._create_directory,
            "compress_logs": self._compress_logs,
            "send_webhook": self._send_webhook,
            "apply_migration": self._apply_migration,
            "schedule_migration": self._schedule_migration,
            "do_nothing": self._do_nothing,
        }

    @property
    def disk_usage(self) -> int:
        """Percent of the disk that is used."""
        return sum(sum(held.values()) for held in self.files.values())

    def run(self, step: str | dict[str, Any]) -> Effect:
        """Carry out a step and report its effect.

        Args:
            step: Words, or a tool call `{"name", "args"}`.
        """
        self.log.append(step)
        call = understand(step) if isinstance(step, str) else step
        operation = self._operations.get(call["name"]) if call is not None else None
        if operation is None or call is None:
            return Effect(False, "this machine cannot do that", "nothing happened")
        return operation(call.get("args", {}))

    def _delete_directory(self, args: Mapping[str, Any]) -> Effect:
        freed = sum(self.files.pop(args["path"], {}).values())
        minutes = BUILD_MINUTES["build cache" in self.files.get("temp", ())]
        if minutes > BUILD_LIMIT:
            return Effect(False, "build cache was wiped", f"next build took {minutes} minutes")
        return self._freed(freed)

    def _create_directory(self, args: Mapping[str, Any]) -> Effect:
        self.files.setdefault(args["path"], {})
        return Effect(True, f"{args['path']} directory is there", "the next build can start")

    def _compress_logs(self, args: Mapping[str, Any]) -> Effect:
        logs = self.files.get("logs", {})
        before = sum(logs.values())
        self.files["logs"] = {name: size // COMPRESSION for name, size in logs.items()}
        return self._freed(before - sum(self.files["logs"].values()))

    def _freed(self, size: int) -> Effect:
        return Effect(True, f"{size} GB freed", f"disk usage is {self.disk_usage} percent")

    def _send_webhook(self, args: Mapping[str, Any]) -> Effect:
        if args.get("complete"):
            self.payload["currency"] = "EUR"
        missing = ", ".join(sorted(REQUIRED_FIELDS - self.payload.keys()))
        if missing:
            return Effect(
                False,
                f"server returned 422 again: {missing} is missing",
                "duplicate charge risk, run aborted",
            )
        self.paid = True
        return Effect(True, "server returned 200", "payment confirmed")

    def _apply_migration(self, args: Mapping[str, Any]) -> Effect:
        load = self.requests_per_second.get(args["environment"], 0)
        if load > LOCK_LIMIT:
            return Effect(
                False,
                f"lock timeout on table orders at {load} requests per second",
                "checkout was down for six minutes",
            )
        self.migrated.add(args["environment"])
        return Effect(True, "migration applied in 2 seconds", "schema is up to date")

    def _schedule_migration(self, args: Mapping[str, Any]) -> Effect:
        self.migrated.add(args["environment"])
        return Effect(True, f"scheduled for {args.get('window', 'the night')}", "no lock held")

    def _do_nothing(self, args: Mapping[str, Any]) -> Effect:
        return Effect(True, "left as it is", "nothing changed")


def _mentions(*stems: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(stems)})", re.IGNORECASE)


_NEGATED = _mentions("not\\b", "never\\b", "keep", "don't", "leave")
_DELETE = _mentions("delet", "remov", "clear", "wip", "empt", "purg", "eras", "clean", "rm\\b")
_CREATE = _mentions("creat", "recreat", "make", "making", "mkdir", "ensur")
_COMPRESS = _mentions("compress", "archiv", "gzip", "zip", "rotat")
_WEBHOOK = _mentions("webhook", "callback", "payment provider")
_COMPLETE = _mentions("currency", "correct", "complet", "eur\\b")
_MIGRATION = _mentions("migrat", "0042_orders_index")
_LATER = _mentions("schedul", "night", "later", "maintenance")
_STAGING = _mentions("staging")
_TEMP = _mentions("temp", "tmp")
_LOGS = _mentions("logs?\\b")


def understand(text: str) -> dict[str, Any] | None:
    """Turn words into the operation they ask for; None if there is none.

    Args:
        text: The step in words.
    """
    if _NEGATED.search(text):
        return _call("do_nothing")
    if _WEBHOOK.search(text):
        return _call("send_webhook", complete=_COMPLETE.search(text) is not None)
    if _MIGRATION.search(text):
        environment = "staging" if _STAGING.search(text) else "production"
        name = "schedule_migration" if _LATER.search(text) else "apply_migration"
        return _call(name, environment=environment)
    return _on_directory(text)


def _on_directory(text: str) -> dict[str, Any] | None:
    if _COMPRESS.search(text) and _LOGS.search(text):
        return _call("compress_logs")
    path = "temp" if _TEMP.search(text) else "logs" if _LOGS.search(text) else None
    if path is None:
        return None
    if _CREATE.search(text):
        return _call("create_directory", path=path)
    return _call("delete_directory", path=path) if _DELETE.search(text) else None


def _call(name: str, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args}
