"""Compare the kernels of compiled networks with the same layers in PyTorch, and with the peak performance of
the processor.

python -m benchmarks.kernels [model …]        (needs torch: pip install -r requirements-bench.txt)
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from benchmarks.common import report, table
from relay_explorer import models
from relay_explorer.ir import Call, Function, IRModule, Op, TensorType, TupleType
from relay_explorer.ir.narrow import as_tensor_type
from relay_explorer.ir.types import Shape
from relay_explorer.ir.walk import post_order
from relay_explorer.lower.codegen.compile_kernel import generated, scheduled
from relay_explorer.lower.passes.layouts import blocked_layouts
from relay_explorer.lower.profiling.peak import limits
from relay_explorer.lower.require import tvm
from relay_explorer.lower.targets.target import Target
from relay_explorer.ops.nn.layout import layout_map
from relay_explorer.transform.optimize import optimize
from relay_explorer.typing import infer_types

MODELS = ("dqn", "mobilenet", "resnet18", "resnet50", "vgg16")
SECONDS = 0.4  # for each kernel and its layer in PyTorch together
CONVOLUTIONS = (
    "nn.contrib_conv2d_NCHWc",
    "nn.contrib_depthwise_conv2d_NCHWc",
    "nn.contrib_conv2d_winograd_without_weight_transform",
)


def best(cases: dict[str, Callable[[], object]], seconds: float = SECONDS) -> dict[str, float]:
    """Return the minimum time of each case, measured in alternation: other work on the machine can only
    lengthen a run.
    """
    fastest = dict.fromkeys(cases, float("inf"))
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, run in cases.items():
            start = time.perf_counter()
            run()
            fastest[name] = min(fastest[name], time.perf_counter() - start)
    return fastest


def kernels_of(name: str, target: Target) -> Counter[Function]:
    """Return the kernels of a model for `target`, with constant weights, and the number of calls of each."""
    module = infer_types(models.load(name))
    params = {
        p.name_hint: np.ones(as_tensor_type(p).concrete_shape, "float32") for p in module["main"].params[1:]
    }
    module, _ = optimize(module, params=params, level=3, layouts=blocked_layouts(target))
    calls: Counter[str] = Counter()
    kernels: dict[str, Any] = {}
    for node in post_order(infer_types(module)["main"].body):
        if isinstance(node, Call) and isinstance(node.op, Function):
            alone = infer_types(IRModule.from_expr(Function(node.op.params, node.op.body)))["main"]
            assert isinstance(alone, Function)
            kernels.setdefault(str(alone), alone)
            calls[str(alone)] += 1
    return Counter({kernels[text]: count for text, count in calls.items()})


def compiled(function: Function, target: Target) -> tuple[str, Callable[[], object]]:
    """Return the schedule of a kernel, and a function that runs it on its own arrays."""
    kernel = scheduled(function, "kernel", target)
    run = generated(kernel)["kernel"]
    tensors = [*kernel.composed.inputs, *kernel.composed.outputs]
    arrays = [tvm().runtime.tensor(np.ones([int(d) for d in t.shape], str(t.dtype))) for t in tensors]
    return kernel.rule, lambda: run(*arrays)


def layer(function: Function) -> tuple[str, Callable[[], object]] | None:
    """Return PyTorch's computation of a convolution or dense layer with the operators fused into it; None for
    other kernels.
    """
    calls = [n for n in post_order(function.body) if isinstance(n, Call) and isinstance(n.op, Op)]
    names = [call.op.name for call in calls]  # type: ignore[attr-defined]  # an operator
    heavy = next((c for c, n in zip(calls, names) if n in CONVOLUTIONS or n.endswith("dense_pack")), None)
    if heavy is None:
        return None
    additions = names.count("add")
    attrs: Any = heavy.attrs
    x_type, out_type = heavy.args[0].checked_type, heavy.checked_type
    assert isinstance(x_type, TensorType)
    assert isinstance(out_type, TensorType)
    if names[calls.index(heavy)].endswith("dense_pack"):
        shape, out = x_type.concrete_shape, out_type.concrete_shape
        x, w, b = torch.ones(shape), torch.ones(out[-1], shape[-1]), torch.ones(out[-1])
        text = f"dense {shape[-1]} → {out[-1]}"
        first: Callable[[], torch.Tensor] = lambda: functional.linear(x, w, b if additions else None)  # noqa: E731
    else:
        shape = sizes(layout_map(attrs.data_layout, "NCHW").forward(x_type.shape, 0, "the data"))
        out = sizes(layout_map(attrs.out_layout, "NCHW").forward(out_type.shape, 0, "the result"))
        size, stride, groups = tuple(attrs.kernel_size), tuple(attrs.strides), int(attrs.groups)
        x = torch.ones(*shape)
        w, b = torch.ones(out[1], shape[1] // groups, *size), torch.ones(out[1])
        padding = tuple(attrs.padding)[:2]
        text = f"{size[0]} × {size[1]}, {shape[1]} → {out[1]}, {out[2]} × {out[3]}"
        text += f", stride {stride[0]}" if stride[0] > 1 else ""
        first = lambda: functional.conv2d(  # noqa: E731
            x, w, b if additions else None, stride, padding, 1, groups
        )
    rest = torch.ones(*out)

    def run() -> object:
        with torch.inference_mode():
            y = first()
            for _ in range(additions - 1):
                y = y + rest
            return torch.relu(y) if "nn.relu" in names else y

    return text, run


def sizes(shape: Shape) -> tuple[int, ...]:
    """Return the shape as integers; the dimensions of a computed layout may be of another type."""
    return TensorType(shape).concrete_shape


def flops(function: Function) -> int:
    """Return the operations of the layer as written, even where an algorithm needs fewer multiplications."""
    total = 0
    for node in post_order(function.body):
        if not isinstance(node, Call) or not isinstance(node.op, Op):
            continue
        types = [arg.checked_type for arg in node.args]
        count = node.op.flops(node.attrs, types, node.checked_type)
        if "winograd" in node.op.name:
            type_: Any = node.checked_type
            weight: Any = types[1]
            count = 2 * 9 * int(np.prod(type_.concrete_shape)) * weight.concrete_shape[3]
        total += count
    return total


def rows_of(name: str, target: Target, most: float) -> list[list[object]]:
    rows: list[list[object]] = []
    for function, count in kernels_of(name, target).items():
        reference = layer(function)
        if reference is None or isinstance(function.body.checked_type, TupleType):
            continue
        text, run = reference
        rule, ours = compiled(function, target)
        ours()
        run()
        times = best({"ours": ours, "torch": run})
        work = flops(function)
        rows.append([
            name, text, count, rule, f"{times['ours'] * 1e3:.3f}", f"{times['torch'] * 1e3:.3f}",
            f"{times['torch'] / times['ours']:.1f}×", f"{work / most * 1e3:.3f}",
            f"{work / times['ours'] / 1e9:.0f}",
        ])  # fmt: skip
        print(*rows[-1], sep="  ", flush=True)
    return rows


def main() -> None:
    names = [name for name in sys.argv[1:] if name in MODELS] or list(MODELS)
    torch.set_num_threads(1)
    os.environ["TVM_NUM_THREADS"] = "1"  # TVM reads it when it is loaded
    target = Target.of("cpu")
    most = limits(target).flops
    rows = [row for name in names for row in rows_of(name, target, most)]
    headings = [
        "model", "layer", "calls", "schedule", "ms", "PyTorch, ms", "speedup", "at the peak, ms", "GFLOP/s",
    ]  # fmt: skip
    text = table(headings, rows)
    load = os.getloadavg()[0]
    report(
        "kernels.md",
        f"{text}\n\nMeasured peak: {most / 1e9:.0f} GFLOP/s on one core ({target}). Load: {load:.1f}.",
    )


if __name__ == "__main__":
    main()
