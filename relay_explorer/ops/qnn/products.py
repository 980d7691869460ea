"""Shared by products of quantized tensors: relations, exact sums in NumPy, and corrections for zero points.

A product of integers with zero points is four products, of which the compiler computes the first by an
ordinary kernel; the others need only sums of one operand:

    Σ (x − z)(w − v) = Σ x w − v Σ x + z (n v − Σ w)

where n is the number of summands. The last term does not depend on the data, so it is folded if weights and
zero points are constants. All of it wraps in the accumulator's type, which changes no sum that fits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any as Anything

from ...ir.expr import Expr, const
from ...ir.op import Op, Relation, RelationError, Reporter
from ...ir.types import Dim, IncompleteType, TensorType, Type
from ..calls import relay
from ..numeric import Array, np
from .parameters import are_known, check_parameter, check_parameters, elements, out_elements
from .plain import cast, is_zero, number, wrapped_number

PARAMETERS = ("input_zero_point", "kernel_zero_point", "input_scale", "kernel_scale")
SUMS = ("int32", "int64")

# A function of the attributes and the types of data and weight: the number of output channels, and other
# lengths that a vector of the kernel's parameters may have.
Channels = Callable[[Anything, TensorType, TensorType], tuple[Dim, ...]]


def product_relation(
    name: str,
    plain: str,
    formula: str,
    channels: Channels,
    data_dtypes: Sequence[str],
    weight_dtypes: Sequence[str],
    out_dtypes: Sequence[str],
) -> Relation:
    """Build the relation of a product: types as of the operator `plain`, of integers. The kernel's scale and
    zero point may be vectors with an element per output channel.
    """

    def rule(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
        if isinstance(types[0], IncompleteType) or not are_known(types, 6):
            return False
        data = elements(types[0], 0, "data", data_dtypes)
        weight = elements(types[1], 1, "weight", weight_dtypes)
        out_elements(attrs.out_dtype, out_dtypes)
        check_parameter(types[2], 2, "input_zero_point")
        check_parameter(types[4], 4, "input_scale")
        if not Op.get(plain).relation.rule([data, weight, types[6]], 2, attrs, reporter):
            return False
        lengths = channels(attrs, data, weight)
        for operand, parameter in ((3, "kernel_zero_point"), (5, "kernel_scale")):
            check_parameter(types[operand], operand, parameter, _length(types[operand], lengths))
        return True

    return Relation(name, rule, formula)


def _length(type_: Type, lengths: tuple[Dim, ...]) -> Dim:
    """Return which of the lengths a vector has; the first where it has none of them."""
    shape = type_.shape if isinstance(type_, TensorType) else ()
    return next((length for length in lengths if shape == (length,)), lengths[0])


def pair_relation(name: str, plain: str, formula: str, dtypes: Sequence[str]) -> Relation:
    """Build the relation of a product of two tensors of data, each with one scale and zero point."""

    def rule(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
        if not are_known(types, 6):
            return False
        x, y = elements(types[0], 0, "x", dtypes), elements(types[1], 1, "y", dtypes)
        out_elements(attrs.out_dtype, ("int32",))
        check_parameters(types, 2, ("x_zero_point", "y_zero_point", "x_scale", "y_scale"))
        return Op.get(plain).relation.rule([x, y, types[6]], 2, attrs, reporter)

    return Relation(name, rule, formula)


# -- reference implementations


def shifted(x: Array, zero_point: Array) -> Array:
    """Return x − zero_point as float64: products and sums of such numbers are exact up to 2 ** 53."""
    return x.astype("float64") - zero_point.astype("float64")


def wrapped(sums: Array, dtype: str) -> Array:
    """Convert exact sums to the accumulator's type, in which they wrap."""
    if sums.size and np.abs(sums).max() >= 2.0**53:
        raise RelationError("the sums of the product exceed 2⁵³, so they are not exact")
    return sums.astype("int64").astype(dtype)


# -- canonical forms


def corrected(
    product: Expr,
    acc: str,
    zero_points: tuple[Expr, Expr],
    data_sums: Callable[[], Expr],
    weight_sums: Callable[[], Expr],
    count: int,
) -> Expr:
    """Return `product`, the sums of x w, corrected for the zero points of data and weight.

    `data_sums` and `weight_sums` build Σ x and Σ w, of element type `acc` like the product; each broadcasts
    with it, as the zero points do. `count` is the number of summands.
    """
    of_data, of_weight = zero_points
    if not is_zero(of_weight):
        product = relay.subtract(product, relay.multiply(cast(of_weight, "int32", acc), data_sums()))
    if is_zero(of_data):
        return product
    shift = cast(of_data, "int32", acc)
    sums = weight_sums()
    if is_zero(of_weight):
        return relay.subtract(product, relay.multiply(shift, sums))
    value = number(of_weight)
    if value is not None:
        whole: Expr = const(wrapped_number(count * int(value), acc), acc)
    else:
        whole = relay.multiply(cast(of_weight, "int32", acc), const(count, acc))
    return relay.add(product, relay.multiply(shift, relay.subtract(whole, sums)))
