"""Pads products of two computed matrices of small integers to what the processor's dot instruction
multiplies: whole vectors of columns, and whole groups of as many inner indices as a lane adds products of.
"""

from __future__ import annotations

from ...ir.declaration import Trait
from ...ir.expr import Call, Expr, Function, const
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.op import Op, OpPattern
from ...ir.typed import tensor_type
from ...ir.types import TensorType
from ...ir.walk import post_order
from ...transform.infrastructure import PassContext
from ...transform.infrastructure.function_passes import rewritten
from ...transform.tools.typed_rewrite import call, rewrite_calls
from ..targets.dots import dot_for
from .blocks import block_of, is_static
from .layouts import types_of
from .padding import Padding, Widening

PRODUCT = "nn.batch_matmul"
MIN_SIZE = 8  # rows, columns and inner indices: for fewer, copying costs more than the instruction saves


@dataclass(frozen=True)
class PadProducts(Padding):
    """Pad the columns and inner indices of `nn.batch_matmul` with zeros. What requantizes a product is
    computed before the extra columns are sliced off, so that it stays in the kernel of the product.
    """

    name = "PadProducts"

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        used = {node for node in post_order(function) if isinstance(node, Op)}
        if Op.get(PRODUCT) not in used:
            return function
        rules = _Rules(self.target)
        named = {op.name: rules.elementwise for op in used if op.pattern is OpPattern.ELEMWISE}
        named.update({op.name: rules.broadcast for op in used if op.has(Trait.POLYNOMIAL)})
        return rewritten(function, rewrite_calls(function, {**named, PRODUCT: rules.product}))


def pays_off(rows: int, columns: int, inner: int) -> bool:
    """Whether a product is large enough to pad its operands, which copies them."""
    return min(rows, columns, inner) >= MIN_SIZE


class _Rules(Widening):
    """The rewrite rules for one target."""

    def product(self, old: Call, new: Call) -> Expr | None:
        """Pad the operands of a product, and slice off the extra columns of the result."""
        types, attrs = types_of(old), old.attrs
        assert attrs is not None
        if not all(map(is_static, types)) or attrs["transpose_a"]:
            return None
        left, right = (tensor_type(arg) for arg in old.args)
        dot = dot_for(self.target, left.dtype, right.dtype)
        _, rows, columns = tensor_type(old).concrete_shape
        inner = left.concrete_shape[2]
        if dot is None or not pays_off(rows, columns, inner):
            return None
        block = block_of(columns, dot.lanes)
        extra = 0 if block == dot.lanes else -columns % dot.lanes
        missing = -inner % dot.products
        if not extra and not missing:
            return None
        sides = [(0, missing), (0, extra)]
        along_columns = list(reversed(sides)) if attrs["transpose_b"] else sides
        args = [
            _padded(new.args[0], left, [(0, 0), (0, missing)]),
            _padded(new.args[1], right, along_columns),
        ]
        return self.cut(call(PRODUCT, *args, **dict(attrs.items())), 2, columns, columns + extra)

    def elementwise(self, old: Call, new: Call) -> Expr | None:
        """Compute a function of each element before the extra columns are sliced off."""
        if len(new.args) != 1 or old.args[0].checked_type != _with_dtype(tensor_type(old), old.args[0]):
            return None
        return self.alike(old, new, 2)

    def broadcast(self, old: Call, new: Call) -> Expr | None:
        """Correct or scale a product before the extra columns are sliced off. The other operand may have an
        element for each column; it is padded, too.
        """
        for place, other in ((0, 1), (1, 0)):
            padded = self.wide.get(new.args[place])
            if padded is None or tensor_type(old) != tensor_type(old.args[place]):
                continue
            wide, width = padded
            type_, columns = old.args[other].checked_type, tensor_type(old).concrete_shape[2]
            more = self.wide.get(new.args[other])
            if more is not None and more[1] == width:
                part: Expr = more[0]
            elif not isinstance(type_, TensorType) or not type_.is_static:
                continue
            elif not type_.shape or type_.concrete_shape[-1] == 1:
                part = new.args[other]
            elif len(type_.shape) > 1 and type_.concrete_shape[-2] > 1:
                continue  # as large as the product itself
            else:
                part = _padded(new.args[other], type_, [(0, width - columns)])
            args = [wide, part] if place == 0 else [part, wide]
            return self.cut(Call(new.op, args, new.attrs), 2, columns, width)
        return None


def _with_dtype(type_: TensorType, like: Expr) -> TensorType:
    """Return a type with the element type of another expression."""
    return TensorType(type_.shape, tensor_type(like).dtype)


def _padded(value: Expr, type_: TensorType, sides: list[tuple[int, int]]) -> Expr:
    """Pad the last axes of a tensor with zeros."""
    if not any(after for _, after in sides):
        return value
    widths = [(0, 0)] * (len(type_.shape) - len(sides)) + sides
    return call("nn.pad", value, const(0, type_.dtype), pad_width=tuple(widths))
