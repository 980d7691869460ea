"""Operators that create tensors."""

from __future__ import annotations

import math

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.context import Results
from ..base.errors import DynamicShapeError
from .registry import Operation, converts

LARGEST = 1 << 24  # elements of a tensor that is created at compile time


def _shape(op: Operation) -> tuple[int, ...]:
    """Return the attribute `shape`. Outside NumPy's operators, 0 is an extent that MXNet infers from how the
    tensor is used: the batch of an initial state. Here it is 1, which broadcasts.
    """
    shape = op.attrs.ints("shape", ())
    if not op.node.op.startswith("_np"):
        shape = tuple([extent or 1 for extent in shape]) or (1,)
    if math.prod(shape) > LARGEST:
        raise RelayError(f"a constant of shape {shape} is too large: the limit is {LARGEST:,} elements")
    return shape


@converts("_zeros", "_zeros_without_dtype", "_npi_zeros")
def zeros(op: Operation) -> Results:
    return relay.zeros(_shape(op), op.attrs.dtype(default="float32"))


@converts("_ones", "_npi_ones")
def ones(op: Operation) -> Results:
    return relay.ones(_shape(op), op.attrs.dtype(default="float32"))


@converts("_full", "_npi_full")
def full(op: Operation) -> Results:
    dtype = op.attrs.dtype(default="float32")
    value = op.attrs.float("value", op.attrs.float("fill_value", 0.0))
    return relay.full(const(int(value) if "int" in dtype else value, dtype), _shape(op), dtype)


@converts("_npi_full_like", "_full_like", "_npx_full_like")
def full_like(op: Operation) -> Results:
    value = op.attrs.float("fill_value")
    return relay.full_like(op[0], const(int(value) if "int" in op.dtype() else value, op.dtype()))


def _constant(values: object, dtype: str) -> Expr:
    import numpy

    return const(numpy.asarray(values).astype(dtype))


@converts("_arange", "_npi_arange")
def arange(op: Operation) -> Results:
    import numpy

    start, stop = op.attrs.float("start", 0.0), op.attrs.float("stop", math.nan)
    step, repeats = op.attrs.float("step", 1.0), op.attrs.int("repeat", 1)
    if math.isnan(stop):
        start, stop = 0.0, start
    if step == 0 or repeats < 1:
        raise RelayError(
            f"a range requires a step other than 0 and a positive repeat, not {step} and {repeats}"
        )
    if (stop - start) / step * repeats > LARGEST:
        raise RelayError(
            f"a range from {start} to {stop} with the step {step} is too large: the limit is {LARGEST:,} "
            "elements"
        )
    values = numpy.repeat(numpy.arange(start, stop, step), repeats)
    return _constant(values, op.attrs.dtype(default="float32"))


@converts("_linspace", "_npi_linspace")
def linspace(op: Operation) -> Results:
    import numpy

    count = op.attrs.int("num", 50)
    if not 0 <= count <= LARGEST:
        raise RelayError(f"linspace is supported for 0 to {LARGEST:,} values, not {count:,}")
    start, stop = op.attrs.float("start"), op.attrs.float("stop")
    values = numpy.linspace(start, stop, count, endpoint=op.attrs.bool("endpoint", True))
    return _constant(values, op.attrs.dtype(default="float32"))


@converts("_eye", "_npi_eye")
def eye(op: Operation) -> Results:
    import numpy

    rows = op.attrs.int("N")
    columns = op.attrs.int("M", 0) or rows
    if not 0 <= rows * columns <= LARGEST:
        raise RelayError(
            f"eye is supported for 0 to {LARGEST:,} elements, not for the shape {(rows, columns)}"
        )
    return _constant(numpy.eye(rows, columns, op.attrs.int("k", 0)), op.attrs.dtype(default="float32"))


@converts("_contrib_arange_like", "_npx_arange_like")
def arange_like(op: Operation) -> Results:
    """Return a range as long as an axis, or with the shape of the whole tensor."""
    start, step, repeats = (
        op.attrs.float("start", 0.0),
        op.attrs.float("step", 1.0),
        op.attrs.int("repeat", 1),
    )
    axis = op.attrs.optional_int("axis")
    dtype = op.dtype()
    if axis is None:
        shape = op.static_shape()
        count = math.prod(shape)
    else:
        extent = op.shape()[op.axis(axis)]
        if not isinstance(extent, int):
            return _dynamic_range(op, op.axis(axis), start, step, repeats)
        shape, count = (extent,), extent
    if count > LARGEST:
        raise RelayError(f"a range of {count:,} elements is too large: the limit is {LARGEST:,}")
    import numpy

    values = start + step * numpy.repeat(numpy.arange((count + repeats - 1) // repeats), repeats)[:count]
    return _constant(values.reshape(shape), dtype)


def _dynamic_range(op: Operation, axis: int, start: float, step: float, repeats: int) -> Expr:
    if repeats != 1:
        raise DynamicShapeError(
            f"arange_like with repeat={repeats} requires that the extent of axis {axis} is known at compile "
            "time"
        )
    length = relay.take(relay.shape_of(op[0], dtype="int32"), const(axis, "int32"), 0)
    numbers = relay.arange(const(0, "int32"), length, const(1, "int32"), dtype="int32")
    scaled = relay.multiply(relay.cast(numbers, op.dtype()), const(step, op.dtype()))
    return relay.add(scaled, const(start, op.dtype()))
