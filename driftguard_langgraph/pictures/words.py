"""Recorded text in a picture: data, made harmless, measured, wrapped and cut.

A picture has no markup to break out of, but matplotlib reads `$...$` as mathematics (see
`board`), warns of letters that a font lacks, and acts on line ends. Here line ends are shown,
and letters without a font become a box.
"""

from __future__ import annotations

from functools import lru_cache

from matplotlib.font_manager import FontProperties, fontManager, get_font
from matplotlib.textpath import TextToPath

from driftguard_langgraph.html.text import printable
from driftguard_langgraph.pictures.style import FONT

BOX = "\N{WHITE SQUARE}"
"""Stands for a letter that no font has."""

_LINE_END = "\N{DOWNWARDS ARROW WITH CORNER LEFTWARDS}"

LONGEST = 400
"""Characters of a text that are looked at; more would never fit."""

_OTHER_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Noto Sans JP",
    "Noto Sans KR",
    "Microsoft YaHei",
    "Yu Gothic",
    "Malgun Gothic",
    "PingFang SC",
    "Hiragino Sans",
    "Apple SD Gothic Neo",
    "WenQuanYi Micro Hei",
    "Noto Sans Devanagari",
    "Noto Sans Thai",
    "Noto Sans Arabic",
    "Noto Sans Hebrew",
)
"""Fonts of writing that the first one lacks; used where they are installed."""


@lru_cache(maxsize=1)
def families() -> tuple[str, ...]:
    """Return the fonts to write with, the first one that has a letter draws it."""
    installed = set(fontManager.get_font_names())
    return (FONT, *(name for name in _OTHER_FONTS if name in installed))


@lru_cache(maxsize=1)
def _letters() -> frozenset[int]:
    files = (fontManager.findfont(FontProperties(family=name)) for name in families())
    return frozenset(code for file in files for code in get_font(file).get_charmap())


def readable(text: str) -> str:
    """Return a text as one line that can be drawn: nothing acts, nothing is missing.

    Args:
        text: Any text.
    """
    flat = (
        printable(text, LONGEST)
        .strip()
        .replace("\n", " \N{DOWNWARDS ARROW WITH CORNER LEFTWARDS} ")
    )
    letters = _letters()
    shown = (c if ord(c) in letters else BOX for c in " ".join(flat.split()))
    return "".join(shown)


@lru_cache(maxsize=8)
def _font(size: float, bold: bool) -> FontProperties:
    return FontProperties(family=list(families()), size=size, weight="bold" if bold else "normal")


@lru_cache(maxsize=8192)
def width_of(text: str, size: float, bold: bool = False) -> float:
    """Return the width of a line of readable text.

    Args:
        text: What `readable` returned.
        size: Size of the letters, in points.
        bold: Whether they are bold.

    Returns:
        Its width in points.
    """
    if not text:
        return 0.0
    width, _, _ = TextToPath().get_text_width_height_descent(text, _font(size, bold), ismath=False)
    return float(width)


def cut(text: str, width: float, size: float, bold: bool = False) -> str:
    """Return as much of a readable text as fits in a line, with "…" for the rest.

    Args:
        text: What `readable` returned.
        width: Room for it, in points.
        size: Size of the letters, in points.
        bold: Whether they are bold.
    """
    if width_of(text, size, bold) <= width:
        return text
    return text[: _fitting(text, width, size, bold, "…")].rstrip() + "…"


def _fitting(text: str, width: float, size: float, bold: bool, end: str) -> int:
    """Return how many letters of a text fit in a line that ends in `end`."""
    least, most = 0, len(text)
    while least < most:
        middle = (least + most + 1) // 2
        fits = width_of(text[:middle].rstrip() + end, size, bold) <= width
        least, most = (middle, most) if fits else (least, middle - 1)
    return least


def wrapped(text: str, width: float, size: float, lines: int) -> list[str]:
    """Return a readable text in lines that fit, the last one cut if there is more.

    Args:
        text: What `readable` returned.
        width: Room for a line, in points.
        size: Size of the letters, in points.
        lines: The most lines.
    """
    found: list[str] = []
    rest = text
    while rest and len(found) < lines - 1:
        line, rest = _first_line(rest, width, size)
        found.append(line)
    return [*found, cut(rest, width, size)] if rest else found


def _first_line(text: str, width: float, size: float) -> tuple[str, str]:
    words = text.split(" ")
    count = 0
    while count < len(words) and width_of(" ".join(words[: count + 1]), size) <= width:
        count += 1
    if count:
        return " ".join(words[:count]), " ".join(words[count:])
    letters = max(1, _fitting(text, width, size, bold=False, end=""))
    return text[:letters], text[letters:]
