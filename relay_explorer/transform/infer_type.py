"""InferType: type inference as a pass (section 3.2 of the paper)."""

from __future__ import annotations

from ..ir.lazy_dataclass import dataclass
from ..ir.module import IRModule
from ..typing import infer_type_local, infer_types
from .infrastructure import Pass, PassContext


@dataclass(frozen=True)
class InferType(Pass):
    """Infer the type of every expression.

    The result is a copy; annotated variables are kept.
    """

    name = "InferType"
    opt_level = 0

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return infer_types(mod)


InferTypeLocal = infer_type_local  # the name that it has in tvm.relay, next to the pass
