"""Programs whose fusion the tests share, on both sides of the view.

`python -m tests.views.fusions` writes them as views into `frontend/test/data`, for the front end's tests.
"""

from __future__ import annotations

from pathlib import Path

from relay_explorer.text import parse
from relay_explorer.views.fusion.view import fusion_view

DATA = Path(__file__).parents[2] / "frontend" / "test" / "data"

# One kernel of five operators with a fork inside it, then two that end one.
DIAMOND = """
def @main(%x: Tensor[(1, 16, 32, 32), float32], %w: Tensor[(16, 16, 3, 3), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=16, kernel_size=[3, 3]);
  %1 = nn.relu(%0);
  %2 = tanh(%0);
  %3 = exp(%1);
  %4 = add(%3, %2);
  %5 = mean(%4, axis=[1]);
  sqrt(%5)
}
"""

# A kernel whose rows are not together: between the first product and the sum stands the second product.
APART = """
def @main(%x: Tensor[(4, 8), float32], %h: Tensor[(4, 8), float32], %w: Tensor[(8, 8), float32]) {
  %0 = nn.dense(%x, %w, units=8);
  %1 = nn.dense(%h, %w, units=8);
  %2 = add(%0, %1);
  %3 = tanh(%2);
  add(multiply(%3, 2f), %2)
}
"""

# An operator stands in the way of a merge.
OBSTACLE = """
def @main(%x: Tensor[(4, 4), float32], %w: Tensor[(4, 4), float32]) {
  %0 = exp(%x);
  %1 = nn.dense(%0, %w, units=4);
  add(%1, %0)
}
"""

# Tuples: nothing joins one before it is inside a kernel itself.
JOINED = """
def @main(%x: Tensor[(4, 4), float32]) {
  %0 = exp(%x);
  %1 = tanh(%x);
  %2 = (%0, %1);
  %3 = concatenate(%2, axis=1);
  %4 = split(%3, indices_or_sections=2, axis=1);
  (%4.0, %4.1)
}
"""

# A variable, what it is bound to, and the `let` itself have one row; there are a function and branches.
BOUND = """
def @main(%x: Tensor[(4, 4), float32], %c: bool) {
  let %y = exp(%x);
  let %f = fn (%z: Tensor[(4, 4), float32]) { let %q = tanh(%z); add(%q, %y) };
  let %r = if (%c) { let %a = nn.relu(%y); multiply(%a, %a) } else { %f(%y) };
  let %s = sum(%r, axis=[1]);
  (%s, sqrt(%r))
}
"""

# Two functions that compute something, and one that does not.
CALLED = """
def @step(%x: Tensor[(4, 8), float32], %h: Tensor[(4, 8), float32], %w: Tensor[(8, 8), float32]) {
  %0 = nn.dense(%x, %w, units=8);
  %1 = nn.dense(%h, %w, units=8);
  tanh(add(%0, %1))
}
def @main(%x: Tensor[(4, 8), float32], %h: Tensor[(4, 8), float32], %w: Tensor[(8, 8), float32]) {
  let %next = @step(%x, %h, %w);
  let %out = @step(%x, %next, %w);
  exp(multiply(%out, 2f))
}
def @same(%x: float32) -> float32 { %x }
"""

PROGRAMS = {
    "diamond": DIAMOND, "apart": APART, "obstacle": OBSTACLE, "joined": JOINED, "bound": BOUND,
    "called": CALLED,
}  # fmt: skip


def sample(name: str) -> str:
    """Return the view as the JSON in `frontend/test/data`."""
    return fusion_view(parse(PROGRAMS[name]), title=name).to_json() + "\n"


if __name__ == "__main__":
    DATA.mkdir(exist_ok=True)
    for each in PROGRAMS:
        (DATA / f"fusion_{each}.json").write_text(sample(each), "utf-8", newline="\n")
