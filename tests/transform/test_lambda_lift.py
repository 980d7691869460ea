"""LambdaLift: local functions become functions of the module."""

from __future__ import annotations

from relay_explorer.ir import (
    Call,
    Expr,
    Function,
    Op,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    const,
    scalar_type,
    var,
)
from relay_explorer.ir.module import IRModule
from relay_explorer.transform import LambdaLift
from relay_explorer.typing import infer_types
from tests.transform.golden import check
from tests.transform.test_contracts import broken


def test_a_function_that_uses_nothing_from_outside() -> None:
    check(LambdaLift(), """
    def @main(%x: float32) {
      fn (%y: float32) { exp(%y) }(%x)
    }
    """, """
    def @main(%x: float32) -> float32 {
      @lifted_name0(%x)
    }

    def @lifted_name0(%y: float32) -> float32 {
      exp(%y)
    }
    """)  # fmt: skip


def test_a_closure() -> None:
    check(LambdaLift(), """
    def @main(%x: float32) {
      let %f = fn (%y: float32) { add(%x, %y) };
      %f(%f(%x))
    }
    """, """
    def @main(%x: float32) -> float32 {
      let %f: fn (float32) -> float32 = @lifted_name0(%x);
      %0 = %f(%x);
      %f(%0)
    }

    def @lifted_name0(%x1: float32, Closure=1) -> fn (float32) -> float32 {
      fn (%y: float32) -> float32 {
        add(%x1, %y)
      }
    }
    """)  # fmt: skip


def test_a_loop_calls_the_function_of_the_module() -> None:
    check(LambdaLift(), """
    def @main(%n: int32, %x: float32) {
      let %loop = fn (%i: int32, %a: float32) -> float32 {
        if (less(%i, %n)) { %loop(add(%i, 1), multiply(%a, %x)) } else { %a }
      };
      %loop(0, 1f)
    }
    """, """
    def @main(%n: int32, %x: float32) -> float32 {
      let %loop: fn (int32, float32) -> float32 = @lifted_name0(%n, %x);
      %loop(0, 1f)
    }

    def @lifted_name0(%n1: int32, %x1: float32, Closure=1) -> fn (int32, float32) -> float32 {
      fn (%i: int32, %a: float32) -> float32 {
        %0 = less(%i, %n1);
        if (%0) {
          %1 = add(%i, 1);
          %2 = multiply(%a, %x1);
          %3 = @lifted_name0(%n1, %x1);
          %3(%1, %2)
        } else {
          %a
        }
      }
    }
    """)  # fmt: skip


def test_a_function_inside_uses_the_one_around_it() -> None:
    """TVM leaves `%f` behind without a binder: it looks at the innermost function's name only."""
    check(LambdaLift(), """
    def @main(%x: float32) {
      let %f = fn (%a: float32) -> float32 {
        let %g = fn (%b: float32) { add(%f(%b), %a) };
        %g(%x)
      };
      1f
    }
    """, """
    def @main(%x: float32) -> float32 {
      let %f: fn (float32) -> float32 = @lifted_name1(%x);
      1f
    }

    def @lifted_name0(%f1: fn (float32) -> float32, %a: float32, Closure=1) -> fn (float32) -> float32 {
      fn (%b: float32) -> float32 {
        %0 = %f1(%b);
        add(%0, %a)
      }
    }

    def @lifted_name1(%x1: float32, Closure=1) -> fn (float32) -> float32 {
      fn (%a1: float32) -> float32 {
        %1 = @lifted_name1(%x1);
        let %g: fn (float32) -> float32 = @lifted_name0(%1, %a1);
        %g(%x1)
      }
    }
    """)  # fmt: skip


def test_a_function_that_hands_itself_on() -> None:
    """TVM replaces calls only, so that `%f` is left behind without a binder."""
    check(LambdaLift(), """
    def @twice(%f: fn (int32) -> int32, %x: int32) -> int32 { %f(%f(%x)) }
    def @main(%x: int32) {
      let %f = fn (%n: int32) -> int32 { if (less(%n, 1)) { 0 } else { @twice(%f, subtract(%n, 1)) } };
      %f(%x)
    }
    """, """
    def @twice(%f: fn (int32) -> int32, %x: int32) -> int32 {
      %0 = %f(%x);
      %f(%0)
    }

    def @main(%x1: int32) -> int32 {
      let %f1: fn (int32) -> int32 = @lifted_name0;
      %f1(%x1)
    }

    def @lifted_name0(%n: int32) -> int32 {
      %1 = less(%n, 1);
      if (%1) {
        0
      } else {
        %2 = subtract(%n, 1);
        @twice(@lifted_name0, %2)
      }
    }
    """)  # fmt: skip


