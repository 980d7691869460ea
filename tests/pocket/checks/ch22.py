"""Chapter 22: the C of a kernel, naive and scheduled, computes what the interpreter computes."""

from __future__ import annotations

import ctypes

import numpy as np
from pocket import ir
from pocket.c_code import by_rows, c_function, compile_c
from pocket.interpreter import run
from pocket.ir import call
from pocket.loops import Kernel, nest
from pocket.printer import show
from pocket.types import TensorType

from tests.pocket.kernels import extents, kernels, quick_to_compile


def var(name: str, *shape: int) -> ir.Var:
    return ir.Var(name, TensorType(shape))


def checked(n: int, how: str, args: list[np.ndarray], expected: np.ndarray) -> None:
    """Run a compiled case, and compare its result."""
    result = np.full(np.shape(expected), 77, "float32")
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*args, result)]
    getattr(libraries[n], f"{how}{n}")(*pointers)
    wrong = ~np.isclose(result, expected, rtol=1e-4, atol=1e-5, equal_nan=True)
    if wrong.any():
        text = c_function("kernel", cases[n][0], {"nest": nest, "by_rows": by_rows}[how])
        at = tuple(map(int, np.argwhere(wrong)[0]))
        values = f"element {at} is {result[at]}, and should be {expected[at]}"
        raise AssertionError(f"{text}\nis wrong, by {how}: {values}, of\n{show(cases[n][0])}")


cases = list(kernels(60))
assert len(cases) == 60
x, w, b = var("x", 1, 3, 20, 20), var("w", 6, 3, 5, 5), var("b", 6)
v, m = var("v", 1, 512), var("m", 500, 512)
conv = call("nn.relu", call("nn.bias_add", call("nn.conv2d", x, w, padding=(2, 2, 2, 2)), b))
for params, body in [
    ((x, w, b), conv),
    ((x,), call("nn.max_pool2d", x, pool_size=(2, 2), strides=(2, 2))),
    ((v, m), call("tanh", call("nn.dense", v, m))),
    ((x, w), call("nn.conv2d", x, w, strides=(2, 1))),
]:
    rng = np.random.default_rng(0)
    function = ir.Function(params, body, primitive=True)
    args = [rng.normal(size=p.type.shape).astype("float32") for p in params]
    cases.append((function, args, run(ir.Module({"main": function}), *args)))

# NaN is kept, as NumPy does it.
p, q = var("p", 3), var("q", 3)
nan = [np.array([np.nan, -1, 2], "float32"), np.array([1, np.nan, 3], "float32")]
for body in (call("nn.relu", p), call("maximum", p, q), call("tanh", call("add", p, q))):
    function = ir.Function((p, q), body, primitive=True)
    cases.append((function, nan, run(ir.Module({"main": function}), *nan)))


def compiled(numbers: range) -> ctypes.CDLL:
    """Compile cases, each as its formulas say and as it is scheduled."""
    sources = []
    for n in numbers:
        for how in (nest, by_rows):
            sources.append(c_function(f"{how.__name__}{n}", cases[n][0], how))
    library: ctypes.CDLL = compile_c("\n".join(sources))
    return library


with quick_to_compile():
    libraries = dict.fromkeys(range(60), compiled(range(60)))
libraries |= dict.fromkeys(range(60, 67), compiled(range(60, 67)))

for n, (_, args, expected) in enumerate(cases):
    for how in ("nest", "by_rows"):
        checked(n, how, args, expected)

# The loop over a row (of 20 elements) is within all reduction loops (3 channels, 5 by 5) but one.
loops = [list(extents(by_rows(stage))) for stage in Kernel(cases[60][0]).stages]
deepest = " ".join(map(str, sorted(loops, key=len)[-1]))
assert "3 5 20 5" in deepest, f"the loops of the convolution have the extents {deepest}"
