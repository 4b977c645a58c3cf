"""Small pieces of HTML that several sections of the page are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from driftguard_langgraph.html.text import escaped


def paragraph(text: str, *, soft: bool = False) -> str:
    """Return plain text as a paragraph."""
    return f"<p{' class=' + chr(34) + 'soft' + chr(34) if soft else ''}>{escaped(text)}</p>"


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Return names with recorded texts as a list; each text keeps its own reading direction."""
    rows = "".join(
        f'<dt>{escaped(name)}</dt><dd dir="auto">{escaped(value)}</dd>' for name, value in pairs
    )
    return f"<dl>{rows}</dl>"


def moment(stamp: str) -> str:
    """Return a time in UTC, to the minute."""
    return f'<time datetime="{escaped(stamp)}">{escaped(readable(stamp))}</time>'


def readable(stamp: str) -> str:
    """Return an ISO time in UTC as people write it, to the minute."""
    return f"{stamp[:10]} {stamp[11:16]} UTC"


def command(words: str) -> str:
    """Return something to type."""
    return f"<pre><code>{escaped(words)}</code></pre>"


def badge(kind: str, words: str) -> str:
    """Return a few words that stand out; `kind` is `good`, `bad`, `doubt` or `plain`."""
    return f'<span class="badge {kind}">{escaped(words)}</span>'


def newest(shown: int, count: int, one: str) -> str:
    """Say how many of a list are shown, with the noun of one."""
    return plural(count, one) if shown == count else f"The newest {shown:,} of {count:,} {one}s"


def plural(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def joined(names: Sequence[str]) -> str:
    """Return the labels of a namespace as one name."""
    return "/".join(names)
