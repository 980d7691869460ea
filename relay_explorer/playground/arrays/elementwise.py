"""Functions of single elements, with broadcasting."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .core import Array, asarray, broadcast, counted, expanded, function, functions
from .dtypes import BOOL, FLOAT64, DType, Number, as_float, dtype, promoted, weak

INF, NAN = math.inf, math.nan


class Ufunc:
    """A function of two arrays; `reduce` folds an axis with it, `at` applies it in place."""

    def __init__(self, name: str, f: Callable[[Number, Number], Number], result: str = "") -> None:
        self.__name__ = name
        self._f = f
        self._result = result  # "bool", "float", "quotient", or the operands' type
        functions[name] = self

    def __call__(self, a: Any, b: Any, *, dtype: object = None, **keywords: Any) -> Array:
        x, y, own = operands(a, b)
        if self._result == "float":
            own = as_float(own)
        elif self._result == "quotient" and own.kind != "f":
            own = FLOAT64
        shape = broadcast(x.shape, y.shape)
        counted(shape)
        f = self._f
        values = [f(p, q) for p, q in zip(expanded(x, shape), expanded(y, shape))]
        if self._result == "bool":
            return Array(shape, BOOL, values)
        result = Array(shape, own, own.rounded(values))
        return result if dtype is None else result.astype(dtype)

    def reduce(self, a: Any, axis: Any = 0, **keywords: Any) -> Array:
        from .reductions import folded

        x = asarray(a)
        return folded(x, axis, keywords.get("keepdims", False), lambda part: _fold(self._f, part), x.dtype)

    def at(self, a: Array, index: Any, b: Any) -> None:
        """Apply the function at each index, as often as the index is repeated."""
        from .core import _positions

        shape, positions = _positions(a.shape, index)
        for position, value in zip(positions, expanded(asarray(b), shape)):
            a.values[position] = a.dtype.rounded([self._f(a.values[position], value)])[0]


def _fold(f: Callable[[Number, Number], Number], part: list[Number]) -> Number:
    result = part[0]
    for value in part[1:]:
        result = f(result, value)
    return result


def operands(a: Any, b: Any) -> tuple[Array, Array, DType]:
    """Return two operands as arrays, in their common type."""
    if isinstance(a, (bool, int, float)) and isinstance(b, Array):
        own = weak(b.dtype, a)
        return _scalar(a, own), b, own
    if isinstance(b, (bool, int, float)) and isinstance(a, Array):
        own = weak(a.dtype, b)
        return a, _scalar(b, own), own
    x, y = asarray(a), asarray(b)
    own = promoted(x.dtype, y.dtype)
    # Integers that become floats are rounded to them before the operation.
    if own.kind == "f":
        x, y = x.astype(own, copy=False), y.astype(own, copy=False)
    return x, y, own


def _scalar(value: Number, own: DType) -> Array:
    if own.kind in "iu" and not own.limits[0] <= value <= own.limits[1]:
        raise OverflowError(f"Python integer {value} out of bounds for {own}")
    return Array((), own, own.rounded([value]))


def _divide(p: Number, q: Number) -> float:
    if q == 0:
        if p == 0 or p != p:
            return NAN
        return math.copysign(INF, p) * math.copysign(1.0, q)
    return float(p) / float(q)


def _floor_divide(p: Number, q: Number) -> Number:
    if isinstance(p, float) or isinstance(q, float):
        if q == 0:
            return _divide(p, q)
        if math.isinf(p) or p != p or q != q:
            return NAN
        return p // q
    return p // q if q else 0


def _remainder(p: Number, q: Number) -> Number:
    if isinstance(p, float) or isinstance(q, float):
        if q == 0 or math.isinf(p) or p != p or q != q:
            return NAN
        return p % q
    return p % q if q else 0


def _fmod(p: Number, q: Number) -> Number:
    if isinstance(p, float) or isinstance(q, float):
        return NAN if q == 0 or math.isinf(p) else math.fmod(p, q)
    return int(math.fmod(p, q)) if q else 0


def _power(p: Number, q: Number) -> Number:
    if not isinstance(p, float) and not isinstance(q, float):
        if q < 0:
            raise ValueError("integers to negative integer powers are not allowed")
        return pow(int(p), int(q))
    try:
        result = math.pow(p, q)
    except OverflowError:
        return -INF if p < 0 and q % 2 == 1 else INF
    except ValueError:
        return INF if p == 0 else NAN
    return result


def _maximum(p: Number, q: Number) -> Number:
    return p if p != p or p >= q else q


def _minimum(p: Number, q: Number) -> Number:
    return p if p != p or p <= q else q


def _shifted_right(p: int, q: int) -> int:
    return p >> q if 0 <= q < 64 else (-1 if p < 0 else 0)


UFUNCS = {
    name: Ufunc(name, f, result)
    for name, f, result in (
        ("add", lambda p, q: p + q, ""),
        ("subtract", lambda p, q: p - q, ""),
        ("multiply", lambda p, q: p * q, ""),
        ("divide", _divide, "quotient"),
        ("true_divide", _divide, "quotient"),
        ("floor_divide", _floor_divide, ""),
        ("remainder", _remainder, ""),
        ("mod", _remainder, ""),
        ("fmod", _fmod, ""),
        ("power", _power, ""),
        ("maximum", _maximum, ""),
        ("minimum", _minimum, ""),
        ("arctan2", lambda p, q: math.atan2(p, q), "float"),
        ("hypot", lambda p, q: math.hypot(p, q), "float"),
        ("equal", lambda p, q: p == q, "bool"),
        ("not_equal", lambda p, q: p != q, "bool"),
        ("less", lambda p, q: p < q, "bool"),
        ("less_equal", lambda p, q: p <= q, "bool"),
        ("greater", lambda p, q: p > q, "bool"),
        ("greater_equal", lambda p, q: p >= q, "bool"),
        ("logical_and", lambda p, q: bool(p) and bool(q), "bool"),
        ("logical_or", lambda p, q: bool(p) or bool(q), "bool"),
        ("logical_xor", lambda p, q: bool(p) != bool(q), "bool"),
        ("bitwise_and", lambda p, q: p & q, ""),
        ("bitwise_or", lambda p, q: p | q, ""),
        ("bitwise_xor", lambda p, q: p ^ q, ""),
        ("left_shift", lambda p, q: p << q if 0 <= q < 64 else 0, ""),
        ("right_shift", _shifted_right, ""),
    )
}


# -- of one array


def _float(name: str, f: Callable[[float], float], poles: dict[float, float] | None = None) -> None:
    def value_of(p: Number) -> float:
        if poles and p in poles:
            return poles[p]
        try:
            return f(p)
        except OverflowError:
            return INF if name != "sinh" or p > 0 else -INF
        except ValueError:
            return NAN

    def call(a: Any, **keywords: Any) -> Array:
        x = asarray(a)
        own = as_float(x.dtype)
        return Array(x.shape, own, own.rounded([value_of(p) for p in x.values]))

    call.__name__ = name
    function(call)


for _name, _f, _poles in (
    ("exp", math.exp, None),
    ("expm1", math.expm1, None),
    ("exp2", lambda p: math.pow(2.0, p), None),
    ("log", math.log, {0: -INF}),
    ("log1p", math.log1p, {-1: -INF}),
    ("log2", math.log2, {0: -INF}),
    ("log10", math.log10, {0: -INF}),
    ("sqrt", math.sqrt, None),
    ("cbrt", lambda p: math.copysign(abs(p) ** (1 / 3), p), None),
    ("sin", math.sin, None),
    ("cos", math.cos, None),
    ("tan", math.tan, None),
    ("arcsin", math.asin, None),
    ("arccos", math.acos, None),
    ("arctan", math.atan, None),
    ("sinh", math.sinh, None),
    ("cosh", math.cosh, None),
    ("tanh", math.tanh, None),
    ("arcsinh", math.asinh, None),
    ("arccosh", math.acosh, None),
    ("arctanh", math.atanh, {1: INF, -1: -INF}),
):  # fmt: skip
    _float(_name, _f, _poles)  # type: ignore[arg-type]


def _same(name: str, f: Callable[[Number], Number]) -> None:
    """Register a function whose result has its operand's type; integers stay as they are where it rounds."""

    def call(a: Any, **keywords: Any) -> Array:
        x = asarray(a)
        return Array(x.shape, x.dtype, x.dtype.rounded([f(p) for p in x.values]))

    call.__name__ = name
    function(call)


