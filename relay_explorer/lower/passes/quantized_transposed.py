"""Rewrites quantized transposed convolutions with a constant weight as quantized convolutions.

The phases are those of `PlainTransposed`. This pass runs before the operators are expanded into plain ones:
at the border, a quantized convolution pads its data with the zero point, as the phases need it, and the data
stays in 8 bits.
"""

from __future__ import annotations

from typing import Any

from ...ir.expr import Call, Constant, Expr, Function, const
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.ndarray import NDArray
from ...ir.typed import tensor_type
from ...transform.infrastructure import PassContext
from ...transform.infrastructure.function_passes import TypedPass, rewritten
from ...transform.tools.typed_rewrite import call, rewrite_calls
from ..targets.dots import dots_of
from ..targets.target import Target
from .blocks import is_static
from .layouts import types_of
from .narrow_values import BOUNDS
from .transposed import phases

ZERO_POINT, SCALE = 3, 5  # of the weight, among the operands


@dataclass(frozen=True)
class QuantizedTransposed(TypedPass):
    """Rewrite `qnn.conv2d_transpose` as `qnn.conv2d`, for the usual layouts, without groups and dilation, if
    the target is a processor with a dot instruction.
    """

    name = "QuantizedTransposed"
    opt_level = 3

    target: Target

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        if self.target.kind not in ("cpu", "arm64") or not dots_of(self.target):
            return function
        return rewritten(function, rewrite_calls(function, {"qnn.conv2d_transpose": _as_convolution}))


def _as_convolution(old: Call, new: Call) -> Expr | None:
    """Rewrite a transposed convolution as one convolution that computes all phases."""
    types = [*types_of(old)[:2], old.checked_type]
    attrs: Any = old.attrs
    if not all(map(is_static, types)) or attrs.out_dtype != "int32":
        return None
    weight = tensor_type(old.args[1])
    zeros = _values(old.args[ZERO_POINT])
    ragged = any(
        size % stride for size, stride in zip(weight.concrete_shape[2:], attrs.strides)
    )  # some phases have fewer weights than others, and are padded
    if zeros is None or (ragged and len(set(zeros)) > 1):
        return None
    low, high = BOUNDS.get(weight.dtype, (0, -1))
    if not low <= zeros[0] <= high:
        return None
    zero = const(int(zeros[0]), weight.dtype)
    shapes = {place: tensor_type(old.args[place]).concrete_shape for place in (ZERO_POINT, SCALE)}

    def convolved(new: Call, kernel: Expr, count: int, **attrs: Any) -> Expr:
        """Convolve with the weight of all phases. Parameters of output channels are repeated for each."""
        args = list(new.args)
        args[1] = kernel
        for place, shape in shapes.items():
            args[place] = _repeated(args[place], shape, count)
        return call("qnn.conv2d", *args, out_dtype="int32", **attrs)

    return phases(old, new, [tensor_type(old.args[0]), weight, tensor_type(old)], zero, convolved)


def _repeated(parameter: Expr, shape: tuple[int, ...], count: int) -> Expr:
    """Repeat a vector with an element for each output channel for each phase."""
    if shape in ((), (1,)):
        return parameter
    if isinstance(parameter, Constant):
        values = [*parameter.data.values()] * count
        return Constant(NDArray.from_list(values, (len(values),), parameter.data.dtype))
    return call("tile", parameter, reps=(count,))


def _values(parameter: Expr) -> list[float] | None:
    """Return the elements of a constant; None for other expressions."""
    return [*parameter.data.values()] if isinstance(parameter, Constant) else None
