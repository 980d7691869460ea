"""Programs whose memory the tests share, on both sides of the view.

`python -m tests.views.memories` writes their views into `frontend/test/data`, for the front end's tests.
"""

from __future__ import annotations

from pathlib import Path

from relay_explorer.text import parse
from relay_explorer.views.memory.format import MemoryView
from relay_explorer.views.memory.view import memory_view

DATA = Path(__file__).parents[2] / "frontend" / "test" / "data"

# A residual block: the input of the block is needed until its end.
BLOCK = """
def @main(%x: Tensor[(1, 8, 16, 16), float32], %w1: Tensor[(8, 8, 3, 3), float32],
          %w2: Tensor[(8, 8, 3, 3), float32], %b: Tensor[(8), float32]) {
  %0 = nn.relu(%x);
  %1 = nn.conv2d(%0, %w1, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);
  %2 = nn.bias_add(%1, %b);
  %3 = nn.relu(%2);
  %4 = nn.conv2d(%3, %w2, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);
  %5 = nn.bias_add(%4, %b);
  %6 = add(%5, %0);
  nn.relu(%6)
}
"""

# Large values of which only sums are wanted: it matters which is computed when. Fields, and a view.
WIDE = """
def @main(%x: Tensor[(4, 1024), float32]) {
  let %a = tanh(%x);
  let %b = exp(%x);
  let %c = reshape(sqrt(%x), newshape=[4096]);
  let %p = split(negative(%x), indices_or_sections=2, axis=0);
  let %s = sum(%a);
  let %t = sum(%b);
  let %u = sum(%c);
  let %v = sum(%p.1);
  (%s, %t, %u, %v, sum(%p.0))
}
"""

# Names with scopes of their own, and branches.
SCOPES = """
def @main(%c: bool, %x: Tensor[(64), float32]) {
  let %a = { let %t = tanh(%x); let %u = exp(%t); add(%t, %u) };
  let %y = if (%c) { let %z = negative(%a); multiply(%z, %z) } else { sqrt(%a) };
  let %n = concatenate((%y, %y));
  tanh(%n)
}
"""

SAMPLES = {"block": BLOCK, "wide": WIDE, "scopes": SCOPES}


def view(name: str) -> MemoryView:
    return memory_view(parse(SAMPLES[name]), name)


def sample(name: str) -> str:
    """Return the view as the JSON in `frontend/test/data`."""
    return view(name).to_json() + "\n"


if __name__ == "__main__":
    DATA.mkdir(exist_ok=True)
    for each in SAMPLES:
        (DATA / f"memory_{each}.json").write_text(sample(each), "utf-8", newline="\n")
