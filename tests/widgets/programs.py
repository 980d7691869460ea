"""What the tests of explorers show."""

from __future__ import annotations

SMALL = """
def @main(%x: Tensor[(3, 4), float32]) {
  let %f = fn (%a) { %0 = tanh(%a); add(%0, %a) };
  %f(exp(%x))
}
"""
