"""Programs whose partial evaluation the tests share, on both sides of the view.

`python -m tests.views.partials` writes them as views into `frontend/test/data`, for the front end's tests.
"""

from __future__ import annotations

from pathlib import Path

from relay_explorer.text import parse
from relay_explorer.transform.partial_evaluate.record import LIMIT
from relay_explorer.views.partial.view import partial_view

DATA = Path(__file__).parents[2] / "frontend" / "test" / "data"

# A recursion over a known number.
POWER = """
def @power(%x: float32, %n: int32) -> float32 {
  if (equal(%n, 0)) { 1f } else { multiply(%x, @power(%x, subtract(%n, 1))) }
}
def @main(%x: float32) { @power(%x, 3) }
"""

# A known tree with unknown leaves, beside an `if` that nobody can decide; a function value and a cell.
TREE = """
type Tree { Leaf(float32), Node(Tree, Tree) }
def @sum(%t: Tree) -> float32 {
  match (%t) { Leaf(%v) => { exp(%v) }, Node(%l, %r) => { add(@sum(%l), @sum(%r)) } }
}
def @main(%a: float32, %b: float32, %n: int32) {
  let %cell = ref(%a);
  let %f = fn (%z: float32) { let %w = ref_write(%cell, %z); multiply(%z, 2f) };
  let %q = %f(%b);
  let %s = if (greater(%n, 2)) { @sum(Node(Leaf(%q), Node(Leaf(%b), Leaf(1f)))) } else { ref_read(%cell) };
  (%s, add(multiply(3f, 2f), %a), ref_read(%cell), %f)
}
"""

# What stays a call: a recursion that nothing ends, a function that is not known; a choice among clauses.
STAYS = """
type Shape { Round(float32), Square(float32), Point }
def @loop(%x: float32) -> float32 { @loop(%x) }
def @area(%s: Shape) -> float32 {
  match (%s) { Round(%r) => { multiply(%r, 3f) }, Square(%a) => { multiply(%a, %a) }, Point => { 0f } }
}
def @main(%f: fn (float32) -> float32, %s: Shape, %r: ref(float32)) {
  let %u = ref_write(%r, 1f);
  let %y = add(@area(%s), ref_read(%r));
  (%f(%y), @loop(2f), %u)
}
"""

PROGRAMS = {"power": POWER, "tree": TREE, "stays": STAYS, "gap": POWER}


def sample(name: str) -> str:
    """Return the view as the JSON in `frontend/test/data`."""
    limit = 12 if name == "gap" else LIMIT
    return partial_view(parse(PROGRAMS[name]), name, limit).to_json() + "\n"


if __name__ == "__main__":
    DATA.mkdir(exist_ok=True)
    for each in PROGRAMS:
        (DATA / f"partial_{each}.json").write_text(sample(each), "utf-8", newline="\n")
