"""The vocabulary of the rules that make integer operators of fake-quantized ones: what a rule may ask, and
how values move between affine types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any as Anything
from typing import NamedTuple

from ...ir.affine_type import AffineType, TensorAffineType, TupleAffineType
from ...ir.annotate import set_checked_type
from ...ir.expr import Call, Constant, Expr
from ...ir.ndarray import NDArray
from ...ir.op import Op
from ...ir.typed import tensor_type
from ..fold_constant import evaluate, is_pure
from ..tools.typed_rewrite import call

NARROW_BITS = 8  # the widest integers that the quantized operators multiply
FINER_BITS = 16  # by which 8-bit integers are shifted for a finer scale, where a result is not quantized yet
FEW_FINER_BITS = 8  # the same for 16-bit integers
RELATIVE_ERROR = 1e-6  # of scales that count as equal: rounding the product of two costs less
MAX_STEPS = 2.0**30  # the greatest integer for a constant, so that one addition to it cannot overflow int32


class StaysFloatError(Exception):
    """Raised by a rule whose operator cannot be computed with integers; the message says why."""


class Arithmetic(NamedTuple):
    """How values are requantized: `rounding` and `compute_dtype` of `qnn.requantize`, which "None" leaves to
    the configuration.
    """

    rounding: str = "None"
    compute_dtype: str = "None"

    @property
    def stated(self) -> bool:
        """Whether anything is stated: `qnn.add` and others, which cannot state it, then do not serve."""
        return self != Arithmetic()


UNSTATED = Arithmetic()


class AffineTypes(Mapping[Expr, AffineType]):
    """What a rule knows: the affine types of the operands of its call that are quantized.

    The type of the call itself is the one that its result will be quantized to, where that is known: where
    the result reaches a `qnn.quantize` through operators that commute with it. Asking for it elsewhere raises
    StaysFloatError.
    """

    def __init__(
        self,
        whole: Call,
        types: Mapping[Expr, AffineType],
        output: TensorAffineType | None,
        dequantized: bool = False,
        arithmetic: Arithmetic = UNSTATED,
    ) -> None:
        self._call = whole
        self._types = types
        self._output = output
        self.dequantized = dequantized  # whether the result is read as floating-point numbers again
        self.arithmetic = arithmetic
        self.asked = False  # whether the rule's answer depends on the type of the result

    def __getitem__(self, expr: Expr) -> AffineType:
        if expr is not self._call:
            return self._types[expr]
        if self.output is None:
            raise StaysFloatError(
                f"the range of the result of {name_of(self._call)} is not known where it is computed"
            )
        return self.output

    def __iter__(self) -> Iterator[Expr]:
        yield from self._types
        if self._output is not None:
            yield self._call

    def __len__(self) -> int:
        return len(self._types) + (self._output is not None)

    @property
    def output(self) -> TensorAffineType | None:
        """The type that the result will be quantized to; None where it is not known."""
        self.asked = True
        return self._output

    def requantized(self, value: Expr, source: TensorAffineType, target: TensorAffineType) -> Expr:
        """Convert integers of one affine type to another (see `requantized`)."""
        return requantized(value, source, target, self.arithmetic)

    def tensor(self, expr: Expr) -> TensorAffineType:
        """Return the type of an operand, which must be a quantized tensor."""
        type_ = self._types.get(expr)
        if isinstance(type_, TensorAffineType):
            return type_
        raise StaysFloatError(f"an operand of {name_of(self._call)} is not quantized")

    def fields(self, expr: Expr) -> Sequence[TensorAffineType]:
        """Return the types of an operand's fields, which must be a tuple of quantized tensors."""
        type_ = self._types.get(expr)
        if isinstance(type_, TupleAffineType):
            return type_.types
        raise StaysFloatError(f"the fields of the operand of {name_of(self._call)} are not all quantized")


# Maps a call on integer operands, and their types, to an integer expression and its type.
Rule = Callable[[Call, AffineTypes], Sequence[Anything]]


def name_of(whole: Call) -> str:
    return f"`{whole.op.name}`" if isinstance(whole.op, Op) else "a function"


# -- numbers in types


def constant(value: Anything, dtype: str) -> Constant:
    """Return a constant, a scalar where there is one number."""
    import numpy

    array = numpy.asarray(value, dtype)
    return Constant(NDArray.from_numpy(array.reshape(()) if array.size == 1 else array))


def value_of(expr: Expr) -> Anything:
    """Return the value of a constant expression, as an array; None where it is not constant."""
    folded = _folded(expr)
    return folded.data.numpy() if isinstance(folded, Constant) else None


def _folded(expr: Expr) -> Expr:
    if isinstance(expr, Call) and isinstance(expr.op, Op) and expr.args and is_pure(expr.op):
        args = [_folded(arg) for arg in expr.args]
        if all(isinstance(arg, Constant) for arg in args):
            return evaluate(Call(expr.op, args, expr.attrs), expr.op) or expr
    return expr


def wrong_scale(scale: Expr) -> str:
    """Return what is wrong with a constant scale, which must be finite and positive; "" for others."""
    import numpy

    value = value_of(scale)
    if value is None:
        return ""
    right = numpy.isfinite(value) & (value > 0)
    return "" if right.all() else f"a scale is {value[~right].flat[0]:g}, which is not a positive number"


def scale_of(type_: TensorAffineType) -> Anything:
    """Return the scale of a type, as an array of float64, which must be constant, finite and positive."""
    value, wrong = value_of(type_.scale), wrong_scale(type_.scale)
    if value is None or wrong:
        raise StaysFloatError(wrong or "a scale is computed by the program")
    return value.astype("float64")


