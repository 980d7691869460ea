"""Programs to start from: small ones of the book, each with the view in which the book shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

_NONE: Mapping[str, str | Sequence[str]] = MappingProxyType({})


class Example(NamedTuple):
    """A program with its title, the view that it starts in, and that view's options."""

    title: str
    view: str
    text: str
    options: Mapping[str, str | Sequence[str]] = _NONE


EXAMPLES = (
    Example(
        "A layer: its types",
        "types",
        """\
// A dense layer. Change a shape, and see which constraint fails.
def @main(%x: Tensor[(1, 784), float32], %w: Tensor[(10, 784), float32],
          %b: Tensor[(10), float32]) {
  let %y = nn.dense(%x, %w);
  let %z = nn.bias_add(%y, %b);
  nn.softmax(%z)
}
""",
    ),
    Example(
        "A type error",
        "types",
        """\
// The two operands of add do not fit. The explorer traces both shapes to their origin.
def @main(%x: Tensor[(8, 64), float32], %w: Tensor[(32, 64), float32],
          %skip: Tensor[(8, 64), float32]) {
  let %h = nn.relu(nn.dense(%x, %w));
  add(%h, %skip)
}
""",
    ),
    Example(
        "Sharing",
        "sharing",
        """\
// Each line uses the line before it twice. How often is %x's exp evaluated?
def @main(%x: float32) {
  %0 = exp(%x);
  %1 = add(%0, %0);
  %2 = multiply(%1, %1);
  add(%2, %2)
}
""",
    ),
    Example(
        "Fusion: a diamond",
        "fusion",
        """\
def @main(%x: Tensor[(1, 16, 32, 32), float32],
          %w: Tensor[(32, 16, 3, 3), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1]);
  %1 = nn.relu(%0);
  %2 = exp(%1);
  %3 = tanh(%0);
  %4 = add(%2, %3);
  %5 = mean(%4, axis=[1]);
  sqrt(%5)
}
""",
    ),
    Example(
        "A pipeline: a residual block",
        "pipeline",
        """\
def @main(%x: Tensor[(1, 64, 56, 56), float32],
          %w: Tensor[(64, 64, 3, 3), float32],
          %gamma: Tensor[(64), float32], %beta: Tensor[(64), float32],
          %mean: Tensor[(64), float32], %var: Tensor[(64), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1]);
  %1 = nn.batch_norm(%0, %gamma, %beta, %mean, %var);
  nn.relu(add(%1.0, %x))
}
""",
        {"passes": "SimplifyInference, FoldScaleAxis, FuseOps"},
    ),
    Example(
        "Partial evaluation: power",
        "partial",
        """\
// %n is static, %x is dynamic: the recursion is unrolled.
def @power(%x: float32, %n: int32) -> float32 {
  if (%n == 0) { 1f } else { %x * @power(%x, %n - 1) }
}
def @main(%x: float32) { @power(%x, 5) }
""",
    ),
    Example(
        "Partial evaluation: a tree",
        "partial",
        """\
type Tree { Leaf(float32), Node(Tree, Tree) }

def @sum(%t: Tree) -> float32 {
  match (%t) {
    Leaf(%v) => exp(%v),
    Node(%l, %r) => @sum(%l) + @sum(%r),
  }
}

def @main(%a: float32, %b: float32) {
  @sum(Node(Leaf(%a), Node(Leaf(%b), Leaf(1f))))
}
""",
    ),
    Example(
        "Gradients: two paths to one value",
        "gradient",
        """\
def @main(%x: Tensor[(4), float32], %w: Tensor[(4), float32]) {
  %0 = multiply(%x, %w);
  %1 = tanh(%0);
  %2 = multiply(%1, %0);
  sum(%2)
}
""",
    ),
    Example(
        "Evaluation: recursion and the stack",
        "evaluation",
        """\
// The addition waits for the call, so every call needs a frame.
def @main(%n: int32) -> int32 {
  if (%n == 0) { 0 } else { %n + @main(%n - 1) }
}
""",
        {"args": ["5"]},
    ),
    Example(
        "Evaluation: a loop until it settles",
        "evaluation",
        """\
def @settle(%h: Tensor[(1, 3), float32], %count: int32,
            %x: Tensor[(1, 3), float32], %w: Tensor[(3, 3), float32])
    -> (Tensor[(1, 3), float32], int32) {
  let %new = tanh(nn.dense(%h, %w) + %x);
  if (max(abs(%new - %h)) < 0.01f) { (%new, %count) }
  else { @settle(%new, %count + 1, %x, %w) }
}

def @main(%x: Tensor[(1, 3), float32], %w: Tensor[(3, 3), float32]) {
  @settle(zeros(shape=[1, 3], dtype="float32"), 1, %x, %w)
}
""",
        {"args": ["[[0.5, -0.2, 0.1]]", "[[0.2, 0.1, 0], [0, 0.3, 0.1], [0.1, 0, 0.2]]"]},
    ),
    Example(
        "Evaluation: a list",
        "evaluation",
        """\
type List[A] { Cons(A, List[A]), Nil }

def @map[A, B](%f: fn (A) -> B, %l: List[A]) -> List[B] {
  match (%l) {
    Cons(%x, %rest) => Cons(%f(%x), @map(%f, %rest)),
    Nil => Nil,
  }
}

def @main(%l: List[int32]) {
  let %square = fn (%a: int32) { %a * %a };
  @map(%square, %l)
}
""",
        {"args": ["Cons(3, Cons(1, Cons(4, Nil)))"]},
    ),
    Example(
        "A match with a gap",
        "ir",
        """\
// Which lists does no clause handle? The compiler answers with an example.
type List[A] { Cons(A, List[A]), Nil }

def @second(%l: List[int32]) -> int32 {
  match (%l) {
    Cons(_, Cons(%x, _)) => %x,
    Nil => 0,
  }
}
""",
    ),
    Example(
        "The virtual machine: a branch",
        "machine",
        """\
def @main(%n: int32, %x: float32) -> float32 {
  if (%n > 2) { exp(%x) } else { @main(%n + 1, %x * 2f) }
}
""",
        {"args": ["0", "0.5"]},
    ),
    Example(
        "Memory: which buffers are reused",
        "memory",
        """\
def @main(%x: Tensor[(1, 64, 56, 56), float32],
          %w: Tensor[(64, 64, 3, 3), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1]);
  %1 = nn.relu(%0);
  %2 = nn.max_pool2d(%1, pool_size=[2, 2], strides=[2, 2]);
  %3 = nn.global_avg_pool2d(%2);
  nn.softmax(nn.batch_flatten(%3))
}
""",
    ),
)
