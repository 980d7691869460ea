"""Operands whose types are computed: no relation guesses the type of an operand that another one computes."""

from __future__ import annotations

from relay_explorer import relay
from relay_explorer.ir import Call, Function, IRModule
from relay_explorer.ir.narrow import as_tensor_type
from relay_explorer.typing import infer_types


def test_a_computed_weight_keeps_its_own_element_type() -> None:
    """The data's type becomes known first: from it alone, the weight would be uint8 as well."""
    x = relay.var("x", shape=(1, 8, 4, 4), dtype="float32")
    w = relay.var("w", shape=(8, 8, 1, 1), dtype="int8")
    data = relay.cast(relay.nn.relu(x), "uint8")
    weight = relay.layout_transform(relay.cast(w, "int8"), "OIHW", "OIHW")
    layer = relay.nn.conv2d(data, weight, channels=8, kernel_size=(1, 1), out_dtype="int32")
    typed = infer_types(IRModule.from_expr(Function([x, w], layer)))["main"]
    body = typed.body
    assert isinstance(body, Call)
    assert as_tensor_type(body.args[1]).dtype == "int8"
    assert as_tensor_type(typed.body).dtype == "int32"


def test_a_weight_that_nothing_computes_is_still_inferred() -> None:
    x, w = relay.var("x", shape=(2, 6)), relay.var("w")
    typed = infer_types(IRModule.from_expr(Function([x, w], relay.nn.dense(x, relay.nn.relu(w), units=3))))[
        "main"
    ]
    assert as_tensor_type(typed.params[1]).concrete_shape == (3, 6)


def test_two_operands_that_compute_each_other_are_inferred() -> None:
    """Each weight is the result of the other layer: no relation can wait for the other forever."""
    module = relay.parse("""
    def @main(%again: bool, %a: Tensor[(4, 4), float32], %b: Tensor[(4, 4), float32], %w) {
      if (%again) {
        @main(%again, %a, %b, nn.dense(%a, nn.dense(%b, %w, units=4), units=4))
      } else {
        %w
      }
    }
    """)
    typed = infer_types(module)["main"]
    assert as_tensor_type(typed.params[3]).concrete_shape == (4, 4)
    assert as_tensor_type(typed.body).concrete_shape == (4, 4)
