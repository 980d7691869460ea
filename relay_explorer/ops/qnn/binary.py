"""Element-wise sums, differences and products of quantized tensors, which are broadcast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any as Anything
from typing import ParamSpec, TypeVar

from ...ir.attrs import Attrs, attr
from ...ir.declaration import Canonical, NotApplicable, Precision
from ...ir.expr import Call, Constant, Expr, const
from ...ir.op import OpPattern, Reference, Relation, RelationError, Reporter
from ...ir.types import TensorType, Type
from ..arguments import Operand
from ..calls import relay
from ..cost import flops_per_output
from ..examples import t
from ..layouts.same import broadcast_layout
from ..numeric import Array, np
from ..operator import operator
from ..relation import BROADCAST, normal_axis
from .arithmetic import INT32, chosen, ratios, saturated
from .arithmetic import centered as centered_array
from .arithmetic import rescaled as rescaled_array
from .arithmetic import spread as spread_array
from .documents import INTEGERS
from .layouts import unvarying
from .parameters import NARROW, are_known, check_channels, check_parameters, elements, is_single
from .plain import BOUNDS, cast, centered, number, operand_type, problem, spread, widened
from .scaling import Ratio, Result, rescaled

__all__ = ["add", "mul", "subtract"]

P = ParamSpec("P")
R = TypeVar("R")

_TERM = (-(2**30), 2**30 - 1)  # the bounds of a rescaled operand: the sum of two fits int32
_SUPPORTED = ("int8", "uint8", "int16", "int32")


class BroadcastAttrs(Attrs, key="relay.attrs.BroadcastAttrs"):
    lhs_axis: int = attr(-1, "The channels' axis of the left operand.")
    rhs_axis: int = attr(-1, "The channels' axis of the right operand.")


def _relation(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    if not are_known(types, 8):
        return False
    lhs, rhs = (elements(types[n], n, ("lhs", "rhs")[n], _SUPPORTED) for n in (0, 1))
    check_channels(types, [(2, "lhs_scale"), (3, "lhs_zero_point")], lhs, attrs.lhs_axis, "it")
    check_channels(types, [(4, "rhs_scale"), (5, "rhs_zero_point")], rhs, attrs.rhs_axis, "it")
    check_parameters(types, 6, ("output_scale", "output_zero_point"))
    return BROADCAST.rule([lhs, rhs, types[8]], 2, attrs, reporter)


# -- sums and differences: both operands are rescaled to the result's scale first


def _terms(attrs: Anything, operands: tuple[Array, ...]) -> list[Array]:
    """Return the operands in units of the result's scale, without zero points, as int64."""
    how = chosen("None", "None")
    result = []
    for x, scale, zero_point, axis in (
        (operands[0], *operands[2:4], attrs.lhs_axis),
        (operands[1], *operands[4:6], attrs.rhs_axis),
    ):
        whole = centered_array(x, spread_array(zero_point, axis, x.ndim))
        ratio = spread_array(ratios(scale, operands[6]), axis, x.ndim)
        narrow = str(x.dtype) in NARROW
        result.append(np.clip(rescaled_array(whole, ratio, *how), *(_TERM if narrow else INT32)))
    return result


def _summed(sign: int) -> Reference:
    def reference(attrs: Anything, *operands: Array) -> Array:
        left, right = _terms(attrs, operands)
        return saturated(left + sign * right + operands[7].reshape(()), str(operands[0].dtype))

    return reference


def _term(call: Call, operands: Sequence[Expr], side: int) -> Expr:
    """Return one operand in units of the result's scale, without its zero point, as int32."""
    attrs = call.attrs
    assert attrs is not None
    axis = attrs[("lhs_axis", "rhs_axis")[side]]
    types = [operand_type(call, operand) for operand in (side, 2 + 2 * side, 3 + 2 * side, 6)]
    rank, dtype = len(types[0].shape), types[0].dtype
    scale, zero_point = operands[2 + 2 * side], operands[3 + 2 * side]
    ratio = Ratio(scale, types[1], operands[6], types[3], axis, rank)
    whole = centered(operands[side], dtype, spread(zero_point, types[2], axis, rank))
    bounds = BOUNDS["int32"] if dtype not in NARROW or _stays_small(ratio, zero_point, dtype) else _TERM
    return rescaled(whole, ratio, bounds, *chosen("None", "None"), dtype)


