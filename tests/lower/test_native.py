"""Ahead of time: native programs agree with the interpreter, and give back all memory that they took."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.execute import Interpreter
from relay_explorer.execute.results import ConstructorValue, to_value
from relay_explorer.ir import IRModule
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.narrow import as_constructor
from relay_explorer.ir.op import Op
from relay_explorer.lower.build import build_native
from relay_explorer.lower.executor import create_executor
from relay_explorer.lower.link.native import NativeExecutable
from relay_explorer.lower.passes.invariant import with_constants_in
from relay_explorer.lower.prepare import with_params
from relay_explorer.models import sentiment, sentiment_training
from relay_explorer.models.tree_lstm import phrase, tree_lstm
from relay_explorer.ops.register import register
from relay_explorer.ops.relation import IDENTITY
from relay_explorer.testing import generate
from relay_explorer.typing import infer_types
from tests.execute.programs import assert_same

LIST = "type List { Nil, Cons(int32, List), }\n"

PROGRAMS: dict[str, tuple[str, list[Any]]] = {
    "layer": (
        "def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(16, 3), float32]) {"
        " (nn.relu(add(nn.dense(%x, %w), 1f)), %x) }",
        [np.arange(-3, 3, dtype="float32").reshape(2, 3), np.ones((16, 3), "float32")],
    ),
    "rows": (
        "def @main(%n: int64, %x: float32) {"
        ' (arange(%n, 2i64, -3i64, dtype="int64"), arange(%x, 2.05f, 0.5f, dtype="float32")) }',
        [10, 0.3],
    ),
    "closures": (
        LIST + "def @range(%n: int32) -> List { if (%n == 0) { Nil } else { Cons(%n, @range(%n - 1)) } }\n"
        "def @map(%f: fn(int32) -> int32, %l: List) -> List {"
        " match (%l) { Nil => { Nil }, Cons(%x, %r) => { Cons(%f(%x), @map(%f, %r)) }, } }\n"
        "def @twice(%f: fn(int32) -> int32) -> fn(int32) -> int32 {"
        " fn (%x: int32) -> int32 { %f(%f(%x)) } }\n"
        "def @main(%n: int32) -> List {"
        " let %k = %n * 2; @map(@twice(fn (%x: int32) -> int32 { %x * %k }), @range(%n)) }",
        [7],
    ),
    "operators": (
        "type List { Nil, Cons(Tensor[(2), float32], List), }\n"
        "def @fold[A](%f: fn(A, A) -> A, %x: A, %y: A) -> A { %f(%f(%x, %y), %y) }\n"
        "def @pick(%b: bool) -> fn(Tensor[(2), float32]) -> Tensor[(2), float32] {"
        " if (%b) { nn.relu } else { tanh } }\n"
        "def @main(%x: Tensor[(2), float32], %b: bool) {"
        " let %f = @pick(%b); Cons(@fold(multiply, %x, %f(%x)), Nil) }",
        [np.array([2, -3], "float32"), True],
    ),
    "cells": (
        "def @main(%n: int32) {\n"
        "  let %sum = ref(0);\n"
        "  let %loop = fn (%k: int32) -> () {\n"
        "    if (%k == 0) { () } else { let %_ = ref_write(%sum, ref_read(%sum) + %k); %loop(%k - 1) }\n"
        "  };\n"
        "  let %_ = %loop(%n);\n"
        "  (ref_read(%sum), %n)\n"
        "}",
        [1000],
    ),
    "sizes": (
        "def @main(%x: Tensor[(?, 3), float32], %y: Tensor[(?, 3), float32]) {"
        " nn.relu(concatenate((%x, %y), axis=0)) }",
        [-np.ones((2, 3), "float32"), np.ones((5, 3), "float32")],
    ),
}


def compared(module: IRModule, args: list[Any], exe: NativeExecutable | None = None) -> NativeExecutable:
    """Run a module both ways and compare."""
    exe = exe or build_native(module)
    expected = create_executor(mod=module).evaluate()(*args)
    for _ in range(2):  # the second run finds the memory of the first
        same(exe(*args), expected)
        assert exe.library.live == 0
    return exe


def same(result: Any, expected: Any) -> None:
    pending = [(result, expected)]
    while pending:
        result, expected = pending.pop()
        if isinstance(expected, tuple):
            assert len(result) == len(expected)
            pending += zip(result, expected)
        elif isinstance(expected, ConstructorValue):
            assert result.constructor.name_hint == expected.constructor.name_hint
            pending += zip(result.fields, expected.fields)
        else:
            result = result if isinstance(result, np.ndarray) else result.numpy()
            assert (result.dtype, result.shape) == (expected.numpy().dtype, expected.shape)
            np.testing.assert_allclose(result, expected.numpy(), 1e-5, 1e-5)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_native_program_agrees_with_the_interpreter(name: str) -> None:
    text, args = PROGRAMS[name]
    compared(relay.parse(text), args)


@pytest.mark.parametrize(
    "text",
    [
        "def @main(%n: int32) -> int32 { @sum(%n, 0) }\n"
        "def @sum(%n: int32, %so_far: int32) -> int32 {"
        " if (%n == 0) { %so_far } else { @sum(%n - 1, %so_far + %n) } }",
        "def @main(%n: int32) -> int32 { if (%n == 0) { 0 } else { %n + @main(%n - 1) } }",
    ],
    ids=["loop", "recursion"],
)
def test_depth_and_length_cost_no_stack_of_c(text: str) -> None:
    exe = build_native(relay.parse(text))
    assert exe(100) == 5050
    small = exe.library.memory
    assert exe(100_000) == np.int32(100_000 * 100_001 // 2 % 2**32)
    assert exe.library.live == 0
    if "@sum" in text:
        assert exe.library.memory == small


def test_a_tree_lstm_reads_a_tree() -> None:
    module, random = tree_lstm(8, 6, 3), np.random.default_rng(0)
    weights = [
        random.normal(size=p.checked_type.concrete_shape).astype("float32")  # type: ignore[attr-defined]
        for p in infer_types(module)["main"].params[1:]
    ]
    vectors = {word: random.normal(size=8).astype("float32") for word in "abcd"}
    sentence = phrase(module, (("a", "b"), ("c", ("d", "a"))), vectors)
    compared(module, [sentence, *weights])


def test_a_match_without_a_clause() -> None:
    text = LIST + "def @main(%l: List) -> int32 { match? (%l) { Cons(%x, _) => { %x }, } }"
    module = relay.parse(text)
    nil = module.get_type("List")[1]
    exe = build_native(module)
    with pytest.raises(RelayError) as caught:
        exe(ConstructorValue(as_constructor(nil).tag, [], as_constructor(nil)))
    assert "no clause matches" in str(caught.value)
    assert exe.library.live == 0


MAIN_C = """
#include "fold.h"
#include <stdio.h>

