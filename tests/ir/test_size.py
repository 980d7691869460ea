"""Arithmetic with sizes that have names: it simplifies, and always means what the numbers would."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from inline_snapshot.extra import raises

from relay_explorer.ir.equal import structural_equal
from relay_explorer.ir.expr import Function, Var
from relay_explorer.ir.size import Any, Size, SizeVar, Value, extreme, variables
from relay_explorer.ir.size_parts import applied, substituted
from relay_explorer.ir.types import TensorType
from relay_explorer.text import parse

N, M, K = SizeVar("n"), SizeVar("m"), SizeVar("k", "int64")


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (N + 2, "n + 2"),
        (2 - N, "2 - n"),
        (N + N, "2 * n"),
        ((N + 1) * (N - 1), "n * n - 1"),
        (N * M - M * N + 4, "4"),
        ((4 * N + 3) // 2, "2 * n + 1"),
        (N * M // M, "n"),
        (N // 2 // 3, "floordiv(n, 6)"),
        (((N - 1) // 2 + 1 - 1) // 2 + 1, "floordiv(n - 1, 4) + 1"),
        ((N + 5) % 5, "floormod(n, 5)"),
        (6 * N % 3, "0"),
        (7 // N, "floordiv(7, n)"),
        (round(N * 2.0), "2 * n"),
        (round(N * 1.5), "round(1.5 * n)"),
        (math.ceil(N * 0.5 + 1), "ceil(0.5 * n + 1)"),
        (extreme("max", N, N + 1), "n + 1"),
        (extreme("min", N, 3), "min(n, 3)"),
        (-N, "-n"),
        (N + Any(), "?"),
    ],
)
def test_simplest_form(size: object, text: str) -> None:
    assert repr(size) == text


def test_what_is_equal() -> None:
    assert N + M == M + N
    assert hash(N + M) == hash(M + N)
    assert N + 1 != N + 2
    assert SizeVar("n") != N
    assert N // 2 == N // 2 != M // 2
    assert N + 0 is N


@pytest.mark.parametrize(("size", "dtype"), [(N + M, "int32"), (N + K, "int64"), (N * 0.5, "float64")])
def test_element_types(size: Size, dtype: str) -> None:
    assert size.dtype == dtype


def test_a_dimension_is_whole() -> None:
    assert TensorType((N * 2.0,)).shape == (2 * N,)
    with raises(snapshot("TypeError: a dimension is an integer, Any() or a size with a name, not 0.5 * n")):
        TensorType((N * 0.5,))


def test_what_grows_too_involved_is_unknown() -> None:
    total: Value = 0
    for k in range(40):
        total = total + SizeVar(f"n{k}") * SizeVar(f"m{k}")
    assert isinstance(total, Any)
    nested: Value = N
    for k in range(2, 40):
        nested = (M - nested % k) * 3
    assert isinstance(nested, Any)


Pair = tuple[Value, Callable[[int, int], float]]


def _both(name: str) -> Callable[[Pair, Pair], Pair]:
    def make(a: Pair, b: Pair) -> Pair:
        (x, f), (y, g) = a, b
        result: Value = {"+": lambda: x + y, "-": lambda: x - y, "*": lambda: x * y}[name]()
        meant = {
            "+": lambda n, m: f(n, m) + g(n, m),
            "-": lambda n, m: f(n, m) - g(n, m),
            "*": lambda n, m: f(n, m) * g(n, m),
        }[name]
        return result, meant

    return make


def _by(pair: Pair, number: int) -> Pair:
    return pair[0] // number, lambda n, m: pair[1](n, m) // number


def _rest(pair: Pair, number: int) -> Pair:
    return pair[0] % number, lambda n, m: pair[1](n, m) % number


def _highest(a: Pair, b: Pair) -> Pair:
    return extreme("max", a[0], b[0]), lambda n, m: max(a[1](n, m), b[1](n, m))


_leaves = st.sampled_from([(N, lambda n, m: n), (M, lambda n, m: m)]) | st.integers(-4, 9).map(
    lambda c: (c, lambda n, m: c)
)
_numbers = st.integers(1, 6) | st.integers(-5, -1)


@st.composite
def _sizes(draw: st.DrawFn, depth: int = 3) -> Pair:
    """Draw a size and its meaning, of up to `depth` nested operations."""
    how = draw(st.sampled_from(["leaf", "+", "-", "*", "//", "%", "max"])) if depth else "leaf"
    if how == "leaf":
        return draw(_leaves)
    first = draw(_sizes(depth - 1))
    if how in ("//", "%"):
        return (_by if how == "//" else _rest)(first, draw(_numbers))
    second = draw(_sizes(depth - 1))
    return _highest(first, second) if how == "max" else _both(how)(first, second)


SIZES = _sizes()


@given(SIZES, st.integers(0, 50), st.integers(0, 50))
def test_simplifying_keeps_the_meaning(pair: Pair, n: int, m: int) -> None:
    size, meant = pair
    result = substituted(size, {N: n, M: m})
    assert isinstance(size, Any) or result == meant(n, m)


@given(st.lists(SIZES, min_size=1, max_size=4))
def test_text_and_back(pairs: list[Pair]) -> None:
    shape = [size for size, _ in pairs if isinstance(size, (Size, Any)) or size >= 0]
    x = Var("x", TensorType(shape))
    function = Function([x], x)
    again = parse(function.astext())["main"]
    known = [size for size in shape if isinstance(size, Size)]
    if len({v for size in known for v in variables(size)}) < 2 or {N, M} <= set(shape):
        assert structural_equal(again, function, map_free_vars=True)
    assert again.astext() == function.astext()


def test_functions_by_name() -> None:
    assert applied("floordiv", [N + 2, 2]) == N // 2 + 1
    assert applied("floormod", [7, 4]) == 3
    assert applied("trunc", [2.7]) == 2
