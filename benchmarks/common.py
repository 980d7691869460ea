"""Helpers of the benchmarks: alternating timing, a description of the machine, tables."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Sequence
from pathlib import Path


def alternate(cases: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each case in each iteration. The cases alternate, so that a slow phase of the
    machine affects all of them.
    """
    for run in cases.values():
        run()  # warm up: imports, caches
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, run in cases.items():
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    return times


def median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def machine() -> str:
    """Describe the machine in one line: processor, cores, Python."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.partition(":")[2].strip()
            for line in info.read_text().splitlines()
            if line.startswith("model name")
        ]
        model = names[0] if names else model
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"


def table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Format a Markdown table."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def report(page: str, text: str, tail: str = "", where: str = "") -> None:
    """Print the table, and write it into its page under the line `<!-- measured -->`. `where` is the machine,
    if it is not this one.
    """
    measured = f"{text}\n\nMachine: {where or machine()}.\n{tail}"
    print(measured)
    path = Path(__file__).parent / page
    head = path.read_text().partition("<!-- measured -->")[0] if path.exists() else ""
    path.write_text(f"{head.rstrip()}\n\n<!-- measured -->\n\n{measured}".lstrip("\n"))
