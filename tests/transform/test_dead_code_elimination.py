"""DeadCodeElimination: what nobody uses and nobody would notice is left out."""

from __future__ import annotations

import numpy as np
import pytest

from relay_explorer.execute import Interpreter
from relay_explorer.ir import (
    Expr,
    Function,
    IRModule,
    Let,
    RefCreate,
    RefRead,
    RefType,
    RefWrite,
    post_order,
    scalar_type,
    var,
)
from relay_explorer.text import parse
from relay_explorer.transform import DeadCodeElimination
from relay_explorer.typing import infer_types
from tests.transform.golden import check


def test_a_value_that_is_not_used() -> None:
    check(DeadCodeElimination(), """
    def @main(%x: float32) { let %a = exp(%x); let %b = tanh(%a); %x }
    """, """
    def @main(%x: float32) -> float32 {
      %x
    }
    """)  # fmt: skip


def test_a_write_stays() -> None:
    check(DeadCodeElimination(), """
    def @main(%x: float32) { let %r = ref(%x); let %w = ref_write(%r, 1f); let %a = exp(%x); ref_read(%r) }
    """, """
    def @main(%x: float32) -> float32 {
      let %r: ref(float32) = ref(%x);
      let %w: () = ref_write(%r, 1f);
      ref_read(%r)
    }
    """)  # fmt: skip


def test_a_write_that_nothing_reads_goes_where_effects_are_ignored() -> None:
    check(DeadCodeElimination(ignore_impurity=True), """
    def @main(%x: float32) -> float32 {
      let %r = ref(%x); let %y = ref_read(%r); let %w = ref_write(%r, 1f); exp(%x)
    }
    """, """
    def @main(%x: float32) -> float32 {
      exp(%x)
    }
    """)  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        "let %r = ref(%x); let %w = ref_write(%r, 1f); ref_read(%r)",
        "let %r = ref(%x); let %s = %r; let %w = ref_write(%s, 1f); ref_read(%r)",
        "let %r = ref(%x); let %t = (%r, %x); let %w = ref_write(%t.0, 1f); ref_read(%r)",
        "let %r = ref(%x); let %t = (%x, %r); let %w = ref_write(%r, 1f); ref_read(%t.1)",
        "let %r = ref(%x); let %s = if (less(%x, 9f)) { %r } else { ref(2f) }; let %w = ref_write(%s, 1f); "
        "ref_read(%r)",
        "let %r = ref(%x); let %f = fn () { ref_write(%r, 1f) }; let %w = %f(); ref_read(%r)",
        "let %r = ref(%x); let %f = fn () { ref_read(%r) }; let %w = ref_write(%r, 1f); %f()",
        "let %f = ref(fn () { () }); let %r = ref(%x); let %w = ref_write(%f, fn () { ref_write(%r, 1f) }); "
        "let %g = ref_read(%f); let %v = %g(); ref_read(%r)",
        "let %r = ref(%x); let %w = @write(%r); ref_read(%r)",
        "let %r = ref(%x); let %y = ref_read(%r); let %w = ref_write(%r, 1f); %y * ref_read(%r)",
        "%0 = ref(%x); let %r = %0; let %w = ref_write(%r, 1f); ref_read(%0)",
        "%0 = ref(%x); let %r = %0; let %s = %0; let %w = ref_write(%r, 1f); ref_read(%s)",
        "let %r = ref(%x); %0 = ref_read(%r); let %y = %0; let %w = ref_write(%r, 1f); ref_read(%r) * %0",
        "let %r = ref(%x); %0 = ref_read(%r); let %y = %0; %1 = ref_write(%r, 1f); (%1, %0).1",
    ],
)
def test_a_write_that_is_read_stays_where_effects_are_ignored(body: str) -> None:
    module = infer_types(
        parse(f"def @write(%c: ref(float32)) {{ ref_write(%c, 1f) }} def @main(%x: float32) {{ {body} }}")
    )
    result = infer_types(DeadCodeElimination(ignore_impurity=True)(module))
    argument = np.float32(5)
    assert Interpreter(result).call("main", [argument]) == Interpreter(module).call("main", [argument])


def test_a_cell_that_only_dead_code_hands_on_goes_with_its_writes_where_effects_are_ignored() -> None:
    check(DeadCodeElimination(ignore_impurity=True), """
    def @main(%x: float32, %f: fn (float32) -> float32) -> float32 {
      let %r = ref(%x);
      let %t = (%x, %r);
      let %g = fn () { let %y = ref_read(%r); ref_write(%r, %y + 1f) };
      let %w = ref_write(%r, 1f);
      %f(%x)
    }
    """, """
    def @main(%x: float32, %f: fn (float32) -> float32) -> float32 {
      %f(%x)
    }
    """)  # fmt: skip


