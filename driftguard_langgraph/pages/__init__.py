"""A memory, and the drift of conversations, as one HTML page that needs no network.

`write_report` writes it to a file, `render_report` returns it; `driftguard report` does the same
from a shell.
"""

from __future__ import annotations

from driftguard_langgraph.pages.report import collect_report, render_report, write_report

__all__ = ["collect_report", "render_report", "write_report"]
