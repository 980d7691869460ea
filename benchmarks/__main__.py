"""Run every benchmark, or the named ones: `python -m benchmarks inference`."""

from __future__ import annotations

import importlib
import sys

BENCHMARKS = (
    "import_time",
    "inference",
    "interpreter",
    "explorer_layout",
    "partial_evaluation",
    "passes",
    "kernels",
    "operators",
    "networks",
    "recurrent",
    "building",
    "layers_of_passes",
    "executors",
    "tuning",
    "schedule_steps",
    "run_of_a_model",
    "everywhere",
    "importing",
    "imported",
    "quantized",
    "nbits",
    "arm_integers",
    "quantized_accuracy",
    "quantized_on_arm",
)


def main(names: list[str]) -> None:
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        sys.exit(f"there is no benchmark called {unknown[0]}; there are {', '.join(BENCHMARKS)}")
    for name in names or BENCHMARKS:
        print(f"\n{name}\n")
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
