"""What the kernels of chapter 23 take of a GPU, as NVIDIA's compiler says, and the PTX of one of them.

python -m benchmarks.gpu_kernels        (needs nvcc; no GPU)

The kernels are those of the chapter: its cells are run as they stand in the page. The chapter quotes what is
kept in `gpu_kernels.json`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from benchmarks.common import report, table
from relay_explorer.lower.device import usage
from relay_explorer.lower.target import Target

PAGE = Path(__file__).parents[1] / "book" / "ch23_gpu.md"
DATA = Path(__file__).with_suffix(".json")
KERNELS = {"shift": "a sum and a ReLU", "turn": "the transpose", "total": "the sum", "layer": "the layer"}
MOVES = re.compile(r"\b(?:ld|st)\.(?:global|shared)|\bbar\.sync")


def names_of_the_page() -> dict[str, Any]:
    """What the cells of the chapter define, up to the last of the kernels."""
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
    sources = {"shift": shift} | {name: page[name].source("cuda") for name in ("turn", "total", "layer")}
    taken = {name: usage(source, target)[0] for name, source in sources.items()}
    ptx = page["turn"].source("ptx").splitlines()
    found = {
        "target": str(target),
        "kernels": {
            name: {"threads": u.threads, "registers": u.registers, "shared": u.shared}
            for name, u in taken.items()
        },
        "ptx": [re.sub(r"\s+", " ", line.strip()) for line in ptx if MOVES.search(line)],
    }
    DATA.write_text(json.dumps(found, indent=1) + "\n")
    rows = [
        (KERNELS[name], u.threads, u.registers, u.shared, u.blocks, f"{u.occupied:.0%}")
        for name, u in taken.items()
    ]
    headings = ["kernel", "threads of a block", "registers of a thread", "bytes of shared memory"]
    text = table([*headings, "blocks at once", "occupancy"], rows)
    report("gpu_kernels.md", text, f"For {target}.\n")


if __name__ == "__main__":
    main()
