"""Operators replaced by what was registered for them."""

from __future__ import annotations

import pytest

from relay_explorer import relay
from relay_explorer.compat.op_attributes import TempOpAttr
from relay_explorer.ir import Attrs, Expr, TensorType, TupleType, Type
from relay_explorer.ir.errors import RelayError
from relay_explorer.text import parse
from relay_explorer.transform import Legalize
from tests.transform.golden import after, check

TEXT = "def @main(%x: Tensor[(2, 3), float32]) { %0 = nn.relu(%x); (exp(%0), nn.relu(%0)) }"


def test_each_call_is_replaced_on_its_new_arguments() -> None:
    def clipped(attrs: Attrs, inputs: list[Expr], types: list[Type]) -> Expr:
        assert types == [TensorType((2, 3), "float32")] * 2
        return relay.clip(inputs[0], 0, 9)

    with TempOpAttr("nn.relu", "FTVMLegalize", clipped):
        check(Legalize(), TEXT, """
        def @main(%x: Tensor[(2, 3), float32]) -> (Tensor[(2, 3), float32], Tensor[(2, 3), float32]) {
          %0 = clip(%x, a_min=0f, a_max=9f);
          %1 = exp(%0);
          %2 = clip(%0, a_min=0f, a_max=9f);
          (%1, %2)
        }
        """)  # fmt: skip


def test_none_leaves_a_call_as_it_is() -> None:
    observed = []
    with TempOpAttr(
        "concatenate", "FTVMLegalize", lambda attrs, inputs, types: observed.append((inputs, types))
    ):
        text = "def @main(%x: Tensor[(2, 3), float32]) { concatenate((%x, %x), axis=1) }"
        assert after(Legalize(), text) == after([], text)
    ((inputs, types),) = observed
    assert len(inputs) == 1
    assert isinstance(inputs[0], relay.Tuple)
    assert isinstance(types[0], TupleType)
    assert types[1] == TensorType((2, 6), "float32")


def test_attributes_can_be_given_on() -> None:
    def doubled(attrs: Attrs, inputs: list[Expr], types: list[Type]) -> Expr:
        return relay.nn.softmax(relay.multiply(inputs[0], relay.const(2.0)), **attrs)

    text = "def @main(%x: Tensor[(2, 3), float32]) { nn.softmax(%x, axis=0) }"
    with TempOpAttr("nn.softmax", "FTVMLegalize", doubled):
        assert "nn.softmax(%0, axis=0)" in after(Legalize(), text)


def test_another_property_may_be_asked() -> None:
    with TempOpAttr("exp", "MyLegalize", lambda attrs, inputs, types: relay.tanh(inputs[0])):
        assert "tanh" not in after(Legalize(), TEXT)
        assert "tanh" in after(Legalize("MyLegalize"), TEXT)


def test_anything_else_is_refused() -> None:
    three = TempOpAttr("exp", "FTVMLegalize", lambda attrs, inputs, types: 3)
    with three, pytest.raises(RelayError) as refused:
        Legalize()(parse(TEXT))
    assert refused.value.message == "the legalization of `exp` must return an expression, not 3"
    assert refused.value.help == ("return None to leave the call as it is",)


def test_a_function_is_registered_for_an_operator() -> None:
    try:

        @relay.op.register_legalize("sinh")
        def by_tanh(attrs: Attrs, inputs: list[Expr], types: list[Type]) -> Expr:
            return relay.tanh(inputs[0])

        text = "def @main(%x: Tensor[(2, 3), float32]) { sinh(%x) }"
        assert "tanh(%x)" in after(Legalize(), text)
    finally:
        relay.op.get("sinh").reset_attr("FTVMLegalize")
