"""Shared by passes that pad the results of a layer, so that they fill whole vectors."""

from __future__ import annotations

from ...ir.expr import Call, Expr
from ...ir.lazy_dataclass import dataclass
from ...ir.typed import tensor_type
from ...transform.infrastructure.function_passes import TypedPass
from ...transform.tools.typed_rewrite import call
from ..targets.target import Target


@dataclass(frozen=True)
class Padding(TypedPass, abstract=True):
    """A pass that pads for a target."""

    opt_level = 3

    target: Target


class Widening:
    """Rules that widen values, for one target. The surplus is sliced off at once; `wide` has, for each such
    slice, its operand and the operand's width. A rule that meets such a slice reads the operand instead, and
    slices its own result: so the slice moves down, to where another operator reads the value.
    """

    def __init__(self, target: Target) -> None:
        self.target = target
        self.wide: dict[Expr, tuple[Expr, int]] = {}

    def cut(self, wide: Expr, axis: int, size: int, padded: int) -> Expr:
        """Slice the first `size` of the `wanted` indices that a value has along an axis."""
        if size == padded:
            return wide
        result = call("strided_slice", wide, begin=[0], end=[size], strides=[1], axes=[axis])
        self.wide[result] = wide, padded
        return result

    def alike(self, old: Call, new: Call, axis: int) -> Expr | None:
        """Compute an operation that treats all indices along the axis alike and independently on the padded
        value, and slice the result.
        """
        padded = self.wide.get(new.args[0])
        if padded is None:
            return None
        size = tensor_type(old).concrete_shape[axis]
        return self.cut(Call(new.op, [padded[0]], new.attrs), axis, size, padded[1])
