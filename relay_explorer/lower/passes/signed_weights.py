"""Shifts the second operands of quantized products to the signed bytes that dot instructions multiply.

An unsigned weight w with the zero point z stands for the same numbers as the signed weight w − 128 with the
zero point z − 128. ONNX Runtime's unsigned weights often have the zero point 128, which becomes 0: the
correction for it, a sum of the data, then disappears, too.
"""

from __future__ import annotations

from ...ir.expr import Call, Constant, Expr, Function, const
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.ndarray import NDArray
from ...ir.op import Op
from ...ir.typed import tensor_type
from ...ir.walk import post_order
from ...ops.canonical import canonical_rule
from ...transform.infrastructure import PassContext
from ...transform.infrastructure.function_passes import TypedPass, rewritten
from ...transform.tools.typed_rewrite import call, rewrite_calls
from ..targets.dots import dots_of
from ..targets.target import Target
from .blocks import is_known

OFFSET = 128
WEIGHT, ZERO_POINT = 1, 3  # the operands of a quantized product


@dataclass(frozen=True)
class SignedWeights(TypedPass):
    """Shift uint8 weights, and their zero points, to int8, if the target has a dot instruction for signed
    bytes. The results are the same integers.

    Runs before QnnCanonicalizeOps, which expands the operators whose operands have zero points.
    """

    name = "SignedWeights"
    opt_level = 3

    target: Target

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        if not any(dot.weight == "int8" for dot in dots_of(self.target)):
            return function
        names = {node.name for node in post_order(function) if isinstance(node, Op) and has_zero_points(node)}
        return rewritten(function, rewrite_calls(function, dict.fromkeys(names, _signed)))


def has_zero_points(op: Op) -> bool:
    """Whether an operator is a product of two quantized tensors: each of the first two operands has a zero
    point.
    """
    parameters = (op.inputs or ())[2:4]
    pair = len(parameters) == 2 and all(name.endswith("zero_point") for name in parameters)
    return pair and canonical_rule(op) is not None


def _signed(old: Call, new: Call) -> Expr | None:
    """Shift the weight of a product."""
    if tensor_type(old.args[WEIGHT]).dtype != "uint8" or not _pays_off(old):
        return None
    args = list(new.args)
    args[WEIGHT] = _shifted(args[WEIGHT])
    zero_point = args[ZERO_POINT]
    if isinstance(zero_point, Constant):
        data = zero_point.data
        args[ZERO_POINT] = Constant(
            NDArray.from_list([int(value) - OFFSET for value in data.values()], data.shape, data.dtype)
        )
    else:
        args[ZERO_POINT] = call("subtract", zero_point, const(OFFSET, "int32"))
    return Call(new.op, args, new.attrs, new.type_args)


def _shifted(weight: Expr) -> Expr:
    """Subtract the offset from unsigned bytes, by inverting their highest bits."""
    return call("cast", call("bitwise_xor", weight, const(OFFSET, "uint8")), dtype="int8")


def _pays_off(old: Call) -> bool:
    """Whether the shift removes a correction, or lets the product use a dot instruction without adding one
    for a single filter or row.
    """
    zero_point, weight = old.args[ZERO_POINT], old.args[WEIGHT]
    if old.attrs is not None and "transpose_b" not in old.attrs and not is_known(weight):
        return False  # a layer whose weight is computed does not use the instruction
    if not isinstance(zero_point, Constant):
        return True
    values = {int(value) for value in zero_point.data.values()}
    if values != {0}:
        return True
    if isinstance(weight, Constant) and weight.data.numpy().max(initial=0) < OFFSET:
        return False  # also signed as it is
    groups = old.attrs["groups"] if old.attrs is not None and "groups" in old.attrs else 1
    return bool(groups == 1)