def test_a_long_chain_of_writes_that_need_each_other_takes_linear_time() -> None:
    cells = [var(f"r{i}", RefType(scalar_type("float32"))) for i in range(4_000)]
    values = [var(f"a{i}", scalar_type("float32")) for i in range(4_000)]
    argument = var("x", scalar_type("float32"))
    body: Expr = values[-1]
    for i in reversed(range(4_000)):
        body = Let(values[i], RefRead(cells[i]), body)
        body = Let(var("w"), RefWrite(cells[i], values[i - 1] if i else argument), body)
        body = Let(cells[i], RefCreate(argument), body)
    module = infer_types(IRModule.from_expr(Function([argument], body)))
    result = DeadCodeElimination(ignore_impurity=True)(module)
    assert sum(isinstance(node, RefWrite) for node in post_order(result["main"])) == 4_000


def test_a_recursive_function_that_nobody_calls() -> None:
    check(DeadCodeElimination(), """
    def @main(%x: int32) { let %f = fn (%n: int32) -> int32 { %f(%n) }; %x }
    """, """
    def @main(%x: int32) -> int32 {
      %x
    }
    """)  # fmt: skip


def test_a_call_that_writes_stays() -> None:
    check(DeadCodeElimination(), """
    def @w(%r: ref(float32)) { ref_write(%r, 1f) }
    def @main() { let %r = ref(0f); let %a = @w(%r); let %b = exp(1f); ref_read(%r) }
    """, """
    def @w(%r: ref(float32)) -> () {
      ref_write(%r, 1f)
    }

    def @main() -> float32 {
      let %r1: ref(float32) = ref(0f);
      let %a: () = @w(%r1);
      ref_read(%r1)
    }
    """)  # fmt: skip


def test_what_is_used_once_goes_where_it_is_used() -> None:
    check(DeadCodeElimination(inline_once=True), """
    def @main(%x: float32) { let %a = exp(%x); let %b = tanh(%x); add(%a, multiply(%b, %b)) }
    """, """
    def @main(%x: float32) -> float32 {
      let %b: float32 = tanh(%x);
      %0 = exp(%x);
      %1 = multiply(%b, %b);
      add(%0, %1)
    }
    """)  # fmt: skip


def test_but_not_into_a_function() -> None:
    check(DeadCodeElimination(inline_once=True), """
    def @main(%x: float32) { let %a = exp(%x); let %f = fn (%y: float32) { add(%a, %y) }; (%f(1f), %f(2f)) }
    """, """
    def @main(%x: float32) -> (float32, float32) {
      let %a: float32 = exp(%x);
      let %f: fn (float32) -> float32 = fn (%y: float32) -> float32 {
        add(%a, %y)
      };
      %0 = %f(1f);
      %1 = %f(2f);
      (%0, %1)
    }
    """)  # fmt: skip


def test_what_is_read_before_a_write_is_read_there() -> None:
    """The first user of a shared read says when it happens, although nobody needs that user."""
    text = """
    def @main() {
      let %r = ref(1);
      %0 = ref_read(%r);
      let %a = (%0, 1);
      let %u = ref_write(%r, 2);
      %0
    }
    """
    check(DeadCodeElimination(), text, """
    def @main() -> int32 {
      let %r: ref(int32) = ref(1);
      %0 = ref_read(%r);
      let %a: (int32, int32) = (%0, 1);
      let %u: () = ref_write(%r, 2);
      %0
    }
    """)  # fmt: skip
    program = infer_types(parse(text))
    swept = DeadCodeElimination()(program)
    assert [int(Interpreter(module).call("main", [])) for module in (program, swept)] == [1, 1]


def test_a_cell_that_a_dead_tuple_shares_is_made_there() -> None:
    """Else it would be made anew in each call of the function that uses it."""
    check(DeadCodeElimination(), """
    def @main() {
      %0 = ref(1);
      let %a = (%0, 1);
      let %f = fn () { let %u = ref_write(%0, ref_read(%0) + 1); ref_read(%0) };
      let %b = %f();
      %f()
    }
    """, """
    def @main() -> int32 {
      %0 = ref(1);
      let %a: (ref(int32), int32) = (%0, 1);
      let %f: fn () -> int32 = fn () -> int32 {
        %1 = ref_read(%0);
        %2 = add(%1, 1);
        let %u: () = ref_write(%0, %2);
        ref_read(%0)
      };
      let %b: int32 = %f();
      %f()
    }
    """)  # fmt: skip