def test_type_variables_from_outside_become_type_parameters() -> None:
    """TVM names the function without calling it, which has another type."""
    check(LambdaLift(), """
    def @g[A](%x: A) -> A {
      let %f = fn (%y: A) -> A { %y };
      %f(%x)
    }
    def @main() { @g(1) }
    """, """
    def @g[A](%x: A) -> A {
      let %f: fn (A) -> A = @lifted_name0[A]();
      %f(%x)
    }

    def @main() -> int32 {
      @g(1)
    }

    def @lifted_name0[A](Closure=1) -> fn (A) -> A {
      fn (%y: A) -> A {
        %y
      }
    }
    """)  # fmt: skip


def test_a_generic_function_stays_generic() -> None:
    check(LambdaLift(), """
    def @main() {
      let %id = fn[A](%y: A) -> A { %y };
      let %g = fn (%z: int32) { (%id(%z), %id(1f)) };
      %g(1)
    }
    """, """
    def @main() -> (int32, float32) {
      let %id: fn [A](A) -> A = @lifted_name0;
      let %g: fn (int32) -> (int32, float32) = @lifted_name1(%id);
      %g(1)
    }

    def @lifted_name0[A](%y: A) -> A {
      %y
    }

    def @lifted_name1(%id1: fn [A](A) -> A, Closure=1) -> fn (int32) -> (int32, float32) {
      fn (%z: int32) -> (int32, float32) {
        %0 = %id1[int32](%z);
        %1 = %id1[float32](1f);
        (%0, %1)
      }
    }
    """)  # fmt: skip


def test_a_kernel_stays() -> None:
    check(LambdaLift(), """
    def @main(%x: float32) {
      fn (%a: float32, Primitive=1) { exp(%a) }(%x)
    }
    """, """
    def @main(%x: float32) -> float32 {
      %0 = fn (%a: float32, Primitive=1) -> float32 {
        exp(%a)
      };
      %0(%x)
    }
    """)  # fmt: skip


def test_names_that_are_taken_are_left_alone() -> None:
    check(LambdaLift(), """
    def @lifted_name0(%x: float32) { fn (%y: float32) { exp(%y) }(%x) }
    def @main(%x: float32) { @lifted_name0(%x) }
    """, """
    def @lifted_name0(%x: float32) -> float32 {
      @lifted_name1(%x)
    }

    def @main(%x1: float32) -> float32 {
      @lifted_name0(%x1)
    }

    def @lifted_name1(%y: float32) -> float32 {
      exp(%y)
    }
    """)  # fmt: skip


def test_pattern_variables_are_captured() -> None:
    check(LambdaLift(), """
    type Pair { Two(float32, float32) }
    def @main(%p: Pair) {
      match (%p) { Two(%a, %b) => { let %f = fn (%x: float32) { add(%a, multiply(%b, %x)) }; %f } }
    }
    """, """
    type Pair {
      Two(float32, float32),
    }

    def @main(%p: Pair) -> fn (float32) -> float32 {
      match (%p) {
        Two(%a: float32, %b: float32) => {
          let %f: fn (float32) -> float32 = @lifted_name0(%a, %b);
          %f
        },
      }
    }

    def @lifted_name0(%a1: float32, %b1: float32, Closure=1) -> fn (float32) -> float32 {
      fn (%x: float32) -> float32 {
        %0 = multiply(%b1, %x);
        add(%a1, %0)
      }
    }
    """)  # fmt: skip


def test_a_cell_that_is_shared_with_a_function_inside_is_made_once() -> None:
    """A graph: no `let` says where the cell is made."""
    cell = RefCreate(const(1.0))
    add_to = Function([], RefWrite(cell, Call(Op.get("add"), [RefRead(cell), const(1.0)])))
    module = IRModule.from_expr(Function([], Tuple([Call(add_to, []), RefRead(cell)])))
    assert broken(module, [LambdaLift()]) is None


def test_many_functions_inside_each_other() -> None:
    x = var("x", scalar_type("float32"))
    body: Expr = x
    for number in range(60):
        y = var(f"y{number}", scalar_type("float32"))
        body = Call(Function([y], Call(Op.get("add"), [body, y])), [x])
    module = LambdaLift()(IRModule.from_expr(Function([x], body)))
    assert len(module.functions) == 61
    infer_types(module)
