# %%
import ctypes
import subprocess
from math import prod
from tempfile import TemporaryDirectory

from pocket.loops import Kernel, around, nest, parts


def by_rows(stage):
    """Move the loop over a row into all reduction loops but the last."""
    i, k, first, update = parts(stage)
    if len(k) < 2:
        return nest(stage)
    row, order = i[-1:], [*k[:-1], i[-1], k[-1]]
    return around(i[:-1], around(row, first) + around(order, update))


# %%
def c_function(name, function, loops_of=by_rows):
    """Write a kernel as a C function; its last argument is the result."""
    kernel, params = Kernel(function), range(len(function.params))
    inputs = "".join(f"const float *restrict p{n}, " for n in params)
    *inner, (result, _) = kernel.buffers.items()
    lines = [f"static float {s}[{prod(shape)}];" for s, shape in inner]
    for stage in kernel.stages:
        lines += loops_of(stage)
    head = f"void {name}({inputs}float *restrict {result}) {{"
    return "\n  ".join([head, *lines]) + "\n}\n"


# %%
FLAGS = """-O3 -march=native -shared -fPIC -fassociative-math
    -fno-signed-zeros -fno-trapping-math -x c - -o kernels.so -lm"""
HEADER = """#include <tgmath.h>
static float max(float a, float b) { return a > b || a != a ? a : b; }
"""


def compile_c(source):
    """Compile C code to a library, and load it."""
    with TemporaryDirectory() as folder:
        command, code = ["cc", *FLAGS.split()], (HEADER + source).encode()
        subprocess.run(command, input=code, cwd=folder, check=True)
        return ctypes.CDLL(f"{folder}/kernels.so")
