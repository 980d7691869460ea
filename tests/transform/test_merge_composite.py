"""MergeComposite: matches of patterns become functions with a name."""

from __future__ import annotations

import pytest

from relay_explorer.dataflow_pattern import is_constant, is_op, wildcard
from relay_explorer.ir.expr import Call, Expr
from relay_explorer.transform import MergeComposite
from tests.transform.golden import check

ADD_RELU = is_op("nn.relu")(is_op("add")(wildcard(), wildcard()))
SCALE = is_op("multiply")(wildcard(), is_constant())


def test_a_match_becomes_a_function() -> None:
    check(MergeComposite([("dsp.add_relu", ADD_RELU)]), """
    def @main(%x: Tensor[(2), float32], %y: Tensor[(2), float32]) {
      tanh(nn.relu(add(%x, exp(%y))))
    }
    """, """
    def @main(%x: Tensor[(2), float32], %y: Tensor[(2), float32]) -> Tensor[(2), float32] {
      %1 = exp(%y);
      %2 = fn (%FunctionVar_0_0: Tensor[(2), float32], %FunctionVar_0_1: Tensor[(2), float32], \
PartitionedFromPattern="add_nn.relu_", Composite="dsp.add_relu") -> Tensor[(2), float32] {
        %0 = add(%FunctionVar_0_0, %FunctionVar_0_1);
        nn.relu(%0)
      };
      %3 = %2(%x, %1);
      tanh(%3)
    }
    """)  # fmt: skip


def test_what_is_used_elsewhere_too_stays() -> None:
    text = """
    def @main(%x: Tensor[(2), float32]) -> (Tensor[(2), float32], Tensor[(2), float32]) {
      %0 = add(%x, %x);
      %1 = nn.relu(%0);
      (%1, %0)
    }
    """
    check(MergeComposite([("add_relu", ADD_RELU)]), text, text)


def test_constants_that_the_pattern_asks_for_are_inside() -> None:
    check(MergeComposite([("scale", SCALE)]), """
    def @main(%x: float32) {
      multiply(%x, 2f)
    }
    """, """
    def @main(%x: float32) -> float32 {
      %0 = fn (%FunctionVar_0_0: float32, PartitionedFromPattern="multiply_", Composite="scale") -> float32 {
        multiply(%FunctionVar_0_0, 2f)
      };
      %0(%x)
    }
    """)  # fmt: skip


def test_the_first_row_of_the_table_wins() -> None:
    relu = is_op("nn.relu")(wildcard())
    text = "def @main(%x: Tensor[(2), float32]) { nn.relu(add(%x, %x)) }"
    check(MergeComposite([("relu", relu), ("add_relu", ADD_RELU)]), text, """
    def @main(%x: Tensor[(2), float32]) -> Tensor[(2), float32] {
      %0 = add(%x, %x);
      %1 = fn (%FunctionVar_0_0: Tensor[(2), float32], PartitionedFromPattern="nn.relu_", \
Composite="relu") -> Tensor[(2), float32] {
        nn.relu(%FunctionVar_0_0)
      };
      %1(%0)
    }
    """)  # fmt: skip


def test_a_check_sees_types_and_may_refuse() -> None:
    """Also after another pattern of the table has changed the program."""

    def large(match: Expr) -> bool:
        assert isinstance(match, Call)
        return bool(match.args[0].checked_type.shape[0] > 2)  # type: ignore[attr-defined]

    exp = is_op("exp")(wildcard())
    text = """
    def @main(%x: Tensor[(2), float32], %y: Tensor[(3), float32]) {
      (nn.relu(exp(%x)), nn.relu(exp(%y)))
    }
    """
    check(MergeComposite([("exp", exp), ("relu", is_op("nn.relu")(wildcard()), large)]), text, """
    def @main(%x: Tensor[(2), float32], %y: Tensor[(3), float32]) -> (Tensor[(2), float32], \
Tensor[(3), float32]) {
      %0 = fn (%FunctionVar_1_0: Tensor[(2), float32], PartitionedFromPattern="exp_", Composite="exp") \
-> Tensor[(2), float32] {
        exp(%FunctionVar_1_0)
      };
      %1 = %0(%x);
      %2 = fn (%FunctionVar_0_01: Tensor[(3), float32], PartitionedFromPattern="exp_", Composite="exp") \
-> Tensor[(3), float32] {
        exp(%FunctionVar_0_01)
      };
      %3 = %2(%y);
      %4 = fn (%FunctionVar_0_0: Tensor[(3), float32], PartitionedFromPattern="nn.relu_", Composite="relu") \
-> Tensor[(3), float32] {
        nn.relu(%FunctionVar_0_0)
      };
      %5 = nn.relu(%1);
      %6 = %4(%3);
      (%5, %6)
    }
    """)  # fmt: skip


def test_a_function_for_another_compiler_stays() -> None:
    text = """
    def @f(%x: float32, Compiler="dsp") -> float32 {
      nn.relu(%x)
    }

    def @main(%x1: float32) -> float32 {
      @f(%x1)
    }
    """
    check(MergeComposite([("relu", is_op("nn.relu")(wildcard()))]), text, text)


def test_a_row_that_is_none_is_refused() -> None:
    with pytest.raises(TypeError) as caught:
        MergeComposite([("relu", "nn.relu")])  # type: ignore[list-item]
    assert str(caught.value) == (
        "error: a row of a pattern table is (name, pattern) or (name, pattern, check), "
        "not ('relu', 'nn.relu')"
    )
