"""Short programs, a pass, and what it must make of them, as text."""

from __future__ import annotations

from textwrap import dedent

from relay_explorer.text import parse
from relay_explorer.transform import InferType, Pass, PassContext, Sequential
from relay_explorer.typing import infer_types


def after(passes: Pass | list[Pass], text: str, level: int = 4) -> str:
    """The program after InferType and the passes, as rows of text without remarks of types."""
    steps = [passes] if isinstance(passes, Pass) else passes
    with PassContext(opt_level=level):
        made = Sequential([InferType(), *steps])(parse(dedent(text)))
    infer_types(made)  # it must have types, too
    return bare(made.astext())


def bare(text: str) -> str:
    """The rows of a program, without the version and the remarks."""
    rows = []
    for row in text.splitlines()[1:]:
        while "/* ty=" in row:
            start = row.index("/* ty=")
            row = row[:start].rstrip() + row[row.index("*/", start) + 2 :]
        rows.append(row)
    return "\n".join(rows).strip()


def check(passes: Pass | list[Pass], text: str, expected: str) -> None:
    found = after(passes, text)
    assert found == dedent(expected).strip(), found
