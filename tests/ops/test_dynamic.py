"""Operators whose result's shape the program computes."""

from __future__ import annotations

import pytest

from relay_explorer import relay
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import Call, Expr, const
from relay_explorer.ir.op import Op
from relay_explorer.ir.tuple_wrapper import TupleWrapper
from relay_explorer.ir.types import Any
from relay_explorer.ops import create, reshape, slice, sort
from relay_explorer.relay import image
from tests.ops.tensor_programs import ints, refused, t, typed

SHAPE = ints(3, name="shape")


@pytest.mark.parametrize(
    ("call", "name", "expected"),
    [
        (relay.reshape(t(2, 3), SHAPE), "dyn.reshape", "Tensor[(?, ?, ?), float32]"),
        (relay.reshape(t(2, 3), relay.shape_of(t(6, name="y"))), "dyn.reshape", "Tensor[(?), float32]"),
        (relay.broadcast_to(t(2, 3), SHAPE), "dyn.broadcast_to", "Tensor[(?, ?, ?), float32]"),
        (create.zeros(SHAPE, "int8"), "dyn.zeros", "Tensor[(?, ?, ?), int8]"),
        (create.ones(SHAPE, "float32"), "dyn.ones", "Tensor[(?, ?, ?), float32]"),
        (create.full(const(1.0), SHAPE), "dyn.full", "Tensor[(?, ?, ?), float32]"),
        (create.full(const(1.0), SHAPE, "int8"), "dyn.full", "Tensor[(?, ?, ?), int8]"),
        (relay.tile(t(2, 3), SHAPE), "dyn.tile", "Tensor[(?, ?, ?), float32]"),
        (relay.tile(t(2, 3), ints(1)), "dyn.tile", "Tensor[(?, ?), float32]"),
        (
            relay.one_hot(ints(2, 3), const(1.0), const(0.0), ints(name="d"), 1, "float32"),
            "dyn.one_hot",
            "Tensor[(2, ?, 3), float32]",
        ),
        (sort.topk(t(2, 3), ints(), ret_type="values"), "dyn.topk", "Tensor[(2, ?), float32]"),
        (sort.topk(t(2, 3), ints(1)), "dyn.topk", "(Tensor[(2, ?), float32], Tensor[(2, ?), int32])"),
        (slice.strided_slice(t(4, 5, 6), ints(2), [3, 3]), "dyn.strided_slice", "Tensor[(?, ?, 6), float32]"),
        (relay.expand_dims(t(2, 3), ints(), 2), "dyn.expand_dims", "Tensor[(?, ?, ?, ?), float32]"),
        (relay.squeeze(t(1, 3), ints(1)), "dyn.squeeze", "Tensor[(?), float32]"),
        (image.resize2d(t(2, 3, 8, 9), ints(2)), "dyn.image.resize2d", "Tensor[(2, 3, ?, ?), float32]"),
        (
            image.resize2d(t(2, 8, 9, 3), ints(2), layout="NHWC", out_dtype="int8"),
            "dyn.image.resize2d",
            "Tensor[(2, ?, ?, 3), int8]",
        ),
        (
            image.resize2d(t(2, 3, 8, 9), (4, 4), t(4, name="roi")),
            "dyn.image.resize2d",
            "Tensor[(2, 3, ?, ?), float32]",
        ),
    ],
)  # fmt: skip
def test_extents_are_unknown_and_the_rank_is_known(
    call: Expr | TupleWrapper, name: str, expected: str
) -> None:
    made = call.astuple() if isinstance(call, TupleWrapper) else call
    assert isinstance(made, Call)
    assert made.op is Op.get(name)
    assert typed(call) == expected


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            relay.reshape(t(2, 3), ints(Any(), name="s")),
            "`dyn.reshape`: newshape must be a vector of static length, not Tensor[(?), int32]",
        ),
        (
            relay.reshape(t(2, 3), t(2, name="s")),
            "`dyn.reshape`: newshape must be integers, but its elements are float32",
        ),
        (
            relay.broadcast_to(t(2, 3), ints(1)),
            "`dyn.broadcast_to`: the data has 2 axes, more than the 1 that it is broadcast to",
        ),
        (sort.topk(t(2, 3), ints(2)), "`dyn.topk`: k must be one integer, not Tensor[(2), int32]"),
        (relay.squeeze(t(3), ints(2)), "`dyn.squeeze`: 2 axes are dropped, but the tensor has 1"),
        (
            slice.strided_slice(t(3), ints(2), [1]),
            "`dyn.strided_slice`: the slice names 2 axes, but the tensor has 1",
        ),
        (
            image.resize2d(t(2, 3, 8, 9), ints(3)),
            "`dyn.image.resize2d`: size must be two integers: rows and columns",
        ),
    ],
)
def test_what_does_not_fit(call: Expr, message: str) -> None:
    assert refused(call).message == message


def test_constants_need_no_dynamic_operator() -> None:
    assert typed(relay.expand_dims(t(2, 3), const(1))) == "Tensor[(2, 1, 3), float32]"
    assert typed(relay.squeeze(t(1, 3), const([0]))) == "Tensor[(3), float32]"
    assert typed(relay.tile(t(2), const([3]))) == "Tensor[(6), float32]"
    assert typed(image.resize2d(t(2, 3, 8, 9), const([4, 5]))) == "Tensor[(2, 3, 4, 5), float32]"
    assert typed(sort.topk(t(4), const(2), ret_type="values")) == "Tensor[(2), float32]"


def test_what_has_no_dynamic_operator_says_so() -> None:
    with pytest.raises(RelayError, match="`newshape` must be static, not computed by the program"):
        relay.reverse_reshape(t(2, 3), SHAPE)
    with pytest.raises(RelayError, match="`size` must be static, not computed by the program"):
        image.resize1d(t(2, 3, 8), ints(1))
    with pytest.raises(ValueError, match="`axes` can be given only where begin, end and strides are static"):
        slice.strided_slice(t(3, 4), ints(1), [1], axes=[0])


def test_a_shape_left_out_is_named() -> None:
    bare = Call(Op.get("reshape"), [t(2, 3)], reshape.ReshapeAttrs(newshape=None))
    assert refused(bare).message == "`reshape`: the new shape is missing"
