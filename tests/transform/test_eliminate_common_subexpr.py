"""EliminateCommonSubexpr: what is computed twice is computed once."""

from __future__ import annotations

from relay_explorer.transform import EliminateCommonSubexpr
from tests.transform.golden import check


def test_two_calls_become_one() -> None:
    check(EliminateCommonSubexpr(), """
    def @main(%x: float32) { add(exp(%x), exp(%x)) }
    """, """
    def @main(%x: float32) -> float32 {
      %0 = exp(%x);
      add(%0, %0)
    }
    """)  # fmt: skip


def test_from_the_leaves_up() -> None:
    check(EliminateCommonSubexpr(), """
    def @main(%x: float32) { add(tanh(exp(%x)), tanh(exp(%x))) }
    """, """
    def @main(%x: float32) -> float32 {
      %0 = exp(%x);
      %1 = tanh(%0);
      add(%1, %1)
    }
    """)  # fmt: skip


def test_attributes_count() -> None:
    check(EliminateCommonSubexpr(), """
    def @main(%x: Tensor[(2, 3), float32]) { (sum(%x, axis=[0]), sum(%x, axis=[1]), sum(%x, axis=[0])) }
    """, """
    def @main(%x: Tensor[(2, 3), float32]) -> (Tensor[(3), float32], Tensor[(2), float32], Tensor[(3), \
float32]) {
      %0 = sum(%x, axis=[0]);
      %1 = sum(%x, axis=[1]);
      (%0, %1, %0)
    }
    """)  # fmt: skip


def test_equal_numbers_are_the_same() -> None:
    check(EliminateCommonSubexpr(), """
    def @main(%x: float32) { multiply(add(%x, 1f), add(%x, 1f)) }
    """, """
    def @main(%x: float32) -> float32 {
      %0 = add(%x, 1f);
      multiply(%0, %0)
    }
    """)  # fmt: skip


def test_tuples_as_arguments_are_looked_into() -> None:
    check(EliminateCommonSubexpr(), """
    def @main(%x: Tensor[(2), float32]) { add(concatenate((exp(%x), %x)), concatenate((exp(%x), %x))) }
    """, """
    def @main(%x: Tensor[(2), float32]) -> Tensor[(4), float32] {
      %0 = exp(%x);
      %1 = (%0, %x);
      %2 = concatenate(%1);
      add(%2, %2)
    }
    """)  # fmt: skip


def test_fields_of_one_tuple() -> None:
    check(EliminateCommonSubexpr(), """
    def @main(%x: Tensor[(4), float32]) { %0 = split(%x, indices_or_sections=2); add(%0.0, %0.0) }
    """, """
    def @main(%x: Tensor[(4), float32]) -> Tensor[(2), float32] {
      %0 = split(%x, indices_or_sections=2);
      %1 = %0.0;
      add(%1, %1)
    }
    """)  # fmt: skip


def test_calls_of_functions_stay() -> None:
    check(EliminateCommonSubexpr(), """
    def @f(%x: float32) { exp(%x) }
    def @main(%x: float32) { add(@f(%x), @f(%x)) }
    """, """
    def @f(%x: float32) -> float32 {
      exp(%x)
    }

    def @main(%x1: float32) -> float32 {
      %0 = @f(%x1);
      %1 = @f(%x1);
      add(%0, %1)
    }
    """)  # fmt: skip
