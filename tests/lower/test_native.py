"""Ahead of time: native programs agree with the interpreter, and give back all memory that they took."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.execute import create_executor
from relay_explorer.execute.results import ConstructorValue
from relay_explorer.ir import IRModule
from relay_explorer.ir.errors import RelayError
from relay_explorer.lower.native import NativeExecutable, build_native

LIST = "type List { Nil, Cons(int32, List), }\n"

PROGRAMS = {
    "layer": (
        "def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(16, 3), float32]) {"
        " (nn.relu(add(nn.dense(%x, %w), 1f)), %x) }",
        [np.arange(-3, 3, dtype="float32").reshape(2, 3), np.ones((16, 3), "float32")],
    ),
    # A loop in constant memory, and a recursion that is far deeper than C's stack is.
    "loop": (
        "def @main(%n: int32) -> int32 { @sum(%n, 0) }\n"
        "def @sum(%n: int32, %so_far: int32) -> int32 {"
        " if (%n == 0) { %so_far } else { @sum(%n - 1, %so_far + %n) } }",
        [100_000],
    ),
    "deep": (
        "def @main(%n: int32) -> int32 { if (%n == 0) { 0 } else { %n + @main(%n - 1) } }",
        [100_000],
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
    """Runs a module both ways."""
    exe = exe or build_native(module)
    for _ in range(2):  # the second run finds the memory of the first
        same(exe(*args), create_executor(mod=module).evaluate()(*args))
        assert exe.library.live == 0
    return exe


def same(found: Any, wanted: Any) -> None:
    pending = [(found, wanted)]
    while pending:
        found, wanted = pending.pop()
        if isinstance(wanted, tuple):
            assert len(found) == len(wanted)
            pending += zip(found, wanted)
        elif isinstance(wanted, ConstructorValue):
            assert found.constructor.name_hint == wanted.constructor.name_hint
            pending += zip(found.fields, wanted.fields)
        else:
            found = found if isinstance(found, np.ndarray) else found.numpy()
            assert (found.dtype, found.shape) == (wanted.numpy().dtype, wanted.shape)
            np.testing.assert_allclose(found, wanted.numpy(), 1e-5, 1e-5)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_native_program_agrees_with_the_interpreter(name: str) -> None:
    text, args = PROGRAMS[name]
    compared(relay.parse(text), args)


def test_a_tree_lstm_reads_a_tree() -> None:
    from relay_explorer.models.tree_lstm import phrase, tree_lstm
    from relay_explorer.typing import infer_types

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
        exe(ConstructorValue(nil.tag, [], nil))
    assert "no clause of the match fits" in str(caught.value)
    assert exe.library.live == 0
