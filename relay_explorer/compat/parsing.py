"""`relay.parse` as TVM had it: what it reads is type-checked at once.

`relay_explorer.relay.parse` only reads.
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
    """Return the typed module that `source` describes; see `relay_explorer.text.parse`. Raise a ParseError or
    TypeInferenceError that names the place.
    """
    return InferType()(text.parse(source, source_name, init_module, init_meta_table))


def fromtext(data: str | bytes, source_name: str | None = None) -> IRModule:
    """As `parse`."""
    return parse(data, source_name or "from_string")


__all__ = ["fromtext", "parse", "parse_expr"]
