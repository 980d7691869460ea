"""Count the instructions of the quantized TreeLSTM on two ARM boards, under QEMU, beside those in float32.

python -m benchmarks.quantized_on_arm     (needs apache-tvm, gcc for AArch64 and this machine, and qemu-user;
                                           takes about two minutes)

The trained TreeLSTM of chapter 24, and one of the paper's size with random weights, whose instructions do not
depend on the weights. Nothing is timed. Writes the table and `quantized_on_arm.json`, which a figure draws.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.common import report, table
from relay_explorer import build, quantize
from relay_explorer.ir import IRModule
from relay_explorer.lower.inspect.executed import executed
from relay_explorer.lower.targets.target import Target
from relay_explorer.models import sentiment
from relay_explorer.models.training import initial
from relay_explorer.models.tree_lstm import phrase, tree_lstm
from relay_explorer.quantize import Scheme, schemes
from relay_explorer.typing import infer_types

BOARDS = {"Pi 4": ("raspberry-pi-4", "cortex-a72"), "Pi 5": ("raspberry-pi-5", "cortex-a76")}
SCHEMES: dict[str, Scheme | None] = {
    "float32": None,
    "int8": schemes.PerChannelAsymmetric(),
    "int8, 16-bit accumulators": schemes.Int8Int16(),
}
CALIBRATION, COUNTED = 128, 100  # sentences
INPUTS, HIDDEN = 300, 150  # of the paper's TreeLSTM (Tai et al., section 5)


class Network(NamedTuple):
    """A TreeLSTM with its weights and the vectors of its words."""

    module: IRModule
    weights: dict[str, Any]
    vectors: dict[str, Any]


def trained() -> Network:
    return Network(sentiment.module(), sentiment.weights(), sentiment.vectors())


def large() -> Network:
    random = np.random.default_rng(0)
    module = tree_lstm(INPUTS, HIDDEN, len(sentiment.MOODS))
    params = infer_types(module)["main"].params[1:]
    weights = {param.name_hint: initial(param.checked_type, random) for param in params}
    vectors = {word: random.normal(size=INPUTS).astype("float32") for word in sentiment.WORDS}
    return Network(module, weights, vectors)


NETWORKS = {"trained: words of 16, states of 32": trained, "the paper's: words of 300, states of 150": large}


def text(tree: Any) -> str:
    """Write a sentence as the program reads it."""
    return tree if isinstance(tree, str) else f"({text(tree[0])} {text(tree[1])})"


def unseen() -> list[Any]:
    """Return sentences that were not in training."""
    training = set(map(text, sentiment.sentences(0, 4000)))
    return [tree for tree in sentiment.sentences(1, 1000) if text(tree) not in training]


def program(network: Network, scheme: Scheme | None, board: str, folder: Path) -> tuple[Path, int]:
    """Link a program for a board, with the C library; return its path and the bytes of its constants. It is
    compiled for one core, so that no instructions of waiting threads are counted.
    """
    module, weights, vectors = network
    if scheme is not None:
        seen = [[phrase(module, tree, vectors)] for tree in sentiment.sentences(0, CALIBRATION)]
        module, weights = quantize.quantize(module, weights, seen, scheme), {}
    target = {**Target.of(board).dict, "num-cores": 1}
    exe: Any = build(module, target, weights, executor="aot", name="sentiment", quiet=True)
    main, path = folder / "main.c", folder / "sentiment"
    main.write_text(sentiment.c_main(vectors))
    exe.link(path, [main], static=True)
    return path, len(exe.native.constants)


def parts(counts: Counter[str]) -> dict[str, float]:
    """Divide instructions per sentence into those of matrix products, of other kernels, and the rest."""
    sums = dict.fromkeys(("products", "kernels", "rest"), 0)
    for function, count in counts.items():
        kernel = function.startswith("fused_")
        sums["products" if kernel and "dense" in function else "kernels" if kernel else "rest"] += count
    return {name: count / COUNTED for name, count in sums.items()}


def measured(network: Network, scheme: Scheme | None, board: str, sentences: Sequence[Any]) -> dict[str, Any]:
    """Compile a network for a board and run it; return sizes in bytes, right answers and instructions."""
    target, processor = BOARDS[board]
    with tempfile.TemporaryDirectory() as folder:
        path, constants = program(network, scheme, target, Path(folder))
        lines = list(map(text, sentences))
        idle = executed(path, "", processor=processor)
        some = executed(path, "\n".join(lines[:COUNTED]), processor=processor)
        every = executed(path, "\n".join(lines), processor=processor).output.splitlines()
        moods = [line.split(":")[0] for line in every]
        right = sum(mood == sentiment.MOODS[sentiment.mood(tree) + 2] for mood, tree in zip(moods, sentences))
        return {
            "file": path.stat().st_size,
            "constants": constants,
            "right": right,
            "of": len(sentences),
            "instructions": parts(some.by_function() - idle.by_function()),
        }


def main() -> None:
    sentences, rows = unseen(), []
    results: dict[str, dict[str, dict[str, Any]]] = {}
    for name, make in NETWORKS.items():
        network = make()
        for board in BOARDS:
            for how, scheme in SCHEMES.items():
                result = measured(network, scheme, board, sentences)
                results.setdefault(name, {}).setdefault(board, {})[how] = result
                counts = result["instructions"]
                right = f"{result['right'] / result['of']:.1%}" if make is trained else "–"
                sizes = [f"{result[size] / 1000:.0f}" for size in ("file", "constants")]
                numbers = [f"{count / 1000:.1f}" for count in (*counts.values(), sum(counts.values()))]
                rows.append([name, board, how, *sizes, right, *numbers])
    headings = ["network", "board", "data type", "file, kB", "constants, kB", "right",
                "products", "other kernels", "rest", "all"]  # fmt: skip
    (Path(__file__).parent / "quantized_on_arm.json").write_text(json.dumps(results, indent=1) + "\n")
    report("quantized_on_arm.md", table(headings, rows))


if __name__ == "__main__":
    main()