def _stays_small(ratio: Ratio, zero_point: Expr, dtype: str) -> bool:
    """Return whether the rescaled operand is known to lie within the bounds of a term."""
    shift = number(zero_point)
    if ratio.values is None or shift is None:
        return False
    furthest = max(abs(bound - shift) for bound in BOUNDS[dtype])
    return (furthest + 1) * max(ratio.values, default=0) < 2**29


def _sum_canonical(combine: str) -> Canonical:
    def canonical(call: Call, operands: Sequence[Expr]) -> Expr:
        dtype, of_result = operand_type(call, 0).dtype, operand_type(call, 7)
        try:
            left, right = (_term(call, operands, side) for side in (0, 1))
        except RelationError as error:
            raise problem(call, error) from None
        result = Result(operands[7], of_result, dtype)
        build = getattr(relay, combine)
        if dtype in NARROW:
            total = build(left, right)
            return result.clamped(total if result.shift == 0 else relay.add(total, result.zero_point))
        total = build(relay.cast(left, "int64"), relay.cast(right, "int64"))
        return result.clamped(total if result.shift == 0 else relay.add(total, widened(result.zero_point)))

    return canonical


# -- products: of the integers, rescaled once


def _product_axis(attrs: Anything, ranks: tuple[int, int], single: tuple[bool, bool], rank: int) -> int:
    """Return the axis of the product along which its scale varies; raise a RelationError where both operands'
    scales vary, along different axes.
    """
    axes = [
        normal_axis(axis, own) + rank - own
        for axis, own, alone in zip((attrs["lhs_axis"], attrs["rhs_axis"]), ranks, single, strict=True)
        if not alone
    ]
    if len(set(axes)) > 1:
        raise RelationError(
            "the scales of both operands vary, along different axes of the product",
            "dequantize one of the operands: relay.qnn.op.dequantize",
        )
    return axes[0] if axes else -1


def _product(attrs: Anything, *operands: Array) -> Array:
    x, y, x_scale, x_zero, y_scale, y_zero, scale, zero_point = operands
    rounding, compute_dtype = chosen("None", "None")
    left = centered_array(x, spread_array(x_zero, attrs.lhs_axis, x.ndim))
    right = centered_array(y, spread_array(y_zero, attrs.rhs_axis, y.ndim))
    if x.dtype.itemsize > 1:  # the product may exceed 32 bits
        compute_dtype = "float64"
    product = left * right
    axis = _product_axis(attrs, (x.ndim, y.ndim), (x_scale.size == 1, y_scale.size == 1), product.ndim)
    factor = np.asarray(_squeezed(x_scale) * _squeezed(y_scale), "float32")
    ratio = spread_array(ratios(factor, scale), axis, product.ndim)
    units = rescaled_array(product, ratio, rounding, compute_dtype)
    return saturated(units + zero_point.reshape(()), str(x.dtype))


def _squeezed(scale: Array) -> Array:
    return scale.reshape(()) if scale.size == 1 else scale


def _product_canonical(call: Call, operands: Sequence[Expr]) -> Expr:
    attrs = call.attrs
    assert attrs is not None
    types = [operand_type(call, operand) for operand in range(8)]
    rounding, compute_dtype = chosen("None", "None")
    dtype, rank = types[0].dtype, max(len(types[0].shape), len(types[1].shape))
    ranks = (len(types[0].shape), len(types[1].shape))
    wide = "int64" if dtype not in ("int8", "uint8") else "int32"
    factors = [
        cast(
            centered(
                operands[side], dtype, spread(operands[3 + 2 * side], types[3 + 2 * side], axis, ranks[side])
            ),
            "int32",
            wide,
        )
        for side, axis in enumerate((attrs["lhs_axis"], attrs["rhs_axis"]))
    ]
    single = (is_single(types[2]), is_single(types[4]))
    try:
        axis = _product_axis(attrs, ranks, single, rank)
        scale, scale_type = _product_scale(operands[2], types[2], operands[4], types[4])
        ratio = Ratio(scale, scale_type, operands[6], types[6], axis, rank)
    except RelationError as error:
        raise problem(call, error) from None
    result = Result(operands[7], types[7], dtype)
    compute = "float64" if wide == "int64" else compute_dtype
    product = relay.multiply(*factors)
    if wide == "int32":
        return result.of(rescaled(product, ratio, result.bounds, rounding, compute, "int8"))
    return result.of(rescaled(product, ratio, result.bounds, rounding, compute, "int64"))


