"""EtaExpand: constructors and functions of the module that are values become functions that call them."""

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
