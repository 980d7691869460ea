"""Element-wise operators of two tensors, which are broadcast.

Where TVM differs from Relay:

* a division of integers by 0 ends the process, and on many machines so does dividing the least integer by
  -1; here the first gives 0 and the second wraps, as in NumPy (the interpreter raises an error on a
  division by 0);
* its code generator promises LLVM that sums, differences and products of 32 and 64 bits do not overflow;
  where they do, the result is the machine's (it wraps, as in NumPy) unless LLVM relied on the promise;
* its `fmod` cannot be compiled for processors, and its `power` refuses integers;
* a shift by the type's width or more depends on the machine: 3 << 40 is 768 on x86. Here, as in NumPy, all
  bits are shifted out.
"""

from __future__ import annotations

from collections.abc import Callable

from .library import tirx
from .lowered import Lowered, Lowering
from .tensors import (
    Tensor,
    Value,
    broadcast_shape,
    dims,
    dtype_of,
    element,
    every,
    is_signed,
    number,
    select,
    some,
    stage,
)


def pairwise(value: Callable[[Value, Value], Value]) -> Lowering:
    """Make the lowering of an operator that computes `value` from two elements, after broadcasting."""

    def lower(call: Lowered) -> list[Tensor]:
        x, y = call.inputs
        shape = broadcast_shape(dims(x), dims(y))
        return [stage(shape, lambda *i: value(element(x, i, shape), element(y, i, shape)), call.name)]

    return lower


def plus(x: Value, y: Value) -> Value:
    """Add two values; for booleans, return whether one is true."""
    return some([x, y]) if dtype_of(x) == "bool" else x + y


def differ(x: Value, y: Value) -> Value:
    """Return whether two booleans differ, as integers: LLVM has no such comparison of single bits."""
    return tirx.NE(x.astype("int8"), y.astype("int8"))


def safe_quotient(divide: Callable[[Value, Value], Value], x: Value, y: Value, by_minus_one: Value) -> Value:
    """Divide integers without trapping: 0 where `y` is 0, and `by_minus_one` where it is -1."""
    dtype = dtype_of(x)
    zero, one = number(0, dtype), number(1, dtype)
    if not is_signed(dtype):
        return select(y == zero, zero, divide(x, select(y == zero, one, y)))
    minus = number(-1, dtype)
    plain = divide(x, select(some([y == zero, y == minus]), one, y))
    return select(y == zero, zero, select(y == minus, by_minus_one, plain))


def negated(x: Value) -> Value:
    return number(0, dtype_of(x)) - x


def whole_quotient(x: Value, y: Value) -> Value:
    """Compute x / y of integers, rounded towards zero."""
    if dtype_of(x) == "bool":
        return every([x, y])
    return safe_quotient(tirx.truncdiv, x, y, negated(x))
