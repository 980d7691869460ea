"""ONNX models for the page's tests: small ones, and files that are none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def weight(name: str, *shape: int) -> onnx.TensorProto:
    """A weight of small numbers, the same each time."""
    numbers = np.random.default_rng(len(name)).standard_normal(shape) * 0.1
    return numpy_helper.from_array(numbers.astype("float32"), name)


def model(
    nodes: Sequence[onnx.NodeProto],
    weights: Sequence[onnx.TensorProto] = (),
    shape: Sequence[int | str] = (1, 4),
) -> bytes:
    """A model whose input is `x` and whose output is `y`."""
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        weights,
    )
    whole = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    content: bytes = whole.SerializeToString()
    return content


def layers(width: int = 32) -> bytes:
    """Two layers, of 4 inputs and 3 outputs."""
    return model(
        [
            helper.make_node("Gemm", ["x", "fc1.weight", "fc1.bias"], ["h"], name="/fc1/Gemm", transB=1),
            helper.make_node("Relu", ["h"], ["r"], name="/relu/Relu"),
            helper.make_node("Gemm", ["r", "fc2.weight", "fc2.bias"], ["y"], name="/fc2/Gemm", transB=1),
        ],
        [weight("fc1.weight", width, 4), weight("fc1.bias", width), weight("fc2.weight", 3, width),
         weight("fc2.bias", 3)],
    )  # fmt: skip


class _ResNet:
    """Collects the nodes of a residual network as PyTorch names them."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def add(self, op: str, inputs: list[str], name: str, **attrs: Any) -> str:
        output = f"/{name.replace('.', '/')}/{op}_output_0"
        self.nodes.append(helper.make_node(op, inputs, [output], f"/{name.replace('.', '/')}/{op}", **attrs))
        return output

    def convolve(self, x: str, name: str, ins: int, outs: int, kernel: int, stride: int) -> str:
        self.weights.append(weight(f"{name}.weight", outs, ins, kernel, kernel))
        shape = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [kernel // 2] * 4}
        return self.add("Conv", [x, f"{name}.weight"], name, **shape)

    def normalize(self, x: str, name: str, width: int) -> str:
        parts = [f"{name}.{part}" for part in ("weight", "bias", "running_mean")]
        self.weights += [weight(part, width) for part in parts]
        self.weights.append(numpy_helper.from_array(np.ones(width, "float32"), f"{name}.running_var"))
        return self.add("BatchNormalization", [x, *parts, f"{name}.running_var"], name)

    def block(self, x: str, name: str, ins: int, outs: int, stride: int) -> str:
        y = self.normalize(self.convolve(x, f"{name}.conv1", ins, outs, 3, stride), f"{name}.bn1", outs)
        y = self.add("Relu", [y], f"{name}.relu1")
        y = self.normalize(self.convolve(y, f"{name}.conv2", outs, outs, 3, 1), f"{name}.bn2", outs)
        if (ins, stride) != (outs, 1):
            x = self.convolve(x, f"{name}.downsample.0", ins, outs, 1, stride)
            x = self.normalize(x, f"{name}.downsample.1", outs)
        return self.add("Relu", [self.add("Add", [y, x], name)], f"{name}.relu2")


def resnet18(width: int = 64, size: int = 224) -> bytes:
    """A model with the graph of ResNet-18; with 64 channels at first, it has the weights of the original."""
    net = _ResNet()
    x = net.normalize(net.convolve("x", "conv1", 3, width, 7, 2), "bn1", width)
    x = net.add("MaxPool", [net.add("Relu", [x], "relu")], "maxpool", kernel_shape=[3, 3], strides=[2, 2],
                pads=[1] * 4)  # fmt: skip
    ins = width
    for layer in range(4):
        outs = width << layer
        x = net.block(x, f"layer{layer + 1}.0", ins, outs, 2 if layer else 1)
        x = net.block(x, f"layer{layer + 1}.1", outs, outs, 1)
        ins = outs
    x = net.add("Flatten", [net.add("GlobalAveragePool", [x], "avgpool")], "flatten", axis=1)
    net.weights += [weight("fc.weight", 1000, ins), weight("fc.bias", 1000)]
    net.nodes.append(helper.make_node("Gemm", [x, "fc.weight", "fc.bias"], ["y"], "/fc/Gemm", transB=1))
    return model(net.nodes, net.weights, (1, 3, size, size))


def attention(length: int = 8, width: int = 16, heads: int = 2) -> bytes:
    """A transformer's block as exporters write it, with the shapes of its reshapes computed in the graph."""
    nodes: list[onnx.NodeProto] = []

    def add(op: str, *inputs: str, **attrs: Any) -> str:
        output = f"{op.lower()}_{len(nodes)}"
        nodes.append(helper.make_node(op, inputs, [output], f"/block/{output}", **attrs))
        return output

    def number(value: int | list[int]) -> str:
        tensor = numpy_helper.from_array(np.array(value, "int64"))
        return add("Constant", value=tensor)

    def normalized(x: str, name: str) -> str:
        weights.extend([weight(f"{name}.weight", width), weight(f"{name}.bias", width)])
        return add("LayerNormalization", x, f"{name}.weight", f"{name}.bias", axis=-1)

    def linear(x: str, name: str, ins: int, outs: int) -> str:
        weights.extend([weight(f"{name}.weight", ins, outs), weight(f"{name}.bias", outs)])
        return add("Add", add("MatMul", x, f"{name}.weight"), f"{name}.bias")

    def split(x: str) -> str:
        shape = add("Shape", x)
        dims = [add("Unsqueeze", add("Gather", shape, number(axis), axis=0), number([0])) for axis in (0, 1)]
        new = add("Concat", *dims, number([heads]), number([width // heads]), axis=0)
        return add("Reshape", x, new)

    weights: list[onnx.TensorProto] = []
    x = normalized("x", "norm1")
    q, k, v = (split(linear(x, f"attention.{name}", width, width)) for name in "qkv")
    q, v = (add("Transpose", part, perm=[0, 2, 1, 3]) for part in (q, v))
    scores = add("MatMul", q, add("Transpose", k, perm=[0, 2, 3, 1]))
    scale = numpy_helper.from_array(np.array((width // heads) ** 0.5, "float32"))
    scores = add("Softmax", add("Div", scores, add("Constant", value=scale)), axis=-1)
    joined = add("Transpose", add("MatMul", scores, v), perm=[0, 2, 1, 3])
    joined = add("Reshape", joined, number([0, 0, width]))
    x = add("Add", "x", linear(joined, "attention.out", width, width))
    y = normalized(x, "norm2")
    y = add("Relu", linear(y, "mlp.1", width, 2 * width))
    y = linear(y, "mlp.2", 2 * width, width)
    nodes.append(helper.make_node("Add", [x, y], ["y"], "/block/last"))
    return model(nodes, weights, (1, length, width))


def hostile() -> dict[str, tuple[bytes, str]]:
    """Files that are no models, or strange ones, by a name: the bytes, and a part of what is said; "" where
    the model is one nevertheless.
    """
    make = helper.make_node
    outside = weight("w", 4)
    outside.ClearField("raw_data")
    outside.data_location = TensorProto.EXTERNAL
    outside.external_data.add(key="location", value="../../etc/passwd")
    short = weight("w", 4)
    short.raw_data = short.raw_data[:7]
    vast = weight("w", 4)
    vast.dims[:] = [1 << 40, 1 << 40]
    markup = '<img src=x onerror="window.hacked=1">'
    nested = layers()
    for _ in range(200):
        nested = b"\x3a" + _length(len(nested)) + nested
    every: dict[str, tuple[bytes, str]] = {
        "truncated": (layers()[:-40], "truncated"),
        "garbage": (b"\x08\x07\x12\x00\xff", "not an ONNX model"),
        "zip": (b"PK\x03\x04" + b"\0" * 100, "zip archive"),
        "nested": (nested, "not an ONNX model"),
        "cyclic": (model([make("Add", ["x", "b"], ["a"]), make("Relu", ["a"], ["b"]),
                          make("Relu", ["b"], ["y"])]), "cycle"),
        "external": (model([make("Add", ["x", "w"], ["y"])], [outside]), "another file"),
        "short weight": (model([make("Add", ["x", "w"], ["y"])], [short]), "truncated"),
        "vast weight": (model([make("Add", ["x", "w"], ["y"])], [vast]), "too large"),
        "vast input": (model([make("Relu", ["x"], ["y"])], shape=[1 << 40, 1 << 40]),
                       "too large"),
        "unknown operator": (model([make(markup, ["x"], ["y"])]), "cannot be imported"),
        "undefined value": (model([make("Relu", [markup], ["y"])]), "neither an input"),
        "markup": (model([make("Relu", ["x"], [markup], markup), make("Relu", [markup], ["y"])])
                   , ""),
        "expanded": (model([make("ConstantOfShape", ["w"], ["c"]), make("ReduceSum", ["c"], ["y"])],
                           [numpy_helper.from_array(np.array([1 << 30], "int64"), "w")])
                     , ""),
    }  # fmt: skip
    return every


def _length(value: int) -> bytes:
    """A length as protobuf writes it."""
    result = bytearray()
    while value > 127:
        result.append(value & 127 | 128)
        value >>= 7
    return bytes([*result, value])
