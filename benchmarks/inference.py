"""Compare type inference of ResNet-50 with PyTorch's FakeTensorProp on the same network, and time inference
against program size.

python -m benchmarks.inference        (needs torch: pip install -r requirements-bench.txt)
"""

from __future__ import annotations

import gc
from functools import partial

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.passes.fake_tensor_prop import FakeTensorProp

from benchmarks.common import alternate, median, report, table
from benchmarks.torch_resnet import ResNet50
from relay_explorer import models, relay
from relay_explorer.ir import Expr, IRModule
from relay_explorer.typing import infer_types, record


def chain(calls: int) -> IRModule:
    """Return a program of `calls` operator calls, each on the result of the previous one."""
    x = relay.var("x", shape=(8, 16))
    body: Expr = x
    for index in range(calls):
        body = relay.add(body, x) if index % 2 else relay.tanh(body)
    return IRModule.from_expr(relay.Function([x], body))


def against_torch() -> tuple[str, int]:
    torch.set_num_threads(1)
    graph = torch.fx.symbolic_trace(ResNet50().eval())
    data = torch.zeros(1, 3, 224, 224)
    module = models.load("resnet50")

    def fake_tensors() -> None:
        mode = FakeTensorMode(allow_non_fake_inputs=True)
        with torch.no_grad():
            FakeTensorProp(graph, mode).propagate(data)

    times = alternate(
        {
            "FakeTensorProp": fake_tensors,
            "relay_explorer": lambda: infer_types(module),
            "relay_explorer, recording": lambda: record(module),
        },
        rounds=15,
    )
    base = median(times["FakeTensorProp"])
    rows = [
        (name, f"{median(s) * 1e3:.1f} ms", f"{min(s) * 1e3:.1f} ms", f"{base / median(s):.1f}×")
        for name, s in times.items()
    ]
    return table(["ResNet-50", "median of 15", "best", "speedup"], rows), len(graph.graph.nodes)


def against_size() -> str:
    rows = []
    first = None
    for calls in (100, 300, 1_000, 3_000, 10_000):
        module = chain(calls)
        gc.collect()
        times = alternate(
            {"plain": partial(infer_types, module), "recorded": partial(record, module)}, rounds=7
        )
        each = min(times["plain"]) / calls
        first = first or each
        rows.append(
            (
                f"{calls:,}",
                f"{min(times['plain']) * 1e3:.1f} ms",
                f"{each * 1e6:.1f} µs",
                f"{each / first:.2f}",
                f"{min(times['recorded']) / calls * 1e6:.1f} µs",
            )
        )
    return table(
        ["calls", "inference, best of 7", "per call", "relative to 100 calls", "per call, recording"], rows
    )


def main() -> None:
    text, nodes = against_torch()
    report("inference.md", f"{text}\n\n(The traced PyTorch graph has {nodes} nodes.)\n\n{against_size()}")


if __name__ == "__main__":
    main()
