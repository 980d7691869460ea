"""Operators that create tensors: filled ones, ranges, random ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any as Anything
from typing import cast

from ...ir import const
from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from .context import Aten
from .dtypes import is_float
from .registry import aten
from .values import Int, Number, Scalar, Value, is_number


def _filled(value: float, *names: str) -> None:
    """Declare `name(size, dtype, …)`."""

    def convert(ctx: Aten, size: Sequence[Int], dtype: str | None = None, *rest: object) -> Value:
        return ctx.full(size, value, dtype or ctx.default_dtype)

    aten(*names)(convert)


def _filled_like(value: float, *names: str) -> None:
    """Declare `name(x, dtype, …)`."""

    def convert(ctx: Aten, x: Expr, dtype: str | None = None, *rest: object) -> Value:
        return full_like(ctx, x, value, dtype)

    aten(*names)(convert)


def _new_filled(value: float, *names: str) -> None:
    """Declare `name(x, size, dtype, …)`."""

    def convert(ctx: Aten, x: Expr, size: Sequence[Int], dtype: str | None = None, *rest: object) -> Value:
        return ctx.full(size, value, dtype or ctx.dtype(x))

    aten(*names)(convert)


# An empty tensor has arbitrary elements; zeros are as good as any.
_filled(0, "zeros", "empty.memory_format")
_filled(1, "ones")
_filled_like(0, "zeros_like", "empty_like")
_filled_like(1, "ones_like")
_new_filled(0, "new_zeros", "new_empty")
_new_filled(1, "new_ones")


@aten("empty_strided", "empty_permuted")
def empty_strided(
    ctx: Aten, size: Sequence[Int], layout: object, dtype: str | None = None, *rest: object
) -> Value:
    return ctx.full(size, 0, dtype or ctx.default_dtype)


@aten("new_empty_strided")
def new_empty_strided(
    ctx: Aten, x: Expr, size: Sequence[Int], stride: object, dtype: str | None = None, *rest: object
) -> Value:
    return ctx.full(size, 0, dtype or ctx.dtype(x))


@aten("full")
def full(ctx: Aten, size: Sequence[Int], value: Value, dtype: str | None = None, *rest: object) -> Value:
    return ctx.full(size, value, dtype or ctx.dtype(ctx.tensor(value)))


@aten("full_like")
def full_like(ctx: Aten, x: Expr, value: Value, dtype: str | None = None, *rest: object) -> Expr:
    wanted = dtype or ctx.dtype(x)
    if ctx.is_static(x):
        return ctx.full(ctx.static_shape(x), value, wanted)
    if ctx.dtype(x) == wanted:
        return relay.full_like(x, ctx.tensor(value, wanted))
    return ctx.full(ctx.sizes(x), value, wanted)


@aten("new_full")
def new_full(
    ctx: Aten, x: Expr, size: Sequence[Int], value: Value, dtype: str | None = None, *rest: object
) -> Value:
    return ctx.full(size, value, dtype or ctx.dtype(x))


@aten("fill", "fill_")
def fill(ctx: Aten, x: Expr, value: Value) -> Value:
    return full_like(ctx, x, value)


@aten("zero_", "zero")
def zero(ctx: Aten, x: Expr) -> Value:
    return full_like(ctx, x, 0)


@aten("scalar_tensor")
def scalar_tensor(ctx: Aten, value: Number, dtype: str | None = None, *rest: object) -> Value:
    return ctx.tensor(value, dtype or ctx.default_dtype)


@aten("tensor", "as_tensor")
def tensor(ctx: Aten, value: Value, dtype: str | None = None, *rest: object) -> Value:
    """Make a tensor of a number or of nested lists of them."""
    if isinstance(value, Expr) or is_number(value):
        return ctx.tensor(value, dtype)
    if not isinstance(value, (list, tuple)):
        raise RelayError(f"torch.tensor requires a number or nested lists of numbers, not {value!r}")
    flat = _flat(value)
    if dtype is None:
        dtype = ctx.result_type(*flat) if flat else ctx.default_dtype
    if not any(isinstance(element, (Scalar, Expr)) for element in flat):
        return const(cast(Anything, value) if flat else _empty(value), dtype)
    parts = [relay.reshape(ctx.tensor(element, dtype), (1,)) for element in flat]
    joined = relay.concatenate(parts, 0)
    return relay.reshape(joined, _lengths(value))


def _empty(value: Sequence[Value]) -> Anything:
    from ...ops import np

    return np.zeros(_lengths(value))


def _flat(value: Value) -> list[Value]:
    if isinstance(value, (list, tuple)):
        return [leaf for element in value for leaf in _flat(element)]
    return [value]


def _lengths(value: Value) -> tuple[int, ...]:
    if isinstance(value, (list, tuple)):
        return (len(value), *(_lengths(value[0]) if value else ()))
    return ()


@aten("arange.start_step", "range.step")
def arange_step(
    ctx: Aten, start: Value, end: Value, step: Value = 1, dtype: str | None = None, *rest: object
) -> Value:
    dtype = dtype or _range_dtype(ctx, start, end, step)
    numbers = [start, end, step]
    if all(isinstance(number, (int, float)) for number in numbers):
        low, high, by = cast("list[float]", numbers)
        if by == 0 or (high - low) / by < 0:
            raise RelayError(f"arange from {low} to {high} requires a step towards {high}, not {by}")
        if not is_float(dtype):
            low, high, by = int(low), int(high), int(by)
        return relay.arange(const(low, dtype), const(high, dtype), const(by, dtype), dtype)
    first, last, by_expr = [ctx.tensor(number, dtype) for number in numbers]
    return relay.arange(first, last, by_expr, dtype)


def _range_dtype(ctx: Aten, *numbers: Value) -> str:
    """Return the element type of a range: int64 for integers, else the default."""
    dtypes = [
        ctx.dtype(number) if isinstance(number, Expr) else ctx.number_dtype(cast(Number, number))
        for number in numbers
    ]
    return ctx.default_dtype if any(map(is_float, dtypes)) else "int64"


@aten("arange.start")
def arange_start(ctx: Aten, start: Value, end: Value, dtype: str | None = None, *rest: object) -> Value:
    return arange_step(ctx, start, end, 1, dtype)


@aten("arange")
def arange(ctx: Aten, end: Value, dtype: str | None = None, *rest: object) -> Value:
    return arange_step(ctx, 0, end, 1, dtype)


@aten("linspace")
def linspace(
    ctx: Aten, start: Value, end: Value, steps: int, dtype: str | None = None, *rest: object
) -> Value:
    """Return evenly spaced numbers, the second half counted from the end, as PyTorch does."""
    from ...ops import np

    dtype = dtype or ctx.default_dtype
    steps = ctx.integer(steps, "the number of steps")
    low, high = ctx.number(start, "the start"), ctx.number(end, "the end")
    if steps == 1:
        return const([low], dtype)
    if not is_float(dtype):
        low, high = int(low), int(high)
    kind = "float32" if dtype in ("float16", "bfloat16") or not is_float(dtype) else dtype
    position = np.arange(steps)
    step = np.asarray((high - low) / (steps - 1), kind)
    rising = (low + step * position).astype(kind)
    falling = (high - step * (steps - 1 - position)).astype(kind)
    return const(np.where(position < steps // 2, rising, falling), dtype)


@aten("logspace")
def logspace(
    ctx: Aten,
    start: Value,
    end: Value,
    steps: int,
    base: float = 10.0,
    dtype: str | None = None,
    *rest: object,
) -> Value:
    exponents = linspace(ctx, start, end, steps, dtype)
    factor = const(math.log(base), dtype or ctx.default_dtype)
    return relay.exp(relay.multiply(cast(Expr, exponents), factor))


@aten("eye")
def eye(ctx: Aten, n: Int, dtype: str | None = None, *rest: object) -> Value:
    return _eye(ctx, n, n, dtype)


@aten("eye.m")
def eye_m(ctx: Aten, n: Int, m: Int, dtype: str | None = None, *rest: object) -> Value:
    return _eye(ctx, n, m, dtype)


def _eye(ctx: Aten, n: Int, m: Int, dtype: str | None) -> Expr:
    rows = relay.reshape(cast(Expr, arange(ctx, n, "int64")), (-1, 1))
    columns = relay.reshape(cast(Expr, arange(ctx, m, "int64")), (1, -1))
    return relay.cast(relay.equal(rows, columns), dtype or ctx.default_dtype)


def _key(ctx: Aten) -> Expr:
    """Return a key for random numbers; each use in a model gets another."""
    ctx.random_keys += 1
    return relay.random.threefry_key(ctx.random_keys)


def _random(ctx: Aten, size: Sequence[Int], dtype: str | None, low: float | None, high: float = 1.0) -> Expr:
    """Return random numbers: uniform from `low` on, or normally distributed where `low` is None."""
    shape = ctx.integers(size, "the shape of random numbers")
    wanted = dtype or ctx.default_dtype
    kind = "float64" if wanted == "float64" else "float32"
    key = _key(ctx)
    if low is None:
        _, values = relay.random.normal(key, shape, kind)
    else:
        _, values = relay.random.uniform(key, shape, kind, low, high)
    return ctx.cast(values, wanted)


@aten("randn")
def randn(ctx: Aten, size: Sequence[Int], dtype: str | None = None, *rest: object) -> Value:
    return _random(ctx, size, dtype, None)


@aten("rand")
def rand(ctx: Aten, size: Sequence[Int], dtype: str | None = None, *rest: object) -> Value:
    return _random(ctx, size, dtype, 0.0)


@aten("randn_like")
def randn_like(ctx: Aten, x: Expr, dtype: str | None = None, *rest: object) -> Value:
    return _random(ctx, ctx.sizes(x), dtype or ctx.dtype(x), None)


@aten("rand_like")
def rand_like(ctx: Aten, x: Expr, dtype: str | None = None, *rest: object) -> Value:
    return _random(ctx, ctx.sizes(x), dtype or ctx.dtype(x), 0.0)


@aten("multinomial")
def multinomial(
    ctx: Aten, probs: Expr, num_samples: int, replacement: bool = False, generator: object = None
) -> Value:
    if not replacement and ctx.integer(num_samples) > 1:
        raise RelayError("multinomial with replacement=False and more than one sample cannot be imported")
    _, drawn = relay.random.multinomial(_key(ctx), probs, ctx.integer(num_samples))
    return ctx.cast(drawn, "int64")
