"""Time the fusion explorer on long programs: its time must grow linearly with the program.

python -m benchmarks.fusion_view [--before TREE]

TREE is a checkout of an earlier commit, which is measured on the shorter programs.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
LENGTHS = (500, 1_000, 2_000, 5_000, 10_000)
MAX_BEFORE = 2_000  # calls: the earlier commit takes minutes for more


def chain(calls: int) -> list[str]:
    """Return a sequence of element-wise operators, reductions and products."""
    kinds = ("exp(%{0})", "add(%{0}, %x)", "nn.dense(%{0}, %w, units=8)", "tanh(%{0})", "nn.softmax(%{0})")
    return [kinds[k % len(kinds)].format(k - 1 if k else "x") for k in range(calls)]


def ladder(calls: int) -> list[str]:
    """Return a chain whose values are each used once more, in reverse order: each region encloses the
    next.
    """
    half = calls // 2
    up = [f"exp(%{k - 1 if k else 'x'})" for k in range(half)]
    return up + [f"add(%{half + k - 1}, %{half - 1 - k})" for k in range(half)]


def opaque_ladder(calls: int) -> list[str]:
    """Return the same ladder with an operator in the middle that fuses with nothing; every rejection names
    it.
    """
    half = calls // 2
    up = [f"exp(%{k - 1 if k else 'x'})" for k in range(half)]
    return [*up, f"nn.softmax(%{half - 1})", *(f"add(%{half + k}, %{half - 1 - k})" for k in range(half))]


def branches(calls: int) -> list[str]:
    """Return one value that all other calls use, and the sum of the results."""
    half = calls // 2
    return [
        "exp(%x)", *["tanh(%0)"] * half, *(f"add(%{half + k if k else 0}, %{k + 1})" for k in range(half))
    ]  # fmt: skip


PROGRAMS: dict[str, Callable[[int], list[str]]] = {
    "chain": chain, "ladder": ladder, "ladder, opaque in the middle": opaque_ladder, "branches": branches,
}  # fmt: skip


def text(values: list[str]) -> str:
    """Return the program that computes these values in sequence; `%k` is the k-th."""
    head = "def @main(%x: Tensor[(8, 8), float32], %w: Tensor[(8, 8), float32]) {"
    return "\n".join([head, *(f"  %{k} = {v};" for k, v in enumerate(values)), f"  %{len(values) - 1}", "}"])


def seconds(name: str, calls: int) -> float:
    """Return the processor time of building the explorer's data from the parsed program."""
    from relay_explorer import explore, relay

    module = relay.parse(text(PROGRAMS[name](calls)))
    explore(relay.parse("def @main(%x: float32) { exp(%x) }"), view="fusion")  # imports
    start = time.process_time()
    explore(module, view="fusion").to_json()
    return time.process_time() - start


def measured(tree: Path, name: str, calls: int) -> float:
    """Measure the same in a separate process, on a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    command = [sys.executable, str(Path(__file__).resolve()), "--one", name, str(calls)]
    return float(subprocess.run(command, env=environment, cwd=tree, check=True, capture_output=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, help="a checkout of an earlier commit")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(seconds(options.one[0], int(options.one[1])))
        return
    from benchmarks.common import report, table

    load = os.getloadavg()[0]
    trees = {"now": ROOT, **({"before": options.before.resolve()} if options.before else {})}
    rows = []
    for name in PROGRAMS:
        for when, tree in trees.items():
            lengths = [n for n in LENGTHS if when == "now" or n <= MAX_BEFORE]
            cells = [f"{measured(tree, name, n):.2f} s" for n in lengths]
            rows.append([name, when, *cells, *["–"] * (len(LENGTHS) - len(cells))])
    headings = ["program", "", *(f"{n:,} calls" for n in LENGTHS)]
    report("fusion_view.md", table(headings, rows), f"\nLoad average at the start: {load:.1f}.\n")


if __name__ == "__main__":
    main()
