"""EtaExpand: constructors, functions of the module and operators that are values become functions that call
them.
"""

from __future__ import annotations

from relay_explorer.transform import EtaExpand
from tests.transform.golden import check


def test_a_constructor_that_is_an_argument() -> None:
    check(EtaExpand(), """
    type Maybe { Just(float32), Nothing }
    def @apply(%f: fn (float32) -> Maybe) { %f(1f) }
    def @main() { @apply(Just) }
    """, """
    type Maybe {
      Just(float32),
      Nothing,
    }

    def @apply(%f: fn (float32) -> Maybe) -> Maybe {
      %f(1f)
    }

    def @main() -> Maybe {
      %0 = fn (%eta_expand_param_0: float32) -> Maybe {
        Just(%eta_expand_param_0)
      };
      @apply(%0)
    }
    """)  # fmt: skip


def test_a_generic_constructor_becomes_a_generic_function() -> None:
    check(EtaExpand(), """
    type Maybe[A] { Just(A), Nothing }
    def @main[A]() -> fn (A) -> Maybe[A] { Just }
    """, """
    type Maybe[A] {
      Just(A),
      Nothing,
    }

    def @main[A]() -> fn (A) -> Maybe[A] {
      fn [A1](%eta_expand_param_0: A1) -> Maybe[A1] {
        Just(%eta_expand_param_0)
      }
    }
    """)  # fmt: skip


def test_what_is_called_stays() -> None:
    text = """
    type Maybe {
      Just(float32),
      Nothing,
    }

    def @main() -> Maybe {
      Just(1f)
    }
    """
    check(EtaExpand(True, True), text, text)


def test_names_of_functions_on_demand() -> None:
    text = """
    def @f(%x: float32) -> float32 {
      exp(%x)
    }

    def @main() -> (fn (float32) -> float32,) {
      (@f,)
    }
    """
    check(EtaExpand(), text, text)
    check(EtaExpand(expand_global_var=True), text, """
    def @f(%x: float32) -> float32 {
      exp(%x)
    }

    def @main() -> (fn (float32) -> float32,) {
      %0 = fn (%eta_expand_param_0: float32) -> float32 {
        @f(%eta_expand_param_0)
      };
      (%0,)
    }
    """)  # fmt: skip


def test_an_operator_of_known_types() -> None:
    check(EtaExpand(False, expand_operator=True), """
    def @twice[A](%f: fn (A) -> A, %x: A) -> A { %f(%f(%x)) }
    def @main(%x: Tensor[(2), float32]) { (@twice(tanh, %x), nn.relu(%x)) }
    """, """
    def @twice[A](%f: fn (A) -> A, %x: A) -> A {
      %0 = %f(%x);
      %f(%0)
    }

    def @main(%x1: Tensor[(2), float32]) -> (Tensor[(2), float32], Tensor[(2), float32]) {
      %1 = fn (%eta_expand_param_0: Tensor[(2), float32]) -> Tensor[(2), float32] {
        tanh(%eta_expand_param_0)
      };
      %2 = @twice[Tensor[(2), float32]](%1, %x1);
      %3 = nn.relu(%x1);
      (%2, %3)
    }
    """)  # fmt: skip
