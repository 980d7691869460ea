"""Convert a Relay network with its weights to PyTorch and to ONNX, operator for operator; a bias becomes part
of its layer, as usual there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import fx, nn
from torch.nn import functional as F  # PyTorch's usual alias

from relay_explorer.ir import Call, Constant, Expr, IRModule, Op, TupleGetItem, Var
from relay_explorer.ir.narrow import as_tensor_type
from relay_explorer.ir.walk import post_order

Weights = Mapping[str, np.ndarray]
LAYERS = ("nn.conv2d", "nn.dense")


class Step:
    """One layer: the operator, its attributes, and the names of its inputs and its output."""

    def __init__(self, op: str, attrs: dict[str, Any], inputs: list[str], name: str) -> None:
        self.op, self.attrs, self.inputs, self.name = op, attrs, inputs, name


def steps(module: IRModule) -> list[Step]:
    """Return the network as a list of layers; a bias that is added to a layer becomes its third input."""
    layers: list[Step] = []
    names: dict[Expr, str] = {}
    for node in post_order(module["main"].body):
        if isinstance(node, Var):
            names[node] = node.name_hint
        elif isinstance(node, TupleGetItem):  # a normalization, of which only the first result is used
            names[node] = names[node.tuple_value]
        elif isinstance(node, Call) and isinstance(node.op, Op):
            inputs = [names[arg] for arg in node.args]
            if node.op.name == "nn.bias_add" and layers[-1].name == inputs[0] and layers[-1].op in LAYERS:
                layers[-1].inputs.append(inputs[1])
                names[node] = inputs[0]
                continue
            attrs = dict(node.attrs.items()) if node.attrs else {}
            names[node] = f"v{len(layers)}"
            layers.append(Step(node.op.name, attrs, inputs, names[node]))
        elif isinstance(node, Constant):
            raise ValueError("a network's weights are parameters")
    return layers


def as_torch(module: IRModule, weights: Weights) -> nn.Module:
    """Build a PyTorch module with one input, as traced code without a loop or a branch."""
    root = nn.Module()
    for name, value in weights.items():
        root.register_buffer(name, torch.from_numpy(value))
    graph = fx.Graph()
    values = {"": None, module["main"].params[0].name_hint: graph.placeholder("x")}
    for name in weights:
        values[name] = graph.get_attr(name)
    for step in steps(module):
        function, arguments = _torch_call(step)
        args = [values[name] for name in step.inputs]
        values[step.name] = graph.call_function(function, tuple(args), arguments)
    graph.output(values[step.name])
    return fx.GraphModule(root, graph).eval()


def _torch_call(step: Step) -> tuple[Any, dict[str, Any]]:
    attrs = step.attrs
    match step.op:
        case "nn.conv2d":
            renamed = {"stride": "strides", "dilation": "dilation", "groups": "groups"}
            return F.conv2d, {k: attrs[v] for k, v in renamed.items()} | {
                "padding": tuple(attrs["padding"][:2])
            }
        case "nn.dense":
            return F.linear, {}
        case "nn.batch_norm":
            return _batch_norm, {"eps": attrs["epsilon"]}
        case "nn.relu":
            return F.relu, {"inplace": True}
        case "nn.max_pool2d":
            return F.max_pool2d, {
                "kernel_size": tuple(attrs["pool_size"]),
                "stride": tuple(attrs["strides"]),
                "padding": tuple(attrs["padding"][:2]),
            }
        case "nn.global_avg_pool2d":
            return F.adaptive_avg_pool2d, {"output_size": 1}
        case "nn.batch_flatten":
            return torch.flatten, {"start_dim": 1}
        case "nn.softmax":
            return torch.softmax, {"dim": attrs["axis"]}
        case "add":
            return torch.add, {}
    raise ValueError(f"there is no counterpart of {step.op} here")


def _batch_norm(
    x: torch.Tensor,
    gamma: torch.Tensor,
    beta: torch.Tensor,
    mean: torch.Tensor,
    var: torch.Tensor,
    eps: float,
) -> torch.Tensor:
    return F.batch_norm(x, mean, var, gamma, beta, eps=eps)


def as_onnx(module: IRModule, weights: Weights) -> bytes:
    """Write the network as a file that ONNX Runtime reads."""
    data = module["main"].params[0]
    shape = list(as_tensor_type(data.type_annotation).concrete_shape)
    out = list(as_tensor_type(module["main"].body).concrete_shape)
    nodes = [_onnx_node(step) for step in steps(module)]
    result = helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, out)
    graph = helper.make_graph(
        nodes, "network", [helper.make_tensor_value_info(data.name_hint, TensorProto.FLOAT, shape)], [result],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    serialized: bytes = model.SerializeToString()
    return serialized


def _onnx_node(step: Step) -> onnx.NodeProto:
    attrs = step.attrs
    onnx_attrs: dict[str, Any] = {}
    match step.op:
        case "nn.conv2d":
            kind = "Conv"
            onnx_attrs = {
                "strides": list(attrs["strides"]), "pads": list(attrs["padding"]),
                "dilations": list(attrs["dilation"]), "group": int(attrs["groups"]),
            }  # fmt: skip
        case "nn.dense":
            kind, onnx_attrs = "Gemm", {"transB": 1}
        case "nn.batch_norm":
            kind, onnx_attrs = "BatchNormalization", {"epsilon": float(attrs["epsilon"])}
        case "nn.max_pool2d":
            kind = "MaxPool"
            onnx_attrs = {
                "kernel_shape": list(attrs["pool_size"]), "strides": list(attrs["strides"]),
                "pads": list(attrs["padding"]),
            }  # fmt: skip
        case "nn.softmax":
            kind, onnx_attrs = "Softmax", {"axis": int(attrs["axis"])}
        case _:
            plain = {
                "nn.relu": "Relu", "add": "Add", "nn.batch_flatten": "Flatten",
                "nn.global_avg_pool2d": "GlobalAveragePool",
            }  # fmt: skip
            kind = plain[step.op]
    return helper.make_node(kind, step.inputs, [step.name], name=step.name, **onnx_attrs)