def _whole(f: Callable[[float], float]) -> Callable[[Number], Number]:
    return lambda p: float(f(p)) if isinstance(p, float) and math.isfinite(p) else p


_same("negative", lambda p: -p)
_same("abs", abs)
_same("absolute", abs)
_same("square", lambda p: p * p)
_same("reciprocal", lambda p: _divide(1.0, p))
_same("sign", lambda p: p if p != p else type(p)((p > 0) - (p < 0)))
_same("floor", _whole(math.floor))
_same("ceil", _whole(math.ceil))
_same("trunc", _whole(math.trunc))
_same("rint", _whole(lambda p: math.copysign(round(p), p)))
_same("invert", lambda p: (not p) if isinstance(p, bool) else ~p)
_same("bitwise_not", lambda p: (not p) if isinstance(p, bool) else ~p)


def _test(name: str, f: Callable[[Number], bool]) -> None:
    def call(a: Any, **keywords: Any) -> Array:
        x = asarray(a)
        return Array(x.shape, BOOL, [bool(f(p)) for p in x.values])

    call.__name__ = name
    function(call)


_test("isnan", lambda p: p != p)
_test("isinf", lambda p: p in (INF, -INF))
_test("isfinite", lambda p: p == p and p not in (INF, -INF))
_test("signbit", lambda p: math.copysign(1.0, p) < 0)
_test("logical_not", lambda p: not p)


