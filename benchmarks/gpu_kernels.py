"""Report the GPU resources of chapter 23's kernels, according to NVIDIA's compiler, and the PTX of one of
them; count the memory transactions of convolutions on the emulated GPU. No hardware is measured.

python -m benchmarks.gpu_kernels        (needs nvcc and a C++ compiler; no GPU)

The kernels are those of the chapter, whose cells this script executes. The chapter quotes `gpu_kernels.json`.
Each convolution is counted three times: with one result per thread, which loads its own operands (TVM's
fallback rule), with the first of TVM's rules that accepts it, and with our tiles.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import report, table
from relay_explorer import relay
from relay_explorer.lower.codegen import exact_doubles as exact
from relay_explorer.lower.codegen.compile_kernel import scheduled
from relay_explorer.lower.require import tvm
from relay_explorer.lower.targets.device import usage
from relay_explorer.lower.targets.target import Target
from relay_explorer.testing.emulated_gpu import emulated_gpu
from relay_explorer.typing import infer_types

PAGE = Path(__file__).parents[1] / "book" / "ch23_gpu.md"
DATA = Path(__file__).with_suffix(".json")
KERNELS = {
    "shift": "a sum and a ReLU",
    "transposed": "the transpose",
    "total": "the sum",
    "layer": "the layer",
}
MOVES = re.compile(r"\b(?:ld|st)\.(?:global|shared)|\bbar\.sync")
# Data, weight, attributes.
CONVOLUTIONS = {
    "3 × 3, 16 to 32 channels": ("1, 16, 28, 28", "32, 16, 3, 3", "padding=[1, 1, 1, 1]"),
    "3 × 3 with a stride of 2": ("1, 16, 28, 28", "32, 16, 3, 3", "padding=[1, 1, 1, 1], strides=[2, 2]"),
    "7 × 7 of an image": ("1, 3, 32, 32", "16, 3, 7, 7", "padding=[3, 3, 3, 3], strides=[2, 2]"),
    "1 × 1, 64 to 64 channels": ("1, 64, 14, 14", "64, 64, 1, 1", ""),
    "depthwise 3 × 3": ("1, 32, 28, 28", "32, 1, 3, 3", "padding=[1, 1, 1, 1], groups=32"),
    "3 × 3 in 4 groups": ("1, 32, 14, 14", "32, 8, 3, 3", "padding=[1, 1, 1, 1], groups=4"),
}
OTHERS = ("Matmul", "GEMV", "Reduction", "GeneralReduction", "Fallback")  # TVM's rules, in order


def sectors_of(function: Any, target: Target, choice: dict[str, str] | None) -> int | None:
    """Count the 32-byte sectors of global memory that a convolution's kernel reads and writes; None where the
    rule does not accept it.
    """
    with emulated_gpu(counts=True) as gpu, target.tvm:
        kernel = scheduled(function, "k", target, choice)
        if choice is not None and kernel.choice["rule"] != choice["rule"]:
            return None
        library = tvm().compile(kernel.mod, target=target.tvm, tir_pipeline=exact.pipeline())
        tensors = [*kernel.composed.inputs, *kernel.composed.outputs]
        shapes = [[int(size) for size in tensor.shape] for tensor in tensors]
        arrays = [tvm().runtime.empty(shape, "float32", tvm().cuda(0)) for shape in shapes]
        for array, shape in zip(arrays, shapes, strict=True):
            array.copyfrom(np.ones(shape, "float32"))
        library["k"](*arrays)
        accesses = [a for launch in gpu.launches for a in launch.accesses if a.array != "shared"]
    return sum(access.units for access in accesses)


def counted(target: Target) -> dict[str, list[int]]:
    """Count the 32-byte sectors that each convolution moves: with one result per thread, with the first of
    TVM's rules that accepts it, and with tiles.
    """
    sectors = {}
    for name, (data, weight, attrs) in CONVOLUTIONS.items():
        text = f"""def @main(%x: Tensor[({data}), float32], %w: Tensor[({weight}), float32]) {{
          nn.relu(nn.conv2d(%x, %w, {attrs})) }}"""
        function = infer_types(relay.parse(text))["main"]
        by_rule = {rule: sectors_of(function, target, {"rule": rule}) for rule in OTHERS}
        first = next(rule for rule in OTHERS if by_rule[rule] is not None)
        ours = sectors_of(function, target, None)
        sectors[name] = [by_rule["Fallback"] or 0, by_rule[first] or 0, ours or 0]
        print(name, first, sectors[name], flush=True)
    return sectors


def names_of_the_page() -> dict[str, Any]:
    """Run the cells of the chapter up to the last kernel, and return the names that they define."""
    cell = re.compile(r"^```\{code-cell\} python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {}
    for code in cell.findall(PAGE.read_text("utf-8")):
        exec(code, names)
        if "total" in names:
            return names
    raise ValueError(f"{PAGE.name} defines no kernel `total`")


def main() -> None:
    page = names_of_the_page()
    target = Target.of(page["A100"])
    shift = page["tvm"].compile(page["sch"].mod, target=target.tvm).mod.imports[0].inspect_source()
    sources = {"shift": shift} | {
        name: page[name].source("cuda") for name in ("transposed", "total", "layer")
    }
    usages = {name: usage(source, target)[0] for name, source in sources.items()}
    ptx = page["transposed"].source("ptx").splitlines()
    convolutions = counted(target)
    results = {
        "target": str(target),
        "kernels": {
            name: {"threads": u.threads, "registers": u.registers, "shared": u.shared}
            for name, u in usages.items()
        },
        "sectors": convolutions,
        "ptx": [re.sub(r"\s+", " ", line.strip()) for line in ptx if MOVES.search(line)],
    }
    DATA.write_text(json.dumps(results, indent=1) + "\n")
    rows = [
        (KERNELS[name], u.threads, u.registers, u.shared, u.blocks, f"{u.occupied:.0%}")
        for name, u in usages.items()
    ]
    headings = ["kernel", "threads per block", "registers per thread", "bytes of shared memory"]
    text = table([*headings, "resident blocks", "occupancy"], rows)
    of_memory = [
        (name, f"{naive:,}", f"{other:,}", f"{ours:,}", f"{naive / ours:.1f}", f"{other / ours:.1f}")
        for name, (naive, other, ours) in convolutions.items()
    ]
    columns = [
        "convolution and ReLU",
        "one result per thread",
        "TVM's rule",
        "tiles",
        "first / tiles",
        "second / tiles",
    ]
    remark = (
        "Sectors of 32 bytes read from and written to global memory, counted by the emulated GPU; "
        "nothing was timed."
    )
    report("gpu_kernels.md", text, f"For {target}.\n\n{remark}\n\n{table(columns, of_memory)}\n")


if __name__ == "__main__":
    main()
