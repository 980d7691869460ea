"""Programs run: values, sharing, order of effects, recursion, and what goes wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from inline_snapshot import snapshot

from relay_explorer.execute import Closure, ExecutionError, Interpreter
from relay_explorer.ir import Call, Function, If, IRModule, Op, Tuple, Var, const, scalar_type, var
from relay_explorer.text import parse

LIST = "type List[A] { Cons(A, List[A]), Nil }\n"
BUILD = """
def @build(%i: int32, %l: List[int32]) -> List[int32] {
  if (equal(%i, 0)) { %l } else { @build(subtract(%i, 1), Cons(%i, %l)) }
}
"""


def run(program: str, *args: object) -> object:
    return Interpreter(parse(program)).call("main", args)


def whole(value: int) -> np.ndarray:
    return np.array(value, "int32")


def real(value: float) -> np.ndarray:
    return np.array(value, "float32")


def test_let_and_sharing() -> None:
    program = "def @main(%x: int32) { let %y = add(%x, 1); %0 = multiply(%y, %y); add(%0, %0) }"
    assert run(program, whole(3)) == 32


def test_a_shared_value_is_computed_once() -> None:
    """If each use computed it anew, this would take 2 to the power of 200 additions."""
    value = run("def @main(%x: float32) {" + "".join(
        f"%{k + 1} = multiply(add(%{k}, %{k}), 0.5f);" for k in range(200)
    ).replace("%0", "%x") + "%200 }", real(3))  # fmt: skip
    assert value == 3


def test_only_the_taken_branch_runs() -> None:
    program = """
    def @main(%x: int32) {
      let %r = ref(0);
      let %y = if (less(%x, 5)) { let %u = ref_write(%r, 1); 10 } else { let %v = ref_write(%r, 2); 20 };
      (%y, ref_read(%r))
    }
    """
    assert run(program, whole(3)) == (10, 1)
    assert run(program, whole(7)) == (20, 2)


def test_a_value_shared_by_both_branches_is_computed_before_them() -> None:
    x, c = var("x", scalar_type("float32")), var("c", scalar_type("bool"))
    shared = Call(Op.get("exp"), [x])
    body = If(c, Call(Op.get("add"), [shared, shared]), Call(Op.get("negative"), [shared]))
    interpreter = Interpreter(IRModule.from_expr(Function([x, c], body)))
    assert interpreter.call("main", [real(0), np.array(True)]) == 2
    assert interpreter.call("main", [real(0), np.array(False)]) == -1


def test_effects_happen_in_the_order_of_the_program() -> None:
    program = """
    def @main(%x: float32) {
      let %r = ref(%x);
      let %u = ref_write(%r, add(ref_read(%r), 1f));
      let %f = fn (%d: float32) { let %v = ref_write(%r, multiply(ref_read(%r), %d)); ref_read(%r) };
      (%f(2f), %f(3f), ref_read(%r))
    }
    """
    assert run(program, real(1)) == (4, 12, 12)


def test_an_argument_is_evaluated_before_the_next() -> None:
    program = """
    def @main() {
      let %r = ref(0);
      let %next = fn () { let %u = ref_write(%r, add(ref_read(%r), 1)); ref_read(%r) };
      (%next(), %next(), %next())
    }
    """
    assert run(program) == (1, 2, 3)


def test_closures_capture_values() -> None:
    program = """
    def @main(%x: float32) {
      let %line = fn (%p: float32) { fn (%q: float32) { add(%p, multiply(%q, %x)) } };
      let %f = %line(1f);
      let %g = %line(100f);
      (%f(10f), %g(10f))
    }
    """
    assert run(program, real(2)) == (21, 120)


def test_a_local_function_calls_itself() -> None:
    program = """
    def @main(%n: int32) {
      let %fact = fn (%i: int32) -> int32 {
        if (less(%i, 2)) { 1 } else { multiply(%i, %fact(subtract(%i, 1))) }
      };
      %fact(%n)
    }
    """
    assert run(program, whole(10)) == 3628800


def test_operators_and_constructors_are_values() -> None:
    program = (
        LIST
        + """
    def @map[A, B](%f: fn (A) -> B, %l: List[A]) -> List[B] {
      match (%l) { Cons(%h, %t) => { Cons(%f(%h), @map(%f, %t)) }, Nil => { Nil } }
    }
    def @main(%x: float32) { @map(negative, Cons(%x, Cons(2f, Nil))) }
    """
    )
    assert repr(run(program, real(1))) == "Cons(-1.0, Cons(-2.0, Nil))"


def test_nested_patterns_take_the_first_that_fits() -> None:
    program = (
        LIST
        + """
    def @main(%l: List[int32]) -> int32 {
      match (%l) { Cons(%a, Cons(%b, _)) => { add(%a, %b) }, Cons(%a, Nil) => { %a }, Nil => { -1 } }
    }
    """
    )
    module = parse(
        program + "def @of[A](%a: A, %l: List[A]) { Cons(%a, %l) } def @none() -> List[int32] { Nil }"
    )
    interpreter = Interpreter(module)
    nil = interpreter.call("none", [])
    one = interpreter.call("of", [whole(7), nil])
    two = interpreter.call("of", [whole(5), one])
    assert [interpreter.call("main", [v]) for v in (nil, one, two)] == [-1, 7, 12]


def test_a_loop_needs_no_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relay_explorer.execute.interpreter.MAX_STACK_DEPTH", 3)
    program = """
    def @loop(%i: int32, %s: int32) -> int32 {
      if (equal(%i, 0)) { %s } else { @loop(subtract(%i, 1), add(%s, 1)) }
    }
    def @main(%n: int32) { @loop(%n, 0) }
    """
    assert run(program, whole(50_000)) == 50_000


def test_data_a_hundred_thousand_deep() -> None:
    program = (
        LIST
        + BUILD
        + """
    def @sum(%l: List[int32]) -> int32 { match (%l) { Cons(%h, %t) => { add(%h, @sum(%t)) }, Nil => { 0 } } }
    def @main(%n: int32) { let %l = @build(%n, Nil); (%l, @sum(%l)) }
    """
    )
    both: Any = run(program, whole(100_000))
    value, total = both
    assert total == 100_000 * 100_001 // 2 - 2**32
    assert repr(value).startswith("Cons(1, Cons(2, Cons(3, ")
    assert len(repr(value)) < 2_000


def test_recursion_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relay_explorer.execute.interpreter.MAX_STACK_DEPTH", 10_000)
    program = "def @f(%n: int32) -> int32 { add(1, @f(%n)) } def @main(%n: int32) { @f(%n) }"
    with pytest.raises(ExecutionError) as caught:
        Interpreter(parse(program, "endless.relay")).call("main", [whole(1)])
    assert str(caught.value) == (
        "endless.relay:1:37: error: calls are nested 10,000 deep; the last is of `@f`\n"
        "   1 | def @f(%n: int32) -> int32 { add(1, @f(%n)) } def @main(%n: int32) { @f(%n) }\n"
        "     |                                     ^^^^^^\n"
        "help: does the recursion end? A function that ends in the recursive call needs no stack"
    )


def test_a_match_that_nothing_fits() -> None:
    program = LIST + "def @main(%l: List[int32]) -> int32 { match? (%l) { Cons(%h, _) => { %h } } }"
    interpreter = Interpreter(parse(program + "def @none() -> List[int32] { Nil }"))
    with pytest.raises(ExecutionError, match="no clause matches Nil"):
        interpreter.call("main", [interpreter.call("none", [])])


def test_an_operator_that_goes_wrong_says_where_and_with_what() -> None:
    head = "def @main(%x: Tensor[(2), float32], %y: Tensor[(2), float32]) {\n"
    program = head + "  %0 = exp(%x);\n  add(%0, %y)\n}"
    interpreter = Interpreter(parse(program, "shapes.relay"))
    with pytest.raises(ExecutionError) as caught:
        interpreter.call("main", [np.zeros(2, "float32"), np.ones((20, 3), "float32")])
    assert str(caught.value) == snapshot(
        "shapes.relay:3:3: error: `add` failed: "
        "operands could not be broadcast together with shapes (2,) (20,3)\n"
        "   3 |   add(%0, %y)\n"
        "     |   ^^^^^^^^^^^\n"
        "note: argument 0 is [1.0, 1.0]\n"
        "note: argument 1 is <float32[20, 3]>"
    )


def test_a_constant_cannot_be_written_through() -> None:
    interpreter = Interpreter(IRModule.from_expr(Function([], const([1.0, 2.0]))))
    with pytest.raises(ValueError, match="read-only"):
        interpreter.call("main", [])[0] = 5


def test_a_function_that_is_given_too_little() -> None:
    with pytest.raises(ExecutionError, match="expects 2 arguments, got 1"):
        run("def @main(%x: int32, %y: int32) { add(%x, %y) }", whole(1))


def test_a_variable_that_nothing_introduces() -> None:
    with pytest.raises(Exception, match="`%y` is used where it is not defined"):
        Interpreter().evaluate(Tuple([Var("y")]))


def test_functions_print_readably() -> None:
    value = run("def @main(%x: int32) { fn (%a: int32, %b: int32) { add(%a, %x) } }", whole(1))
    assert isinstance(value, Closure)
    assert repr(value) == "<fn (%a, %b)>"
