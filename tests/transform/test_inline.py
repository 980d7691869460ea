"""Inline: functions marked `Inline=1` are put into their callers."""

from __future__ import annotations

from relay_explorer.ir.module import IRModule
from relay_explorer.testing import generate
from relay_explorer.transform import Inline
from tests.property.programs import first_failure
from tests.transform.golden import check
from tests.transform.test_contracts import broken


def test_every_call_gets_a_copy_with_variables_of_its_own() -> None:
    """TVM uses one body in both places, so that `%y` is bound twice."""
    check(Inline(), """
    def @double(%x: float32, Inline=1) { let %y = add(%x, %x); %y }
    def @main(%x: float32) { add(@double(%x), @double(exp(%x))) }
    """, """
    def @main(%x: float32) -> float32 {
      %0 = exp(%x);
      %1 = (
        let %y: float32 = add(%x, %x);
        %y
      );
      %2 = (
        let %y1: float32 = add(%0, %0);
        %y1
      );
      add(%1, %2)
    }
    """)  # fmt: skip


def test_through_several_levels() -> None:
    check(Inline(), """
    def @one(%x: float32, Inline=1) { exp(%x) }
    def @two(%x: float32, Inline=1) { tanh(@one(%x)) }
    def @three(%x: float32) { negative(@two(%x)) }
    def @main(%x: float32) { @three(%x) }
    """, """
    def @three(%x: float32) -> float32 {
      %0 = exp(%x);
      %1 = tanh(%0);
      negative(%1)
    }

    def @main(%x1: float32) -> float32 {
      @three(%x1)
    }
    """)  # fmt: skip


def test_each_call_makes_a_cell_of_its_own() -> None:
    """TVM gives both variables one cell."""
    check(Inline(), """
    def @cell(Inline=1) { ref(0f) }
    def @main() { let %a = @cell(); let %b = @cell(); let %w = ref_write(%a, 1f); ref_read(%b) }
    """, """
    def @main() -> float32 {
      let %a: ref(float32) = ref(0f);
      let %b: ref(float32) = ref(0f);
      let %w: () = ref_write(%a, 1f);
      ref_read(%b)
    }
    """)  # fmt: skip


def test_arguments_with_effects_come_first_and_in_order() -> None:
    """TVM evaluates them where they are used: here in the other order."""
    check(Inline(), """
    def @next(%r: ref(float32), Inline=1) -> float32 {
      let %v = ref_read(%r);
      let %w = ref_write(%r, add(%v, 1f));
      %v
    }
    def @twice(%a: float32, %b: float32, Inline=1) { subtract(%b, %a) }
    def @main() { let %r = ref(0f); @twice(@next(%r), @next(%r)) }
    """, """
    def @main() -> float32 {
      let %r: ref(float32) = ref(0f);
      let %a: float32 = (
        let %v: float32 = ref_read(%r);
        %0 = add(%v, 1f);
        let %w: () = ref_write(%r, %0);
        %v
      );
      let %b: float32 = (
        let %v1: float32 = ref_read(%r);
        %1 = add(%v1, 1f);
        let %w1: () = ref_write(%r, %1);
        %v1
      );
      subtract(%b, %a)
    }
    """)  # fmt: skip


def test_a_generic_function_takes_the_types_of_the_call() -> None:
    """TVM leaves the type parameters behind without a binder."""
    check(Inline(), """
    def @pair[A](%x: A, Inline=1) -> (A, A) { let %y: A = %x; (%y, %y) }
    def @main(%x: float32) { @pair((@pair(%x), 1)) }
    """, """
    def @main(%x: float32) -> (((float32, float32), int32), ((float32, float32), int32)) {
      %0 = (
        let %y1: float32 = %x;
        (%y1, %y1)
      );
      let %y: ((float32, float32), int32) = (%0, 1);
      (%y, %y)
    }
    """)  # fmt: skip


def test_what_is_recursive_stays() -> None:
    check(Inline(), """
    def @a(%x: int32, Inline=1) -> int32 {
      if (equal(%x, 0)) { 0 } else { @b(subtract(%x, 1)) }
    }
    def @b(%x: int32, Inline=1) -> int32 { @a(%x) }
    def @main(%x: int32) { @a(%x) }
    """, """
    def @a(%x: int32, Inline=1) -> int32 {
      %0 = equal(%x, 0);
      if (%0) {
        0
      } else {
        %1 = subtract(%x, 1);
        @b(%1)
      }
    }

    def @b(%x1: int32, Inline=1) -> int32 {
      @a(%x1)
    }

    def @main(%x2: int32) -> int32 {
      @a(%x2)
    }
    """)  # fmt: skip


def test_what_calls_one_that_stays_stays() -> None:
    check(Inline(), """
    def @a(%x: float32) { exp(%x) }
    def @b(%x: float32, Inline=1) { @a(%x) }
    def @main(%x: float32) { @b(%x) }
    """, """
    def @a(%x: float32) -> float32 {
      exp(%x)
    }

    def @b(%x1: float32, Inline=1) -> float32 {
      @a(%x1)
    }

    def @main(%x2: float32) -> float32 {
      @b(%x2)
    }
    """)  # fmt: skip


def test_another_compiler_gets_a_whole_function() -> None:
    check(Inline(), """
    def @fast(%x: float32, Inline=1, Compiler="dsp") -> float32 { exp(%x) }
    def @main(%x: float32) { @fast(@fast(%x)) }
    """, """
    def @main(%x: float32) -> float32 {
      %0 = fn (%x2: float32, Inline=1, Compiler="dsp") -> float32 {
        exp(%x2)
      };
      %1 = %0(%x);
      %2 = fn (%x1: float32, Inline=1, Compiler="dsp") -> float32 {
        exp(%x1)
      };
      %2(%1)
    }
    """)  # fmt: skip


def test_a_function_that_is_not_called_moves_as_one() -> None:
    check(Inline(), """
    def @f(%x: float32, Inline=1) -> float32 { exp(%x) }
    def @main(%x: float32, %c: bool) { (if (%c) { @f } else { fn (%y: float32) { %y } })(%x) }
    """, """
    def @main(%x: float32, %c: bool) -> float32 {
      %0 = if (%c) {
        fn (%x1: float32, Inline=1) -> float32 {
          exp(%x1)
        }
      } else {
        fn (%y: float32) -> float32 {
          %y
        }
      };
      %0(%x)
    }
    """)  # fmt: skip


def test_an_entry_point_stays() -> None:
    check(Inline(), """
    def @f(%x: float32, Inline=1) -> float32 { exp(%x) }
    def @main(%x: float32, Inline=1) { %x }
    """, """
    def @f(%x: float32, Inline=1) -> float32 {
      exp(%x)
    }

    def @main(%x1: float32, Inline=1) -> float32 {
      %x1
    }
    """)  # fmt: skip


def test_random_programs_keep_types_and_values() -> None:
    """Every function but `main` is marked."""

    def marked(seed: int) -> IRModule:
        module = generate(81_000 + seed, size=10 + seed % 40, closed=True).module
        for var, function in module.functions.items():
            if var.name_hint != "main":
                module[var] = function.with_attr("Inline", 1)
        return module

    programs = [marked(seed) for seed in range(80)]
    assert sum(len(Inline()(module).functions) < len(module.functions) for module in programs) > 10
    assert first_failure(programs, lambda module: broken(module, [Inline()])) is None
