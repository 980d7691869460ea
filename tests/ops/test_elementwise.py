"""Element-wise operators: arithmetic, comparisons, truth values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay_explorer import relay
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import Call, Function, const, var
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.op import Op
from relay_explorer.ir.types import Any, SizeVar, TensorType
from relay_explorer.ops import namespaces as binary
from relay_explorer.ops import namespaces as logical
from relay_explorer.ops import namespaces as unary
from relay_explorer.typing import infer_types
from tests.ops.tensor_programs import bools, ints, refused, t, typed

ARITHMETIC = [
    "add", "subtract", "multiply", "divide", "floor_divide", "mod", "floor_mod", "trunc_divide", "trunc_mod",
    "power", "maximum", "minimum",
]  # fmt: skip
COMPARISONS = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
SHAPE = st.lists(st.sampled_from([1, 2, 3]), max_size=4)
N = SizeVar("n")


@settings(max_examples=150, deadline=None)
@given(SHAPE, SHAPE)
def test_broadcasting_is_numpys(a: list[int], b: list[int]) -> None:
    call = binary.add(t(*a), t(*b, name="y"))
    try:
        expected = np.broadcast_shapes(tuple(a), tuple(b))
    except ValueError:
        assert "do not broadcast" in refused(call).message
    else:
        assert typed(call) == str(TensorType(expected))


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_keeps_the_element_type(name: str) -> None:
    call = getattr(binary, name)(ints(2, 1), ints(3, name="j"))
    assert call.op is Op.get(name)
    assert typed(call) == "Tensor[(2, 3), int32]"


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_give_booleans(name: str) -> None:
    assert typed(getattr(logical, name)(t(2, 1), t(3, name="y"))) == "Tensor[(2, 3), bool]"


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ((Any(), 3), (1, 3), "Tensor[(?, 3), float32]"),
        ((Any(), 3), (5, 3), "Tensor[(5, 3), float32]"),
        ((Any(),), (Any(),), "Tensor[(?), float32]"),
        ((N, 3), (N, 1), "Tensor[(n, 3), float32]"),
        ((N, 3), (3,), "Tensor[(n, 3), float32]"),
        ((), (4, 2), "Tensor[(4, 2), float32]"),
        ((), (), "float32"),
        ((0, 3), (1, 3), "Tensor[(0, 3), float32]"),
    ],
)
def test_unknown_and_named_dimensions(a: tuple[object, ...], b: tuple[object, ...], expected: str) -> None:
    assert typed(binary.multiply(t(*a), t(*b, name="y"))) == expected


def test_two_names_for_a_dimension_do_not_agree() -> None:
    error = refused(binary.add(t(N), t(SizeVar("m"), name="y")))
    assert (
        error.message
        == "`add`: the shapes (n) and (m) do not broadcast: axis -1 is n in one and m in the other"
    )


def test_shapes_that_do_not_broadcast() -> None:
    error = refused(binary.add(t(2, 3), t(4, name="y")))
    assert (
        error.message
        == "`add`: the shapes (2, 3) and (4) do not broadcast: axis -1 is 3 in one and 4 in the other"
    )
    assert error.help == (
        "make the two equal on that axis, or one of them 1 (relay.reshape, relay.expand_dims)",
    )


def test_the_usual_slips_have_their_own_help() -> None:
    error = refused(binary.add(t(1, 64, 7, 7), t(64, name="bias")))
    assert (
        error.help[0]
        == "a vector lies along the last axis; relay.nn.bias_add(…, axis=1) puts it along axis 1"
    )
    error = refused(binary.add(t(2, 3), t(3, 2, name="y")))
    assert error.help[0] == "one looks like the transpose of the other: relay.transpose"


def test_the_sides_are_named_in_order_whichever_is_longer() -> None:
    error = refused(binary.add(t(2), t(2, 3, name="y")))
    assert (
        error.message
        == "`add`: the shapes (2) and (2, 3) do not broadcast: axis -1 is 2 in one and 3 in the other"
    )


def test_element_types_that_differ() -> None:
    error = refused(binary.add(t(2), ints(2)))
    assert error.message == "`add`: the element types differ: float32 and int32"
    assert error.help == ('convert one of them: relay.cast(…, "float32")',)


@pytest.mark.parametrize("name", ["left_shift", "right_shift", "bitwise_and", "bitwise_or", "bitwise_xor"])
def test_bits_are_those_of_integers(name: str) -> None:
    assert typed(getattr(binary, name)(ints(2, 1), ints(3, name="j"))) == "Tensor[(2, 3), int32]"
    error = refused(getattr(binary, name)(t(2), t(2, name="y")))
    assert error.message == f"`{name}`: bitwise operators take integers, but the elements are float32"


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
def test_logic_is_that_of_booleans(name: str) -> None:
    assert typed(getattr(logical, name)(bools(2, 1), bools(3, name="c"))) == "Tensor[(2, 3), bool]"
    error = refused(getattr(logical, name)(ints(2), ints(2, name="j")))
    assert error.message == f"`{name}`: logical operators take booleans, but the elements are int32"


def test_not() -> None:
    assert typed(unary.logical_not(bools(2))) == "Tensor[(2), bool]"
    assert typed(unary.bitwise_not(ints(2))) == "Tensor[(2), int32]"
    message = refused(unary.logical_not(t(2))).message
    assert message == "`logical_not`: logical_not takes booleans, but the elements are float32"
    message = refused(unary.bitwise_not(t(2))).message
    assert message == "`bitwise_not`: bitwise_not takes integers, but the elements are float32"


def test_unary_operators_keep_the_type() -> None:
    for build in (unary.exp, unary.negative, unary.copy, lambda e: unary.clip(e, 0, 6)):
        assert typed(build(t(2, Any()))) == "Tensor[(2, ?), float32]"


def test_unary_operators_pass_the_type_backwards() -> None:
    x = var("x")
    function = Function([x], unary.exp(x), TensorType((2, 3)))
    main = infer_types(IRModule.from_expr(function))["main"]
    assert str(main.checked_type) == "fn (Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32]"


@pytest.mark.parametrize("name", ["isnan", "isfinite", "isinf"])
def test_tests_of_numbers_give_booleans(name: str) -> None:
    assert typed(getattr(unary, name)(t(2, 3))) == "Tensor[(2, 3), bool]"


def test_clip_has_bounds() -> None:
    call = unary.clip(t(3), 0, 6)
    assert isinstance(call, Call)
    assert str(call.attrs) == "ClipAttrs(a_min=0.0, a_max=6.0)"
    assert Op.get("clip").flops(call.attrs, [TensorType((3,))], TensorType((3,))) == 6


def test_where_broadcasts_all_three() -> None:
    assert typed(logical.where(bools(4, 1), t(3), t(name="y"))) == "Tensor[(4, 3), float32]"
    assert typed(logical.where(ints(3), t(3), t(3, name="y"))) == "Tensor[(3), float32]"
    error = refused(logical.where(bools(2), t(3), t(3, name="y")))
    assert (
        error.message
        == "`where`: the shapes (2) and (3) do not broadcast: axis -1 is 2 in one and 3 in the other"
    )
    error = refused(logical.where(bools(3), t(3), ints(3)))
    assert error.message == "`where`: the element types differ: float32 and int32"


def test_casts() -> None:
    assert typed(relay.cast(t(2, 3), "int8")) == "Tensor[(2, 3), int8]"
    assert typed(t(2, 3).astype("int64")) == "Tensor[(2, 3), int64]"
    assert typed(relay.cast_like(t(2, 3), ints())) == "Tensor[(2, 3), int32]"
    assert typed(relay.reinterpret(t(2, 3), "int32")) == "Tensor[(2, 3), int32]"
    error = refused(relay.reinterpret(t(2), "int8"))
    assert error.message == "`reinterpret`: float32 has 32 bits per element and int8 has 8"
    assert error.help == ("reinterpret keeps the bits; relay.cast converts the values",)


def test_element_types_that_do_not_exist() -> None:
    with pytest.raises(RelayError, match="attribute `dtype` takes the name of an element type, not 'banana'"):
        relay.cast(t(2), "banana")
    with pytest.raises(ValueError, match="there is no element type called 'banana'"):
        var("x", shape=(2,), dtype="banana")
    assert typed(relay.cast(t(2), np.float16)) == "Tensor[(2), float16]"
    assert typed(relay.cast(t(2), np.dtype("int8"))) == "Tensor[(2), int8]"
    assert typed(relay.cast(t(2), bool)) == "Tensor[(2), bool]"


def test_python_operators_and_numbers() -> None:
    assert typed(t(2) + 1) == "Tensor[(2), float32]"
    assert typed(2 * ints(3) - 1) == "Tensor[(3), int32]"
    assert typed(-t(2) / 2.0) == "Tensor[(2), float32]"
    assert typed(t(2) < 0.5) == "Tensor[(2), bool]"
    assert typed(binary.add(t(2), const(1.0))) == "Tensor[(2), float32]"


def test_builders_look_like_functions_of_their_file() -> None:
    assert unary.exp.__name__ == "exp"
    assert unary.exp.__module__ == "relay_explorer.ops.unary.exponential"
    assert binary.add.__doc__ == "Add two tensors element by element."
