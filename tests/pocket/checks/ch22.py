"""Chapter 22: the C of a kernel, naive and scheduled, computes what the interpreter computes."""

from __future__ import annotations

import ctypes

import numpy as np
from pocket import c_code, ir
from pocket.c_code import by_rows, c_function, compile_c
from pocket.interpreter import run
from pocket.ir import call
from pocket.loops import Kernel, nest
from pocket.printer import show
from pocket.types import TensorType

from tests.pocket.kernels import kernels


def var(name: str, *shape: int) -> ir.Var:
    return ir.Var(name, TensorType(shape))


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


def compiled(numbers: range) -> ctypes.CDLL:
    """Compile cases, each as its formulas say and as it is scheduled."""
    sources = []
    for n in numbers:
        for how in (nest, by_rows):
            sources.append(c_function(f"{how.__name__}{n}", cases[n][0], how))
    library: ctypes.CDLL = compile_c("\n".join(sources))
    return library


flags = c_code.FLAGS
c_code.FLAGS = flags.replace("-O3", "-O1")  # quick to compile
libraries = dict.fromkeys(range(60), compiled(range(60)))
c_code.FLAGS = flags
libraries |= dict.fromkeys(range(60, 64), compiled(range(60, 64)))

for n, (function, args, expected) in enumerate(cases):
    for how in ("nest", "by_rows"):
        result = np.full(np.shape(expected), 77, "float32")
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*args, result)]
        getattr(libraries[n], f"{how}{n}")(*pointers)
        assert np.allclose(result, expected, rtol=1e-4, atol=1e-5, equal_nan=True), (how, show(function))

# The loop over a row is within all reduction loops but one.
conv = next(stage for stage in Kernel(cases[60][0]).stages if stage[1].over)
variables = [line.strip()[9:11] for line in by_rows(conv) if "for" in line]
assert variables == ["i0", "i1", "i2", "i3", "k0", "k1", "i3", "k2"]
