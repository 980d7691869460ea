"""Kernels whose lowering the tests share, on both sides of the view.

`python -m tests.views.lowerings` writes them as views into `frontend/test/data`, for the front end's tests.
They are for a fixed processor, so that every machine makes the same loops; the instructions are LLVM's.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from relay_explorer.ir.expr import Function
from relay_explorer.ir.module import IRModule
from relay_explorer.lower.codegen.levels import kernel_name
from relay_explorer.lower.runtime.kernel import Kernel
from relay_explorer.lower.targets.target import Target
from relay_explorer.text import astext, parse_expr
from relay_explorer.typing import infer_types
from relay_explorer.views.lowering.view import lowering_view

DATA = Path(__file__).parents[2] / "frontend" / "test" / "data"
HASWELL = {"kind": "llvm", "mtriple": "x86_64-linux-gnu", "mcpu": "haswell", "num-cores": 4}

# A layer with its weight packed: two operators follow the product.
LAYER = """
fn (%x: Tensor[(32, 128), float32], %w: Tensor[(8, 128, 8), float32], %b: Tensor[(1, 64), float32],
    Primitive=1) {
  %0 = nn.contrib_dense_pack(%x, %w, units=64, weight_layout="NC8n");
  %1 = add(%0, %b);
  nn.relu(%1)
}
"""

# A convolution in blocks, with a border.
CONVOLUTION = """
fn (%x: Tensor[(1, 2, 14, 14, 8), float32], %w: Tensor[(4, 2, 3, 3, 8, 8), float32],
    %b: Tensor[(1, 4, 1, 1, 8), float32], Primitive=1) {
  %0 = nn.contrib_conv2d_NCHWc(%x, %w, padding=[1, 1, 1, 1], channels=32, kernel_size=[3, 3],
                               data_layout="NCHW8c", kernel_layout="OIHW8i8o", out_layout="NCHW8c");
  %1 = add(%0, %b);
  nn.relu(%1)
}
"""

# No product: two passes over each row.
SOFTMAX = """
fn (%x: Tensor[(16, 100), float32], Primitive=1) {
  nn.softmax(%x)
}
"""

# A product of matrices, for a GPU.
DENSE = """
fn (%x: Tensor[(64, 128), float32], %w: Tensor[(64, 128), float32], %b: Tensor[(64), float32], Primitive=1) {
  %0 = nn.dense(%x, %w, units=64);
  %1 = nn.bias_add(%0, %b);
  nn.relu(%1)
}
"""
GPU = {"kind": "cuda", "arch": "sm_80"}

PROGRAMS = {"layer": LAYER, "convolution": CONVOLUTION, "softmax": SOFTMAX, "gpu": SOFTMAX}
NAMES = tuple(PROGRAMS)


def kernel(text: str, target: object = HASWELL) -> Kernel:
    """Return the kernel of a primitive function, without compiling it."""
    function = infer_types(IRModule.from_expr(parse_expr(text)))["main"]
    assert isinstance(function, Function)
    name = kernel_name(function)
    where = replace(Target.of(target), caches=(32 << 10, 512 << 10))
    return Kernel(name, name, astext(function), where, {"function": function, "rule": ""})


def sample(name: str) -> str:
    """Return the view as the JSON in `frontend/test/data`; without PTX, which needs nvcc."""
    target = GPU if name == "gpu" else HASWELL
    return lowering_view(kernel(PROGRAMS[name], target), title=name, ptx=False).to_json() + "\n"


if __name__ == "__main__":
    DATA.mkdir(exist_ok=True)
    for name in NAMES:
        (DATA / f"lowering_{name}.json").write_text(sample(name), "utf-8")
