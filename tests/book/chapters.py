"""What tests of chapters share: a page's cells, run, with what each prints and shows."""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import linecache
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from relay_explorer.ir.narrow import as_a
from relay_explorer.views.pipeline.format import PipelineView

BOOK = Path(__file__).parents[2] / "book"
CELL = re.compile(r"^```\{code-cell\} python\n((?::\w+:[^\n]*\n)*)(.*?)^```$", re.DOTALL | re.MULTILINE)


@cache
def source(page: str) -> str:
    return (BOOK / f"{page}.md").read_text("utf-8")


def cells(page: str) -> list[str]:
    """Return the code of a page's cells."""
    return [match[2] for match in CELL.finditer(source(page))]


@cache
def executed(page: str) -> tuple[dict[str, Any], tuple[str, ...], tuple[object, ...]]:
    """Return the names that a page's cells define, the text that each cell prints, and its displayed
    value.
    """
    with own_pocket():
        return _executed(page)


@contextlib.contextmanager
def own_pocket() -> Iterator[None]:
    """Import the reader's compiler anew, because a page's cells redefine parts of it."""

    def remove() -> dict[str, Any]:
        names = [name for name in sys.modules if name.partition(".")[0] == "pocket"]
        return {name: sys.modules.pop(name) for name in names}

    before = remove()
    try:
        yield
    finally:
        remove()
        sys.modules.update(before)


def _executed(page: str) -> tuple[dict[str, Any], tuple[str, ...], tuple[object, ...]]:
    names: dict[str, Any] = {"__name__": "__main__"}  # as in a notebook
    printed: list[str] = []
    shown: list[object] = []
    for cell in cells(page):
        if cell.startswith("%%pocket "):
            magic, _, code = cell.partition("\n")
            with contextlib.redirect_stdout(io.StringIO()) as out:
                importlib.import_module("pocket").run(magic.split()[1], code, names)
            printed.append(out.getvalue())
            shown.append(None)
            continue
        file = f"<{page}, cell {len(printed)}>"  # TorchScript reads the source of what it compiles
        linecache.cache[file] = len(cell), None, cell.splitlines(keepends=True), file
        tree = ast.parse(cell)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(tree, file, "exec", dont_inherit=True), names)
            value = (
                eval(compile(ast.Expression(as_a(ast.Expr, last).value), file, "eval"), names)
                if last
                else None
            )
        printed.append(out.getvalue())
        shown.append(value)
    return names, tuple(printed), tuple(shown)


def names(page: str) -> dict[str, Any]:
    return executed(page)[0]


def output(page: str, start: str) -> str:
    """Return the output of the cell that begins so."""
    (number,) = [i for i, cell in enumerate(cells(page)) if cell.startswith(start)]
    return executed(page)[1][number]


def explorers(page: str) -> dict[str, Any]:
    """Return the explorers on a page, by name."""
    shown: tuple[Any, ...] = executed(page)[2]
    return {value.name: value for value in shown if type(value).__name__ == "Explorer"}


def pipeline(page: str, explorer: str) -> PipelineView:
    """Return the view of an explorer that shows a pipeline."""
    return as_a(PipelineView, explorers(page)[explorer].view)


def shown(page: str) -> list[str]:
    """Return the displayed values of a page's cells, in order: an explorer by its name, any other by its
    type's.
    """
    values = [value for value in executed(page)[2] if value is not None]
    known = {id(value): name for name, value in explorers(page).items()}
    return [known.get(id(value), type(value).__name__) for value in values]


def pictures(page: str) -> list[tuple[str, str]]:
    """Return the title and the text alternative of each drawing and chart that a page's cells show."""
    found = []
    for value in executed(page)[2]:
        if type(value).__name__ == "Digraph":
            found.append(as_a(tuple, getattr(value, "words")))  # noqa: B009
        elif type(value).__name__ == "Axes":
            axes: Any = value
            found.append((axes.get_title(loc="left"), axes.figure.description))
    return found


def table(page: str, start: str) -> dict[str, list[float]]:
    """Parse the table that a cell prints: the numbers of each row, by the row's name."""
    lines = output(page, start).splitlines()
    match = [re.match(r"\s*(.*?)((?:\s+[\d.,]+)+)$", line) for line in lines]
    return {
        f"{number}:{m[1].strip()}": [float(n.replace(",", "")) for n in m[2].split()]
        for number, m in enumerate(match)
        if m
    }