def _product_scale(a: Expr, a_type: TensorType, b: Expr, b_type: TensorType) -> tuple[Expr, TensorType]:
    """Return the product of two scales, rounded to float32; each is a scalar or a vector."""
    left, right = spread(a, a_type, 0, 1), spread(b, b_type, 0, 1)
    shape = () if is_single(a_type) and is_single(b_type) else (b_type if is_single(a_type) else a_type).shape
    type_ = TensorType.of(shape, "float32")
    known = [expr.data for expr in (left, right) if isinstance(expr, Constant)]
    if len(known) < 2:
        return relay.multiply(left, right), type_
    return const(known[0].numpy() * known[1].numpy(), "float32"), type_


# -- declarations


def _quantized_binary(
    name: str,
    *,
    description: str,
    formula: str,
    reference: Reference,
    canonical: Canonical,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare an element-wise operator of two quantized tensors."""
    return operator(
        name,
        description=description,
        formula=formula,
        family="quantization",
        level=11,
        relation=Relation("QnnBroadcast", _relation, "{out} = {0} ⊔ {1}"),
        pattern=OpPattern.BROADCAST,
        flops=flops_per_output,
        reference=reference,
        gradient=NotApplicable(INTEGERS),
        canonical=canonical,
        layout=unvarying(broadcast_layout),
        precision=Precision.UNLISTED,
        attrs=BroadcastAttrs,
        example=lambda build: build(
            t(2, 6, dtype="int8"), t(6, dtype="int8", name="y"),
            const(0.1), const(3), const(0.2), const(0), const(0.25), const(-4),
        ),
        lenient_in_tvm="It accepted elements of any type.",
    )  # fmt: skip


_MEANING = r"s_y (y - z_y) \approx s_a (a - z_a) {} s_b (b - z_b)"


@_quantized_binary(
    "qnn.add",
    description="Adds quantized tensors, which are broadcast.",
    formula=_MEANING.format("+"),
    reference=_summed(1),
    canonical=_sum_canonical("add"),
)
def add(
    lhs: Operand,
    rhs: Operand,
    lhs_scale: Operand,
    lhs_zero_point: Operand,
    rhs_scale: Operand,
    rhs_zero_point: Operand,
    output_scale: Operand,
    output_zero_point: Operand,
    lhs_axis: int = -1,
    rhs_axis: int = -1,
) -> Call:
    """Add `lhs` and `rhs`: both are rescaled to the scale of the result and rounded, then added and
    saturated. They are broadcast like in NumPy.
    """


@_quantized_binary(
    "qnn.subtract",
    description="Subtracts quantized tensors, which are broadcast.",
    formula=_MEANING.format("-"),
    reference=_summed(-1),
    canonical=_sum_canonical("subtract"),
)
def subtract(
    lhs: Operand,
    rhs: Operand,
    lhs_scale: Operand,
    lhs_zero_point: Operand,
    rhs_scale: Operand,
    rhs_zero_point: Operand,
    output_scale: Operand,
    output_zero_point: Operand,
    lhs_axis: int = -1,
    rhs_axis: int = -1,
) -> Call:
    """Subtract `rhs` from `lhs`: both are rescaled to the scale of the result and rounded, then subtracted
    and saturated. They are broadcast like in NumPy.
    """


@_quantized_binary(
    "qnn.mul",
    description="Multiplies quantized tensors, which are broadcast.",
    formula=_MEANING.format(r"\cdot"),
    reference=_product,
    canonical=_product_canonical,
)
def mul(
    lhs: Operand,
    rhs: Operand,
    lhs_scale: Operand,
    lhs_zero_point: Operand,
    rhs_scale: Operand,
    rhs_zero_point: Operand,
    output_scale: Operand,
    output_zero_point: Operand,
    lhs_axis: int = -1,
    rhs_axis: int = -1,
) -> Call:
    """Multiply `lhs` by `rhs`: the product of the integers is exact, and rescaled once to the scale of the
    result. They are broadcast like in NumPy.
    """