int main(void) {
  static const int64_t vector[] = {1, 4}, square[] = {4, 4};
  float weight[16], word[4] = {0.1f, 0.2f, 0.3f, 0.4f};
  for (int k = 0; k < 16; k++) weight[k] = (float)(k % 5) / 10;
  fold *m = fold_new();
  fold_value list = fold_Nil(m), result;
  for (int k = 0; k < 3; k++) list = fold_Cons(m, fold_tensor(m, fold_float32, 2, vector, word), list);
  fold_value w = fold_tensor(m, fold_float32, 2, square, weight);
  for (int turn = 0; turn < 2; turn++) {
    if (fold_run(m, list, w, &result)) return puts(fold_error(m)), 1;
    for (int k = 0; k < 4; k++) printf("%.4f ", ((const float *)fold_data(result))[k]);
    printf("%d %d\\n", (int)fold_rank(result), fold_type(result) == fold_float32);
    fold_release(m, result);
  }
  if (!fold_run(m, w, list, &result)) return 1;
  puts(fold_error(m));
  if (fold_Cons(m, fold_Nil(m), fold_Nil(m))) return 1;
  puts(fold_error(m));
  fold_release(m, list);
  fold_release(m, w);
  printf("%d\\n", (int)fold_live(m));
  fold_end(m);
}
"""

FOLD = """
type List { Nil, Cons(Tensor[(1, 4), float32], List), }
def @fold(%l: List, %s: Tensor[(1, 4), float32], %w: Tensor[(4, 4), float32]) -> Tensor[(1, 4), float32] {
  match (%l) { Nil => { %s }, Cons(%x, %r) => { @fold(%r, tanh(nn.dense(%s, %w) + %x), %w) }, }
}
def @main(%l: List, %w: Tensor[(4, 4), float32]) { @fold(%l, zeros(shape=[1, 4], dtype="float32"), %w) }
"""


@pytest.mark.parametrize("target", ["cpu", "raspberry-pi-4"])
def test_c_code_uses_a_program(target: str, tmp_path: Path) -> None:
    """Here, and on ARM under qemu."""
    word, weight = (
        np.array([[0.1, 0.2, 0.3, 0.4]], "float32"),
        (np.arange(16) % 5 / 10).astype("float32").reshape(4, 4),
    )
    state = np.zeros((1, 4), "float32")
    for _ in range(3):
        state = np.tanh(state @ weight.T + word)
    main = tmp_path / "main.c"
    main.write_text(MAIN_C)
    build_native(relay.parse(FOLD), target, name="fold").link(tmp_path / "fold", [main], static=True)
    numbers = " ".join(f"{x:.4f}" for x in state[0])
    assert run(tmp_path / "fold", target) == (
        f"{numbers} 2 1\n" * 2 + "the argument `%l` must be `List`\n"
        "field number 0 must be `Tensor[(1, 4), float32]`\n0\n"
    )


WRONG = """
type Box[a] { Empty, Box(a, Box[a]), }
type Both { Both(Box[float32], ref((Box[Tensor[(2), float32]], float32))), }
def @size[A](%b: Box[A]) -> int32 { match (%b) { Empty => { 0 }, Box(_, %r) => { 1 + @size(%r) }, } }
def @main(%b: Box[(float32, Box[float32])], %c: Both) {
  match (%c) { Both(%s, %r) => { (@size(%b), @size(%s), @size(ref_read(%r).0)) }, }
}
"""

WRONG_C = """
#include "wrong.h"
#include <stdio.h>

