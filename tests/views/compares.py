"""Pairs of programs whose comparison the tests share, on both sides of the view.

`python -m tests.views.compares` writes them as views into `frontend/test/data`, for the front end's tests.
"""

from __future__ import annotations

from pathlib import Path

from relay_explorer import models
from relay_explorer.ir.module import IRModule
from relay_explorer.text import parse
from relay_explorer.transform import Sequential
from relay_explorer.views.compare.format import CompareView
from relay_explorer.views.compare.view import compare_view

DATA = Path(__file__).parents[2] / "frontend" / "test" / "data"

BEFORE = """
def @main(%x: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(4, 3, 3, 3), float32]) {
  let %y = nn.conv2d(%x, %w, padding=[1, 1], channels=4, kernel_size=[3, 3]);
  let %z = nn.relu(%y);
  let %t = exp(%z);
  let %q = sigmoid(%x);
  let %s = sum(%q);
  let %a = add(%t, %s);
  let %b = negative(%a);
  let %c = abs(%b);
  let %d = ceil(%c);
  let %e = floor(%d);
  let %f = tanh(%e);
  (%f, %q)
}
"""

# Another padding, another operator, a line moved to the front, one less, one more.
AFTER = """
def @main(%x: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(4, 3, 3, 3), float32]) {
  let %q = sigmoid(%x);
  let %y = nn.conv2d(%x, %w, padding=[0, 0], channels=4, kernel_size=[3, 3]);
  let %z = sqrt(%y);
  let %t = exp(%z);
  let %s = sum(%q);
  let %a = add(%t, %s);
  let %b = negative(%a);
  let %c = abs(%b);
  let %d = ceil(%c);
  let %n = log(%d);
  (%n, %q)
}
"""


def hand() -> CompareView:
    return compare_view(parse(BEFORE), parse(AFTER), ("before", "after"))


def batch() -> CompareView:
    """A program whose signature differs, and the types of all its rows."""
    return compare_view(parse(BEFORE), parse(BEFORE.replace("(1, 3, 8", "(2, 3, 8")), ("one", "two"))


def passes() -> CompareView:
    module = models.load("mobilenet")
    return compare_view(
        module,
        Sequential("SimplifyInference")(module),
        ("mobilenet", "after SimplifyInference"),
        passes="SimplifyInference",
    )


def same() -> CompareView:
    module: IRModule = parse(BEFORE)
    return compare_view(module, parse(BEFORE.replace("%z", "%other")), ("before", "renamed"))


SAMPLES = {"hand": hand, "batch": batch, "passes": passes, "same": same}


def sample(name: str) -> str:
    """Return the view as the JSON in `frontend/test/data`."""
    return SAMPLES[name]().to_json() + "\n"


if __name__ == "__main__":
    for name in SAMPLES:
        (DATA / f"compare_{name}.json").write_text(sample(name), "utf-8")
