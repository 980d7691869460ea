"""Count the instructions that layers execute on ARM processors, in float32 and in 8-bit integers, under QEMU.

python -m benchmarks.arm_integers        (needs qemu-user and gcc-aarch64-linux-gnu)
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import report, table
from relay_explorer import relay
from relay_explorer.ir.expr import Call, Function, Var
from relay_explorer.ir.module import IRModule
from relay_explorer.lower.build import build_native
from relay_explorer.lower.inspect.executed import Executed, executed

BOARDS = {"raspberry-pi-4": "cortex-a72", "raspberry-pi-5": "max"}  # QEMU's names of the processors
SCHEMES = {"float32": ("float32", "float32"), "8/32": ("int8", "int32"), "8/16": ("int8", "int16")}
RANDOM = np.random.default_rng(0)
MAIN = """
#include "layer.h"
int main(void) {
  static const int64_t shape[] = {SHAPE};
  static char bytes[BYTES];
  layer *m = layer_new();
  layer_value result, x = layer_tensor(m, layer_TYPE, RANK, shape, bytes);
  return layer_run(m, x, &result);
}
"""


def constant(shape: tuple[int, ...], dtype: str) -> Any:
    return relay.const(RANDOM.integers(-127, 128, shape).astype(dtype))


def convolution(x: Var, kernel: int, dtype: str, out: str) -> Call:
    weight = constant((64, 64, kernel, kernel), dtype)
    return relay.nn.conv2d(x, weight, padding=(kernel // 2,) * 2, out_dtype=out)


def depthwise(x: Var, dtype: str, out: str) -> Call:
    return relay.nn.conv2d(x, constant((64, 1, 3, 3), dtype), padding=(1, 1), groups=64, out_dtype=out)


def dense(x: Var, dtype: str, out: str) -> Call:
    return relay.nn.dense(x, constant((1024, 1024), dtype), out_dtype=out)


IMAGE = (1, 64, 28, 28)
# The shape of the data, the function that builds the layer, and its multiplications and additions.
LAYERS: dict[str, tuple[tuple[int, ...], Any, int]] = {
    "convolution 3 × 3": (IMAGE, lambda x, *types: convolution(x, 3, *types), 64 * 64 * 9 * 784),
    "convolution 1 × 1": (IMAGE, lambda x, *types: convolution(x, 1, *types), 64 * 64 * 784),
    "depthwise convolution 3 × 3": (IMAGE, depthwise, 64 * 9 * 784),
    "matrix-vector product": ((1, 1024), dense, 1024 * 1024),
    "matrix product, 16 rows": ((16, 1024), dense, 16 * 1024 * 1024),
}


def counted(shape: tuple[int, ...], build: Any, types: tuple[str, str], board: str) -> Executed:
    """Compile a layer ahead of time, run it once, and count its instructions."""
    x = relay.var("x", shape=shape, dtype=types[0])
    module = IRModule.from_expr(Function([x], build(x, *types)))
    size = int(np.prod(shape)) * np.dtype(types[0]).itemsize
    text = MAIN.replace("SHAPE", ", ".join(map(str, shape))).replace("BYTES", str(size))
    with tempfile.TemporaryDirectory() as folder:
        main = Path(folder) / "main.c"
        main.write_text(text.replace("TYPE", types[0]).replace("RANK", str(len(shape))))
        program = Path(folder) / "layer"
        build_native(module, board, name="layer", quiet=True).link(program, [main], static=True)
        return executed(program, processor=BOARDS[board])


def kernels(run: Executed) -> int:
    """Return the number of instructions in kernels, which have no names in the program."""
    return run.by_function()["?"]


def main() -> None:
    lines = []
    for board in BOARDS:
        for name, (shape, build, pairs) in LAYERS.items():
            counts = {s: kernels(counted(shape, build, types, board)) for s, types in SCHEMES.items()}
            cells = [f"{counts[s] / 1e6:.2f}" for s in SCHEMES]
            ratios = [f"{counts['float32'] / counts[s]:.2f}" for s in ("8/32", "8/16")]
            per = [f"{counts[s] / pairs:.3f}" for s in SCHEMES]
            lines.append([board, name, *cells, *per, *ratios])
    headings = [
        "board", "layer", *[f"{s}, millions" for s in SCHEMES], *[f"{s}, per multiply-add" for s in SCHEMES],
        "float32 : 8/32", "float32 : 8/16",
    ]  # fmt: skip
    report("arm_integers.md", table(headings, lines))


if __name__ == "__main__":
    main()
