"""Structural equality and hashing."""

from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from relay_explorer.ir import (
    Any,
    FuncType,
    RefType,
    SizeVar,
    TensorType,
    TupleType,
    TypeVar,
    assert_structural_equal,
    difference,
    structural_equal,
    structural_hash,
)
from relay_explorer.ir.expr import Function, Let, Var
from relay_explorer.text import parse

F32 = TensorType((), "float32")

# Pairs of programs that are the same up to names.
SAME = [
    ("def @main(%x: float32) { add(%x, %x) }", "def @main(%y: float32) { add(%y, %y) }"),
    ("def @main(%x: float32) { let %a = exp(%x); %a }", "def @main(%x: float32) { let %b = exp(%x); %b }"),
    ("def @main[A](%x: A) { %x }", "def @main[B](%x: B) { %x }"),
    ("def @main(%x: float32) { nn.softmax(%x, axis=-1) }", "def @main(%x: float32) { nn.softmax(%x) }"),
    (  # 0.01 and the float32 that is nearest to it
        "def @main(%x: Tensor[(2), float32]) { nn.leaky_relu(%x, alpha=0.01f) }",
        "def @main(%x: Tensor[(2), float32]) { nn.leaky_relu(%x, alpha=0.009999999776482582f) }",
    ),
    (
        "type T { A, B(T) } def @main(%t: T) { match (%t) { A => { 1 }, B(%u) => { 2 } } }",
        "type T { A, B(T) } def @main(%s: T) { match (%s) { A => { 1 }, B(%v) => { 2 } } }",
    ),
]

# Pairs that differ, and the words that say how.
DIFFERENT = [
    (
        "def @main(%x: float32) { exp(%x) }",
        "def @main(%x: float32) { log(%x) }",
        snapshot("in @main: operator `exp` against `log`"),
    ),
    (
        "def @main(%x: float32, %y: float32) { add(%x, %y) }",
        "def @main(%x: float32, %y: float32) { add(%y, %x) }",
        snapshot("in @main: x and y are shared differently"),
    ),
    (
        "def @main(%x: float32) { add(%x, 1f) }",
        "def @main(%x: float32) { add(%x, 2f) }",
        snapshot("in @main: constant NDArray(1.0, float32) against NDArray(2.0, float32)"),
    ),
    (
        "def @main(%x: float32) { %x }",
        "def @main(%x: int32) { %x }",
        snapshot("in @main: type float32 against int32"),
    ),
    (
        "def @main(%x: Tensor[(2), float32]) { nn.leaky_relu(%x, alpha=0.01f) }",
        "def @main(%x: Tensor[(2), float32]) { nn.leaky_relu(%x, alpha=0.0100001f) }",
        snapshot(
            "in @main: attributes of `nn.leaky_relu`: LeakyReluAttrs(alpha=0.01) against "
            "LeakyReluAttrs(alpha=0.0100001)"
        ),
    ),
    (
        "def @main(%x: float32) { (%x, %x) }",
        "def @main(%x: float32) { (%x,) }",
        snapshot("in @main: 2 fields against 1"),
    ),
    (
        "def @main(%x: float32) { nn.softmax(%x, axis=0) }",
        "def @main(%x: float32) { nn.softmax(%x) }",
        snapshot("in @main: attributes of `nn.softmax`: SoftmaxAttrs(axis=0) against SoftmaxAttrs(axis=-1)"),
    ),
    (
        "def @main(%x: float32) { %x }",
        "def @other(%x: float32) { %x }",
        snapshot("only one module has function @main"),
    ),
    (
        "type T { A } def @main() { A }",
        "type T { B } def @main() { B }",
        snapshot("in type T: constructor `A` against `B`"),
    ),
    (
        "def @main(%x: float32) { %0 = exp(%x); add(%0, %0) }",
        "def @main(%x: float32) { add(exp(%x), exp(%x)) }",
        snapshot("in @main: exp(…) and exp(…) are shared differently"),
    ),
    (
        "def @main(%x: float32) { if (True) { %x } else { 1f } }",
        "def @main(%x: float32) { if (True) { 1f } else { %x } }",
        snapshot("in @main: x and NDArray(1.0, float32) are shared differently"),
    ),
]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_same(left: str, right: str) -> None:
    a, b = parse(left), parse(right)
    assert difference(a, b) is None
    assert structural_hash(a) == structural_hash(b)


