"""Runs of the virtual machine that the tests share, on both sides of the view.

`python -m tests.views.machines` writes them as views into `frontend/test/data`, for the front end's tests.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from relay_explorer.ir.module import IRModule
from relay_explorer.relay import prelude
from relay_explorer.text import parse
from relay_explorer.views.machine.format import MachineView
from relay_explorer.views.machine.view import machine_view

DATA = Path(__file__).parents[2] / "frontend" / "test" / "data"

TREE = """
type Tree { Leaf(Tensor[(2), float32]), Node(Tree, Tree) }

def @fold(%t: Tree, %w: Tensor[(2), float32]) -> Tensor[(2), float32] {
  match (%t) {
    Leaf(%v) => { multiply(%v, %w) },
    Node(%l, %r) => {
      %0 = add(@fold(%l, %w), @fold(%r, %w));
      tanh(%0)
    },
  }
}

def @main(%w: Tensor[(2), float32]) {
  let %a = Leaf(%w);
  @fold(Node(Node(%a, Leaf(%w)), %a), %w)
}
"""

CELLS = """
def @count(%i: int32, %total: ref(int32)) -> int32 {
  if (equal(%i, 0)) {
    ref_read(%total)
  } else {
    let %u = ref_write(%total, add(ref_read(%total), %i));
    @count(subtract(%i, 1), %total)
  }
}

def @main(%n: int32) {
  let %total = ref(0);
  let %sum = @count(%n, %total);
  (%sum, %total)
}
"""

MAP = """
def @main(%k: int32) {
  let %xs = Cons(1, Cons(2, Cons(3, Nil)));
  let %f = fn (%x: int32) -> int32 { multiply(%x, %k) };
  @map(%f, %xs)
}
"""

LAYERS = """
def @main(%x: Tensor[(1, 16), float32], %w: Tensor[(16, 16), float32], %v: Tensor[(8, 16), float32]) {
  %0 = nn.dense(%x, %w);
  %1 = nn.relu(%0);
  %2 = nn.dense(%1, %w);
  %3 = nn.relu(%2);
  %4 = nn.dense(%3, %v);
  nn.softmax(%4)
}
"""

UNMATCHED = """
def @last(%xs: List[int32]) -> int32 {
  match? (%xs) {
    Cons(%x, Cons(%y, %rest)) => { @last(Cons(%y, %rest)) },
    Cons(%x, Nil) => { %x },
  }
}

def @main() { add(@last(Cons(1, Cons(2, Nil))), @last(Nil)) }
"""

ENDLESS = """
def @main(%n: int32) -> int32 { add(@main(add(%n, 1)), 1) }
"""

PROGRAMS = {
    "tree": TREE,
    "cells": CELLS, "map": MAP, "layers": LAYERS, "unmatched": UNMATCHED, "gap": CELLS, "endless": ENDLESS,
}  # fmt: skip
NAMES = tuple(PROGRAMS)


def module(text: str) -> IRModule:
    """Return the program, with the prelude where it uses it."""
    base = IRModule()
    if "Cons" in text:
        prelude.Prelude(base)
    return parse(text, "run", base)


def arguments(name: str) -> tuple[Any, ...]:
    """Return the arguments of the program."""
    import numpy

    def numbers(*shape: int) -> Any:
        return (numpy.arange(numpy.prod(shape)) % 5 / 4).astype("float32").reshape(shape)

    return {
        "tree": (numpy.array([0.5, -1], "float32"),), "cells": (4,), "map": (10,), "unmatched": (),
        "layers": (numbers(1, 16), numbers(16, 16), numbers(8, 16)), "gap": (60,), "endless": (0,),
    }[name]  # fmt: skip


@cache
def view(name: str) -> MachineView:
    """Return the view of the run called `name`."""
    limit = {"gap": 60, "endless": 40}.get(name)
    return machine_view(module(PROGRAMS[name]), arguments(name), name, limit)


def sample(name: str) -> str:
    """Return the view as the JSON in `frontend/test/data`."""
    return view(name).to_json() + "\n"


if __name__ == "__main__":
    DATA.mkdir(exist_ok=True)
    for name in NAMES:
        (DATA / f"machine_{name}.json").write_text(sample(name), "utf-8")
