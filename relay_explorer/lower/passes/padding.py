"""The base classes of passes that pad the results of layers to whole vectors."""

from __future__ import annotations

from ...ir.expr import Call, Expr
from ...ir.lazy_dataclass import dataclass
from ...ir.typed import tensor_type
from ...transform.infrastructure.function_passes import TypedPass
from ...transform.tools.typed_rewrite import call
from ..targets.target import Target


@dataclass(frozen=True)
class Padding(TypedPass, abstract=True):
    """A pass that pads the results of layers for a target."""

    opt_level = 3

    target: Target


class Widening:
    """Rewrite rules that pad values for one target. A rule pads a value and slices the surplus off right
    after it; `wide` maps each such slice to its operand and the operand's width. A rule whose operand is such
    a slice reads the wide value instead, and slices its own result. The slice thus moves towards the users,
    down to the first operator that needs the exact size.
    """

    def __init__(self, target: Target) -> None:
        self.target = target
        self.wide: dict[Expr, tuple[Expr, int]] = {}

    def cut(self, wide: Expr, axis: int, size: int, padded: int) -> Expr:
        """Slice the first `size` of the `padded` elements that a value has along an axis."""
        if size == padded:
            return wide
        result = call("strided_slice", wide, begin=[0], end=[size], strides=[1], axes=[axis])
        self.wide[result] = wide, padded
        return result

    def alike(self, old: Call, new: Call, axis: int) -> Expr | None:
        """Compute an operation on the padded value, and slice the result. The operation must treat all
        indices along the axis alike and independently.
        """
        padded = self.wide.get(new.args[0])
        if padded is None:
            return None
        size = tensor_type(old).concrete_shape[axis]
        return self.cut(Call(new.op, [padded[0]], new.attrs), axis, size, padded[1])