def zero_of(type_: TensorAffineType) -> Anything:
    """Return the zero point of a type, as an array, which must be constant."""
    value = value_of(type_.zero_point)
    if value is None:
        raise StaysFloatError("a zero point is computed by the program")
    return value


def is_vector(expr: Expr) -> bool:
    """Whether a scale or zero point has several elements, or may have."""
    value = value_of(expr)
    if value is not None:
        return bool(value.size > 1)
    return expr._checked_type is not None and tensor_type(expr).shape not in ((), (1,))


def scalar_type(type_: TensorAffineType) -> bool:
    """Whether a type has one scale and one zero point for the whole tensor."""
    return not is_vector(type_.scale) and not is_vector(type_.zero_point)


def bits(dtype: str) -> int:
    """Return the bits of an integer type."""
    return int(dtype.lstrip("uint"))


def limits(dtype: str) -> tuple[int, int]:
    """Return the least and the greatest integer of a type."""
    low = 0 if dtype.startswith("u") else -(2 ** (bits(dtype) - 1))
    return low, low + 2 ** bits(dtype) - 1


def equal(a: Expr, b: Expr) -> bool:
    """Whether two scales or zero points are equal: constants up to rounding, others the same expression."""
    import numpy

    if a is b:
        return True
    x, y = value_of(a), value_of(b)
    if x is None or y is None or (x.size != y.size and 1 not in (x.size, y.size)):
        return False
    return bool(numpy.allclose(x.reshape(-1), y.reshape(-1), rtol=RELATIVE_ERROR, atol=0))


def same(a: TensorAffineType, b: TensorAffineType) -> bool:
    """Whether two affine types give all integers the same meaning."""
    alike = a.dtype == b.dtype and equal(a.scale, b.scale) and equal(a.zero_point, b.zero_point)
    return alike and (a.axis == b.axis or scalar_type(a))


# -- values between types


def requantized(
    value: Expr, source: TensorAffineType, target: TensorAffineType, arithmetic: Arithmetic
) -> Expr:
    """Convert integers of one affine type to another, which saturates; return them as they are where the
    types are the same.
    """
    if same(source, target):
        return value
    if not scalar_type(target):
        if equal(source.scale, target.scale) and equal(source.zero_point, target.zero_point):
            return _narrowed(value, source, target)
        raise StaysFloatError("values would have to be requantized to scales that differ by channel")
    return call(
        "qnn.requantize",
        value,
        source.scale,
        source.zero_point,
        target.scale,
        target.zero_point,
        axis=source.axis,
        rounding=arithmetic.rounding,
        compute_dtype=arithmetic.compute_dtype,
        out_dtype=target.dtype,
    )


def _narrowed(value: Expr, source: TensorAffineType, target: TensorAffineType) -> Expr:
    """Convert integers to another element type, which saturates."""
    (low, high), (least, most) = limits(source.dtype), limits(target.dtype)
    if low < least or high > most:
        value = call("clip", value, a_min=max(low, least), a_max=min(high, most))
    return call("cast", value, dtype=target.dtype)


def quantized(value: Expr, type_: TensorAffineType, what: str) -> Expr:
    """Quantize a constant to an affine type, of which it must not exceed the range: `what` names it in the
    message.
    """
    amount = value_of(value)
    if amount is None:
        raise StaysFloatError(f"{what} is neither quantized nor a constant")
    axis = -1
    if not scalar_type(type_):
        if amount.ndim == 0:
            raise StaysFloatError(f"{what} is one number, and the scales differ by channel")
        axis = type_.axis if amount.ndim > 1 else 0
    along = TensorAffineType(type_.scale, type_.zero_point, type_.dtype, axis)
    low, high = limits(type_.dtype)
    number = steps(amount, along)
    if not ((number >= max(low, -MAX_STEPS)) & (number <= min(high, MAX_STEPS))).all():
        raise StaysFloatError(
            f"{what} reaches {abs(number).max():.3g} steps of the scale, beyond {type_.dtype}"
        )
    return call("qnn.quantize", value, along.scale, along.zero_point, axis=along.axis, out_dtype=along.dtype)


def steps(amount: Anything, type_: TensorAffineType) -> Anything:
    """Return the number that stands for a real number, before it is rounded and saturated."""
    scale, zero = scale_of(type_), zero_of(type_)
    shape = [1] * amount.ndim
    if amount.ndim and max(scale.size, zero.size) > 1:
        shape[type_.axis] = -1
    scale = scale.reshape(shape if scale.size > 1 else ())
    zero = zero.reshape(shape if zero.size > 1 else ())
    return amount / scale + zero


def whole(numbers: Anything) -> bool:
    """Whether numbers of steps are integers, but for rounding errors."""
    import numpy

    return bool((abs(numbers - numpy.rint(numbers)) <= 1e-3).all())


def integers(value: Expr, type_: TensorAffineType) -> Expr:
    """Return the integers minus their zero point, in int32, along with the type's axis if it has several."""
    result = value if type_.dtype == "int32" else call("cast", value, dtype="int32")
    zero = zero_of(type_)
    if not zero.any():
        return result
    shape = [1] * len(tensor_type(value).shape)
    if zero.size > 1:
        shape[type_.axis] = -1
    return call("subtract", result, constant(zero, "int32") if zero.size == 1 else _shaped(zero, shape))


def _shaped(array: Anything, shape: list[int]) -> Constant:
    return Constant(NDArray.from_numpy(array.astype("int32").reshape(shape)))


def combined(a: Expr, b: Expr) -> Expr:
    """Return the product of two scales."""
    x, y = value_of(a), value_of(b)
    if x is not None and y is not None:
        return constant((x * y).astype(x.dtype), str(x.dtype))
    wider = max((tensor_type(scale) for scale in (a, b)), key=lambda type_: len(type_.shape))
    return set_checked_type(call("multiply", a, b), wider)
