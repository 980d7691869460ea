"""Operators on the elements of two tensors that stand at one place, after broadcasting.

Where TVM differs from Relay:

* a division of integers by 0 ends the process, on many machines also that of the least integer by -1; here
  the first gives 0 and the second wraps, as in NumPy (the interpreter raises an error where one divides by
  0);
* its code generator promises LLVM that sums, differences and products of 32 and 64 bits do not overflow;
  where they do, what comes out is what the machine gives (it wraps, as NumPy does) unless LLVM made use of
  the promise;
* its `fmod` has no code for processors, and its `power` refuses integers;
* a shift by as many bits as there are, or more, is what the machine makes of it: 3 << 40 is 768 on x86.
  Here, as in NumPy, the bits are gone.
"""

from __future__ import annotations

from collections.abc import Callable

from .library import te, tirx
from .lowered import Lowered, Lowering
from .tensors import (
    Tensor,
    Value,
    broadcast_shape,
    cast,
    differs,
    dims,
    dtype_of,
    element,
    every,
    greater_of,
    is_float,
    is_signed,
    lesser_of,
    number,
    plain,
    select,
    some,
    stage,
)


def pairwise(value: Callable[[Value, Value], Value]) -> Lowering:
    """The lowering of an operator that is `value` of two elements, after broadcasting."""

    def lower(call: Lowered) -> list[Tensor]:
        x, y = call.inputs
        shape = broadcast_shape(dims(x), dims(y))
        return [stage(shape, lambda *i: value(element(x, i, shape), element(y, i, shape)), call.name)]

    return lower


def plus(x: Value, y: Value) -> Value:
    """The sum; of truth values, whether one is true."""
    return some([x, y]) if dtype_of(x) == "bool" else x + y


def _differ(x: Value, y: Value) -> Value:
    """Whether two truth values differ: LLVM has no such comparison of single bits."""
    return tirx.NE(x.astype("int8"), y.astype("int8"))


def _difference(x: Value, y: Value) -> Value:
    return _differ(x, y) if dtype_of(x) == "bool" else x - y


def _product(x: Value, y: Value) -> Value:
    return every([x, y]) if dtype_of(x) == "bool" else x * y


add = pairwise(plus)
subtract = pairwise(_difference)
multiply = pairwise(_product)
maximum = pairwise(greater_of)
minimum = pairwise(lesser_of)


# -- quotients


def _safe(divide: Callable[[Value, Value], Value], x: Value, y: Value, by_minus_one: Value) -> Value:
    """A division of integers that does not trap: 0 where `y` is 0, and `by_minus_one` where it is -1."""
    dtype = dtype_of(x)
    zero, one = number(0, dtype), number(1, dtype)
    if not is_signed(dtype):
        return select(y == zero, zero, divide(x, select(y == zero, one, y)))
    minus = number(-1, dtype)
    plain = divide(x, select(some([y == zero, y == minus]), one, y))
    return select(y == zero, zero, select(y == minus, by_minus_one, plain))


def _negative(x: Value) -> Value:
    return number(0, dtype_of(x)) - x


def whole_quotient(x: Value, y: Value) -> Value:
    """x / y of integers, rounded towards zero."""
    if dtype_of(x) == "bool":
        return every([x, y])
    return _safe(tirx.truncdiv, x, y, _negative(x))


def _divide(x: Value, y: Value) -> Value:
    return x / y if is_float(dtype_of(x)) else whole_quotient(x, y)


def _floor_divide(x: Value, y: Value) -> Value:
    if is_float(dtype_of(x)):
        return te.floor(x / y)
    if dtype_of(x) == "bool":
        return every([x, y])
    return _safe(te.floordiv, x, y, _negative(x))


def _floor_mod(x: Value, y: Value) -> Value:
    return x - y * _floor_divide(x, y) if is_float(dtype_of(x)) else _rest(te.floormod, x, y)


def _rest(divide: Callable[[Value, Value], Value], x: Value, y: Value) -> Value:
    if dtype_of(x) == "bool":
        return number(False, "bool")
    return _safe(divide, x, y, number(0, dtype_of(x)))


def _remainder(x: Value, y: Value) -> Value:
    """What is left over, with the sign of `x`, as in C."""
    return _fmod(x, y) if is_float(dtype_of(x)) else _rest(tirx.truncmod, x, y)


def _fmod(x: Value, y: Value) -> Value:
    """C's function: TVM has an operator for it, which its code generator for LLVM does not know."""
    dtype = dtype_of(x)
    if dtype == "float64":
        return tirx.call_pure_extern(dtype, "fmod", x, y)
    narrow = tirx.call_pure_extern("float32", "fmodf", x.astype("float32"), y.astype("float32"))
    return cast(narrow, dtype)


def _trunc_divide(x: Value, y: Value) -> Value:
    return te.trunc(x / y) if is_float(dtype_of(x)) else whole_quotient(x, y)


