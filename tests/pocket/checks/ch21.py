"""Chapter 21: the loops of a kernel, run as Python, compute what the interpreter computes."""

from __future__ import annotations

import numpy as np
from pocket import bridge, ir
from pocket.fusion import PATTERNS, TUPLE
from pocket.interpreter import run
from pocket.ir import call
from pocket.loops import FORMULAS, Kernel, nest
from pocket.printer import show
from pocket.types import TensorType

from relay_explorer import relay
from tests.pocket.kernels import extents, kernels, naive, run_loops

cases = list(kernels(60))
assert len(cases) == 60
lowered = [Kernel(function) for function, _, _ in cases]
results = run_loops(lowered, [args for _, args, _ in cases])
for (function, _, expected), kernel, result in zip(cases, lowered, results):
    right = np.allclose(result, expected, rtol=1e-4, atol=1e-5, equal_nan=True)
    assert right, "\n".join(["the loops compute something else:", show(function), *naive(kernel)])


def var(name: str, *shape: int) -> ir.Var:
    return ir.Var(name, TensorType(shape))


def check(body: ir.Node, *params: ir.Var) -> Kernel:
    """Lower an expression; its loops and the interpreter agree."""
    rng = np.random.default_rng(0)
    function = ir.Function(params, body, primitive=True)
    args = [rng.normal(size=p.type.shape).astype("float32") for p in params]
    kernel = Kernel(function)
    (result,) = run_loops([kernel], [args])
    right = np.allclose(result, run(ir.Module({"main": function}), *args), atol=1e-5)
    assert right, "\n".join(["the loops compute something else:", show(function), *naive(kernel)])
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
    # The padded image, the sums, the result.
    assert len(kernel.buffers) <= 3, f"more is stored than reductions and the result: {kernel.buffers}"
check(call("nn.max_pool2d", x, pool_size=(2, 3), strides=(2, 2)), x)
check(call("nn.max_pool2d", x, pool_size=(2, 3), strides=(2, 2), padding=(1, 1, 1, 2)), x)
for other in (c := var("c", 7), d := var("d", 6, 1)):
    check(call("divide", call("exp", x), call("sigmoid", other)), x, other)
check(call("nn.bias_add", x, c, axis=-1), x, c)

# A value that is used twice is stored; a sum is a loop of its own.
y = x
for _step in range(30):
    y = call("tanh", call("multiply", y, y))
assert sum(map(len, naive(check(y, x)))) < 20_000, "a value that is used twice is computed twice"
dense = check(call("nn.dense", a := var("a", 2, 5), k := var("k", 3, 5)), a, k)
lines = nest(dense.stages[-1])
assert extents(lines) == [2, 3, 5], "\n".join(["not one loop for each axis, the reduced one last:", *lines])

# NaN is kept.
nan = np.array([np.nan, -1, 2], "float32")
function = ir.Function((v := var("v", 3),), call("nn.relu", v), primitive=True)
(result,) = run_loops([Kernel(function)], [[nan]])
assert np.array_equal(result, [np.nan, 0, 2], equal_nan=True), f"relu of {nan} is {result}"

# What has no formula is refused, not computed wrongly.
for body in (
    call("nn.conv2d", x, w1 := var("w1", 3, 1, 3, 2), groups=3),
    call("nn.conv2d", x, w, dilation=(2, 2)),
    call("nn.max_pool2d", x, pool_size=(2, 2), strides=(4, 2), ceil_mode=True),
    call("power", x, x),
):
    function = ir.Function((x, w, w1), body, primitive=True)
    args = [np.random.default_rng(0).uniform(0.1, 1, p.type.shape).astype("float32") for p in (x, w, w1)]
    try:
        kernel = Kernel(function)
    except Exception:
        continue
    (result,) = run_loops([kernel], [args])
    plain = bridge.to_relay(ir.Module({"main": ir.Function((x, w, w1), body)}))
    expected = relay.create_executor(mod=plain).evaluate()(*args).numpy()
    right = result.shape == expected.shape and np.allclose(result, expected, atol=1e-5)
    assert right, f"neither refused nor computed as the package does: {show(body)}"
missing = FORMULAS.keys() - {name for name, kind in PATTERNS.items() if kind < TUPLE}
assert not missing, f"formulas of operators that the fuser does not know: {missing}"