@function
def round_(a: Any, decimals: int = 0, **keywords: Any) -> Array:
    x = asarray(a)
    return Array(x.shape, x.dtype, x.dtype.rounded([round(p, decimals) for p in x.values]))


@function
def clip(a: Any, low: Any = None, high: Any = None, **keywords: Any) -> Array:
    low, high = keywords.get("min", low), keywords.get("max", high)
    result = asarray(a)
    if low is not None:
        result = UFUNCS["maximum"](result, low)
    return result if high is None else UFUNCS["minimum"](result, high)


@function
def where(condition: Any, a: Any = None, b: Any = None) -> Any:
    test = asarray(condition)
    if a is None:
        return functions["nonzero"](test)
    x, y, own = operands(a, b)
    shape = broadcast(test.shape, x.shape, y.shape)
    columns = zip(expanded(test, shape), expanded(x, shape), expanded(y, shape))
    return Array(shape, own, own.rounded([p if c else q for c, p, q in columns]))


@function
def divmod_(a: Any, b: Any) -> tuple[Array, Array]:
    return UFUNCS["floor_divide"](a, b), UFUNCS["remainder"](a, b)


@function
def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Array:
    def close(p: float, q: float) -> bool:
        if p != p or q != q:
            return equal_nan and p != p and q != q
        return p == q or abs(p - q) <= atol + rtol * abs(q)

    x, y, _ = operands(a, b)
    shape = broadcast(x.shape, y.shape)
    return Array(shape, BOOL, [close(p, q) for p, q in zip(expanded(x, shape), expanded(y, shape))])


@function
def allclose(a: Any, b: Any, **keywords: Any) -> bool:
    return all(isclose(a, b, **keywords).values)


@function
def array_equal(a: Any, b: Any) -> bool:
    x, y = asarray(a), asarray(b)
    return x.shape == y.shape and x.values == y.values


@function
def vectorize(f: Callable[..., Any], otypes: Any = None, **keywords: Any) -> Callable[[Any], Array]:
    """Apply a Python function to each element."""

    def call(a: Any) -> Array:
        x = asarray(a)
        own = dtype(otypes[0]) if otypes else x.dtype
        return Array(x.shape, own, own.rounded([f(p) for p in x.values]))

    return call
