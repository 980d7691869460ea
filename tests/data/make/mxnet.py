"""Write the files of `tests/data/mxnet` with MXNet, and its outputs beside them.

MXNet 1.9.1 needs NumPy before 1.24, which Python 3.11 still has:

    python3.11 -m venv /tmp/mx && /tmp/mx/bin/pip install mxnet==1.9.1 numpy==1.23.5
    /tmp/mx/bin/python tests/data/make/mxnet.py
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder, whose mxnet.py is not MXNet

import numpy as np

mx: Any = importlib.import_module("mxnet")
nn: Any = importlib.import_module("mxnet.gluon.nn")
rnn: Any = importlib.import_module("mxnet.gluon.rnn")
Block: Any = mx.gluon.HybridBlock
FOLDER = Path(__file__).parents[1] / "mxnet"


def export(name: str, block: Any, inputs: Mapping[str, np.ndarray]) -> None:
    """Run a block with random weights, and write it, its inputs and its outputs."""
    block.initialize(mx.init.Uniform(0.5))
    block.hybridize()
    arrays = [mx.nd.array(value, dtype=value.dtype) for value in inputs.values()]
    block(*arrays)
    random = np.random.default_rng(len(name))
    for key, parameter in block.collect_params().items():
        if key.endswith(("running_mean", "running_var", "gamma", "beta")):
            parameter.set_data(mx.nd.array(random.uniform(0.5, 1.5, parameter.shape)))
    outputs = block(*arrays)
    block.export(str(FOLDER / name))
    save(name, inputs, outputs if isinstance(outputs, (list, tuple)) else [outputs])


def save(name: str, inputs: Mapping[str, np.ndarray], outputs: Any) -> None:
    arrays = dict(inputs) | {f"output_{number}": value.asnumpy() for number, value in enumerate(outputs)}
    np.savez(FOLDER / f"{name}.npz", **arrays)


class Residual(Block):  # type: ignore[misc]  # MXNet has no types
    """Convolutions with batch normalization, a shortcut, and grouped and transposed convolutions."""

    def __init__(self) -> None:
        super().__init__()
        with self.name_scope():
            self.first = nn.Conv2D(8, 3, padding=1, use_bias=False)
            self.norm = nn.BatchNorm()
            self.fixed = nn.BatchNorm(scale=False, center=False)
            self.depthwise = nn.Conv2D(8, 3, padding=1, groups=8, strides=2)
            self.shortcut = nn.Conv2D(8, 1, strides=2)
            self.pool = nn.AvgPool2D(2, ceil_mode=True)
            self.up = nn.Conv2DTranspose(4, 4, strides=2, padding=1)
            self.slope = nn.PReLU()
            self.dense = nn.Dense(5)

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # noqa: N803
        x = F.relu(self.norm(self.first(x)))
        x = F.LeakyReLU(self.fixed(self.depthwise(x)) + self.shortcut(x), act_type="elu")
        x = self.slope(self.up(self.pool(x)))
        x = F.Pooling(x, kernel=(3, 3), stride=(2, 2), pool_type="max", pooling_convention="full")
        return F.softmax(self.dense(F.concat(x, F.LRN(x, nsize=3), dim=1)))


class Attention(Block):  # type: ignore[misc]
    """An encoder layer as in GluonNLP's BERT: token ids and lengths to features."""

    def __init__(self) -> None:
        super().__init__()
        with self.name_scope():
            self.embed = nn.Embedding(20, 16)
            self.project = nn.Dense(48, flatten=False)
            self.out = nn.Dense(16, flatten=False)
            self.norm = nn.LayerNorm(epsilon=1e-12)
            self.grow = nn.Dense(32, flatten=False)
            self.shrink = nn.Dense(16, flatten=False)
            self.norm2 = nn.LayerNorm()

    def hybrid_forward(self, F: Any, tokens: Any, lengths: Any) -> Any:  # noqa: N803
        x = F.transpose(self.embed(tokens), axes=(1, 0, 2))  # (time, batch, features)
        positions = F.contrib.arange_like(x, axis=0)
        x = F.broadcast_add(x, F.sin(F.reshape(positions, shape=(-1, 1, 1))))
        qkv = self.project(x)
        scores = F.contrib.interleaved_matmul_selfatt_qk(qkv, heads=4)
        limits = F.repeat(F.broadcast_axis(F.expand_dims(lengths, axis=1), axis=1, size=6), repeats=4, axis=0)
        limits = F.cast(limits, dtype="int32")
        weights = F.softmax(scores, limits, use_length=True, axis=-1)
        x = self.norm(x + self.out(F.contrib.interleaved_matmul_selfatt_valatt(qkv, weights, heads=4)))
        x = self.norm2(x + self.shrink(F.LeakyReLU(self.grow(x), act_type="gelu")))
        return F.SequenceMask(x, lengths, use_sequence_length=True)


class Loops(Block):  # type: ignore[misc]
    """`foreach`, `while_loop` and `cond`, which use a value from outside."""

    def hybrid_forward(self, F: Any, x: Any, start: Any, factor: Any) -> Any:  # noqa: N803
        outputs, states = F.contrib.foreach(
            lambda item, state: (item + state[0] * factor, [F.tanh(state[0] + item)]), x, [start]
        )
        gathered, final = F.contrib.while_loop(
            cond=lambda count, total: count < 4,
            func=lambda count, total: (total * 2, [count + 1, F.broadcast_add(total, count)]),
            loop_vars=[F.zeros((1,)), states[0]],
            max_iterations=6,
        )
        chosen = F.contrib.cond(F.sum(final[1]) > 0, lambda: final[1] + 1, lambda: final[1] * factor)
        return outputs, F.slice_axis(gathered, axis=0, begin=0, end=4), chosen


