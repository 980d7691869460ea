"""Helpers of these tests: read the saved models, run imported ones, and build graphs without TensorFlow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from relay_explorer import relay
from relay_explorer.frontends import from_tensorflow
from relay_explorer.frontends.tensorflow.messages import message
from relay_explorer.ir import IRModule
from relay_explorer.ir.ndarray import NDArray

DATA = Path(__file__).resolve().parents[2] / "data" / "tensorflow"
NUMBERS = {
    "float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int64": 9, "bool": 10, "bfloat16": 14, "float16": 19,
    "string": 7, "variant": 21,
}  # fmt: skip
Array = np.ndarray[Any, Any]


def run(mod: IRModule, params: Mapping[str, NDArray], inputs: Mapping[str, Any]) -> list[Array]:
    """Run an imported model with the interpreter; return its results."""
    result: Any = relay.create_executor("debug", mod).evaluate()(**params, **inputs)
    results = [result] if hasattr(result, "numpy") else list(result)
    return [np.asarray(part.numpy()) for part in results]


class Saved:
    """A model of `tests/data/tensorflow`, with TensorFlow's inputs and outputs."""

    def __init__(self, name: str) -> None:
        arrays = np.load(DATA / f"{name}.npz")
        folder = DATA / name
        self.path = str(folder if folder.is_dir() else DATA / f"{name}.pb")
        self.names = [str(text) for text in arrays["names"]]
        self.inputs = {key[3:]: arrays[key] for key in arrays.files if key.startswith("in ")}
        count = sum(key.startswith("out ") for key in arrays.files)
        self.outputs = [arrays[f"out {index}"] for index in range(count)]

    @property
    def is_graph(self) -> bool:
        """Whether it is a frozen graph, whose outputs must be named."""
        return self.path.endswith(".pb")

    def imported(self, **options: Any) -> tuple[IRModule, dict[str, NDArray]]:
        """Import it."""
        if self.is_graph:
            options.setdefault("outputs", self.names)
        return from_tensorflow(self.path, **options)

    def fed(self, mod: IRModule) -> dict[str, Array]:
        """Return its inputs by the names that they have in the module."""
        names = [param.name_hint for param in mod["main"].params]
        return {name: self.inputs[key] for name in names for key in self.inputs if name.endswith(key)}


class Maker:
    """Builds a GraphDef."""

    def __init__(self) -> None:
        self.graph = message("GraphDef")()

    def node(self, op: str, name: str, *inputs: str, **attrs: Any) -> str:
        """Add a node; return its name."""
        fill(self.graph.node.add(), op, name, inputs, attrs)
        return name

    def const(self, name: str, value: object, dtype: str | None = None) -> str:
        """Add a constant."""
        return self.node(
            "Const", name, value=np.asarray(value, dtype), dtype=str(np.asarray(value, dtype).dtype)
        )

    def placeholder(self, name: str, shape: Sequence[int | None], dtype: str = "float32") -> str:
        """Add an input."""
        return self.node("Placeholder", name, dtype=dtype, shape=tuple(shape))

    def imported(self, **options: Any) -> tuple[IRModule, dict[str, NDArray]]:
        """Import the graph."""
        return from_tensorflow(self.graph, **options)

    def run(self, inputs: Mapping[str, Any] | None = None, **options: Any) -> list[Array]:
        """Import the graph and run it."""
        mod, params = self.imported(**options)
        return run(mod, params, inputs or {})


def fill(proto: Any, op: str, name: str, inputs: Sequence[str], attrs: Mapping[str, Any]) -> None:
    """Fill a NodeDef. Texts that name an element type become one."""
    proto.op, proto.name = op, name
    proto.input.extend(inputs)
    for key, value in attrs.items():
        attr = proto.attr[key]
        if isinstance(value, np.ndarray):
            attr.tensor.dtype = NUMBERS[str(value.dtype)]
            fill_shape(attr.tensor.tensor_shape, value.shape)
            attr.tensor.tensor_content = value.tobytes()
        elif isinstance(value, bool):
            attr.b = value
        elif isinstance(value, int):
            attr.i = value
        elif isinstance(value, float):
            attr.f = value
        elif isinstance(value, str):
            if value in NUMBERS:
                attr.type = NUMBERS[value]
            else:
                attr.s = value.encode()
        elif isinstance(value, list):
            attr.list.i.extend(value)
        else:
            attr.shape.SetInParent()  # a scalar's shape is there, but empty
            fill_shape(attr.shape, value)


def fill_shape(proto: Any, shape: Sequence[int | None]) -> None:
    """Fill a TensorShapeProto; None is an unknown extent."""
    for extent in shape:
        proto.dim.add().size = -1 if extent is None else extent
