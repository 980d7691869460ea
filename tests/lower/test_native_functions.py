"""Functions and circles of cells across the border of programs compiled ahead of time."""

from __future__ import annotations

import gc
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.execute import ExecutionError
from relay_explorer.execute.results import ConstructorValue, RefValue
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.narrow import as_constructor
from relay_explorer.lower.build import build_native
from relay_explorer.lower.executor import create_executor
from relay_explorer.lower.link.native import NativeExecutable

TWICE = "def @main(%f: fn(float32) -> float32, %x: float32) { (%f(%f(%x)), %f) }"
ADDER = "def @main(%x: Tensor[(3000), float32]) { fn (%y: Tensor[(3000), float32]) { %x + %y } }"


@pytest.fixture(scope="module")
def twice() -> NativeExecutable:
    return build_native(relay.parse(TWICE))


def function(text: str) -> Any:
    return create_executor(mod=relay.parse(text)).evaluate()


def live(exe: NativeExecutable) -> int:
    gc.collect()
    return exe.library.live


def test_a_function_as_a_result_holds_what_it_captured() -> None:
    exe = build_native(relay.parse(ADDER))
    x = np.arange(3000, dtype="float32")
    add = exe(x.copy())
    gc.collect()
    np.testing.assert_array_equal(add(x).numpy(), 2 * x)
    with pytest.raises(RelayError, match="expects 1 argument, got 2"):
        add(x, x)
    with pytest.raises(RelayError, match=r"argument 0 of the function must be `Tensor\[\(3000\), float32\]`"):
        add(x[:5])
    assert live(exe) > 0
    del add
    assert live(exe) == 0


