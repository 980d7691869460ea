"""The quantized models in `tests/data/quantized`, what frameworks compute, and questions about programs."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from relay_explorer import relay
from relay_explorer.frontends import from_exported_program, from_onnx, from_pytorch
from relay_explorer.ir.expr import Call
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.ndarray import NDArray
from relay_explorer.ir.op import Op
from relay_explorer.ir.types import TensorType
from relay_explorer.ir.walk import post_order

FOLDER = Path(__file__).parents[1] / "data" / "quantized"
Array = np.ndarray[Any, Any]
Imported = tuple[IRModule, dict[str, NDArray]]


def recorded(name: str, what: str) -> Array:
    """Return an input or an output that was recorded with a model (`resnet_fx.pt`)."""
    with np.load(FOLDER / f"{name.partition('.')[0]}.npz") as saved:
        array: Array = saved[f"{what}_0"]
        return array


def import_model(name: str, **options: Any) -> Imported:
    """Import a model by the name of its file."""
    path = FOLDER / name
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch recommends other APIs
        if name.endswith(".onnx"):
            return from_onnx(str(path), **options)
        if name.endswith(".pt2"):
            return from_exported_program(path, **options)
        return from_pytorch(str(path), [("x", recorded(name, "input").shape)], **options)


def run(imported: Imported, x: Array, executor: str = "debug") -> Array:
    """Run an imported model of one input and one output."""
    mod, params = imported
    array: Array = relay.create_executor(executor, mod).evaluate()(x, **params).numpy()
    return array


def calls(mod: IRModule, *names: str) -> list[Call]:
    """Return the calls of some operators in `@main`."""
    nodes = [node for node in post_order(mod["main"]) if isinstance(node, Call)]
    return [call for call in nodes if isinstance(call.op, Op) and call.op.name in names]


def element_types(call: Call) -> list[str]:
    """Return the element types of the data, of the weight and of the result of a call."""
    types = [call.args[0].checked_type, call.args[1].checked_type, call.checked_type]
    return [type_.dtype for type_ in types if isinstance(type_, TensorType)]