class Detector(Block):  # type: ignore[misc]
    """A single-shot detector: anchors of two feature maps, classes and offsets, and suppression."""

    def __init__(self) -> None:
        super().__init__()
        with self.name_scope():
            self.body = nn.Conv2D(8, 3, padding=1, strides=2, activation="relu")
            self.down = nn.Conv2D(8, 3, padding=1, strides=2, activation="relu")
            self.classes = [nn.Conv2D(4 * 3, 3, padding=1) for _ in range(2)]
            self.offsets = [nn.Conv2D(4 * 4, 3, padding=1) for _ in range(2)]
            for layer in (*self.classes, *self.offsets):
                self.register_child(layer)

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # noqa: N803
        maps = [self.body(x)]
        maps.append(self.down(maps[0]))
        anchors = [F.contrib.MultiBoxPrior(m, sizes=(0.3, 0.5), ratios=(1, 2, 0.5)) for m in maps]
        scores, offsets = [], []
        for m, classify, predict in zip(maps, self.classes, self.offsets):
            scores.append(F.reshape(F.transpose(classify(m), axes=(0, 2, 3, 1)), shape=(0, -1, 3)))
            offsets.append(F.flatten(F.transpose(predict(m), axes=(0, 2, 3, 1))))
        probabilities = F.transpose(F.softmax(F.concat(*scores, dim=1)), axes=(0, 2, 1))
        return F.contrib.MultiBoxDetection(
            probabilities, F.concat(*offsets, dim=1), F.concat(*anchors, dim=1), nms_threshold=0.4
        )


class Tagger(Block):  # type: ignore[misc]
    """A bidirectional LSTM of two layers, a GRU, and cells that are unrolled."""

    def __init__(self) -> None:
        super().__init__()
        with self.name_scope():
            self.lstm = rnn.LSTM(4, 2, layout="NTC", bidirectional=True, input_size=3)
            self.gru = rnn.GRU(5, 1, layout="NTC", input_size=8)
            self.cell = rnn.LSTMCell(4, input_size=5)
            self.dense = nn.Dense(3, flatten=False)

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # noqa: N803
        x = self.gru(self.lstm(x))
        outputs, states = self.cell.unroll(6, x, layout="NTC", merge_outputs=True)
        return self.dense(outputs), states[1]


def checkpoint() -> None:
    """Write a network of the symbol API, with its loss, as Module.save_checkpoint did."""
    data = mx.sym.Variable("data")
    net = mx.sym.FullyConnected(data, name="fc1", num_hidden=6)
    net = mx.sym.Activation(net, act_type="tanh")
    net = mx.sym.BatchNorm(net, name="bn", eps=1e-4)
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, name="fc2", num_hidden=3), name="softmax")
    random = np.random.default_rng(2)
    x = random.normal(size=(2, 4)).astype("float32")
    shapes, _, states = net.infer_shape(data=x.shape)
    values = {
        name: mx.nd.array(random.uniform(0.2, 1, shape)) for name, shape in zip(net.list_arguments(), shapes)
    }
    aux = {
        name: mx.nd.array(random.uniform(0.2, 1, shape))
        for name, shape in zip(net.list_auxiliary_states(), states)
    }
    values["data"] = mx.nd.array(x)
    executor = net.bind(mx.cpu(), values, aux_states=aux)
    outputs = executor.forward(is_train=False)
    weights = {name: value for name, value in values.items() if name not in ("data", "softmax_label")}
    mx.model.save_checkpoint(str(FOLDER / "checkpoint"), 0, net, weights, aux)
    save("checkpoint", {"data": x}, outputs)


def arrays() -> None:
    """Write arrays of all kinds of storage and element types, and the same as dense ones."""
    random = np.random.default_rng(3)
    dense = np.where(random.random((4, 5)) < 0.4, random.normal(size=(4, 5)), 0).astype("float32")
    rows = dense.copy()
    rows[1] = 0
    values = {
        "csr": mx.nd.array(dense).tostype("csr"),
        "row_sparse": mx.nd.array(rows).tostype("row_sparse"),
        **{
            kind: mx.nd.array(np.arange(3), dtype=kind)
            for kind in ("float16", "float32", "float64", "int8", "uint8", "int32", "int64")
        },
    }
    mx.nd.save(str(FOLDER / "arrays.params"), values)
    with mx.util.np_shape(True):
        mx.nd.save(str(FOLDER / "numpy.params"), {"scalar": mx.np.array(2.5).as_nd_ndarray()})
    np.savez(FOLDER / "arrays.npz", csr=dense, row_sparse=rows)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    mx.random.seed(1)
    random = np.random.default_rng(1)

    def normal(*shape: int) -> np.ndarray:
        return random.normal(size=shape).astype("float32")

    blocks: list[tuple[str, Callable[[], Any], dict[str, np.ndarray]]] = [
        ("residual", Residual, {"data": normal(1, 3, 10, 10)}),
        ("attention", Attention, {
            "data0": random.integers(0, 20, (2, 6)).astype("float32"), "data1": np.array([4, 6], "float32"),
        }),
        ("loops", Loops, {"data0": normal(5, 3), "data1": normal(3), "data2": normal(3)}),
        ("detector", Detector, {"data": normal(1, 3, 16, 16)}),
        ("tagger", Tagger, {"data": normal(2, 6, 3)}),
    ]  # fmt: skip
    for name, make, inputs in blocks:
        export(name, make(), inputs)
    checkpoint()
    arrays()


if __name__ == "__main__":
    main()
