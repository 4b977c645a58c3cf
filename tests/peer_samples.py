"""Files as other packages write them, made here: a graph that counts like driftguard-ai's."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

START = datetime(2026, 9, 1, 12, tzinfo=UTC)
INSIDE = timedelta(microseconds=40)
"""Between two notes that one event makes."""


@dataclass
class PeerMemory:
    """Counts events as driftguard-ai does: a node for a text, a link for two texts.

    Args:
        keeps_roles: Whether a text keeps all its roles, as since 0.2.1; before, the last one
            took the place of the others, and the counting of the node began anew.
    """

    keeps_roles: bool = True
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    links: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    events: list[tuple[str, str, str, datetime]] = field(default_factory=list)

    def record(self, action: str, feedback: str, outcome: str, at: datetime | None = None) -> None:
        """Count an event; by default an hour after the one before."""
        now = at or START + timedelta(hours=len(self.events))
        self.events.append((action, feedback, outcome, now))
        roles = (("action", action), ("feedback", feedback), ("outcome", outcome))
        for number, (role, text) in enumerate(roles):
            self._see(text, role, (now + number * INSIDE).isoformat())
        for number, key in enumerate(((action, feedback), (feedback, outcome)), 3):
            link = self.links.setdefault(
                key,
                {"frequency": 0, "weight": 1.0, "created_at": (now + number * INSIDE).isoformat()},
            )
            link["frequency"] += 1

    def _see(self, text: str, role: str, now: str) -> None:
        node = self.nodes.get(text)
        if node is None or (not self.keeps_roles and node["type"] != [role]):
            self.nodes[text] = {
                "type": [role],
                "embedding": None,
                "frequency": 1,
                "first_seen": now,
                "last_seen": now,
            }
            return
        node["type"] = [*node["type"], *({role} - {*node["type"]})]
        node["frequency"] += 1
        node["last_seen"] = now

    def forget_links(self, *keys: tuple[str, str]) -> None:
        """Take links away, as a prune does; the texts keep their counts."""
        for key in keys:
            del self.links[key]

    def forget_texts(self, *texts: str) -> None:
        """Take texts and their links away, as a prune does."""
        for text in texts:
            del self.nodes[text]
        self.links = {key: link for key, link in self.links.items() if not {*key} & {*texts}}

    def node_link(self, links: str = "edges", *, dated: bool = True) -> dict[str, Any]:
        """Return the graph in node-link form, as networkx writes it."""
        dates = set() if dated else {"first_seen", "last_seen", "created_at"}
        old = not self.keeps_roles
        return {
            "directed": True,
            "multigraph": False,
            "graph": {},
            "nodes": [
                {
                    **{key: value for key, value in node.items() if key not in dates},
                    "type": node["type"][0] if old else node["type"],
                    "id": text,
                }
                for text, node in self.nodes.items()
            ],
            links: [
                {
                    **{key: value for key, value in link.items() if key not in dates},
                    "source": source,
                    "target": target,
                }
                for (source, target), link in self.links.items()
            ],
        }

    def document(self, version: int = 2) -> dict[str, Any]:
        """Return the content of a JSON file."""
        graph = self.node_link("edges" if version == 2 else "links")
        return {"format": "driftguard_graph", "format_version": version, "graph": graph}

    def write_json(self, path: Path, version: int = 2) -> Path:
        """Write a JSON file."""
        path.write_text(json.dumps(self.document(version), indent=2), encoding="utf-8")
        return path

    def node_rows(self) -> list[tuple[Any, ...]]:
        """Return the rows of the table of nodes, without vectors."""
        return [
            (text, ",".join(n["type"]), n["frequency"], n["first_seen"], n["last_seen"])
            for text, n in self.nodes.items()
        ]

    def edge_rows(self) -> list[tuple[Any, ...]]:
        """Return the rows of the table of links."""
        return [
            (source, target, link["frequency"], link["weight"], link["created_at"])
            for (source, target), link in self.links.items()
        ]

    def write_sqlite(self, path: Path) -> Path:
        """Write a SQLite file."""
        with closing(sqlite3.connect(path)) as connection, connection:
            for statement in SQLITE_TABLES:
                connection.execute(statement)
            connection.executemany(
                "INSERT INTO meta VALUES (?, ?)",
                [("schema_name", "driftguard_sqlite"), ("schema_version", "1")],
            )
            connection.executemany(
                "INSERT INTO nodes VALUES (?, ?, NULL, ?, ?, ?)", self.node_rows()
            )
            connection.executemany("INSERT INTO edges VALUES (?, ?, ?, ?, ?)", self.edge_rows())
        return path


SQLITE_TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    """CREATE TABLE nodes (text TEXT PRIMARY KEY, type TEXT NOT NULL, embedding TEXT,
    frequency INTEGER NOT NULL, first_seen TEXT, last_seen TEXT)""",
    """CREATE TABLE edges (src TEXT NOT NULL, dst TEXT NOT NULL, frequency INTEGER NOT NULL,
    weight REAL NOT NULL, created_at TEXT, PRIMARY KEY (src, dst))""",
)


def shared_feedback() -> PeerMemory:
    """Two actions that met the same feedback, which led to several outcomes."""
    memory = PeerMemory()
    for event in (
        ("restart pod", "timeout error", "pager went off"),
        ("bake bread", "timeout error", "dough collapsed"),
        ("restart pod", "timeout error", "pager went off"),
        ("restart pod", "connection refused", "dough collapsed"),
        ("bake bread", "timeout error", "pager went off"),
        *[("restart pod", "timeout error", "nobody noticed")] * 4,
    ):
        memory.record(*event)
    return memory


def drift_report(anomalies: Iterable[int] = (2,), turns: int = 3, **more: Any) -> dict[str, Any]:
    """Return a report as `te-drift session` writes it."""
    wrong = set(anomalies)
    return {
        "total_turns": turns,
        "anomalies_detected": len(wrong),
        "threat_level": "LOW" if wrong else "NORMAL",
        "sustained_anomaly": False,
        "avg_absolute_drift": 0.2,
        "max_absolute_drift": 0.1 * turns,
        "consecutive_anomalies_threshold": 3,
        "readings": [
            {
                "turn": turn,
                "absolute_drift": round(0.1 * turn, 4),
                "velocity_drift": 0.1,
                "is_anomaly": turn in wrong,
                "anomaly_reason": "Rapid drift velocity" if turn in wrong else "",
                "confidence": 0.65,
                "components": {"fact_drift": 1.0, "entity_drift": 0.4},
                "timestamp": "2026-07-06T20:00:01Z",
                "role": "assistant",
            }
            for turn in range(1, turns + 1)
        ],
        "mode": "cumulative",
        "wall_time_s": 0.01,
        "session_jsonl": "session.jsonl",
        "total_turns_loaded": turns + 1,
        **more,
    }