def test_functions_as_arguments(twice: NativeExecutable) -> None:
    """The interpreter's, another program's, and the program's own; and one that calls the program again."""
    square = function("def @g(%x: float32) { %x * %x }\ndef @main(%x: float32) { @g(%x) + 1f }")
    result, same = twice(square, 1.5)
    assert (result, same(2.0).numpy()) == (11.5625, 5)
    assert twice(same, 1.5)[0] == 11.5625
    again = function("def @main(%f: fn(float32) -> float32) { fn (%x: float32) -> float32 { %f(%f(%x)) } }")
    assert twice(again(same), 1.5)[0] == twice(same, result)[0]
    native = build_native(relay.parse("def @main(%x: float32) { fn (%y: float32) -> float32 { %x * %y } }"))
    triple = native(3.0)
    assert twice(triple, 2.0)[0] == 18
    del result, same, triple
    assert live(twice) == live(native) == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def @main(%x: float32, %y: float32) { %x }", "the argument `%f` must be `fn"),
        ("def @main(%x: float32) { (%x,) }", "an external function must return `float32`"),
        (
            "type Two { One, Two }\ndef @main(%x: float32) { match? (One) { Two => { %x }, } }",
            "no clause matches One",
        ),
    ],
)
def test_a_function_from_outside_that_is_wrong(twice: NativeExecutable, text: str, message: str) -> None:
    with pytest.raises(RelayError) as caught:
        twice(function(text), 1.5)
    assert message in str(caught.value)
    assert live(twice) == 0


MAIN_C = """
#include "twice.h"
#include <stdio.h>

static int scaled(void *context, twice *m, const twice_value *arguments, twice_value *result) {
  float x = *(const float *)twice_data(arguments[0]) * *(float *)context;
  if (x > 100) return twice_fail(m, "too large");
  *result = twice_tensor(m, twice_float32, 0, NULL, &x);
  return 0;
}

static void done(void *context) { printf("done with %.1f\\n", *(float *)context); }

int main(void) {
  float three = 3, two = 2;
  twice *m = twice_new();
  twice_value x = twice_tensor(m, twice_float32, 0, NULL, &two), y, z;
  twice_value f = twice_function(m, 1, scaled, done, &three);
  if (twice_run(m, f, x, &y)) return puts(twice_error(m)), 1;
  printf("%.1f %d\\n", *(const float *)twice_data(twice_part(y, 0)), twice_arity(twice_part(y, 1)));
  if (twice_apply(m, twice_part(y, 1), &x, &z)) return puts(twice_error(m)), 1;
  printf("%.1f\\n", *(const float *)twice_data(z));
  three = 30;
  twice_release(m, y), twice_release(m, z);
  printf("%d %s\\n", twice_run(m, f, x, &y), twice_error(m));
  if (twice_run(m, x, f, &y)) puts(twice_error(m));
  twice_release(m, f), twice_release(m, x);
  printf("%d\\n", (int)twice_live(m));
  twice_end(m);
}
"""


@pytest.mark.parametrize("target", ["cpu", "raspberry-pi-4"])
def test_functions_in_c(target: str, tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(MAIN_C)
    result = tmp_path / "twice"
    build_native(relay.parse(TWICE), target, name="twice").link(result, [tmp_path / "main.c"], static=True)
    command = [str(result)] if target == "cpu" else ["qemu-aarch64", str(result)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    wrong = "the argument `%f` must be `fn (float32) -> float32`"
    assert done.stdout.splitlines() == ["18.0 1", "6.0", "1 too large", wrong, "done with 30.0", "0"]


RING = "type Node { End, Node(int32, ref(Node)), }\n"


def test_circles_are_freed_while_the_program_runs() -> None:
    exe = build_native(
        relay.parse(
            RING + "def @ring(%n: int32) { let %r = ref(End); ref_write(%r, Node(%n, %r)) }\n"
            "def @kept(%n: int32, %f: fn() -> int32) -> int32 {"
            " if (%n == 0) { %f() } else { let %_ = @ring(%n);"
            " let %cell = ref(%f); let %g = fn () -> int32 { let %h = ref_read(%cell); 1 };"
            " let %_1 = ref_write(%cell, %g); @kept(%n - 1, %f) } }\n"
            "def @main(%n: int32) { @kept(%n, fn () -> int32 { %n }) }"
        )
    )
    assert exe(50_000) == 50_000
    assert live(exe) == 0
    small = exe.library.memory
    assert exe(100_000) == 100_000
    assert exe.library.memory == small < 10e6


def test_circles_go_in_and_out() -> None:
    exe = build_native(
        relay.parse(
            RING + "def @main(%n: int32, %a: Node) {"
            " let %r = ref(End); let %v = Node(%n, %r); let %_ = ref_write(%r, %v); (%v, %a, ref(%r)) }"
        )
    )
    end, node = exe.mod.get_type("Node")[1:]
    value: Any = ConstructorValue(as_constructor(end).tag, [], as_constructor(end))
    for turn in range(3):
        result, same, cell = exe(turn, value)
        assert result.fields[1].value.inner is result.inner
        assert cell.value.inner is result.fields[1].inner
        if turn:
            assert same.fields[1].value.inner is same.inner
            assert same.fields[0].numpy() == turn - 1
        value = result
        assert live(exe) == 0
    cell = RefValue(np.array(0))
    ring = ConstructorValue(as_constructor(node).tag, [np.array(7, "int32"), cell], as_constructor(node))
    cell.value = ring
    assert exe(0, ring)[1].fields[0].numpy() == 7


def test_circles_through_tuples() -> None:
    exe = build_native(
        relay.parse(
            "type Box { No, Box((int32, ref(Box))), Two((Box, ((int32, ref(Box)), int32))), }\n"
            "def @main() { let %r = ref(No); let %t = (1, %r); let %u = (%t, 2);"
            " let %_ = ref_write(%r, Two((Box(%t), %u))); (%u, %t) }"
        )
    )
    (first, two), again = exe()
    pair = first[1].value.fields[0]  # what the cell holds: (Box(%t), %u)
    assert (first[0], two) == (1, 2)
    assert pair[0].fields[0][1].inner is pair[1][0][1].inner is again[1].inner is first[1].inner
    assert repr(again).startswith("(")
    assert live(exe) == 0


def test_what_a_function_raises_is_raised(twice: NativeExecutable) -> None:
    broken = function("def @main(%x: float32) { %x }")
    broken.interpreter.call = lambda *_: 1 / 0
    with pytest.raises(ZeroDivisionError):
        twice(broken, 1.5)
    assert live(twice) == 0
    with pytest.raises(ExecutionError, match="expects 1 argument"):
        twice(function("def @main(%x: float32) { %x }"), 1.0)[1](1.0, 2.0)


def test_functions_go_from_one_executor_to_another() -> None:
    module = relay.parse(
        "def @main(%f: fn(float32) -> float32, %x: float32) {"
        " (%f(%x), fn (%y: float32) -> float32 { %f(%y) + %x }) }"
    )
    for kinds in (("debug", "debug", "debug"), ("aot", "vm", "aot")):
        result, given = [], function("def @main(%x: float32) { %x * %x }")
        for kind, (x, y) in zip(kinds, ((3.0, 2.0), (1.0, 1.0), (4.0, 1.0))):
            now, given = create_executor(kind, mod=module).evaluate()(given, x)
            result.append((float(now.numpy()), float(given(y).numpy())))
        assert result == [(9, 7), (4, 5), (20, 9)]
