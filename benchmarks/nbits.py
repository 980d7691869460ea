"""Compare products with weights of few bits, which stay packed in memory, with products of float32.

python -m benchmarks.nbits        (needs torch and onnxruntime: pip install -r requirements-bench.txt)
"""

from __future__ import annotations

import os

os.environ["TVM_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # read when they are loaded

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch

import relay_explorer
from benchmarks.common import report, table
from relay_explorer import relay
from relay_explorer.ir.expr import Call, Function
from relay_explorer.lower.runtime.executable import GraphExecutable
from relay_explorer.ops.nn.nbits import pack

SHAPES = ((4096, 4096), (3072, 768), (768, 3072))  # of the weight: units, features
ROWS = (1, 16)
GROUP = 32
SECONDS = 2.0  # of runs of each case, all libraries together
RANDOM = np.random.default_rng(0)
Run = Callable[[], object]


def fastest(runs: dict[str, Run]) -> dict[str, float]:
    """Return the minimum seconds of each case. The cases alternate."""
    best = dict.fromkeys(runs, float("inf"))
    for run in runs.values():
        run()
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def ours(data: Any, product: Callable[[Any], Call]) -> tuple[Any, Run]:
    """Compile a product, and return its result and its run."""
    x = relay.var("x", shape=data.shape, dtype="float32")
    exe = relay_explorer.build(Function([x], product(x)), quiet=True)
    assert isinstance(exe, GraphExecutable)
    return exe(data), exe.executor.run


def packed(data: Any, weights: Any, scales: Any, bits: int) -> tuple[Any, Run]:
    """Compile a product with symmetric weights of few bits."""
    zero = relay.const(np.array(1 << (bits - 1), "uint8"))
    weight, scale = relay.const(pack(weights, bits)), relay.const(scales)
    return ours(
        data, lambda x: relay.nn.contrib_dense_nbits(x, weight, scale, zero, bits=bits, group_size=GROUP)
    )


def onnx_runtime(data: Any, weights: Any, scales: Any) -> tuple[Any, Run]:
    """Run ONNX Runtime's operator for weights of 4 bits, with sums in float32."""
    units, features = weights.shape
    blocks = pack(weights, 4).reshape(units, features // GROUP, GROUP // 2)
    helper, number = onnx.helper, onnx.numpy_helper.from_array
    node = helper.make_node(
        "MatMulNBits", ["x", "w", "s"], ["y"], domain="com.microsoft", K=features, N=units, bits=4,
        block_size=GROUP, accuracy_level=1,
    )  # fmt: skip
    types = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [len(data), size])
        for name, size in (("x", features), ("y", units))
    ]
    initial = [number(blocks, "w"), number(scales.reshape(-1), "s")]
    graph = helper.make_graph([node], "g", types[:1], types[1:], initial)
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=domains, ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])

    def run() -> Any:
        return session.run(None, {"x": data})[0]

    return run(), run


def measured(units: int, features: int, rows: int) -> list[object]:
    """Return one row of the table, after comparing the results."""
    data = RANDOM.standard_normal((rows, features)).astype("float32")
    weights = RANDOM.integers(0, 16, (units, features))
    scales = RANDOM.random((units, features // GROUP), "float32")
    real = ((weights - 8) * np.repeat(scales, GROUP, 1)).astype("float32")
    cases = {"4 bits": packed(data, weights, scales, 4)}
    cases["float32"] = ours(data, lambda x: relay.nn.dense(x, relay.const(real)))
    cases["ONNX Runtime, 4 bits"] = onnx_runtime(data, weights, scales)
    here, there = torch.from_numpy(data), torch.from_numpy(real)
    cases["PyTorch"] = (
        torch.nn.functional.linear(here, there).numpy(),
        lambda: torch.nn.functional.linear(here, there),
    )
    exact = data.astype("float64") @ real.T.astype("float64")
    for name, (result, _) in cases.items():
        assert np.abs(result - exact).max() <= 1e-4 * np.abs(exact).max(), name
    runs = {name: run for name, (_, run) in cases.items()}
    for bits in (2, 8):
        runs[f"{bits} bits"] = packed(data, weights % (1 << bits), scales, bits)[1]
    seconds = fastest(runs)
    times = [
        seconds[name] for name in ("2 bits", "4 bits", "8 bits", "ONNX Runtime, 4 bits", "float32", "PyTorch")
    ]
    return [
        f"{units} × {features}", rows, *[f"{1e3 * s:.3f}" for s in times],
        f"{seconds['float32'] / seconds['4 bits']:.1f}", f"{seconds['PyTorch'] / seconds['4 bits']:.1f}",
    ]  # fmt: skip


def main() -> None:
    torch.set_num_threads(1)
    lines = [measured(*shape, rows) for rows in ROWS for shape in SHAPES]
    headings = [
        "weight", "rows", "2 bits", "4 bits", "8 bits", "ONNX Runtime, 4 bits", "float32", "PyTorch, float32",
        "float32 / 4 bits", "PyTorch / 4 bits",
    ]  # fmt: skip
    report("nbits.md", table(headings, lines))


if __name__ == "__main__":
    main()
