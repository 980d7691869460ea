"""Relay's text format 0.0.5: programs as text, and text as programs.

It follows TVM 0.14: the texts that it printed for the project's conformance programs are read, and
printed again to the letter. Functions stay in the order of their definition, where TVM sorted them by
name. So that any program can be read back, some things are written that TVM did not write:

* names that are no identifiers stand between backquotes: @`my function`, with the escapes of strings; so does
  an operator whose name a constructor has taken: `exp`;
* `2i8`, `3u16`, `1.5f16`, `1bf16`, `inff`, `-inff64`, `nanf` are constants of those types; other constants
  stand in the metadata, as readable JSON (see metadata.py; TVM's own is read too);
* `Nil[]` is a constructor that is not called, where `Nil` calls it;
* `f[T](x)` gives type arguments, printed where inference has not run;
* attributes may be tuples, `(1, 2)`, dictionaries, `{"key": 1}`, and types, `type(Tensor[(3), float32])`.

A name in a shape, `Tensor[(n, 4), float32]`, is an unknown size, the same one in the whole text. Infix
operators, `ref(T)` or `Ref[T]`, comments, and a missing version line are read.
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
    """The module that `source` describes.

    `source_name` is what errors call the text. Definitions are added to a copy of `init_module`.
    `init_meta_table` gives lists of constants by kind (`"relay.Constant"`) that
    `meta[...]` refers to. An expression in the place of a definition becomes `@main`. The version line may be
    left out. Text of more than `max_bytes` bytes is refused
    unread. Raises ParseError, with the place, for whatever is not a program; types are not checked here.
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
    """The one expression that `source` is.

    It may use what `init_module` defines; without one, functions (`@f`) may be named that nothing defines.
    Otherwise as `parse`.
    """
    from .parser import parse_expression

    return parse_expression(source, source_name, init_module, init_meta_table, max_bytes)


def fromtext(text: str | bytes, source_name: str | None = None) -> IRModule:
    """As `parse`, under the name that `tvm.relay` gave it."""
    return parse(text, source_name or "from_string")


@collected_rarely()
def astext(node: object, show_meta_data: bool = True, annotate: Callable[[Expr], str] | None = None) -> str:
    """`node` as a program: with the version line, and the data of its constants unless `show_meta_data` is
    False.

    `annotate` gives a text to print after an expression, in place of the type that inference found (`/* ty=…
    */`).
    """
    from .printer import program_text

    return program_text(node, show_meta_data, annotate)


@collected_rarely()
def show(node: object) -> str:
    """`node` as `str` gives it: no version line, no data of constants."""
    from .printer import short_text

    return short_text(node)


@collected_rarely()
def program_rows(node: IRModule | Expr) -> list[Row]:
    """The canonical print of `node` as rows of tokens, from which views are made; types are not in it as
    comments.

    `show` joins the same rows. Parameters and pattern variables have rows of their own.
    """
    from .printer import program_rows

    return program_rows(node)


provide("show", show)
provide("astext", astext)
provide("parse", parse)

__all__ = ["MAX_BYTES", "astext", "fromtext", "parse", "parse_expr", "program_rows", "show"]
