"""DefuseOps: functions that are called where they stand become their bodies."""

from __future__ import annotations

from relay_explorer.transform import DefuseOps, FuseOps
from tests.transform.golden import check


def test_what_was_fused_comes_apart() -> None:
    check([FuseOps(2), DefuseOps()], """
    def @main(%x: Tensor[(2, 3), float32]) {
      nn.relu(exp(add(%x, 1f)))
    }
    """, """
    def @main(%x: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] {
      %0 = add(%x, 1f);
      %1 = exp(%0);
      nn.relu(%1)
    }
    """)  # fmt: skip


def test_a_function_that_is_called_twice_is_copied_with_variables_of_its_own() -> None:
    check(DefuseOps(), """
    def @main(%x: float32) {
      %0 = fn (%a: float32, Primitive=1) -> float32 { let %y = exp(%a); add(%y, %a) };
      add(%0(%x), %0(tanh(%x)))
    }
    """, """
    def @main(%x: float32) -> float32 {
      %0 = tanh(%x);
      %1 = (
        let %y: float32 = exp(%x);
        add(%y, %x)
      );
      %2 = (
        let %y1: float32 = exp(%0);
        add(%y1, %0)
      );
      add(%1, %2)
    }
    """)  # fmt: skip


def test_functions_within_functions() -> None:
    check(DefuseOps(), """
    def @main(%x: float32) {
      fn (%a: float32) { fn (%b: float32) { add(%a, %b) }(tanh(%a)) }(exp(%x))
    }
    """, """
    def @main(%x: float32) -> float32 {
      %0 = exp(%x);
      %1 = tanh(%0);
      add(%0, %1)
    }
    """)  # fmt: skip


def test_type_parameters_become_the_types_of_the_call() -> None:
    check(DefuseOps(), """
    def @main(%x: float32) {
      fn[A] (%a: A) -> A { let %b: A = %a; %b }(%x)
    }
    """, """
    def @main(%x: float32) -> float32 {
      let %b: float32 = %x;
      %b
    }
    """)  # fmt: skip


def test_arguments_with_effects_come_first_and_in_order() -> None:
    """TVM puts the arguments where the parameters were: the first cell is read after the write."""
    check(DefuseOps(), """
    def @main() {
      let %r = ref(0f);
      fn (%a: float32, %b: ()) { add(ref_read(%r), %a) }(ref_read(%r), ref_write(%r, 1f))
    }
    """, """
    def @main() -> float32 {
      let %r: ref(float32) = ref(0f);
      let %a: float32 = ref_read(%r);
      let %b: () = ref_write(%r, 1f);
      %0 = ref_read(%r);
      add(%0, %a)
    }
    """)  # fmt: skip


def test_an_argument_stands_where_it_is_needed() -> None:
    check(DefuseOps(), """
    def @main(%c: bool, %x: float32) {
      fn (%a: float32) { if (%c) { %a } else { 0f } }(exp(%x))
    }
    """, """
    def @main(%c: bool, %x: float32) -> float32 {
      if (%c) {
        exp(%x)
      } else {
        0f
      }
    }
    """)  # fmt: skip


def test_a_function_with_a_name_stays() -> None:
    check(DefuseOps(), """
    def @main(%x: float32) {
      let %f = fn (%a: float32) { exp(%a) };
      %f(%x)
    }
    """, """
    def @main(%x: float32) -> float32 {
      let %f: fn (float32) -> float32 = fn (%a: float32) -> float32 {
        exp(%a)
      };
      %f(%x)
    }
    """)  # fmt: skip
