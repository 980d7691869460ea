"""AnnotateSpans: give a program that was built in Python source positions in its printed text."""

from __future__ import annotations

from ..ir.lazy_dataclass import dataclass
from ..ir.module import IRModule
from ..text import parse
from .infrastructure import Pass, PassContext


@dataclass(frozen=True)
class AnnotateSpans(Pass):
    """Give every expression a span in the module's own text.

    The module is printed and parsed again, so its variables and globals are new ones with the same names, and
    it has no types.
    """

    name = "AnnotateSpans"
    opt_level = 0

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        reparsed = parse(mod.astext(), "GeneratedSource")
        reparsed.attrs = mod.attrs
        return reparsed
