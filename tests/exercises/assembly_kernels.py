"""The kernels whose assembly the exercise `read_assembly` shows to learners, compiled by this package.

`python -m tests.exercises.assembly_kernels` writes them into `grading/read_assembly_kernels.json`, so that
neither learners nor grading need TVM. LLVM's output may change between versions; the file does not.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from relay_explorer import grading
from relay_explorer.lower.inspect.traced import traced
from tests.views.lowerings import LAYER, SOFTMAX, kernel

FILE = Path(grading.__file__).parent / "read_assembly_kernels.json"
X86 = {"kind": "llvm", "mtriple": "x86_64-linux-gnu", "num-cores": 4}
TARGETS: dict[str, object] = {
    "avx2": {**X86, "mcpu": "haswell"},
    "avx512": {**X86, "mcpu": "skylake-avx512"},
    "neon": "raspberry-pi-4",
}
PRODUCT = (
    "fn (%x: Tensor[(64, 64), float32], %w: Tensor[(64, 64), float32], Primitive=1) { nn.dense(%x, %w) }"
)
RELU = "fn (%x: Tensor[(64, 64), float32], Primitive=1) { nn.relu(add(%x, 1f)) }"
SCHEDULED = {
    "layer": LAYER, "product": PRODUCT, "softmax": SOFTMAX, "relu": RELU,
}  # fmt: skip


def text_of(name: str, target: object) -> str:
    """Return the lines of the functions that compute, as the lowering explorer shows them."""
    if name in SCHEDULED:
        result = kernel(SCHEDULED[name], target).scheduled
    else:
        result = kernel(PRODUCT, target).scheduled
        result = replace(
            result, mod=result.composed.mod
        )  # the default loops of the expression, without a schedule
    lines = traced(result).lines
    return "\n".join(line.text if line.purpose < 0 else f"\t{line.text}" for line in lines) + "\n"


KERNELS = (
    "layer-avx2", "product-neon", "relu-avx2", "product-avx512", "naive-neon", "softmax-avx2",
    "layer-avx512", "product-avx2", "naive-avx2", "relu-neon",
)  # fmt: skip


def main() -> None:
    result = {}
    for full in KERNELS:
        name, _, where = full.partition("-")
        result[full] = text_of(name, TARGETS[where])
    FILE.write_text(json.dumps(result, indent=0) + "\n", "utf-8")


if __name__ == "__main__":
    main()
