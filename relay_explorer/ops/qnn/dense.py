"""Products of quantized data with quantized weight matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.declaration import NotApplicable, Precision
from ...ir.errors import RelayError
from ...ir.expr import Call, Expr, const
from ...ir.op import Op, OpPattern
from ...ir.types import Dim, TensorType, Type
from ..arguments import Operand
from ..calls import relay
from ..examples import t
from ..layouts.images import dense as dense_layout
from ..layouts.layout import NO_LAYOUT_RULE
from ..nn import dense as _plain_dense  # noqa: F401  # declares nn.dense, whose attributes are used
from ..nn.convolution.packed import DensePackAttrs
from ..nn.layout import layout_map
from ..numeric import Array, np
from ..operator import call as call_of
from ..operator import operator
from .documents import INTEGERS
from .layouts import beside
from .parameters import BYTES, NARROW
from .plain import cast, centered, operand_type, spread
from .products import PARAMETERS, SUMS, corrected, product_relation, shifted, wrapped

__all__ = ["contrib_dense_pack", "dense"]

_FORMULA = r"y_{i,j} = \sum_{k} (x_{i,k} - z_x)\,(w_{j,k} - z_w)"


def _flops(name: str) -> Anything:
    """Count what the plain operator performs."""

    def flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
        return Op.get(name).flops(attrs, inputs[:2], output)

    return flops


def _units(attrs: Anything, data: TensorType, weight: TensorType) -> tuple[Dim, ...]:
    return weight.shape[:1]


def _reference(
    attrs: Anything, x: Array, weight: Array, zero_point: Array, kernel_zero: Array, *scales: Array
) -> Array:
    of_weight = kernel_zero.reshape(-1, 1) if kernel_zero.size > 1 else kernel_zero.reshape(())
    sums = np.matmul(shifted(x, zero_point.reshape(())), shifted(weight, of_weight).T)
    return wrapped(sums, attrs.out_dtype)


def _canonical(call: Call, operands: Sequence[Expr]) -> Expr:
    attrs = call.attrs
    assert attrs is not None
    x, weight, zero_point, kernel_zero = operands[:4]
    types = [operand_type(call, operand) for operand in range(4)]
    acc, rank, features = attrs["out_dtype"], len(types[0].shape), types[0].shape[-1]
    of_data = spread(zero_point, types[2], 0, 0)
    if not isinstance(features, int):
        rows = centered(x, types[0].dtype, of_data)
        columns = centered(weight, types[1].dtype, spread(kernel_zero, types[3], 0, 2))
        return relay.nn.dense(rows, columns, attrs["units"], acc)
    return corrected(
        relay.nn.dense(x, weight, attrs["units"], acc),
        acc,
        (of_data, spread(kernel_zero, types[3], 0, 1)),
        lambda: relay.sum(cast(x, types[0].dtype, acc), axis=rank - 1, keepdims=True),
        lambda: relay.sum(cast(weight, types[1].dtype, acc), axis=1),
        features,
    )


@operator(
    "qnn.dense",
    description="Multiplies quantized data by the transpose of a quantized weight matrix.",
    formula=_FORMULA,
    family="quantization",
    level=11,
    relation=product_relation(
        "QDense", "nn.dense", "{out} = {0} · {1}ᵀ, in `out_dtype`", _units, NARROW, BYTES, SUMS
    ),
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=_flops("nn.dense"),
    reference=_reference,
    gradient=NotApplicable(INTEGERS),
    canonical=_canonical,
    layout=beside(dense_layout, 2),
    precision=Precision.UNLISTED,
    attrs=Op.get("nn.dense").attrs_class,
    example=lambda build: build(
        t(2, 6, dtype="int8"),
        t(3, 6, dtype="int8", name="w"),
        const(3),
        const(0),
        const(0.1),
        const(0.2),
        units=3,
    ),
)
def dense(
    data: Operand,
    weight: Operand,
    input_zero_point: Operand,
    kernel_zero_point: Operand,
    input_scale: Operand,
    kernel_scale: Operand,
    units: int | None = None,
    out_dtype: str = "int32",
) -> Call:
    """Multiply `data` (…, k) by the transpose of `weight` (units, k): (…, units), sums of integers.

    The scale of the result is input_scale · kernel_scale, and its zero point 0; the scales do not enter the
    computation. Those of the kernel may be vectors with an element per unit.
    """


# -- packed weights


def _packed_units(attrs: Anything, data: TensorType, weight: TensorType) -> tuple[Dim, ...]:
    return layout_map(attrs.weight_layout, "NC").forward(weight.shape, 1, "the weight")[:1]


def _packed_reference(
    attrs: Anything, x: Array, weight: Array, zero_point: Array, kernel_zero: Array, *scales: Array
) -> Array:
    plain = layout_map(attrs.weight_layout, "NC").unpack(weight)
    return np.asarray(_reference(attrs, x, plain, zero_point, kernel_zero))


def _packed_canonical(call: Call, operands: Sequence[Expr]) -> Expr:
    attrs = call.attrs
    assert attrs is not None
    x, weight, zero_point, kernel_zero = operands[:4]
    types = [operand_type(call, operand) for operand in range(4)]
    acc, layout = attrs["out_dtype"], attrs["weight_layout"]
    features = types[0].shape[-1]
    if not isinstance(features, int):
        raise RelayError(
            f"`{call.op}` needs a static number of features, but its data is {types[0]}",
            call.span,
            help=["give the program's parameters shapes without `?`"],
        )

    def weight_sums() -> Expr:
        """Sum over the input features, from the layout in which the weight's axes are whole."""
        whole = relay.layout_transform(weight, layout, "NC") if layout != "NC" else weight
        return relay.sum(cast(whole, types[1].dtype, acc), axis=1)

    return corrected(
        relay.nn.contrib_dense_pack(x, weight, layout, attrs["units"], acc),
        acc,
        (spread(zero_point, types[2], 0, 0), spread(kernel_zero, types[3], 0, 1)),
        lambda: relay.sum(cast(x, types[0].dtype, acc), axis=len(types[0].shape) - 1, keepdims=True),
        weight_sums,
        features,
    )


