"""AnnotateSpans: places for programs that were built, not read."""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.module import IRModule
from ..text import parse
from .infrastructure import Pass, PassContext


@dataclass(frozen=True)
class AnnotateSpans(Pass):
    """Gives every expression a span: its place in the module's own text. The module is printed and read
    again, so its variables and globals are new ones of the same names, and it has no types.
    """

    name = "AnnotateSpans"
    opt_level = 0

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        again = parse(mod.astext(), "GeneratedSource")
        again.attrs = mod.attrs
        return again
