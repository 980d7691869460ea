"""Short programs, a pass, and what it must make of them, as text."""

from __future__ import annotations

from textwrap import dedent

from relay_explorer.text import parse
from relay_explorer.transform import InferType, Pass, PassContext, Sequential
from relay_explorer.typing import infer_types


def after(passes: Pass | list[Pass], text: str, level: int = 4) -> str:
    """Return the program after InferType and the passes, as rows of text without type comments."""
    steps = [passes] if isinstance(passes, Pass) else passes
    with PassContext(opt_level=level):
        result = Sequential([InferType(), *steps])(parse(dedent(text)))
    infer_types(result)  # it must have types, too
    return bare(result.astext())


def bare(text: str) -> str:
    """Return the rows of a program, without the version and the comments."""
    rows = []
    for row in text.splitlines()[1:]:
        while "/* ty=" in row:
            start = row.index("/* ty=")
            row = row[:start].rstrip() + row[row.index("*/", start) + 2 :]
        rows.append(row)
    return "\n".join(rows).strip()


def check(passes: Pass | list[Pass], text: str, expected: str) -> None:
    result = after(passes, text)
    assert result == dedent(expected).strip(), result