@pytest.mark.parametrize(("left", "right", "words"), DIFFERENT)
def test_different(left: str, right: str, words: str) -> None:
    result = difference(parse(left), parse(right))
    assert result is not None
    assert result == words
    assert not structural_equal(parse(right), parse(left))


def test_free_variables_are_themselves_unless_they_may_be_mapped() -> None:
    a, b = (
        parse("def @main(%x: float32) { exp(%x) }")["main"].body,
        parse("def @main(%y: float32) { exp(%y) }")["main"].body,
    )
    assert structural_equal(a, a)
    assert not structural_equal(a, b)
    assert structural_equal(a, b, map_free_vars=True)


def test_the_error_names_the_difference_and_shows_both() -> None:
    a, b = parse("def @main(%x: float32) { exp(%x) }"), parse("def @main(%x: float32) { log(%x) }")
    with pytest.raises(
        ValueError, match="not structurally equal: in @main: operator `exp` against `log`"
    ) as caught:
        assert_structural_equal(a, b)
    assert "exp(%x)" in str(caught.value)
    assert "log(%x)" in str(caught.value)


def test_types() -> None:
    a, b = TypeVar("A"), TypeVar("B")
    assert TensorType((2, 3)) == TensorType([2, 3])
    assert TensorType((2, 3)) != TensorType((2, 3), "int32")
    assert TensorType((Any(), 3)) == TensorType((Any(), 3))
    assert TensorType((Any(), 3)) != TensorType((2, 3))
    assert TupleType([F32]) != F32
    assert RefType(F32) == RefType(F32)
    assert a != b
    identity = FuncType([a], a, [a])
    assert identity == FuncType([b], b, [b])
    assert identity != FuncType([b], b, [a])
    assert hash(identity) == hash(FuncType([b], b, [b]))
    assert FuncType([F32], F32) != "fn (float32) -> float32"


def test_size_variables_are_themselves() -> None:
    n, m = SizeVar("n"), SizeVar("n")
    assert TensorType((n,)) == TensorType((n,))
    assert TensorType((n,)) != TensorType((m,))
    assert structural_equal(TensorType((n,)), TensorType((m,)), map_free_vars=True)
    assert not structural_equal(TensorType((n, n)), TensorType((n, m)), map_free_vars=True)


def test_a_very_deep_program_is_compared() -> None:
    text = "def @main(%x: float32) { " + "exp(" * 50_000 + "%x" + ")" * 50_000 + " }"
    assert structural_equal(parse(text), parse(text))
    assert structural_hash(parse(text)) == structural_hash(parse(text))


def rows(first: SizeVar, second: SizeVar, used: SizeVar) -> Function:
    """Build a function of two tensors, and a bound variable whose annotation repeats one of their sizes."""
    x, y = (Var(name, TensorType((size, 3))) for name, size in (("x", first), ("y", second)))
    z = Var("z", TensorType((used * 2, 3)))
    return Function([x, y], Let(z, x, z))


def test_parameters_bind_the_sizes_in_their_types() -> None:
    n, m, a, b = (SizeVar(name) for name in "nmab")
    assert structural_equal(rows(n, m, n), rows(a, b, a))
    assert structural_hash(rows(n, m, n)) == structural_hash(rows(a, b, a))
    assert not structural_equal(rows(n, m, n), rows(a, b, b))
    assert not structural_equal(rows(n, m, n), rows(a, a, a))
    assert not structural_equal(rows(n, n, n), rows(a, b, a))
    assert structural_equal(rows(n, m, n), rows(n, m, n))
    x = Var("x", F32)
    left, right = (Function([x], x, TensorType((size,))) for size in (n, a))
    assert not structural_equal(left, right)  # no parameter binds them
