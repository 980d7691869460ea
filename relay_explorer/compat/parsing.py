"""`relay.parse` as TVM had it, which also infers the types of the parsed program.

`relay_explorer.relay.parse` only parses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import text
from ..ir.module import IRModule
from ..text import parse_expr
from ..transform import InferType


def parse(
    source: str | bytes,
    source_name: str = "from_string",
    init_module: IRModule | None = None,
    init_meta_table: Mapping[str, Any] | None = None,
) -> IRModule:
    """Parse and type a module; see `relay_explorer.text.parse`. Raise a ParseError or TypeInferenceError that
    names the position.
    """
    return InferType()(text.parse(source, source_name, init_module, init_meta_table))


def fromtext(data: str | bytes, source_name: str | None = None) -> IRModule:
    """Call `parse`, under its older name."""
    return parse(data, source_name or "from_string")


__all__ = ["fromtext", "parse", "parse_expr"]
