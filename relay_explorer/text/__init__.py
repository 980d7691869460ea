"""Relay's text format 0.0.5: print programs, and parse them.

It follows TVM 0.14: the texts that TVM printed for the project's conformance programs are parsed, and printed
again character by character. Functions remain in the order of their definition, whereas TVM sorted them by
name. To make every printed program parseable, the format adds some notations to TVM's:

* names that are not identifiers are written between backquotes: @`my function`, with the escapes of strings;
  so is an operator whose name a constructor shares: `exp`;
* `2i8`, `3u16`, `1.5f16`, `1bf16`, `inff`, `-inff64`, `nanf` are constants of those types; other constants
  are stored in the metadata, as readable JSON (see metadata.py; TVM's own is read too);
* `Nil[]` is a constructor that is not called, whereas `Nil` calls it;
* `f[T](x)` passes type arguments, printed where inference has not run;
* attributes may be tuples, `(1, 2)`, dictionaries, `{"key": 1}`, and types, `type(Tensor[(3), float32])`.

A name in a shape, `Tensor[(n, 4), float32]`, is a dynamic dimension, and denotes the same one throughout the
text. The parser also accepts infix operators, `ref(T)` or `Ref[T]`, comments, and programs without a version
line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..ir.expr import Expr
from ..ir.garbage import collected_rarely
from ..ir.hooks import provide
from ..ir.module import IRModule

if TYPE_CHECKING:
    from .rows import Row

MAX_BYTES = 16_000_000


@collected_rarely()
def parse(
    source: str | bytes,
    source_name: str = "from_string",
    init_module: IRModule | None = None,
    init_meta_table: Mapping[str, Any] | None = None,
    max_bytes: int = MAX_BYTES,
) -> IRModule:
    """Parse `source` and return the module that it describes.

    Errors refer to the text as `source_name`. Definitions are added to a copy of `init_module`.
    `init_meta_table` maps kinds (`"relay.Constant"`) to the lists of constants to which `meta[...]` refers.
    An expression instead of definitions becomes `@main`. The version line is optional. Text of more than
    `max_bytes` bytes is rejected unread. Raise a ParseError, with its location, for text that is not a
    program; types are not checked here.
    """
    from .parser import parse_module

    return parse_module(source, source_name, init_module, init_meta_table, max_bytes)


@collected_rarely()
def parse_expr(
    source: str | bytes,
    source_name: str = "from_string",
    init_module: IRModule | None = None,
    init_meta_table: Mapping[str, Any] | None = None,
    max_bytes: int = MAX_BYTES,
) -> Expr:
    """Parse `source` as one expression.

    It may use the definitions of `init_module`; without a module, it may also name functions (`@f`) that are
    not defined. Otherwise as `parse`.
    """
    from .parser import parse_expression

    return parse_expression(source, source_name, init_module, init_meta_table, max_bytes)


def fromtext(text: str | bytes, source_name: str | None = None) -> IRModule:
    """Parse as `parse` does, under the name that `tvm.relay` uses."""
    return parse(text, source_name or "from_string")


@collected_rarely()
def astext(node: object, show_meta_data: bool = True, annotate: Callable[[Expr], str] | None = None) -> str:
    """Print `node` as a program: with the version line, and with the data of its constants unless
    `show_meta_data` is False.

    `annotate` returns a text to print after an expression, in place of its inferred type (`/* ty=… */`).
    """
    from .printer import program_text

    return program_text(node, show_meta_data, annotate)


@collected_rarely()
def show(node: object) -> str:
    """Print `node` as `str` does: no version line, no data of constants."""
    from .printer import short_text

    return short_text(node)


@collected_rarely()
def program_rows(node: IRModule | Expr) -> list[Row]:
    """Return the canonical print of `node` as rows of tokens, which the views use; types are not printed as
    comments.

    `show` joins the same rows. Parameters and pattern variables have rows of their own.
    """
    from .printer import program_rows

    return program_rows(node)


provide("show", show)
provide("astext", astext)
provide("parse", parse)

__all__ = ["MAX_BYTES", "astext", "fromtext", "parse", "parse_expr", "program_rows", "show"]
