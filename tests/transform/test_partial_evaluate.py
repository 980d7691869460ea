"""PartialEvaluate: what is known runs, the rest remains."""

from __future__ import annotations

from relay_explorer.transform import DeadCodeElimination, PartialEvaluate
from tests.transform.golden import check


def test_arithmetic_on_constants() -> None:
    check([PartialEvaluate(), DeadCodeElimination(inline_once=True, ignore_impurity=True)], """
    def @main(%x: float32) { add(%x, multiply(2f, 3f)) }
    """, """
    def @main(%x: float32) -> float32 {
      add(%x, 6f)
    }
    """)  # fmt: skip


def test_a_condition_that_is_known() -> None:
    check([PartialEvaluate(), DeadCodeElimination(inline_once=True, ignore_impurity=True)], """
    def @main(%x: float32) { if (less(1, 2)) { exp(%x) } else { %x } }
    """, """
    def @main(%x: float32) -> float32 {
      exp(%x)
    }
    """)  # fmt: skip


def test_a_recursion_over_a_known_number_is_unrolled() -> None:
    check([PartialEvaluate(), DeadCodeElimination(inline_once=True, ignore_impurity=True)], """
    def @power(%x: float32, %n: int32) -> float32 {
      if (equal(%n, 0)) { 1f } else { multiply(%x, @power(%x, subtract(%n, 1))) }
    }
    def @main(%x: float32) { @power(%x, 3) }
    """, """
    def @power(%x: float32, %n: int32) -> float32 {
      %0 = equal(%n, 0);
      if (%0) {
        1f
      } else {
        %1 = subtract(%n, 1);
        %2 = @power(%x, %1);
        multiply(%x, %2)
      }
    }

    def @main(%x1: float32) -> float32 {
      %3 = multiply(%x1, 1f);
      %4 = multiply(%x1, %3);
      multiply(%x1, %4)
    }
    """)  # fmt: skip


def test_a_match_on_known_data() -> None:
    check([PartialEvaluate(), DeadCodeElimination(inline_once=True, ignore_impurity=True)], """
    type List[A] { Cons(A, List[A]), Nil }
    def @main(%x: float32) {
      match (Cons(%x, Nil)) { Cons(%y, _) => { exp(%y) }, Nil => { 0f } }
    }
    """, """
    type List[A] {
      Cons(A, List[A]),
      Nil,
    }

    def @main(%x: float32) -> float32 {
      exp(%x)
    }
    """)  # fmt: skip


def test_closures_are_called_in_place() -> None:
    check([PartialEvaluate(), DeadCodeElimination(inline_once=True, ignore_impurity=True)], """
    def @main(%x: float32) {
      let %add = fn (%a: float32) { fn (%b: float32) { add(%a, %b) } };
      %add(%x)(exp(%x))
    }
    """, """
    def @main(%x: float32) -> float32 {
      %0 = exp(%x);
      add(%x, %0)
    }
    """)  # fmt: skip


def test_a_cell_that_is_seen_from_its_making_on_disappears() -> None:
    check([PartialEvaluate(), DeadCodeElimination(inline_once=True, ignore_impurity=True)], """
    def @main(%x: float32) {
      let %r = ref(%x);
      let %w = ref_write(%r, multiply(ref_read(%r), ref_read(%r)));
      ref_read(%r)
    }
    """, """
    def @main(%x: float32) -> float32 {
      multiply(%x, %x)
    }
    """)  # fmt: skip


def test_an_unknown_choice_stays() -> None:
    check([PartialEvaluate(), DeadCodeElimination(inline_once=True, ignore_impurity=True)], """
    def @main(%c: bool, %x: float32) { add(if (%c) { add(%x, 0f) } else { exp(%x) }, add(1f, 2f)) }
    """, """
    def @main(%c: bool, %x: float32) -> float32 {
      %0 = if (%c) {
        add(%x, 0f)
      } else {
        exp(%x)
      };
      add(%0, 3f)
    }
    """)  # fmt: skip


def test_an_endless_recursion_stays() -> None:
    check([PartialEvaluate(), DeadCodeElimination(inline_once=True, ignore_impurity=True)], """
    def @loop(%x: int32) -> int32 { @loop(%x) }
    def @main() { @loop(1) }
    """, """
    def @loop(%x: int32) -> int32 {
      @loop(%x)
    }

    def @main() -> int32 {
      @loop(1)
    }
    """)  # fmt: skip


def test_a_function_that_makes_functions_that_call_it_is_not_unrolled_without_end() -> None:
    check([PartialEvaluate(), DeadCodeElimination(inline_once=True, ignore_impurity=True)], """
    type nat { Z, S(nat) }
    def @iterate(%f: fn (float32) -> float32, %n: nat) -> fn (float32) -> float32 {
      fn (%x: float32) -> float32 {
        match (%n) { S(%m) => { @iterate(%f, %m)(%f(%x)) }, Z => { %x } }
      }
    }
    def @main(%n: nat, %x: float32) { @iterate(fn (%y: float32) { exp(%y) }, %n)(%x) }
    """, """
    type nat {
      Z,
      S(nat),
    }

    def @iterate(%f: fn (float32) -> float32, %n: nat) -> fn (float32) -> float32 {
      fn (%x: float32) -> float32 {
        match (%n) {
          S(%m: nat) => {
            %0 = %f(%x);
            %1 = @iterate(%f, %m);
            %1(%0)
          },
          Z => {
            %x
          },
        }
      }
    }

    def @main(%n1: nat, %x1: float32) -> float32 {
      match (%n1) {
        S(%m1: nat) => {
          %5 = exp(%x1);
          %6 = fn (%x2: float32) -> float32 {
            match (%m1) {
              S(%m2: nat) => {
                %2 = fn (%y: float32) -> float32 {
                  exp(%y)
                };
                %3 = exp(%x2);
                %4 = @iterate(%2, %m2);
                %4(%3)
              },
              Z => {
                %x2
              },
            }
          };
          %6(%5)
        },
        Z => {
          %x1
        },
      }
    }
    """)  # fmt: skip
