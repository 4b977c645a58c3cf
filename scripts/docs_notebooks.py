"""A hook of mkdocs: each notebook becomes a page, with its outputs as they were kept.

Nothing is run: what the page shows is what stands in the file, which is offered beside it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"

Cell = Mapping[str, Any]


def on_files(files: Any, config: Any) -> Any:
    """Add a page for each notebook, its pictures, and the notebook itself.

    Args:
        files: What is built.
        config: mkdocs' configuration.
    """
    # Only the environment that builds the pages has it.
    from mkdocs.structure.files import File  # type: ignore[import-not-found, unused-ignore]

    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        text, pictures = page_of(path)
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=text))
        for name, content in pictures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=content))
        files.append(File.generated(config, f"notebooks/{path.name}", abs_src_path=str(path)))
    return files


def page_of(path: Path) -> tuple[str, dict[str, bytes]]:
    """Return a notebook as Markdown, and its pictures by the names under which they are shown.

    Args:
        path: The notebook.
    """
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    end = f"[The notebook]({path.name}) runs as it is, offline.\n"
    return "\n\n".join((*_shown(path.stem, cells), end)), dict(_pictures(path.stem, cells))


def _shown(stem: str, cells: list[Cell]) -> Iterator[str]:
    for number, cell in enumerate(cells):
        source = "".join(cell["source"]).strip()
        if cell["cell_type"] == "markdown":
            yield source
        elif source:
            yield f"```python\n{source}\n```"
        for place, output in enumerate(cell.get("outputs", ())):
            yield _output(output, _picture_name(stem, number, place))


def _output(output: Mapping[str, Any], picture: str) -> str:
    data = output.get("data", {"text/plain": output.get("text", "")})
    plain = "".join(data.get("text/plain", "")).strip()
    if "image/png" in data:
        return f"![{_line(plain) or 'A picture'}]({picture})"
    if "text/html" in data:
        html = "".join(data["text/html"]).strip()
        # A blank line would end the block of HTML.
        lines = (line for line in html.splitlines() if line.strip())
        return '<div class="notebook-output">\n' + "\n".join(lines) + "\n</div>"
    return f'```text title="Output"\n{plain}\n```'


def _line(text: str) -> str:
    return " ".join(text.strip("<>").replace("[", "(").replace("]", ")").split())


def _pictures(stem: str, cells: list[Cell]) -> Iterator[tuple[str, bytes]]:
    for number, cell in enumerate(cells):
        for place, output in enumerate(cell.get("outputs", ())):
            image = output.get("data", {}).get("image/png")
            if image:
                yield _picture_name(stem, number, place), base64.b64decode("".join(image))


def _picture_name(stem: str, number: int, place: int) -> str:
    return f"{stem}_{number}_{place}.png"
