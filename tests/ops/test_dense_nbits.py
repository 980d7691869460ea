"""Products with weights of few bits: what they mean, what they infer, and how they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay_explorer import relay
from relay_explorer.execute import Interpreter
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import Call, Function, Var
from relay_explorer.ir.module import IRModule
from relay_explorer.ops.nn.nbits import pack, unpack
from relay_explorer.text import astext, parse
from tests.ops.tensor_programs import refused, t, typed

nn = relay.nn
BITS = st.sampled_from([1, 2, 4, 8])


def operands(units: int, features: int, bits: int, group: int, seed: int) -> tuple[Any, ...]:
    """Return integers, their zero points and scales, and the real weights that they stand for."""
    rng = np.random.default_rng(seed)
    size = group or features
    groups = -(-features // size)
    integers = rng.integers(0, 1 << bits, (units, features))
    zeros = rng.integers(0, 1 << bits, (units, groups)).astype("uint8")
    scales = rng.random((units, groups), "float32")
    by_feature = np.arange(features) // size
    real = (integers - zeros[:, by_feature].astype("float64")) * scales[:, by_feature]
    return integers, zeros, scales, real


@settings(max_examples=40, deadline=None)
@given(BITS, st.integers(1, 40), st.integers(1, 5), st.integers(0, 1 << 30))
def test_packing_is_undone_by_unpacking(bits: int, count: int, rows: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, 1 << bits, (rows, count))
    packed = pack(values, bits)
    assert packed.shape == (rows, -(-count * bits // 8))
    np.testing.assert_array_equal(unpack(packed, bits, count), values)
    words = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 4))).view("<i4")  # the first byte is the lowest
    np.testing.assert_array_equal(unpack(words, bits, count), values)


def test_the_first_weight_is_in_the_lowest_bits() -> None:
    assert pack(np.array([[1, 2, 3]]), 4).tolist() == [[0x21, 0x03]]
    assert pack(np.array([[1, 0, 2, 3, 2]]), 2).tolist() == [[0b11100001, 0b10]]
    assert pack(np.array([[200]]), 8).tolist() == [[200]]


def test_what_does_not_fit_is_not_packed() -> None:
    with pytest.raises(RelayError, match="4 bits lie from 0 to 15, but these lie from -1 to 16"):
        pack(np.array([[-1, 16]]), 4)
    with pytest.raises(RelayError, match="3 bits do not fill bytes"):
        pack(np.array([[1]]), 3)


@settings(max_examples=40, deadline=None)
@given(BITS, st.sampled_from([0, 1, 3, 4, 8]), st.integers(1, 20), st.integers(1, 6), st.integers(0, 1 << 30))
def test_it_multiplies_by_what_the_integers_stand_for(
    bits: int, group: int, features: int, units: int, seed: int
) -> None:
    integers, zeros, scales, real = operands(units, features, bits, group, seed)
    data = np.random.default_rng(seed).standard_normal((2, features)).astype("float32")
    x = relay.var("x", shape=data.shape, dtype="float32")
    weight, scale, zero = map(relay.const, (pack(integers, bits), scales, zeros))
    call = nn.contrib_dense_nbits(x, weight, scale, zero, bits=bits, group_size=group)
    result = Interpreter(IRModule.from_expr(Function([x], call))).call("main", [data])
    np.testing.assert_allclose(result, data @ real.T, 1e-4, 1e-3 * (1 << bits))


def call(data: tuple[int, ...], weight: tuple[int, ...], *groups: tuple[int, ...], **attrs: Any) -> Call:
    scales, zeros = groups
    return nn.contrib_dense_nbits(
        t(*data), t(*weight, name="w", dtype="uint8"), t(*scales, name="s"),
        t(*zeros, name="z", dtype="uint8"), **attrs,
    )  # fmt: skip


def test_what_it_infers() -> None:
    assert typed(call((3, 64), (10, 32), (10, 2), (10, 2))) == "Tensor[(3, 10), float32]"
    assert typed(call((64,), (10, 32), (10, 2), ())) == "Tensor[(10), float32]"
    assert typed(call((2, 3, 5), (10, 2), (10, 1), (), bits=2, group_size=0)) == "Tensor[(2, 3, 10), float32]"


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (
            call((3, 64), (10, 64), (10, 2), ()),
            "64 weights of 4 bits make 32 uint8 elements per row, but a row",
        ),
        (call((3, 64), (10, 32), (10, 3), ()), "64 features make 2 groups per row, but scales has 3"),
        (
            call((3, 64), (10, 32), (10, 2), (10, 1)),
            "64 features make 2 groups per row, but zero_points has 1",
        ),
        (call((3, 64), (10, 32), (9, 2), ()), "the weight has 10 rows, but scales 9"),
        (call((3, 64), (10, 24), (10, 2), (), bits=3), "weights of 3 bits do not fill bytes"),
        (call((3, 64), (10, 32), (10, 2), (), group_size=-1), "group_size=-1 is negative"),
        (call((), (10, 32), (10, 2), ()), "the data is a scalar"),
        (call((3, 64), (5, 32, 2), (5, 2, 2), (), weight_layout="NC2n"), "weights in blocks are int32"),
    ],
)
def test_how_it_refuses(program: Call, message: str) -> None:
    assert message in str(refused(program))


def test_its_text_is_read_again() -> None:
    program = call((3, 64), (10, 16), (10, 4), (10, 4), bits=2, group_size=16)
    params = [arg for arg in program.args if isinstance(arg, Var)]
    text = astext(IRModule.from_expr(Function(params, program)))
    assert "bits=2, group_size=16" in text
    assert astext(parse(text)) == text
