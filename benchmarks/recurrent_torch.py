"""The networks of benchmarks/recurrent.py as idiomatic PyTorch, and in ONNX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from benchmarks.recurrent_models import CELL_NETWORKS, HIDDEN, INPUTS, data_of, weights_of
from benchmarks.torch_recurrent import CharRNN, CharRNNWriter, TreeLSTM

CELL = {"rnn": nn.RNNCell, "gru": nn.GRUCell, "lstm": nn.LSTMCell}
LAYER = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}


class Loop(nn.Module):
    """A cell applied to a sequence (steps, inputs) in a Python loop."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.cell, self.two = CELL[name](INPUTS, HIDDEN), name == "lstm"

    def forward(self, rows: list[torch.Tensor]) -> torch.Tensor:
        state: Any = None
        for row in rows:
            state = self.cell(row, state)
        last: torch.Tensor = state[0] if self.two else state
        return last


class Layer(nn.Module):
    """The whole loop as one operator of PyTorch."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.layer = LAYER[name](INPUTS, HIDDEN)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        last: torch.Tensor = self.layer(rows)[0][-1:]
        return last


def prepared(name: str, program: str) -> Callable[[], Any] | None:
    """Return the function that is timed; None where the network cannot be expressed this way. `program` is
    "eager", "layer" or "compile".
    """
    torch.set_grad_enabled(False)
    weights = {key: torch.from_numpy(value) for key, value in weights_of(name).items()}
    data = data_of(name)
    net: Any
    inputs: tuple[Any, ...]
    if name in CELL_NETWORKS:
        net = (Layer if program == "layer" else Loop)(name).eval()
        order = ("input_weight", "state_weight", "input_bias", "state_bias")  # in PyTorch's order
        for param, key in zip(net.parameters(), order, strict=True):
            param.copy_(weights[key])
        rows = torch.from_numpy(data)
        inputs = (rows if program == "layer" else list(rows[:, None]),)
    elif program == "layer":
        return None
    elif name == "char_rnn":
        net, inputs = CharRNN(weights), ([torch.tensor(letter) for letter in data],)
    elif name == "char_rnn_writer":
        net, inputs = CharRNNWriter(weights), (torch.tensor(data[0]), data[1])
    else:
        net, inputs = TreeLSTM(weights), (_tensors(data),)
    run = torch.compile(net) if program == "compile" else net
    return lambda: run(*inputs)


def _tensors(tree: Any) -> Any:
    return (_tensors(tree[0]), _tensors(tree[1])) if isinstance(tree, tuple) else torch.from_numpy(tree)


def onnx_session(name: str, threads: int) -> Callable[[], Any] | None:
    """Return a network in ONNX Runtime; None where ONNX cannot express it."""
    import onnxruntime

    if name not in CELL_NETWORKS and name != "char_rnn":
        return None
    model = _layer(name) if name in CELL_NETWORKS else _char_rnn()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model, options, ["CPUExecutionProvider"])
    data = data_of(name)
    feed = {"data": data[:, None] if name in CELL_NETWORKS else np.array(data, "int64")}
    return lambda: session.run(None, feed)[0].reshape(1, -1)


ONNX_GATES = {"rnn": (0,), "gru": (1, 0, 2), "lstm": (0, 3, 1, 2)}  # ONNX orders the gates differently


def _layer(name: str) -> bytes:
    """Build ONNX's operator RNN, GRU or LSTM over the whole sequence."""
    weights = weights_of(name)

    def ordered(value: np.ndarray) -> np.ndarray:
        gates = np.split(value, len(ONNX_GATES[name]))
        return np.concatenate([gates[k] for k in ONNX_GATES[name]])

    named = {
        "w": ordered(weights["input_weight"])[None],
        "r": ordered(weights["state_weight"])[None],
        "b": np.concatenate([ordered(weights["input_bias"]), ordered(weights["state_bias"])])[None],
    }
    more: dict[str, Any] = {"linear_before_reset": 1} if name == "gru" else {}
    node = helper.make_node(name.upper(), ["data", *named], ["", "last"], hidden_size=HIDDEN, **more)
    return _model([node], named, ("data", TensorProto.FLOAT, [None, 1, INPUTS]), ("last", [1, 1, HIDDEN]))


def _char_rnn() -> bytes:
    """Build a Scan over the letters, whose body is one step."""
    weights = weights_of("char_rnn")
    hidden = weights["state_weight"].shape[1]
    tensor = helper.make_tensor_value_info
    step = helper.make_graph(
        [
            helper.make_node("Gather", ["letters", "letter"], ["row"]),
            helper.make_node("Gemm", ["state", "state_weight", "state_bias"], ["y"], transB=1),
            helper.make_node("Add", ["row", "y"], ["sum"]),
            helper.make_node("Tanh", ["sum"], ["next"]),
        ],
        "step",
        [tensor("state", TensorProto.FLOAT, [1, hidden]), tensor("letter", TensorProto.INT64, [])],
        [tensor("next", TensorProto.FLOAT, [1, hidden])],
    )
    nodes = [
        helper.make_node("Scan", ["first", "data"], ["last"], body=step, num_scan_inputs=1),
        helper.make_node("Gemm", ["last", "out_weight", "out_bias"], ["scores"], transB=1),
        helper.make_node("Softmax", ["scores"], ["likely"], axis=-1),
    ]
    named = {**weights, "first": np.zeros((1, hidden), "float32")}
    return _model(nodes, named, ("data", TensorProto.INT64, [None]), ("likely", [1, None]))


def _model(
    nodes: list[onnx.NodeProto],
    weights: dict[str, np.ndarray],
    data: tuple[str, int, list[Any]],
    out: tuple[str, list[Any]],
) -> bytes:
    graph = helper.make_graph(
        nodes, "network", [helper.make_tensor_value_info(*data)],
        [helper.make_tensor_value_info(out[0], TensorProto.FLOAT, out[1])],
        [numpy_helper.from_array(np.ascontiguousarray(value), key) for key, value in weights.items()],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())