static wrong *m;
static wrong_value number(float x) { return wrong_tensor(m, wrong_float32, 0, NULL, &x); }
static wrong_value vector(float x) {
  float both[] = {x, x};
  static const int64_t two[] = {2};
  return wrong_tensor(m, wrong_float32, 1, two, both);
}
static wrong_value pair(wrong_value a, wrong_value b) { return wrong_tuple(m, 2, (wrong_value[]){a, b}); }
static wrong_value list(int count, wrong_value (*item)(float)) {
  wrong_value made = wrong_Empty(m);
  while (count--) made = wrong_Box(m, item(count), made);
  return made;
}
static wrong_value item(float x) { return pair(number(x), list(3, number)); }
static void tell(const char *what, int failed) {
  printf("%s: %s\\n", what, failed ? wrong_error(m) : "right");
}

int main(void) {
  static const int64_t negative[] = {2, -1}, empty[] = {0};
  static const int types[] = {wrong_float32, 0x999, -1};
  float x = 1;
  wrong_value result, none = NULL, b, c;
  m = wrong_new();
  for (int k = 0; k < 3; k++) {
    tell("type", !(b = wrong_tensor(m, types[k], 0, NULL, &x)));
    wrong_release(m, b);
  }
  tell("rank", !wrong_tensor(m, wrong_float32, -1, NULL, &x));
  tell("shape", !wrong_tensor(m, wrong_float32, 2, negative, &x));
  tell("no shape", !wrong_tensor(m, wrong_float32, 1, NULL, &x));
  tell("no elements", !wrong_tensor(m, wrong_float32, 0, NULL, NULL));
  tell("none needed", !(b = wrong_tensor(m, wrong_float32, 1, empty, NULL))), wrong_release(m, b);
  tell("none", !wrong_tuple(m, 1, &none));
  printf("%d %d %d %d %d\\n", wrong_type(none), wrong_rank(none), wrong_arity(none), wrong_constructor(none),
         (int)wrong_count(none) + !!wrong_data(none) + !!wrong_shape(none) + !!wrong_part(none, 0));
  wrong_release(m, wrong_keep(none));

  b = list(4, item);
  c = wrong_Both(m, list(2, number), wrong_cell(m, pair(list(100000, vector), number(1))));
  tell("program", wrong_run(m, b, c, &result));
  for (int k = 0; k < 3; k++) printf("%d ", *(const int *)wrong_data(wrong_part(result, k)));
  wrong_release(m, result);
  tell("swapped", wrong_run(m, c, b, &result));
  tell("NULL", wrong_run(m, b, NULL, &result));
  tell("field", !wrong_Both(m, list(2, vector), wrong_cell(m, pair(list(2, vector), number(1)))));
  tell("cell", !wrong_Both(m, list(2, number), wrong_cell(m, pair(list(100000, number), number(1)))));
  wrong_release(m, b);
  b = wrong_Box(m, pair(number(1), list(2, vector)), list(3, item));
  tell("deep", wrong_run(m, b, c, &result));
  wrong_release(m, b), wrong_release(m, c);
  printf("%d\\n", (int)wrong_live(m));
  wrong_end(m);
  m = NULL;
  int failed = wrong_run(NULL, none, none, &result) && !number(1) && !list(1, number);
  printf("%d %s\\n", failed, wrong_error(NULL));
  wrong_end(NULL);
}
"""


def test_c_code_that_is_wrong_is_told_so(tmp_path: Path) -> None:
    main = tmp_path / "main.c"
    main.write_text(WRONG_C)
    build_native(relay.parse(WRONG), name="wrong").link(tmp_path / "wrong", [main])
    must = "field number {} must be `{}`"
    assert run(tmp_path / "wrong", "cpu").splitlines() == [
        "type: right",
        *["type: the tensor cannot be created: its element type is not one of the header's"] * 2,
        "rank: the tensor cannot be created: its rank must be between 0 and 64",
        "shape: the tensor cannot be created: its shape has a negative size",
        "no shape: the tensor cannot be created: its shape is NULL",
        "no elements: the tensor cannot be created: its data is NULL",
        "none needed: right",
        "none: the tensor cannot be created: its data is NULL",
        "-1 -1 -1 -1 0",
        "program: right",
        "4 2 100000 swapped: the argument `%b` must be `Box[(float32, Box[float32])]`",
        "NULL: the argument `%c` must be `Both`",
        f"field: {must.format(0, 'Box[float32]')}",
        f"cell: {must.format(1, 'ref((Box[Tensor[(2), float32]], float32))')}",
        "deep: the argument `%b` must be `Box[(float32, Box[float32])]`",
        "0",
        "1 out of memory",
    ]


def run(program: Path, target: str, arguments: str = "") -> str:
    command = [str(program)] if target == "cpu" else ["qemu-aarch64", str(program)]
    return subprocess.run(
        command, input=arguments, capture_output=True, text=True, timeout=60, check=False
    ).stdout


def test_a_static_arm_program_knows_how_sentences_feel(tmp_path: Path) -> None:
    sentiment.link(tmp_path / "sentiment", "raspberry-pi-4")
    module = sentiment.module()
    exe = sentiment.build()
    lines = ["((the film) (is (not bad)))", "(very good)", "(not (a (wonderful story)))", "awful"]
    result = run(tmp_path / "sentiment", "raspberry-pi-4", "\n".join([*lines, "(good", "(a pie)"]) + "\n")
    expected = []
    for line in lines:
        tree = sentiment.parse(line)
        likely = exe(phrase(module, tree, sentiment.vectors()))[0]
        assert likely.argmax() - 2 == sentiment.mood(tree)
        expected.append(f"{sentiment.MOODS[likely.argmax()]}: {' '.join(f'{x:.3f}' for x in likely)}")
    expected += ["error: a parenthesis is not closed, or words stand alone", 'error: there is no word "pie"']
    assert result.splitlines() == expected


def test_most_sentences_are_understood() -> None:
    """Of those that it has not learned from; 95% when it was written."""
    module, exe = sentiment.module(), sentiment.build()
    learned = set(map(str, sentiment.sentences(0, 4000)))
    new = [tree for tree in sentiment.sentences(1, 300) if str(tree) not in learned]
    right = [
        exe(phrase(module, tree, sentiment.vectors())).argmax() - 2 == sentiment.mood(tree) for tree in new
    ]
    assert np.mean(right) > 0.9


def test_sentences_are_learned() -> None:
    """The gradient goes through the recursion over the tree. Compiled, it is the same; here it is not, since
    its kernels are many.
    """
    run = create_executor(mod=sentiment_training.with_gradient()).evaluate()

    def step(*args: Any) -> Any:
        loss, (sentence, mood, *derivatives) = run(*args)
        return loss.numpy(), (sentence, mood, *[d.numpy() for d in derivatives])

    _, losses = sentiment_training.train(count=32, epochs=4, step=step)
    assert losses[0] == pytest.approx(np.log(5), abs=0.5)
    assert losses[-1] < losses[0] - 0.1


@pytest.mark.parametrize("seed", [2, 4])
def test_random_programs(seed: int) -> None:
    module = generate(seed, size=60, closed=True).module
    expected = Interpreter(module).call("main", [])
    exe = build_native(module, opt_level=0)
    assert_same(to_value(exe()), expected, 1e-3, 1e-4)
    assert exe.library.live == 0


def test_what_only_python_computes_is_refused() -> None:
    """An operator of one's own, of which nothing but its NumPy meaning is known."""
    register("own.halved")
    op = Op.get("own.halved")
    op.inputs, op.relation = ("data",), IDENTITY
    op.reference = lambda attrs, x: x / 2
    try:
        module = relay.parse("def @main(%x: Tensor[(3), float32]) { own.halved(%x) }")
        with pytest.raises(RelayError) as caught:
            build_native(module)
    finally:
        Op.unregister("own.halved")
    assert "cannot be compiled ahead of time: `own.halved` is computed in Python" in str(caught.value)
    assert 'relay.op.get("own.halved").set_attr("FTVMCompute", ' in str(caught.value)


