"""The printed program as data: rows of tokens, which the views draw and the printer joins into text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ..ir.expr import Expr

# Kinds of rows and classes of tokens, with the numbers of `RowKind` and `TokenClass` in views/format.py.
MODULE, HEADER, PARAM, BINDING, LET, RESULT, CLOSE, BRANCH, TYPE, BLANK = range(10)
PLAIN, KEYWORD, LOCAL, GLOBAL, OPERATOR, TYPE_NAME, LITERAL, ATTRIBUTE, CONSTRUCTOR, COMMENT = range(10)

_MAX_INDENT = 100  # in levels; printing 100,000 levels of indentation would take gigabytes


class Token(NamedTuple):
    """A token of a row: its class, its text, and the expression that it refers to, if any."""

    cls: int
    text: str
    expr: Expr | None = None


@lru_cache(1000)
def plain(text: str) -> Token:
    """Return a punctuation token."""
    return Token(PLAIN, text)


@lru_cache(100)
def keyword(text: str) -> Token:
    """Return a keyword token."""
    return Token(KEYWORD, text)


class Row:
    """One row of the canonical print.

    `depth` is the indentation level; `expr` is the expression that the row defines (a binding's value, a
    parameter, the result); `end` is the index of the closing row of the block that the row opens, or -1. A
    row with `joins` continues the line of the previous row when the program is printed as text, after that
    separator.
    """

    __slots__ = ("depth", "end", "expr", "joins", "kind", "tokens")

    def __init__(
        self,
        kind: int,
        depth: int,
        tokens: Sequence[Token],
        expr: Expr | None = None,
        joins: str | None = None,
    ) -> None:
        self.kind = kind
        self.depth = depth
        self.tokens = tuple(tokens)
        self.expr = expr
        self.end = -1
        self.joins = joins

    @property
    def text(self) -> str:
        """The row without its indentation."""
        return "".join([t.text for t in self.tokens])

    def __repr__(self) -> str:
        return f"Row({self.kind}, {'  ' * self.depth + self.text!r})"


def lines(rows: Sequence[Row]) -> Iterator[str]:
    """Join the rows into lines of text, with parameters on the line of their function."""
    line = ""
    started = False
    for row in rows:
        if row.joins is not None:
            line += row.joins + row.text
            continue
        if started:
            yield line
        line = "  " * min(row.depth, _MAX_INDENT) + row.text if row.tokens else ""
        started = True
    if started:
        yield line
