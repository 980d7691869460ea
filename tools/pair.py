"""Write the notebook that belongs to each executable page of the book: `make pairs`.

Colab opens these notebooks. Their first cell installs the package if importing it fails, MyST is converted to
plain Markdown, and there are no outputs.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jupytext

from relay_explorer import _project

sys.path.insert(0, str(Path(__file__).parents[1]))
from tools.plain_markdown import MarkupError, Translator

ROOT = Path(__file__).parents[1]
# Code that compiles, and so needs TVM, contains one of these strings.
COMPILES = re.compile(
    r"relay_explorer\.(build\(|lower\b)|view=\"(lowering|machine)\"|^import tvm$", re.MULTILINE
)
# The same for the extras of frameworks and of other libraries.
LIBRARIES = {
    "graphs": re.compile(r"\bto_(networkx|graphviz)\b"),
    "plot": re.compile(r"\.plot\("),
    "onnx": re.compile(r"\bfrom_onnx\b"),
    "torch": re.compile(r"^import torch$", re.MULTILINE),
}


def executable_pages(root: Path = ROOT) -> Iterator[Path]:
    """Yield the pages of the book that contain cells, in order."""
    for page in sorted((root / "book").glob("*.md")):
        if "{code-cell}" in page.read_text("utf-8"):
            yield page


def notebook(page: Path, root: Path = ROOT) -> str:
    """Return the text of the notebook that belongs to `page`."""
    translator = Translator(page.relative_to(root), root)
    parts = jupytext.reads(page.read_text("utf-8"), fmt="md:myst")["cells"]
    cells = [_cell("code", first_cell(parts), [], 0)]
    for number, cell in enumerate(parts, 1):
        code = cell["cell_type"] == "code"
        source = cell["source"] if code else translator.translate(cell["source"])
        if source:
            cells.append(
                _cell("code" if code else "markdown", source, cell["metadata"].get("tags", []), number)
            )
    content = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def first_cell(parts: list[Any]) -> str:
    """Return the cell that installs the package, with TVM if a cell compiles, and with the libraries that
    cells import.
    """
    code = "\n".join(part["source"] for part in parts if part["cell_type"] == "code")
    extras = ["notebook"]
    extras += ["compile"] if COMPILES.search(code) else []
    extras += [name for name, used in LIBRARIES.items() if used.search(code)]
    return _project.install_cell(",".join(extras))


def _cell(kind: str, source: str, tags: list[str], number: int) -> dict[str, Any]:
    lines = source.split("\n")
    cell: dict[str, Any] = {
        "cell_type": kind,
        # An identifier that does not change when another part of the page is edited.
        "id": hashlib.sha256(f"{number}:{source}".encode()).hexdigest()[:12],
        "metadata": {"tags": tags} if tags else {},
        "source": [f"{line}\n" for line in lines[:-1]] + [lines[-1]],
    }
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell


def main() -> int:
    """Write every notebook, and remove notebooks whose page no longer exists."""
    pages = list(executable_pages())
    failed = False
    for page in pages:
        try:
            page.with_suffix(".ipynb").write_text(notebook(page), "utf-8")
        except MarkupError as error:
            print(error, file=sys.stderr)
            failed = True
    notebooks = {page.with_suffix(".ipynb") for page in pages}
    for stray in set((ROOT / "book").glob("*.ipynb")) - notebooks:
        stray.unlink()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
