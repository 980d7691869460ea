"""Read a SavedModel: its graph, its signature, and the values of its variables from the checkpoint."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any as Anything

from ...ir.ndarray import NDArray
from ..base.errors import ModelFileError
from .checkpoint import Checkpoint
from .graph import Graph, Ref, function_graph, functions_of, graph_of
from .messages import parse
from .tensors import FunctionName, strings_of

MOST_BYTES = 1 << 31  # of a protobuf message
_SIGNATURE = "serving_default"
_TAG = "serve"


@dataclass
class SavedModel:
    """A graph, the values of its variables by name, and the nodes of its inputs and its results."""

    graph: Anything
    variables: dict[str, NDArray]
    inputs: list[str]
    outputs: list[str]


def read_saved_model(folder: str) -> SavedModel:
    """Read the SavedModel in a folder: the graph for serving, with its default signature."""
    path = os.path.join(folder, "saved_model.pb")
    if not os.path.isfile(path):
        raise ModelFileError(f"{folder!r} is not a SavedModel: it has no file saved_model.pb")
    if os.path.getsize(path) > MOST_BYTES:
        raise ModelFileError(f"{path!r} exceeds {MOST_BYTES:,} bytes, the most that a protobuf message has")
    with open(path, "rb") as file:
        saved = parse("SavedModel", file.read(), repr(path))
    if not saved.meta_graphs:
        raise ModelFileError(f"{path!r} has no graph")
    meta = next((m for m in saved.meta_graphs if _TAG in m.meta_info_def.tags), saved.meta_graphs[0])
    signatures = {name: s for name, s in meta.signature_def.items() if s.outputs}
    names = [name for name in signatures if not name.startswith("__saved_model")]
    inputs: list[str] = []
    outputs: list[str] = []
    if names:
        name = _SIGNATURE if _SIGNATURE in names else sorted(names)[0]
        signature = signatures[name]
        inputs = [signature.inputs[key].name.partition(":")[0] for key in sorted(signature.inputs)]
        outputs = [signature.outputs[key].name for key in sorted(signature.outputs)]
    prefix = os.path.join(folder, "variables", "variables")
    variables: dict[str, NDArray] = {}
    if os.path.isfile(prefix + ".index"):
        variables = _variables(meta.graph_def, Checkpoint(prefix))
    return SavedModel(meta.graph_def, variables, inputs, outputs)


def _variables(proto: Anything, checkpoint: Checkpoint) -> dict[str, NDArray]:
    """Return the values of variables by name. Which tensor of the checkpoint belongs to which variable, the
    nodes say that restore them: `AssignVariableOp(VarHandleOp, RestoreV2:3)`.
    """
    functions = functions_of(proto)
    main = graph_of(proto)
    values: dict[str, NDArray] = {}
    for name, key in _restored(main, {}).items():
        values[name] = checkpoint.tensor(key)
    for node in main.nodes.values():
        handles = {index: _shared_name(main, ref) for index, ref in enumerate(node.inputs)}
        if not any(handles.values()):
            continue
        for called in node.attrs.values():
            if isinstance(called, FunctionName) and called in functions and _restores(functions[called]):
                graph = function_graph(functions[called])
                names = {arg: handles.get(index) for index, arg in enumerate(graph.args)}
                for name, key in _restored(graph, {arg: n for arg, n in names.items() if n}).items():
                    values[name] = checkpoint.tensor(key)
    for name in checkpoint.keys() - values.keys():  # TensorFlow 1 stores variables by their own names
        if _is_variable(main, name):
            values[name] = checkpoint.tensor(name)
    return values


def _is_variable(graph: Graph, name: str) -> bool:
    node = graph.nodes.get(name)
    return node is not None and node.op in ("VarHandleOp", "VariableV2", "Variable")


def _restores(function: Anything) -> bool:
    return any(node.op == "RestoreV2" for node in function.node_def)


def _restored(graph: Graph, args: dict[str, str]) -> dict[str, str]:
    """Return the checkpoint's keys of the variables that a graph restores. `args` are the names of the
    variables that its parameters are.
    """
    keys: dict[str, str] = {}
    for node in graph.nodes.values():
        if node.op not in ("AssignVariableOp", "Assign") or len(node.inputs) < 2:
            continue
        source, number = _origin(graph, node.inputs[1])
        restoring = graph.nodes[source]
        name = args.get(node.inputs[0][0]) or _shared_name(graph, node.inputs[0])
        if restoring.op != "RestoreV2" or len(restoring.inputs) < 2 or not name:
            continue
        listed = graph.nodes[restoring.inputs[1][0]].attrs.get("value")
        if hasattr(listed, "string_val"):
            names = strings_of(listed)
            if number < len(names):
                keys[name] = names[number].decode("utf-8", "backslashreplace")
    return keys


def _origin(graph: Graph, ref: Ref) -> Ref:
    for _ in range(len(graph.nodes)):
        node = graph.nodes[ref[0]]
        if node.op not in ("Identity", "Reshape", "Cast") or not node.inputs:
            break
        ref = node.inputs[0]
    return ref


def _shared_name(graph: Graph, ref: Ref) -> str:
    """Return the name of the variable that a result refers to, or an empty text."""
    node = graph.nodes[_origin(graph, ref)[0]]
    if node.op in ("VarHandleOp", "VariableV2", "Variable"):
        return str(node.attrs.get("shared_name") or node.name)
    return ""
