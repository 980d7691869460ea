"""Runs that the tests of the evaluation view share, on both sides of it.

`python -m tests.views.runs` writes them as views into `frontend/test/data`, for the front end's tests.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from relay_explorer.execute import Evaluation, record
from relay_explorer.ir.module import IRModule
from relay_explorer.relay import prelude
from relay_explorer.text import parse
from relay_explorer.views.evaluation.view import evaluation_view
from relay_explorer.views.sharing.view import sharing_view

DATA = Path(__file__).parents[2] / "frontend" / "test" / "data"

TREE = """
type Tree { Leaf(float32), Node(Tree, Tree) }

def @sum(%t: Tree) -> float32 {
  match (%t) {
    Leaf(%v) => { %v },
    Node(%l, %r) => { add(@sum(%l), @sum(%r)) },
  }
}

def @main() {
  let %a = Leaf(1f);
  let %t = Node(Node(%a, Leaf(2f)), Node(%a, Node(Leaf(3f), Leaf(4f))));
  @sum(%t)
}
"""

MAP = """
def @main(%k: int32) {
  let %xs = Cons(1, Cons(2, Cons(3, Nil)));
  let %f = fn (%x: int32) -> int32 { multiply(%x, %k) };
  @map(%f, %xs)
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

CLOSURES = """
def @main(%x: Tensor[(2, 3), float32]) {
  let %two = 2f;
  let %scale = fn (%by: float32) { fn (%a: Tensor[(2, 3), float32]) { multiply(%a, %by) } };
  let %double = %scale(%two);
  let %down = fn (%i: int32) -> int32 { if (less(%i, 1)) { %i } else { %down(subtract(%i, 1)) } };
  let %n = if (less(%down(2), 1)) { %double(%x) } else { %x };
  (%double(%n), %n)
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


def module(text: str) -> IRModule:
    """Return the program, with the prelude where it uses it."""
    base = IRModule()
    if "Cons" in text or "List[" in text:
        prelude.Prelude(base)
    return parse(text, "run", base)


def evaluation(name: str) -> Evaluation:
    """Return the run called `name`."""
    import numpy

    runs: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
        "tree": (TREE, (), {}),
        "map": (MAP, (10,), {}),
        "cells": (CELLS, (4,), {}),
        "closures": (CLOSURES, (numpy.arange(6, dtype="float32").reshape(2, 3),), {}),
        "unmatched": (UNMATCHED, (), {}),
        "gap": (CELLS, (200,), {"limit": 40}),
        "endless": (ENDLESS, (0,), {"limit": 30, "budget": 1000}),
    }
    text, args, limits = runs[name]
    return record(module(text), *args, **limits)


SHARED = """
def @main(%x: Tensor[(4, 4), float32]) {
  %0 = exp(%x);
  %1 = tanh(%0);
  %2 = add(%1, %0);
  multiply(%2, %2)
}
"""

BRANCHES = """
def @main(%x: Tensor[(8), float32]) {
  %0 = exp(%x);
  let %f = fn (%y: Tensor[(8), float32]) { add(%y, %0) };
  %1 = less(sum(%x), 3f);
  %2 = if (%1) { %0 } else { tanh(%0) };
  multiply(%f(%2), %f(%x))
}
"""

DOUBLING = "def @main(%x: float32) {\n  %0 = add(%x, %x);\n" + "".join(
    f"  %{k} = add(%{k - 1}, %{k - 1});\n" for k in range(1, 20)
) + "  %19\n}\n"  # fmt: skip

SHARING = {"shared": SHARED, "branches": BRANCHES, "doubling": DOUBLING}
NAMES = ("tree", "map", "cells", "closures", "unmatched", "gap", "endless")


def sample(name: str) -> str:
    """Return the view as the JSON in `frontend/test/data`."""
    return evaluation_view(evaluation(name), name).to_json() + "\n"


def sharing_sample(name: str) -> str:
    """Return the same for the sharing view."""
    return sharing_view(parse(SHARING[name]), (), name).to_json() + "\n"


if __name__ == "__main__":
    DATA.mkdir(exist_ok=True)
    for each in SHARING:
        (DATA / f"sharing_{each}.json").write_text(sharing_sample(each), "utf-8", newline="\n")
    for each in NAMES:
        (DATA / f"evaluation_{each}.json").write_text(sample(each), "utf-8", newline="\n")
