"""Chapter 21: the loops of a kernel, run as Python, compute what the interpreter computes."""

from __future__ import annotations

import numpy as np
from pocket import ir
from pocket.fusion import PATTERNS, TUPLE
from pocket.interpreter import run
from pocket.ir import call
from pocket.loops import FORMULAS, Kernel, nest
from pocket.types import TensorType

from tests.pocket.kernels import kernels, naive, python_lines, run_as_python

count = 0
for function, args, expected in kernels(60):
    result = run_as_python(Kernel(function), *args)
    assert np.allclose(result, expected, rtol=1e-4, atol=1e-5, equal_nan=True), function
    count += 1
assert count == 60


def var(name: str, *shape: int) -> ir.Var:
    return ir.Var(name, TensorType(shape))


def check(body: ir.Node, *params: ir.Var) -> Kernel:
    """Lower an expression; its loops and the interpreter agree."""
    rng = np.random.default_rng(0)
    function = ir.Function(params, body, primitive=True)
    args = [rng.normal(size=p.type.shape).astype("float32") for p in params]
    kernel = Kernel(function)
    assert np.allclose(run_as_python(kernel, *args), run(ir.Module({"main": function}), *args), atol=1e-5), (
        body
    )
    return kernel


x, w, b = var("x", 2, 3, 6, 7), var("w", 4, 3, 3, 2), var("b", 4)
for attrs in (
    {},
    {"strides": (2, 1)},
    {"padding": (1, 0, 2, 1)},
    {"padding": (2, 2, 2, 2), "strides": (3, 2)},
):
    conv = call("nn.conv2d", x, w, **attrs)
    kernel = check(call("nn.relu", call("nn.bias_add", conv, b)), x, w, b)
    assert len(kernel.buffers) == 3  # the padded image, the sums, the result
check(call("nn.max_pool2d", x, pool_size=(2, 3), strides=(2, 2)), x)
check(call("nn.max_pool2d", x, pool_size=(2, 3), strides=(2, 2), padding=(1, 1, 1, 2)), x)
for other in (c := var("c", 7), d := var("d", 6, 1)):
    check(call("divide", call("exp", x), call("sigmoid", other)), x, other)
check(call("nn.bias_add", x, c, axis=-1), x, c)

# A value that is used twice is stored; a sum is a loop of its own.
y = x
for _ in range(30):
    y = call("tanh", call("multiply", y, y))
assert sum(map(len, python_lines(naive(check(y, x))))) < 20_000
dense = check(call("nn.dense", a := var("a", 2, 5), k := var("k", 3, 5)), a, k)
i0, i1, first, k0, *rest = map(str.strip, nest(dense.stages[-1]))
assert [i0[9:11], i1[9:11], k0[9:11]] == ["i0", "i1", "k0"]
assert first == "s0[i0 * 3 + i1 * 1] = 0;"
assert "k0 < 5" in k0

# NaN is kept.
nan = np.array([np.nan, -1, 2], "float32")
function = ir.Function((v := var("v", 3),), call("nn.relu", v), primitive=True)
assert np.array_equal(run_as_python(Kernel(function), nan), [np.nan, 0, 2], equal_nan=True)

# What has no formula is refused, not computed wrongly.
for body in (
    call("nn.conv2d", x, w, groups=3),
    call("nn.conv2d", x, w, dilation=(2, 2)),
    call("nn.max_pool2d", x, pool_size=(2, 2), strides=(1, 1), ceil_mode=True),
    call("power", x, x),
):
    try:
        Kernel(ir.Function((x, w), body, primitive=True))
    except (KeyError, TypeError):
        continue
    raise AssertionError(body)
assert {name for name, kind in PATTERNS.items() if kind < TUPLE} >= set(FORMULAS)
