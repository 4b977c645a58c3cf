"""The page that says what `collect_report` found."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Any

from driftguard_langgraph.html.page import page
from driftguard_langgraph.html.text import escaped
from driftguard_langgraph.pages import memory_sections as memory
from driftguard_langgraph.pages.charts import Charts
from driftguard_langgraph.pages.episode_section import episodes
from driftguard_langgraph.pages.parts import joined, moment
from driftguard_langgraph.pages.session_section import drift


def document(report: Mapping[str, Any]) -> str:
    """Return the whole HTML document.

    Args:
        report: What `collect_report` returned.
    """
    charts = Charts()
    sections = (
        memory.overview(report["memory"], charts),
        memory.chains("mistakes", report["mistakes"]),
        memory.chains("successes", report["successes"]),
        memory.warnings(report["warnings"]),
        memory.worth(report["worth"], charts),
        drift(report["sessions"], charts),
        episodes(report["episodes"]),
    )
    name = escaped(joined(report["memory"]["namespace"]))
    lead = (
        f'<p class="soft">Memory of <bdi>{name}</bdi>, as it was on {moment(report["made_at"])}. '
        "It may hold what agents and their users wrote: share it as you would share that.</p>"
    )
    style, script = (
        resources.files(__package__).joinpath(file).read_text(encoding="utf-8")
        for file in ("report.css", "report.js")
    )
    return page("What the guard remembers", lead, sections, style=style, script=script)
