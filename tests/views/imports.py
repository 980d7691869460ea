"""Imported programs that the tests share, on both sides of the view.

`python -m tests.views.imports` writes them as views into `frontend/test/data`, for the front end's tests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from relay_explorer.frontends.base.context import Context
from relay_explorer.frontends.base.source import Node
from relay_explorer.ir.expr import Expr, const
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.ndarray import NDArray
from relay_explorer.ir.types import TensorType
from relay_explorer.ops import namespaces as relay
from relay_explorer.transform import FoldConstant, FoldScaleAxis, FuseOps, PassContext, Sequential
from relay_explorer.transform import SimplifyInference as Simplify
from relay_explorer.views.source_map.format import SourceView
from relay_explorer.views.source_map.view import source_view

DATA = Path(__file__).parents[2] / "frontend" / "test" / "data"


class Model:
    """A model under construction: `add` converts a node."""

    def __init__(self, name: str, framework: str = "ONNX") -> None:
        self.context = Context(name, framework)

    def weight(self, name: str, *shape: int) -> Expr:
        numbers = np.arange(int(np.prod(shape)), dtype="float32").reshape(shape) % 7 / 8
        return self.context.weight(name, NDArray.sharing(numbers), True)

    def add(
        self,
        op: str,
        path: str,
        operands: Sequence[Expr],
        converter: Callable[..., Any],
        location: str = "",
        **attrs: Any,
    ) -> Expr:
        """Add a node, whose name is the last part of its path and whose module the rest."""
        *scope, name = path.split(".")
        node = Node(op, "/".join(("", *scope, name)), ["a"] * len(operands), ["b"], attrs, scope, location)
        (result,) = self.context.convert(node, list(operands), lambda n, i: converter(*i))
        return result


def convolutions(count: int = 2) -> IRModule:
    """Convolutions with normalization, each in a module of its own: a node of every fate."""
    model = Model("net.onnx")
    x = model.context.variable("x", TensorType((1, 3, 8, 8), "float32"))
    hidden: Expr = x
    for number in range(count):
        scope = f"net.layer.{number}"
        kernel = model.weight(f"layer{number}.weight", 3, 3, 3, 3)
        scales = [const(np.full(3, value, "float32")) for value in (1, 2, 3, 4)]
        hidden = model.add(
            "Conv", f"{scope}.conv", [hidden, kernel], _conv, f"net.py:{number + 7}", pads=[1, 1, 1, 1]
        )
        hidden = model.add("BatchNorm", f"{scope}.norm", [hidden], lambda h, s=scales: _norm(h, s))
        hidden = model.add("Relu", f"{scope}.act", [hidden], relay.nn.relu)
        hidden = model.add("Dropout", f"{scope}.drop", [hidden], lambda h: h, ratio=0.5)
        half = model.add("Constant", f"{scope}.half", [], lambda: const(np.float32(0.5)))
        hidden = model.add("Mul", f"{scope}.scale", [hidden, half], relay.multiply)
    hidden = model.add("Scaled", "net.head", [hidden], lambda h: relay.nn.relu(relay.add(h, const(1.0))))
    return model.context.main([x], hidden)


def _conv(data: Expr, kernel: Expr) -> Expr:
    return relay.nn.conv2d(data, kernel, padding=(1, 1))


def _norm(data: Expr, scales: Sequence[Expr]) -> Expr:
    gamma, beta, mean, variance = scales
    return relay.nn.batch_norm(data, gamma, beta, mean, variance)[0]


def layers(count: int) -> IRModule:
    """Layers of two modules each, `encoder.layer.N.attention` and `encoder.layer.N.mlp`."""
    model = Model("encoder.onnx")
    x = model.context.variable("x", TensorType((4, 8), "float32"))
    hidden: Expr = x
    for number in range(count):
        scope = f"encoder.layer.{number}"
        weight = model.weight(f"w{number}", 8, 8)
        query = model.add("MatMul", f"{scope}.attention.query", [hidden, weight], relay.nn.dense)
        key = model.add("MatMul", f"{scope}.attention.key", [hidden, weight], relay.nn.dense)
        score = model.add("Mul", f"{scope}.attention.score", [query, key], relay.multiply)
        mixed = model.add("Softmax", f"{scope}.attention.softmax", [score], relay.nn.softmax, axis=-1)
        inner = model.add("Gemm", f"{scope}.mlp.dense", [mixed, weight], relay.nn.dense)
        hidden = model.add("Relu", f"{scope}.mlp.act", [inner], relay.nn.relu)
    return model.context.main([x], hidden)


def optimized(module: IRModule) -> IRModule:
    """The same after passes that fold, scale and fuse."""
    with PassContext(opt_level=3):
        return Sequential([Simplify(), FoldConstant(), FoldScaleAxis(), FoldConstant(), FuseOps()])(module)


SAMPLES: dict[str, Callable[[], IRModule]] = {
    "net": convolutions,
    "optimized": lambda: optimized(convolutions()),
    "encoder": lambda: layers(8),
}


def sample(name: str) -> str:
    """A sample as JSON."""
    view: SourceView = source_view(SAMPLES[name](), name)
    return view.to_json() + "\n"


if __name__ == "__main__":
    for name_ in SAMPLES:
        (DATA / f"source_{name_}.json").write_text(sample(name_), "utf-8")
