"""Collect the measurements that chapter 33 sets beside the paper's evaluation into one file, which the page
and its charts read.

python -m benchmarks.evaluation        (measures nothing: run it after one of the benchmarks that it reads)

It reads the tables `networks.md`, `recurrent.md` and, if it exists, `imported.md`, and the numbers of
`layers_of_passes.json` and `executors.json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
DATA = (
    FOLDER.parent / "relay_explorer" / "lower" / "profiling" / "measured" / "evaluation.json"
)  # part of the package, because the book's notebooks run without this folder

FRAMEWORKS = {"PyTorch eager": "eager", "torch.compile": "compile", "ONNX Runtime": "onnx"}
PAGES: dict[str, dict[str, str]] = {
    "networks": {"ours, ms": "ours"} | FRAMEWORKS,
    "imported": {"ours, ms": "ours"} | FRAMEWORKS,
    "recurrent": {
        "ahead of time, µs": "aot", "graph, unrolled": "graph", "virtual machine": "vm",
        "PyTorch's layer": "layer",
    } | FRAMEWORKS,
}  # fmt: skip
TITLE = re.compile(r"^(One|\d+) threads?[,:]", re.MULTILINE)

# Times in milliseconds that the authors' own plotting scripts contain.
PUBLISHED: dict[str, Any] = {
    "repository": "https://github.com/uwsampl/relay-bench",
    "commit": "527166e4ca13a2c7a513f9c66584b7ac9201436e",
    "quantization": {
        "file": "subsystem/post_process/quant_comp.py",
        "milliseconds": {
            "Raspberry Pi 3": {
                "ResNet-18": {"float32": 323, "int8/int32": 288, "int8/int16": 123},
                "MobileNet": {"float32": 122, "int8/int32": 136, "int8/int16": 113},
                "Inception": {"float32": 3205, "int8/int32": 1195, "int8/int16": 928},
            },
            "RK3399": {
                "ResNet-18": {"float32": 161, "int8/int32": 184, "int8/int16": 85},
                "MobileNet": {"float32": 67, "int8/int32": 78, "int8/int16": 63},
                "Inception": {"float32": 1286, "int8/int32": 1071, "int8/int16": 648},
            },
        },
    },
    "accelerators": {
        "file": "subsystem/post_process/fpga_comp.py",
        "milliseconds": {
            "ResNet-18": {"CPU": 307.093, "single-batch": 64.894, "multi-batch": 61.326},
            "ResNet-34": {"CPU": 568.611, "single-batch": 96.912, "multi-batch": 84.754},
            "ResNet-50": {"CPU": 715.668, "single-batch": 188.193, "multi-batch": 165.056},
            "DCGAN": {"CPU": 329.37, "single-batch": 29.27, "multi-batch": 25.217},
            "TreeLSTM": {"CPU": 131.142, "single-batch": 52.867, "multi-batch": 47.933},
        },
    },
}


def read_tables(text: str, columns: Mapping[str, str]) -> dict[str, dict[str, dict[str, float]]]:
    """Return a page's times by number of threads, network and program; cells without a number are left out.

    `columns` maps the headings of the table to the names of the programs.
    """
    measured = text.partition("<!-- measured -->")[2]
    starts = list(TITLE.finditer(measured))
    tables: dict[str, dict[str, dict[str, float]]] = {}
    for start, end in zip(starts, [*[s.start() for s in starts[1:]], len(measured)], strict=True):
        lines = [line for line in measured[start.end() : end].splitlines() if line.startswith("| ")]
        headings, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        missing = columns.keys() - set(headings)
        if missing:
            raise ValueError(f"the table has no column {', '.join(sorted(missing))}")
        tables["1" if start[1] == "One" else start[1]] = {
            row[0]: {
                columns[heading]: float(cell)
                for heading, cell in zip(headings, row, strict=True)
                if heading in columns and re.fullmatch(r"[\d.]+", cell)
            }
            for row in rows
            if row[0] != "geometric mean"
        }
    return tables


def collect() -> dict[str, Any]:
    """Return all measurements of chapter 33."""
    collected: dict[str, Any] = {}
    for page, columns in PAGES.items():
        path = FOLDER / f"{page}.md"
        collected[page] = read_tables(path.read_text("utf-8"), columns) if path.exists() else {}
    for page in ("layers_of_passes", "executors"):
        collected[page] = json.loads((FOLDER / f"{page}.json").read_text("utf-8"))
    return collected | {"published": PUBLISHED}


def main() -> None:
    """Write the file."""
    DATA.write_text(json.dumps(collect(), indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
