"""Between real numbers and integers, and between integers of different scales, by operators of `qnn`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir.errors import RelayError
from ..ir.expr import Call, Constant, Expr, const
from ..ir.op import Op
from ..ops.calls import relay
from ..ops.numeric import Array, np
from .quantized import Quantized
from .quantizer import to_integers
from .tables import as_floats, at_scale

if TYPE_CHECKING:
    from .scheme import Scheme, Site

BOUNDS = {
    f"{sign}int{bits}": (0, 2**bits - 1) if sign else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    for bits in (8, 16, 32)
    for sign in ("", "u")
}


def quantized(scheme: Scheme, data: Expr, site: Site) -> Quantized:
    """Convert a float to the integers of a site; a constant at compile time."""
    how, parameters = site.quantizer, site.parameters
    assert parameters is not None
    if how.group is not None and not isinstance(data, Constant):
        raise _in_groups(scheme, "quantize")
    expr: Expr
    if isinstance(data, Constant):
        expr = Constant(to_integers(data.data.numpy(), how, parameters))
    else:
        expr = qnn(
            "quantize",
            data,
            scale(parameters.scale),
            zero(parameters.zero_point),
            axis=_axis(how.axis),
            out_dtype=how.dtype,
        )
        expr = clipped(expr, how.dtype, how.lowest, how.highest)
    return Quantized(scheme, expr, how.dtype, parameters.scale, parameters.zero_point, how.axis)


def requantized(value: Quantized, site: Site) -> Quantized:
    """Convert integers to those of a site. Where scale, zero point and type are the same, nothing is
    computed.
    """
    how, parameters = site.quantizer, site.parameters
    assert parameters is not None
    target = Quantized(value.scheme, value.expr, how.dtype, parameters.scale, parameters.zero_point, how.axis)
    if value.is_like(target):
        return value
    if value.lazy and value.table is not None and not target.scale.ndim:
        bounds = (how.lowest, how.highest)
        return target.over(at_scale(value.table, target.scale, target.zero_point, bounds, how.dtype))
    if target.axis is not None:  # `qnn.requantize` gives all channels one scale
        return value.scheme.quantize(value.scheme.dequantize(value), site)
    expr = rescaled(value, parameters.scale, parameters.zero_point, how.dtype)
    return target.over(clipped(expr, how.dtype, how.lowest, how.highest))


def rescaled(value: Quantized, new_scale: Array, new_zero: Array, dtype: str) -> Expr:
    """Multiply integers by the ratio of two scales, and round; from wide or narrow integers to `dtype`."""
    expr = value.expr
    if value.dtype == "int16":  # `qnn.requantize` takes 8 and 32 bits
        expr = relay.cast(expr, "int32")
    return qnn(
        "requantize", expr, scale(value.scale), zero(value.zero_point), scale(new_scale), zero(new_zero),
        axis=_axis(value.axis), out_dtype=dtype,
    )  # fmt: skip


def dequantized(value: Quantized) -> Expr:
    """Convert integers to a float."""
    if value.lazy and value.table is not None:
        return as_floats(value.table)
    if value.scale.ndim > 1:
        raise _in_groups(value.scheme, "dequantize")
    expr = relay.cast(value.expr, "int32") if value.dtype == "int16" else value.expr
    return qnn(
        "dequantize",
        expr,
        scale(value.scale),
        zero(value.zero_point),
        axis=_axis(value.axis),
        out_dtype="float32",
    )


def _in_groups(scheme: Scheme, method: str) -> RelayError:
    return RelayError(
        f"no operator of `qnn` has a scale for each group, and the scheme {scheme.name} does not override "
        f"`{method}`",
        help=["use `axis` for a scale per channel, or override `realize`, as Weights4BitGroups does"],
    )


def clipped(expr: Expr, dtype: str, lowest: int, highest: int) -> Expr:
    """Clip integers to bounds that are narrower than their type's."""
    if BOUNDS[dtype] == (lowest, highest):
        return expr
    return relay.clip(expr, float(lowest), float(highest))


def qnn(name: str, *args: Expr, **attrs: object) -> Expr:
    """Build a call of an operator of `qnn`, with attributes by name."""
    op = Op.get(f"qnn.{name}")
    return Call(op, list(args), op.attrs_class(**attrs) if op.attrs_class is not None else None)


def scale(values: Array) -> Constant:
    return const(np.asarray(values, "float32"))


def zero(values: Array) -> Constant:
    """Return a zero point, which is a scalar where all channels have the same."""
    values = np.asarray(values, "int32")
    if values.ndim and (values == values.reshape(-1)[0]).all():
        values = values.reshape(-1)[0]
    return const(np.asarray(values, "int32"))


def _axis(axis: int | None) -> int:
    return -1 if axis is None else axis
