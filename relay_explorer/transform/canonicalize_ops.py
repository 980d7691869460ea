"""CanonicalizeOps: expand shorthand operators into the ones that they stand for."""

from __future__ import annotations

from ..ir.expr import Call, Expr, Function
from ..ir.lazy_dataclass import dataclass
from ..ir.module import IRModule
from ..ir.typed import tensor_type
from .infrastructure import PassContext
from .infrastructure.function_passes import TypedPass, rewritten
from .tools.typed_rewrite import along_axis, call, rewrite_calls


@dataclass(frozen=True)
class CanonicalizeOps(TypedPass):
    """Replace `nn.bias_add` by an `add` of the bias along its axis, so that other passes handle only one kind
    of addition.
    """

    name = "CanonicalizeOps"
    opt_level = 3

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        return rewritten(function, rewrite_calls(function, {"nn.bias_add": _bias_add}))


def _bias_add(old: Call, new: Call) -> Expr:
    """`nn.bias_add` is an `add` of the bias, with axes of 1 where it does not vary."""
    data, bias = new.args
    assert old.attrs is not None
    return call("add", data, along_axis(bias, len(tensor_type(old.args[0]).shape), old.attrs["axis"]))
