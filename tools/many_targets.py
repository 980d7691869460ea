"""Write `figures/many_targets.json`: one layer as instructions of three processors.

python tools/many_targets.py        (needs apache-tvm; the GPU's part also nvcc)

The figure "one program, many targets" is drawn from it, so that drawing needs neither.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
DATA = ROOT / "figures" / "many_targets.json"
PROGRAM = """
def @main(%x: Tensor[(8, 256), float32],
          %w: Tensor[(512, 256), float32],
          %b: Tensor[(512), float32]) {
  nn.relu(nn.bias_add(nn.dense(%x, %w), %b))
}
"""
X86 = {"kind": "llvm", "mtriple": "x86_64-linux-gnu", "mcpu": "skylake-avx512"}


class Kind(NamedTuple):
    """A target, the level to show, the name of its multiply-add instruction, and the start of a comment."""

    target: object
    level: str
    mnemonic: str
    comment: str


TARGETS = {
    "x86-64": Kind(X86, "asm", "vfmadd", "#"),
    "AArch64": Kind("raspberry-pi-4", "asm", "fmla", "//"),
    "NVIDIA": Kind({"kind": "cuda", "arch": "sm_80"}, "ptx", "fma.rn.f32", "//"),
}


def lines_of(kind: Kind) -> dict[str, Any]:
    """Return the innermost loop of the kernel, and how many elements one of its multiply-adds processes."""
    import numpy as np

    import relay_explorer
    from relay_explorer import relay

    shapes = {"w": (512, 256), "b": (512,)}
    params = {name: np.ones(shape, "float32") for name, shape in shapes.items()}
    built = relay_explorer.build(relay.parse(PROGRAM), kind.target, params=params, quiet=True)
    kernel = max(built.kernels, key=lambda k: k.flops)
    body = innermost(kernel.source(kind.level).splitlines(), kind)
    threads = re.search(r"__launch_bounds__\((\d+)\)", kernel.source("cuda") if kind.level == "ptx" else "")
    return {
        "target": str(built.target),
        "loop": body,
        "multiply_adds": sum(kind.mnemonic in line for line in body),
        "mnemonic": kind.mnemonic,
        "lanes": 1 if threads else built.target.lanes(),
        "threads": int(threads[1]) if threads else 1,
    }


def innermost(code: list[str], kind: Kind) -> list[str]:
    """Return the code between a label and a jump back to it that has the most multiply-adds; of several, the
    shortest.
    """
    labels = {m[1]: n for n, line in enumerate(code) if (m := re.match(r"\s*(\$?[.\w]+):", line))}
    loops: list[tuple[int, int, list[str]]] = []
    for number, line in enumerate(code):
        jump = re.match(r"\s+(?:j\w+|b\.\w+|cb\w+|(?:@\S+\s+)?bra(?:\.uni)?)\s+.*?(\$?[.\w]+);?\s*$", line)
        first = labels.get(jump[1], number + 1) if jump else number + 1
        if first <= number:
            body = [" ".join(part.split(kind.comment)[0].split()) for part in code[first : number + 1]]
            body = [part for part in body if part and not part.startswith((".loc", ".cfi"))]
            loops.append((sum(kind.mnemonic in part for part in body), -len(body), body))
    return max(loops)[2]


def main() -> None:
    results = {name: lines_of(kind) for name, kind in TARGETS.items()}
    data = {"program": PROGRAM.strip().splitlines(), "targets": results}
    DATA.write_text(json.dumps(data, indent=1) + "\n", "utf-8")
    for name, one in results.items():
        print(name, one["target"], one["multiply_adds"], "multiply-adds in", len(one["loop"]), "lines")


if __name__ == "__main__":
    main()