def _packed_flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    return Op.get("nn.contrib_dense_pack").flops(attrs, inputs[:2], output)


@operator(
    "qnn.contrib_dense_pack",
    description="Multiplies quantized data by a quantized weight matrix whose output features are in blocks.",
    formula=r"y_{i,J b + j} = \sum_{k} (x_{i,k} - z_x)\,(w_{J,k,j} - z_w)",
    family="quantization",
    level=11,
    relation=product_relation(
        "QnnDensePack",
        "nn.contrib_dense_pack",
        "{out} = {0} · {1}ᵀ, {1} in blocks, in `out_dtype`",
        _packed_units,
        NARROW,
        BYTES,
        SUMS,
    ),
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=_packed_flops,
    reference=_packed_reference,
    gradient=NotApplicable(INTEGERS),
    canonical=_packed_canonical,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    attrs=DensePackAttrs,
    inputs=("data", "weight", *PARAMETERS),
    example=lambda build: build(
        t(2, 8, dtype="uint8"),
        t(2, 2, 4, 4, dtype="int8", name="w"),
        const(3), const(0), const(0.1), const(0.2),
        kernel_layout="NC4n4c",
    ),
)  # fmt: skip
def contrib_dense_pack(
    data: Operand,
    weight: Operand,
    input_zero_point: Operand,
    kernel_zero_point: Operand,
    input_scale: Operand,
    kernel_scale: Operand,
    kernel_layout: str = "NC",
    units: int | None = None,
    out_dtype: str = "int32",
) -> Call:
    """Multiply `data` by `weight`, whose output features are in blocks: the layout of its axes is
    `kernel_layout`, such as "NC32n4c". Otherwise it is `dense`.
    """
    return call_of(
        "qnn.contrib_dense_pack",
        [data, weight, input_zero_point, kernel_zero_point, input_scale, kernel_scale],
        units=units,
        out_dtype=out_dtype,
        weight_layout=kernel_layout,
    )