divide = pairwise(_divide)
mod = pairwise(_remainder)
floor_divide = pairwise(_floor_divide)
floor_mod = pairwise(_floor_mod)
trunc_divide = pairwise(_trunc_divide)
trunc_mod = pairwise(_remainder)


def _power(x: Value, y: Value) -> Value:
    dtype = dtype_of(x)
    if dtype == "bfloat16":  # TVM takes it for no float
        return te.power(x.astype("float32"), y.astype("float32")).astype(dtype)
    if is_float(dtype):
        return te.power(x, y)
    if dtype == "bool":
        return some([x, tirx.Not(y)])
    found = _squares(x, y, number(1, dtype), (int(dtype.lstrip("uint")) - 1).bit_length())
    return select(tirx.all(tirx.EQ(x, number(0, dtype)), y > number(0, dtype)), number(0, dtype), found)


def _squares(x: Value, y: Value, found: Value, bits: int) -> Value:
    """`found` times x to the power of the lowest `bits` bits of y: a product of squares of squares. Where
    more bits are set, the power of any number but 0, 1 and -1 is beyond the type's range.
    """
    dtype = dtype_of(x)
    for bit in range(bits):
        odd = tirx.NE(tirx.bitwise_and(y >> number(bit, dtype), number(1, dtype)), number(0, dtype))
        found = select(odd, found * x, found)
        x = x * x
    return found


_PRODUCTS: dict[float, Callable[[Value], Value]] = {
    -1.0: lambda x: number(1, dtype_of(x)) / x,
    0.5: lambda x: te.sqrt(x),
    1.0: lambda x: x,
    2.0: lambda x: x * x,
    3.0: lambda x: x * x * x,
    4.0: lambda x: (x * x) * (x * x),
}  # of exponents that are known: for others TVM calls the C library, element by element


def power(call: Lowered) -> list[Tensor]:
    x, y = call.inputs
    known = getattr(y.op, "body", None)
    exponent = getattr(known[0], "value", None) if known else None
    if dtype_of(x) not in ("float32", "float64") or exponent not in _PRODUCTS:
        return list(pairwise(_power)(call))
    shape = broadcast_shape(dims(x), dims(y))
    return [stage(shape, lambda *i: _PRODUCTS[exponent](element(x, i, shape)), call.name)]


# -- bits


def _shifted(x: Value, y: Value, shift: Callable[[Value, Value], Value], gone: Value) -> Value:
    """The shift; `gone` where all bits are moved out."""
    dtype = dtype_of(y)
    bits = int(dtype.lstrip("uint"))
    outside = [y >= number(bits, dtype)] + ([y < number(0, dtype)] if is_signed(dtype) else [])
    return select(some(outside), gone, shift(x, select(some(outside), number(0, dtype), y)))


def _left(x: Value, y: Value) -> Value:
    if dtype_of(x) == "bool":
        return cast(_left(x.astype("int8"), y.astype("int8")), "bool")
    return _shifted(x, y, lambda a, b: a << b, number(0, dtype_of(x)))


def _right(x: Value, y: Value) -> Value:
    dtype = dtype_of(x)
    if dtype == "bool":
        return cast(_right(x.astype("int8"), y.astype("int8")), "bool")
    zero = number(0, dtype)
    gone = select(x < zero, number(-1, dtype), zero) if is_signed(dtype) else zero
    return _shifted(x, y, lambda a, b: a >> b, gone)


def _bitwise(
    of_bits: Callable[[Value, Value], Value], of_truths: Callable[[Value, Value], Value]
) -> Lowering:
    return pairwise(lambda x, y: of_truths(x, y) if dtype_of(x) == "bool" else of_bits(x, y))


left_shift = pairwise(_left)
right_shift = pairwise(_right)
bitwise_and = _bitwise(lambda x, y: tirx.bitwise_and(x, y), lambda x, y: every([x, y]))
bitwise_or = _bitwise(lambda x, y: tirx.bitwise_or(x, y), lambda x, y: some([x, y]))
bitwise_xor = _bitwise(lambda x, y: tirx.bitwise_xor(x, y), _differ)


# -- comparisons and truth values


equal = pairwise(lambda x, y: plain(x) == plain(y))
not_equal = pairwise(lambda x, y: differs(plain(x), plain(y)))
less = pairwise(lambda x, y: plain(x) < plain(y))
less_equal = pairwise(lambda x, y: plain(x) <= plain(y))
greater = pairwise(lambda x, y: plain(x) > plain(y))
greater_equal = pairwise(lambda x, y: plain(x) >= plain(y))
logical_and = pairwise(lambda x, y: every([x, y]))
logical_or = pairwise(lambda x, y: some([x, y]))
logical_xor = pairwise(_differ)


def where(call: Lowered) -> list[Tensor]:
    """The condition may be of any type: it holds where it is not 0."""
    c, x, y = call.inputs
    shape = broadcast_shape(dims(c), dims(x), dims(y))

    def value(*i: Value) -> Value:
        chosen = cast(element(c, i, shape), "bool")
        return select(chosen, element(x, i, shape), element(y, i, shape))

    return [stage(shape, value, call.name)]
