"""What tests of chapters share: a page's cells, run, with what each prints and shows."""

from __future__ import annotations

import ast
import contextlib
import io
import re
from functools import cache
from pathlib import Path
from typing import Any

from relay_explorer.ir.narrow import as_a

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
    names: dict[str, Any] = {}
    printed, shown = [], []
    for cell in cells(page):
        tree = ast.parse(cell)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(tree, page, "exec", dont_inherit=True), names)
            value = (
                eval(compile(ast.Expression(as_a(ast.Expr, last).value), page, "eval"), names)
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


def shown(page: str) -> list[str]:
    """Return the displayed values of a page's cells, in order: an explorer by its name, any other by its
    type's.
    """
    values = [value for value in executed(page)[2] if value is not None]
    return [getattr(value, "name", type(value).__name__) for value in values]
