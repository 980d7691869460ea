"""Small networks with random weights, and data for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from relay_explorer.execute import Executor
from relay_explorer.ir import Call, Expr, Function, IRModule, Op, post_order
from relay_explorer.text import parse

Array = Any
Params = dict[str, Array]
Inputs = list[dict[str, Array]]

CONVOLUTIONS = """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3, 8, 8), float32], %w1: Tensor[(8, 3, 3, 3), float32], %b1: Tensor[(8), float32],
          %w2: Tensor[(8, 8, 3, 3), float32], %w3: Tensor[(10, 32), float32], %b3: Tensor[(10), float32]) {
  %0 = nn.conv2d(%x, %w1, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);
  %1 = nn.relu(nn.bias_add(%0, %b1));
  %2 = nn.max_pool2d(%1, pool_size=[2, 2], strides=[2, 2]);
  %3 = nn.conv2d(%2, %w2, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);
  %4 = nn.relu(add(%3, %2));
  %5 = nn.avg_pool2d(%4, pool_size=[2, 2], strides=[2, 2]);
  nn.bias_add(nn.dense(nn.batch_flatten(%5), %w3, units=10), %b3)
}
"""
PERCEPTRON = """#[version = "0.0.5"]
def @main(%x: Tensor[(4, 64), float32], %w1: Tensor[(96, 64), float32], %b1: Tensor[(96), float32],
          %w2: Tensor[(10, 96), float32], %b2: Tensor[(10), float32]) {
  %0 = nn.relu(nn.bias_add(nn.dense(%x, %w1, units=96), %b1));
  nn.bias_add(nn.dense(%0, %w2, units=10), %b2)
}
"""


def network(text: str = CONVOLUTIONS, seed: int = 0) -> tuple[IRModule, Params, Inputs]:
    """Return a program, random values for all parameters but the first, and four random inputs."""
    mod = parse(text)
    random = np.random.default_rng(seed)
    main = mod["main"]
    assert isinstance(main, Function)
    data, *weights = main.params
    params = {p.name_hint: normal(random, shape(p)) * 0.3 for p in weights}
    return mod, params, [{data.name_hint: normal(random, shape(data))} for _ in range(4)]


def shape(param: Expr) -> Sequence[int]:
    type_: Any = param.checked_type
    extents: Sequence[int] = type_.concrete_shape
    return extents


def normal(random: np.random.Generator, extents: Sequence[int]) -> Array:
    return random.normal(size=extents).astype("float32")


def run(mod: IRModule, *args: Any, **named: Any) -> Array:
    """Run `@main` in the interpreter."""
    result: Array = Executor("debug", mod).evaluate()(*args, **named).numpy()
    return result


def decibels(expected: Array, actual: Array) -> float:
    """Return the ratio of signal to noise."""
    signal = expected.astype("float64")
    noise = ((signal - actual) ** 2).sum()
    return float("inf") if noise == 0 else 10 * float(np.log10((signal**2).sum() / noise))


def operators(mod: IRModule, name: str = "main") -> list[str]:
    """Return the names of the operators that a function calls, in post-order."""
    return [n.op.name for n in post_order(mod[name]) if isinstance(n, Call) and isinstance(n.op, Op)]


def types_of(mod: IRModule, operator: str) -> list[str]:
    """Return the element types of the results of an operator's calls."""
    calls: list[Any] = [
        n.checked_type
        for n in post_order(mod["main"])
        if isinstance(n, Call) and getattr(n.op, "name", "") == operator
    ]
    return [type_.dtype for type_ in calls]


def naive_divergence(counts: Array, width: int, levels: int, smoothing: float = 1e-4) -> float:
    """Compute one candidate of KL calibration bin by bin, as its definition says."""
    middle = len(counts) // 2
    start, stop = middle - width, middle + width + 1
    p = [float(c) for c in counts[start:stop]]
    merged = len(p) // levels
    inside = [0.0, *p[1:]]
    p[0] = float(counts[: start + 1].sum())
    p[-1] += float(counts[stop:].sum())
    q = [0.0] * len(p)
    for level in range(levels):
        first = level * merged
        last = len(p) if level == levels - 1 else first + merged
        filled = sum(1 for c in inside[first:last] if c)
        for k in range(first, last):
            if filled and p[k]:
                q[k] = sum(inside[first:last]) / filled

    def smooth(values: list[float]) -> list[float] | None:
        empty = sum(1 for v in values if not v)
        if empty == len(values):
            return None
        share = smoothing * empty / (len(values) - empty)
        return None if share >= 1 else [v - share if v else smoothing for v in values]

    a, b = smooth(p), smooth(q)
    if a is None or b is None:
        return float("inf")
    return float(sum(x / sum(a) * np.log(x / sum(a) / (y / sum(b))) for x, y in zip(a, b)))
