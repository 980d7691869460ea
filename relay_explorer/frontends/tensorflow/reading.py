"""Find the graph and the variables' values in what the user gives: a message, bytes, a file or a folder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any as Anything

from ...ir.errors import RelayError
from ...ir.ndarray import NDArray
from ..base.errors import ModelFileError
from .messages import parse
from .saved_model import read_saved_model

MOST_BYTES = 1 << 31  # of a protobuf message


@dataclass
class Model:
    """A GraphDef, the values of its variables, and the inputs and outputs that it declares, if it does."""

    name: str
    graph: Anything
    variables: Mapping[str, NDArray] = field(default_factory=dict)
    inputs: Sequence[str] = ()
    outputs: Sequence[str] = ()


def read(source: Anything) -> Model:
    """Read a model."""
    if isinstance(source, (str, os.PathLike)):
        return _from_path(os.fspath(source))
    if isinstance(source, (bytes, bytearray, memoryview)):
        return Model("graph", _graph(bytes(source), "the graph"))
    if hasattr(source, "SerializeToString"):
        return Model("graph", _graph(source.SerializeToString(), "the graph"))
    if hasattr(source, "graph") and hasattr(source.graph, "as_graph_def"):
        return _from_function(source)
    if hasattr(source, "as_graph_def"):
        return read(source.as_graph_def())
    raise RelayError(
        f"a {type(source).__name__} is not a TensorFlow model",
        help=[
            "give a GraphDef, its bytes, the path of a .pb file, the folder of a SavedModel, or a "
            "concrete function"
        ],
    )


def _graph(data: bytes, what: str) -> Anything:
    graph = parse("GraphDef", data, what)
    if not graph.node:
        raise ModelFileError(f"{what} has no nodes", help=["it is empty or of another format"])
    return graph


def _from_path(path: str) -> Model:
    if os.path.isdir(path):
        saved = read_saved_model(path)
        return Model(
            os.path.basename(os.path.abspath(path)), saved.graph, saved.variables, saved.inputs, saved.outputs
        )
    if not os.path.isfile(path):
        raise ModelFileError(f"there is no file or folder {path!r}")
    size = os.path.getsize(path)
    if size > MOST_BYTES:
        raise ModelFileError(
            f"{path!r} has {size:,} bytes, but a protobuf message has at most {MOST_BYTES:,}"
        )
    with open(path, "rb") as file:
        data = file.read()
    if os.path.basename(path) == "saved_model.pb":
        raise RelayError(
            f"{path!r} belongs to a SavedModel",
            help=[f"give its folder, {os.path.dirname(path) or '.'!r}"],
        )
    return Model(os.path.basename(path), _graph(data, repr(path)))


def _from_function(function: Anything) -> Model:
    """Read a concrete function of TensorFlow 2, with the values that it captures."""
    graph = function.graph
    values = {handle_name(variable): variable for variable in getattr(graph, "variables", ())}
    captured: dict[str, NDArray] = {}
    for outside, inside in getattr(graph, "captures", ()):
        owner = values.get(id(outside))
        value = owner.numpy() if owner is not None else outside.numpy()
        captured[inside.op.name] = NDArray.from_numpy(value)
    inputs = [tensor.op.name for tensor in graph.inputs if tensor.op.name not in captured]
    model = read(graph.as_graph_def())
    outputs = [tensor.name for tensor in getattr(function, "outputs", ())]
    return Model(str(getattr(function, "name", "function")), model.graph, captured, inputs, outputs)


def handle_name(variable: Anything) -> int:
    """Return the identity of a variable's resource."""
    return id(variable.handle)
