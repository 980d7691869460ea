"""Programs whose gradients the tests share, on both sides of the view.

`python -m tests.views.gradients` writes them as views into `frontend/test/data`, for the front end's tests.
"""

from __future__ import annotations

from pathlib import Path

from relay_explorer import models
from relay_explorer.text import parse
from relay_explorer.views.gradient.view import gradient_view

DATA = Path(__file__).parents[2] / "frontend" / "test" / "data"

# One layer and a squared error: a value that is used twice by one operator, one kept only for its shape.
LAYER = """
def @main(%x: Tensor[(1, 4), float32], %w: Tensor[(3, 4), float32], %b: Tensor[(3), float32],
          %t: Tensor[(1, 3), float32]) {
  let %h = nn.dense(%x, %w, units=3);
  let %z = nn.bias_add(%h, %b);
  let %y = tanh(%z);
  let %e = subtract(%y, %t);
  let %q = multiply(%e, %e);
  let %loss = sum(%q);
  %loss
}
"""

# Two uses by two operators, that of a stretched vector, and a parameter that does not matter.
FORK = """
def @main(%x: Tensor[(2, 3), float32], %s: Tensor[(3), float32], %i: Tensor[(2), int32]) {
  let %a = exp(%x);
  let %b = multiply(%a, %s);
  let %c = sigmoid(%a);
  let %d = add(%b, %c);
  mean(%d)
}
"""

# Tuples: made, and taken apart again; a result that is one.
PARTS = """
def @main(%x: Tensor[(4, 6), float32]) {
  let %p = split(%x, indices_or_sections=3, axis=1);
  let %a = %p.0;
  let %b = tanh(%p.2);
  let %t = (%a, %b);
  let %j = concatenate(%t, axis=1);
  (sum(multiply(%j, %j)), %a)
}
"""

# What is chosen between two numbers does not move: there is a block that the backward pass does not enter.
CHOICE = """
def @main(%x: float32, %n: int32) {
  let %k = if (greater(%x, cast(%n, dtype="float32"))) { let %two = 2f; multiply(%two, %two) } else { 5f };
  multiply(%x, %k)
}
"""

PROGRAMS = {"layer": LAYER, "fork": FORK, "parts": PARTS, "choice": CHOICE}


def sample(name: str) -> str:
    """Return the view as the JSON in `frontend/test/data`."""
    module = parse(PROGRAMS[name]) if name in PROGRAMS else models.load(name)
    return gradient_view(module, title=name).to_json() + "\n"


NAMES = (*PROGRAMS, "lenet")

if __name__ == "__main__":
    DATA.mkdir(exist_ok=True)
    for name in NAMES:
        (DATA / f"gradient_{name}.json").write_text(sample(name), "utf-8")
