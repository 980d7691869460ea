"""Programs that the tests of views share."""

from __future__ import annotations

from relay_explorer.ir import IRModule
from relay_explorer.text import parse

SHARED = """
def @main(%x: Tensor[(3, 4), float32], %b: Tensor[(4), float32]) {
  %0 = add(%x, %b);
  %1 = tanh(%0);
  multiply(%1, %0)
}
"""

LETS = """
def @main(%x: Tensor[(2), float32], %c: bool) {
  let %f = fn (%a) {
    %0 = tanh(%a);
    add(%0, %a)
  };
  let %y = if (%c) { let %z = exp(%x); add(%z, %x) } else { %x };
  let %r = ref(%y);
  let %u = ref_write(%r, %f(%x));
  ref_read(%r)
}
"""

TREES = """
type Tree[A] {
  Leaf(A),
  Node(Tree[A], Tree[A]),
}

def @sum(%t: Tree[float32]) -> float32 {
  match (%t) {
    Leaf(%v) => { %v },
    Node(%l, %r) => { add(@sum(%l), @sum(%r)) },
  }
}

def @main(%v: float32) {
  @sum(Node(Leaf(%v), Leaf(1f)))
}
"""

ILL_TYPED = """
def @main(%x: Tensor[(1, 784), float32], %w: Tensor[(784, 128), float32]) {
  nn.dense(%x, %w, units=128)
}
"""

MARKUP = '</script><img src=x onerror="window.hacked=1">'


def program(text: str) -> IRModule:
    """Return the module of a text without a version line."""
    return parse(text)


def hostile() -> IRModule:
    """Return a program whose every name, and a string attribute, is markup."""
    from relay_explorer import relay
    from relay_explorer.ir import Function, Let

    x = relay.var(f"x{MARKUP}", shape=(2, 2))
    y = relay.var(f"y{MARKUP}")
    body = Let(y, relay.tanh(x), relay.add(y, x))
    module = IRModule()
    module[f"main{MARKUP}"] = Function([x], body, attrs={f"note{MARKUP}": MARKUP})
    return module
