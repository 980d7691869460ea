"""Products of two batches of quantized matrices, the second transposed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.declaration import NotApplicable, Precision
from ...ir.expr import Call, Expr, const
from ...ir.op import Op, OpPattern
from ...ir.types import Type
from ..arguments import Operand
from ..calls import relay
from ..examples import t
from ..layouts.layout import NO_LAYOUT_RULE
from ..nn import matmul as _plain_matmul  # noqa: F401  # declares nn.batch_matmul, whose attributes are used
from ..numeric import Array, np
from ..operator import call as call_of
from ..operator import operator
from .documents import INTEGERS
from .parameters import BYTES
from .plain import cast, centered, operand_type, spread
from .products import corrected, pair_relation, shifted, wrapped

__all__ = ["batch_matmul"]

_PLAIN = "nn.batch_matmul"


def _flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    return Op.get(_PLAIN).flops(attrs, inputs[:2], output)


def _reference(attrs: Anything, x: Array, y: Array, x_zero: Array, y_zero: Array, *scales: Array) -> Array:
    left, right = shifted(x, x_zero.reshape(())), shifted(y, y_zero.reshape(()))
    left = np.swapaxes(left, 1, 2) if attrs.transpose_a else left
    right = np.swapaxes(right, 1, 2) if attrs.transpose_b else right
    return wrapped(np.matmul(left, right), attrs.out_dtype)


def _canonical(call: Call, operands: Sequence[Expr]) -> Expr:
    attrs = call.attrs
    assert attrs is not None
    x, y, x_zero, y_zero = operands[:4]
    types = [operand_type(call, operand) for operand in range(4)]
    turned_a, turned_b, acc = attrs["transpose_a"], attrs["transpose_b"], attrs["out_dtype"]
    along_x, along_y = (1 if turned_a else 2), (2 if turned_b else 1)
    of_x, of_y = spread(x_zero, types[2], 0, 0), spread(y_zero, types[3], 0, 0)
    inner = types[0].shape[along_x] if isinstance(types[0].shape[along_x], int) else types[1].shape[along_y]
    if not isinstance(inner, int):
        left, right = centered(x, types[0].dtype, of_x), centered(y, types[1].dtype, of_y)
        return relay.nn.batch_matmul(left, right, acc, turned_a, turned_b)

    def x_sums() -> Expr:
        """Sum over the inner axis: one number for each row of the result."""
        sums = relay.sum(cast(x, types[0].dtype, acc), axis=along_x, keepdims=True)
        return relay.transpose(sums, (0, 2, 1)) if turned_a else sums

    def y_sums() -> Expr:
        """Sum over the inner axis: one number for each column of the result."""
        sums = relay.sum(cast(y, types[1].dtype, acc), axis=along_y, keepdims=True)
        return relay.transpose(sums, (0, 2, 1)) if turned_b else sums

    product = relay.nn.batch_matmul(x, y, acc, turned_a, turned_b)
    return corrected(product, acc, (of_x, of_y), x_sums, y_sums, inner)


@operator(
    "qnn.batch_matmul",
    description="Multiplies two batches of quantized matrices, the second given transposed.",
    formula=r"y_{b,i,j} = \sum_{k} (x_{b,i,k} - z_x)\,(y_{b,j,k} - z_y)",
    family="quantization",
    level=11,
    relation=pair_relation(
        "QBatchMatmul", _PLAIN, "{out} = {0} · {1}ᵀ for each batch index, in int32", BYTES
    ),
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=_flops,
    reference=_reference,
    gradient=NotApplicable(INTEGERS),
    canonical=_canonical,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    attrs=Op.get(_PLAIN).attrs_class,
    inputs=("x", "y", "x_zero_point", "y_zero_point", "x_scale", "y_scale"),
    example=lambda build: build(
        t(2, 3, 4, dtype="int8"),
        t(2, 5, 4, dtype="int8", name="y"),
        const(1),
        const(-2),
        const(0.1),
        const(0.2),
    ),
)
def batch_matmul(
    x: Operand,
    y: Operand,
    x_zero_point: Operand,
    y_zero_point: Operand,
    x_scale: Operand,
    y_scale: Operand,
    out_dtype: str = "int32",
) -> Call:
    """Multiply `x` (b, m, k) by the transposes of `y` (b, n, k): (b, m, n), sums of integers.

    The scale of the result is x_scale · y_scale, and its zero point 0.
    """
    return call_of(
        "qnn.batch_matmul",
        [x, y, x_zero_point, y_zero_point, x_scale, y_scale],
        out_dtype=out_dtype,
        transpose_a=False,
        transpose_b=True,
    )