def test_names_that_mean_something_in_c(tmp_path: Path) -> None:
    """Constructors called as functions of the interface are, and parameters called as words of C."""
    module = relay.parse(
        "type T { run(float32), new, k0_add, int8 }\n"
        "def @main(%int: float32, %class: float32, %result: T) { (%int + %class, %result) }"
    )
    exe = build_native(module)
    new = module.get_type("T")[2]
    total, same = exe(1.0, 2.0, ConstructorValue(as_constructor(new).tag, [], as_constructor(new)))
    assert (total, repr(same)) == (3, "new")
    (tmp_path / "program.h").write_text(exe.header)
    for compiler, standard in (("gcc", "c99"), ("g++", "c++11")):
        command = [
            compiler,
            "-x",
            "c" if compiler == "gcc" else "c++",
            f"-std={standard}",
            "-Wall",
            "-Werror",
        ]
        subprocess.run([*command, "-fsyntax-only", str(tmp_path / "program.h")], check=True)
    assert "program_value program_new_(program *);" in exe.header
    with pytest.raises(RelayError, match='"while" is reserved in C'):
        build_native(module, name="while")
    with pytest.raises(RelayError, match='names that begin with "no_" are those of the program\'s own parts'):
        build_native(module, name="no")


def test_a_missing_tool_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    module = relay.parse("def @main(%x: float32) { tanh(%x) }")
    with pytest.raises(RelayError, match=r"needs a C compiler .*\n.*apt-get install gcc$"):
        build_native(module)
    with pytest.raises(RelayError, match=r"aarch64-linux-gnu-gcc, .*\n.*install gcc-aarch64-linux-gnu libc6"):
        build_native(module, "raspberry-pi-5")


def test_weights_that_a_recursion_hands_on_become_part_of_it() -> None:
    text = """
    def @main(%n: int32, %w: Tensor[(2), float32], %v: Tensor[(2), float32]) {
      (@f(%n, %w, %v, %w), @g(%v))
    }
    def @f(%n: int32, %w: Tensor[(2), float32], %v: Tensor[(2), float32], %x: Tensor[(2), float32])
        -> Tensor[(2), float32] {
      if (%n == 0) { %w } else { @f(%n - 1, %w, @g(%v), %x * %w) + %x }
    }
    def @g(%v: Tensor[(2), float32]) -> Tensor[(2), float32] { %v }
    """
    bound = with_params(relay.parse(text), {"w": np.ones(2, "float32")})
    result = with_constants_in(bound)
    assert [p.name_hint for p in result["f"].params] == ["n", "v", "x"]
    assert [p.name_hint for p in result["g"].params] == ["v"]
    args = [3, np.ones(2, "float32")]
    same(
        create_executor(mod=result).evaluate()(*args)[0].numpy(),
        create_executor(mod=bound).evaluate()(*args)[0],
    )
