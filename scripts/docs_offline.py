"""A hook of mkdocs: a site that would fetch something from elsewhere is an error.

Links that a reader may follow are no fetches; scripts, styles, fonts and pictures are.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

FETCHED = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed)\b[^>]*?\bsrc\s*=\s*[\"']?\s*(?:https?:)?//"
    r"|<link\b(?![^>]*\brel=[\"']?(?:canonical|next|prev|alternate))[^>]*?"
    r"\bhref\s*=\s*[\"']?\s*(?:https?:)?//"
    r"|url\(\s*[\"']?(?:https?:)?//"
    r"|@import\s+[\"'](?:https?:)?//",
    re.IGNORECASE,
)
LOOKED_AT = {".css", ".html", ".svg"}


def outside(site: Path) -> list[str]:
    """Return what a built site would fetch from elsewhere, one line for each file that does.

    Args:
        site: The folder of the site.
    """
    found = []
    for path in sorted(site.rglob("*")):
        if path.suffix not in LOOKED_AT:
            continue
        hit = FETCHED.search(path.read_text(encoding="utf-8"))
        if hit:
            found.append(f"{path.relative_to(site)}: {hit[0]}")
    return found


def on_post_build(config: Any) -> None:
    """Refuse a site that needs the network.

    Args:
        config: mkdocs' configuration.

    Raises:
        SystemExit: It does; the message says where.
    """
    found = outside(Path(config["site_dir"]))
    if found:
        raise SystemExit("the site would fetch from elsewhere:\n" + "\n".join(found))
