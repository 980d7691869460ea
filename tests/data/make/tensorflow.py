"""Make the models of TensorFlow that the importer's tests read, with TensorFlow's own outputs beside them.

    python tests/data/make/tensorflow.py [FOLDER]

needs TensorFlow (made with 2.21); the tests do not. Each model is a frozen graph `NAME.pb` or the folder of a
SavedModel; `NAME.npz` has its inputs (`in NAME`) and its outputs (`out 0`, …).
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

sys.path.pop(0)  # this folder, whose tensorflow.py is not TensorFlow

import numpy as np
import tensorflow as tf  # type: ignore[import-untyped]

FOLDER = Path(__file__).resolve().parent.parent / "tensorflow"
v1: Any = tf.compat.v1
Arrays = dict[str, np.ndarray[Any, Any]]


def save_graph(name: str, build: Callable[[], tuple[Sequence[Any], Arrays]]) -> None:
    """Build a graph of TensorFlow 1, run it, and save it with its inputs and outputs."""
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        v1.disable_control_flow_v2()
        v1.set_random_seed(7)
        outputs, inputs = build()
        results = session.run(list(outputs), {f"{key}:0": value for key, value in inputs.items()})
        names = [tensor.name for tensor in outputs]
        pruned = v1.graph_util.extract_sub_graph(graph.as_graph_def(), [tensor.op.name for tensor in outputs])
        (FOLDER / f"{name}.pb").write_bytes(pruned.SerializeToString())
    save_arrays(name, inputs, results, names)


def save_arrays(name: str, inputs: Arrays, results: Sequence[Any], names: Sequence[str]) -> None:
    """Save the inputs, the outputs and the outputs' names of a model."""
    arrays = {f"in {key}": value for key, value in inputs.items()}
    arrays |= {f"out {index}": np.asarray(value) for index, value in enumerate(results)}
    np.savez_compressed(FOLDER / f"{name}.npz", names=np.array(list(names), dtype=str), **arrays)  # type: ignore[arg-type]


def weight(*shape: int, seed: int = 0) -> Any:
    """Return a constant of small random numbers."""
    random = np.random.default_rng(seed + sum(shape))
    return tf.constant(random.normal(scale=0.4, size=shape).astype("float32"))


def sample(*shape: int, seed: int = 3) -> np.ndarray[Any, Any]:
    """Return random inputs."""
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def convolutional() -> tuple[Sequence[Any], Arrays]:
    """Build a small network for images, with the paddings and strides that TensorFlow has."""
    x = v1.placeholder(tf.float32, (1, 15, 18, 3), name="image")
    with v1.name_scope("stem"):
        y = tf.nn.conv2d(x, weight(3, 3, 3, 8), strides=2, padding="SAME", name="conv")
        scale, mean = weight(8), weight(8, seed=1)
        y, _, _ = v1.nn.fused_batch_norm(
            y, scale, weight(8, seed=2), mean, tf.abs(weight(8, seed=3)) + 0.5, is_training=False, name="norm"
        )
        y = tf.nn.relu6(y)
    with v1.name_scope("block"):
        y = v1.nn.depthwise_conv2d_native(y, weight(3, 3, 8, 2), [1, 1, 1, 1], "SAME", name="depthwise")
        y = tf.nn.conv2d(y, weight(1, 1, 16, 8, seed=4), strides=1, padding="VALID", name="pointwise")
        y = tf.nn.leaky_relu(tf.nn.bias_add(y, weight(8, seed=5)), alpha=0.1)
        y = tf.nn.max_pool2d(y, 3, 2, "SAME") + tf.nn.avg_pool2d(y, 2, 2, "SAME")
    up = tf.nn.conv2d_transpose(y, weight(3, 3, 4, 8, seed=6), (1, 8, 10, 4), 2, "SAME")
    up = v1.image.resize_bilinear(up, (5, 7), half_pixel_centers=True)
    logits = tf.linalg.matmul(tf.reduce_mean(y, [1, 2]), weight(8, 5))
    return [tf.nn.softmax(logits), up], {"image": sample(1, 15, 18, 3)}


def lstm() -> tuple[Sequence[Any], Arrays]:
    """Build an LSTM over a dynamic batch: a loop that reads and writes tensor arrays."""
    x = v1.placeholder(tf.float32, (None, 4, 3), name="x")
    units, steps = 5, 4
    kernel, bias = weight(3 + units, 4 * units), weight(4 * units)
    batch = tf.shape(x)[0]
    zeros = tf.zeros(tf.stack([batch, units]))
    given = tf.TensorArray(tf.float32, steps, element_shape=(None, 3)).unstack(tf.transpose(x, (1, 0, 2)))
    made = tf.TensorArray(tf.float32, steps, element_shape=(None, units))

    def step(t: Any, state: Any, hidden: Any, written: Any) -> tuple[Any, ...]:
        gates = tf.linalg.matmul(tf.concat([given.read(t), hidden], 1), kernel) + bias
        i, c, f, o = tf.split(gates, 4, 1)
        state = tf.sigmoid(f + 1.0) * state + tf.sigmoid(i) * tf.tanh(c)
        hidden = tf.sigmoid(o) * tf.tanh(state)
        return t + 1, state, hidden, written.write(t, hidden)

    invariants = [tf.TensorShape([]), tf.TensorShape([None, units]), tf.TensorShape([None, units])]
    _, state, hidden, written = v1.while_loop(
        lambda t, *_: t < steps,
        step,
        [tf.constant(0), zeros, zeros, made],
        shape_invariants=[*invariants, tf.TensorShape(None)],
        name="rnn",
    )
    return [tf.transpose(written.stack(), (1, 0, 2)), state, hidden], {"x": sample(2, 4, 3)}


def nested_loops() -> tuple[Sequence[Any], Arrays]:
    """Build a loop in a loop, with values from outside both and a conditional inside."""
    x = v1.placeholder(tf.float32, (3,), name="x")
    n = v1.placeholder(tf.int32, (), name="n")
    outside = x * 0.5

    def outer(i: Any, total: Any) -> tuple[Any, Any]:
        factor = v1.cond(tf.equal(i % 2, 0), lambda: outside + 1.0, lambda: outside * 2.0)

        def inner(j: Any, part: Any) -> tuple[Any, Any]:
            return j + 1, part + factor * tf.cast(j, tf.float32)

        _, part = v1.while_loop(
            lambda j, _: j < i + 2, inner, [tf.constant(0), tf.zeros_like(x)], name="inner"
        )
        return i + 1, total + part

    i, total = v1.while_loop(lambda i, _: i < n, outer, [tf.constant(0), x], name="outer")
    return [i, total], {"x": sample(3), "n": np.array(4, "int32")}


def tensor_arrays() -> tuple[Sequence[Any], Arrays]:
    """Build what tensor arrays offer, with element shapes that the graph leaves open."""
    x = v1.placeholder(tf.float32, (3, 2), name="x")
    array = tf.TensorArray(tf.float32, 3, infer_shape=False, clear_after_read=False)
    array = array.scatter([2, 0], x[1:]).write(1, x[0] * 3.0)
    rows = tf.TensorArray(tf.float32, 2, infer_shape=False, clear_after_read=False).split(x, [1, 2])
    return [
        array.gather([1, 2]), array.read(0), array.stack(), rows.concat(), rows.read(1), array.size(),
    ], {"x": sample(3, 2)}  # fmt: skip


def conditionals() -> tuple[Sequence[Any], Arrays]:
    """Build conditionals: nested, with two results, and one whose other branch would not end."""
    x = v1.placeholder(tf.float32, (2, 2), name="x")
    flag = v1.placeholder(tf.bool, (), name="flag")

    def endless() -> Any:
        return v1.while_loop(lambda v: tf.reduce_all(v < 1e9), lambda v: v * 1.0, [x], name="endless")

    def then() -> tuple[Any, Any]:
        big = v1.cond(tf.reduce_sum(x) > 0.0, lambda: x + 10.0, lambda: x - 10.0)
        return big, big * big

    both = v1.cond(flag, then, lambda: (x, tf.zeros((2, 2))), name="both")
    lazy = v1.cond(flag, lambda: tf.identity(x), endless, name="lazy")
    return [*both, lazy], {"x": sample(2, 2), "flag": np.array(True)}


def attention() -> tuple[Sequence[Any], Arrays]:
    """Build attention with two heads over a dynamic batch, with layer normalization and GELU."""
    x = v1.placeholder(tf.float32, (None, 5, 8), name="tokens")
    with v1.name_scope("attention"):
        q, k, v = (tf.einsum("bsd,dhk->bhsk", x, weight(8, 2, 4, seed=s)) for s in range(3))
        scores = tf.linalg.matmul(q, k, transpose_b=True) * 0.5
        mixed = tf.linalg.matmul(tf.nn.softmax(scores), v)
        shape = tf.shape(x)
        joined = tf.reshape(tf.transpose(mixed, (0, 2, 1, 3)), tf.stack([shape[0], shape[1], 8]))
        y = x + tf.tensordot(joined, weight(8, 8), 1)
    mean = tf.reduce_mean(y, -1, keepdims=True)
    variance = tf.reduce_mean(tf.math.squared_difference(y, mean), -1, keepdims=True)
    y = (y - mean) * tf.math.rsqrt(variance + 1e-6) * weight(8, seed=7) + weight(8, seed=8)
    y = 0.5 * y * (1.0 + tf.math.erf(y / np.sqrt(2.0).astype("float32")))
    return [y, tf.argmax(y[:, 0], -1)], {"tokens": sample(2, 5, 8)}


def selection() -> tuple[Sequence[Any], Arrays]:
    """Build slices, gathers, sorting and suppression of boxes."""
    boxes = v1.placeholder(tf.float32, (6, 4), name="boxes")
    scores = v1.placeholder(tf.float32, (6,), name="scores")
    kept = tf.image.non_max_suppression(boxes, scores, 4, 0.4, 0.1)
    best, where = tf.nn.top_k(scores, 3)
    parts = boxes[1:5:2, ::-1, tf.newaxis]
    last = boxes[-1, ...]
    values, places = tf.unique(tf.cast(scores * 4.0, tf.int32))
    wide = tf.where(scores[:, None] > 0.5, boxes, -boxes)
    picked = tf.gather_nd(boxes, [[0, 1], [5, 3]])
    hot = tf.one_hot(where, 6, on_value=2.0, off_value=-1.0)
    scan = tf.cumsum(scores, exclusive=True, reverse=True)
    corner = np.abs(sample(6, 2))
    given = np.concatenate([corner, corner + np.abs(sample(6, 2, seed=5)) + 1.0], 1)
    return [tf.gather(boxes, kept), best, where, parts, last, values, places, wide, picked, hot, scan], {
        "boxes": given.astype("float32"), "scores": np.linspace(0.05, 0.95, 6).astype("float32"),
    }  # fmt: skip


def elementwise() -> tuple[Sequence[Any], Arrays]:
    """Build operators that work element by element, on numbers with zeros, ties and both signs."""
    raw = tf.raw_ops
    x = v1.placeholder(tf.float32, (8,), name="x")
    y = v1.placeholder(tf.float32, (8,), name="y")
    n = v1.placeholder(tf.int32, (8,), name="n")
    m = n * 2 - 5
    p = tf.abs(x) + 0.1
    results = [
        tf.math.divide_no_nan(x, y),
        raw.MulNoNan(x=p, y=y),
        tf.math.xlogy(y, p),
        tf.math.xdivy(y, p),
        tf.atan2(y, x),
        tf.round(x),
        tf.math.rint(y),
        tf.nn.softplus(x * 30.0),
        tf.nn.softsign(x),
        tf.nn.elu(x),
        tf.nn.selu(y),
        tf.math.expm1(x),
        tf.math.log1p(p),
        tf.math.erfc(x),
        tf.math.reciprocal(p),
        tf.clip_by_value(x, -1.0, 1.0),
        tf.math.floormod(x, p),
        raw.TruncateMod(x=x, y=p),
        tf.math.floordiv(n, m),
        raw.TruncateDiv(x=n, y=m),
        raw.Mod(x=n, y=m),
        tf.math.floormod(n, m),
        raw.Div(x=n, y=m),
        tf.bitwise.left_shift(tf.abs(n), 2),
        raw.Invert(x=n),
        tf.bitwise.bitwise_xor(n, m),
        tf.cast(x, tf.int32),
        tf.cast(x, tf.bool),
        tf.cast(n > 0, tf.float32),
        tf.sign(y),
        tf.math.pow(p, y),
        tf.math.squared_difference(x, y),
        raw.ApproximateEqual(x=x, y=x + 1e-6),
        tf.add_n([x, y, x]),
        raw.FakeQuantWithMinMaxArgs(inputs=x, min=-1.5, max=2.0, num_bits=4),
        tf.math.is_finite(x / y),
        tf.math.is_nan(y / y),
        raw.Select(condition=x > 0.0, x=x, y=y),
        tf.bitcast(x, tf.int32),
        raw.BiasAdd(value=tf.reshape(x, (1, 2, 2, 2)), bias=y[:2], data_format="NCHW"),
        tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(tf.reshape(y, (2, 4))), tf.reshape(x, (2, 4))),
        tf.nn.sparse_softmax_cross_entropy_with_logits(n[:2] % 4, tf.reshape(x, (2, 4))),
        tf.nn.l2_loss(x),
        tf.nn.log_softmax(tf.reshape(x, (2, 4))),
        tf.nn.relu6(x * 5.0),
        tf.sinh(x),
        tf.acosh(p + 1.0),
    ]
    return results, {
        "x": np.array([-2.5, -1.5, -0.5, 0.0, 0.5, 1.5, 2.5, 3.2], "float32"),
        "y": np.array([0.0, -1.0, 2.0, 0.0, -2.5, 1.0, 0.5, -0.3], "float32"),
        "n": np.array([7, 5, 1, 0, 2, 6, 8, 3], "int32"),
    }


def indexing() -> tuple[Sequence[Any], Arrays]:
    """Build operators that take, move and combine parts of tensors, some at indices of the program."""
    raw = tf.raw_ops
    x = v1.placeholder(tf.float32, (3, 4), name="x")
    i = v1.placeholder(tf.int32, (), name="i")
    d = v1.placeholder(tf.float32, (None, 4), name="d")
    count = tf.shape(d)[0]
    cube = tf.stack([x, x * 2.0])
    results = [
        x[i],
        x[:, -i - 1],
        x[i:, 1:],
        d[: count - 1],
        d[::-1, tf.newaxis, ..., 0],
        cube[..., i, :],
        d[-1],
        x[1:3, ::2],
        cube[:, ::-1, -1],
        tf.slice(d, [i, 0], [-1, 2]),
        tf.slice(d, [0, i], [count, 2]),
        tf.gather(cube, [[0, 2], [1, 1]], axis=1, batch_dims=1),
        tf.gather(x, [3, 0], axis=-1),
        tf.gather_nd(cube, [[0, 1], [1, 2]]),
        tf.scatter_nd([[1], [3], [1]], [5.0, 6.0, 7.0], [5]),
        tf.tensor_scatter_nd_update(x, [[0], [2]], [x[1], x[0]]),
        tf.tensor_scatter_nd_add(x, [[0, 1], [0, 1]], [1.0, 2.0]),
        tf.linalg.band_part(x, 1, 0),
        tf.linalg.diag(x),
        raw.MatrixDiagPart(input=x),
        raw.Diag(diagonal=x[0]),
        tf.linalg.set_diag(x, x[0, :3]),
        tf.linspace(0.0, 1.0, 5),
        tf.math.cumprod(x, axis=1, reverse=True),
        tf.cumsum(x, axis=0, exclusive=True),
        tf.reverse_sequence(x, [2, 4, 1], seq_axis=1),
        tf.roll(x, [1, -2], [0, 1]),
        tf.math.in_top_k([1, 3, 0], x, 2),
        tf.reverse(x, [-1]),
        tf.tile(d, [2, 1]),
        tf.tile(d, tf.stack([count, 1])),
        tf.pad(d, [[1, 0], [2, 1]], constant_values=3.0),
        tf.pad(x, [[1, 1], [2, 2]], "REFLECT"),
        tf.pad(x, tf.stack([[i, 0], [0, i]])),
        tf.range(count, 10, 2),
        tf.range(0),
        tf.fill(tf.stack([count, 2]), 7),
        tf.zeros_like(d),
        tf.broadcast_to(d[:1], tf.shape(d)),
        tf.squeeze(x[:1]),
        tf.expand_dims(d, -2),
        tf.size(d),
        tf.rank(cube),
        tf.shape(d),
        tf.unstack(x)[2],
        tf.split(x, [1, -1], 1)[1],
        tf.split(d, 2, axis=1)[0],
        tf.concat([d, d * 2.0], -1),
        tf.argmin(x, 1),
        tf.reduce_prod(x, 0),
        tf.reduce_any(x > 1.0, 1),
        tf.norm(x, axis=1),
        tf.reduce_logsumexp(x, 0),
        tf.math.segment_sum(x, [0, 0, 1]),
        tf.math.unsorted_segment_sum(x, [1, 0, 1], 3),
        tf.where(x > 0.5),
        tf.searchsorted([0.0, 0.5, 1.0], x[0]),
        tf.searchsorted([0.0, 0.5, 1.0], x[0], side="right"),
        tf.reshape(d, tf.stack([count, 2, -1])),
        tf.one_hot([1, 5, -1], 3, axis=0),
        tf.math.bincount([1, 1, 3]),
        tf.nn.space_to_depth(tf.reshape(x[:2], (1, 2, 4, 1)), 2),
        tf.sparse.to_dense(tf.SparseTensor([[0, 1]], [2.0], [2, 2])),
    ]
    return results, {"x": sample(3, 4), "i": np.array(1, "int32"), "d": sample(3, 4, seed=8)}


def layers() -> tuple[Sequence[Any], Arrays]:
    """Build layers whose paddings, layouts and sizes differ, some with dynamic extents."""
    raw = tf.raw_ops
    x = v1.placeholder(tf.float32, (2, 7, 9, 4), name="x")
    d = v1.placeholder(tf.float32, (None, None, None, 4), name="d")
    kernel = weight(3, 2, 4, 2)
    volume = tf.reshape(x, (2, 7, 3, 3, 4))
    half = {"half_pixel_centers": True}
    a, b = tf.reshape(x[:, :, :8], (2, 7, 8, 4)), tf.reshape(x[:1, :, 1:], (1, 7, 4, 8))
    results = [
        tf.nn.conv2d(x, kernel, 2, [[0, 0], [1, 2], [0, 3], [0, 0]]),
        tf.nn.conv2d(d, kernel, 2, "SAME"),
        tf.nn.conv2d(x, kernel, 1, "SAME", dilations=2),
        tf.nn.conv2d(x, weight(3, 3, 2, 6), 1, "VALID"),
        tf.nn.conv3d(volume, weight(2, 2, 2, 4, 3), [1, 2, 1, 1, 1], "SAME"),
        tf.nn.conv3d_transpose(x[:, None, :, :, :2], weight(2, 2, 2, 3, 2), (2, 2, 14, 18, 3), 2, "SAME"),
        tf.nn.conv2d_transpose(x, weight(3, 3, 5, 4), (2, 15, 19, 5), 2, "VALID"),
        tf.nn.max_pool2d(d, 3, 2, "SAME"),
        tf.nn.avg_pool2d(x, (2, 3), 2, "SAME"),
        tf.nn.avg_pool3d(volume, 2, 2, "SAME"),
        raw.MaxPoolV2(input=x, ksize=[1, 2, 2, 1], strides=[1, 2, 1, 1], padding="SAME"),
        tf.nn.lrn(x, 1, 2.0, 0.3, 0.6),
        tf.nn.dilation2d(x, weight(2, 2, 4), [1, 1, 2, 1], "SAME", "NHWC", [1, 1, 1, 1]),
        raw.ResizeBilinear(images=x, size=[5, 11], align_corners=True),
        raw.ResizeBilinear(images=x, size=[5, 11]),
        raw.ResizeNearestNeighbor(images=x, size=[10, 4], **half),
        raw.ResizeNearestNeighbor(images=x, size=[14, 5]),
        raw.ResizeNearestNeighbor(images=x, size=[13, 5], align_corners=True),
        tf.linalg.matmul(a, b),
        tf.linalg.matmul(a[0], b[0, 0]),
        tf.linalg.matmul(d, weight(4, 3)),
        tf.einsum("bhwc,bhvc->bhwv", x, x),
        tf.einsum("bhwc,cd->bdhw", x, weight(4, 3)),
        tf.einsum("bhwc,bhwc->b", x, x),
        tf.einsum("...c,cd->...d", x, weight(4, 2)),
        tf.einsum("bhwc->bc", x),
        v1.nn.fused_batch_norm(x, weight(4), weight(4, seed=1), is_training=True)[2],
        tf.nn.space_to_batch(x, [2, 3], [[1, 0], [0, 0]]),
        tf.image.crop_and_resize(x, [[0.1, 0.2, 0.7, 0.9]], [1], (4, 3)),
        raw.GRUBlockCell(
            x=x[:, 0, 0],
            h_prev=x[:, 1, 1, :3],
            w_ru=weight(7, 6),
            w_c=weight(7, 3),
            b_ru=weight(6),
            b_c=weight(3),
        )[3],
        *raw.LSTMBlockCell(
            x=x[:, 0, 0],
            cs_prev=x[:, 1, 1, :3],
            h_prev=x[:, 2, 1, :3],
            w=weight(7, 12),
            wci=weight(3),
            wcf=weight(3, seed=1),
            wco=weight(3, seed=2),
            b=weight(12),
            forget_bias=0.5,
            cell_clip=0.4,
            use_peephole=True,
        ),
    ]
    return results, {"x": sample(2, 7, 9, 4), "d": sample(1, 7, 8, 4, seed=9)}


def bicubic() -> tuple[Sequence[Any], Arrays]:
    """Build cubic interpolation, for which TensorFlow rounds the weights to a table."""
    x = v1.placeholder(tf.float32, (1, 5, 6, 2), name="x")
    resize = tf.raw_ops.ResizeBicubic
    results = [resize(images=x, size=[9, 4], half_pixel_centers=True), resize(images=x, size=[9, 4])]
    return results, {"x": sample(1, 5, 6, 2)}


class Functions(tf.Module):  # type: ignore[misc]  # TensorFlow has no types
    """Functions of TensorFlow 2 with control flow; the variables are those of a small network."""

    def __init__(self) -> None:
        super().__init__()
        self.kernel = tf.Variable(weight(4, 4), name="kernel")
        self.bias = tf.Variable(weight(4), name="bias")
        self.steps = tf.Variable(np.array([3], "int64"), name="steps")

    @tf.function(input_signature=[tf.TensorSpec((None, 4), tf.float32, name="x")])  # type: ignore[untyped-decorator]
    def network(self, x: Any) -> dict[str, Any]:
        """Repeat a layer, with a list of what each iteration gives."""
        seen = tf.TensorArray(tf.float32, 3, element_shape=(None, 4))
        for i in tf.range(3):
            if tf.reduce_sum(x) > 0.0:
                x = tf.nn.relu(tf.linalg.matmul(x, self.kernel) + self.bias)
            else:
                x = self.shift(x)
            seen = seen.write(i, x)
        return {"last": x, "all": seen.stack(), "steps": tf.cast(self.steps, tf.int32)}

    @tf.function  # type: ignore[untyped-decorator]
    def shift(self, x: Any) -> Any:
        """Add the bias: a function within a function."""
        return x + tf.abs(self.bias)


def functions() -> None:
    """Save a SavedModel with variables, and the graph of its function with the variables as constants."""
    from tensorflow.python.framework.convert_to_constants import (  # type: ignore[import-untyped]
        convert_variables_to_constants_v2,
    )

    model = Functions()
    x = sample(2, 4)
    folder = FOLDER / "functions"
    shutil.rmtree(folder, ignore_errors=True)
    results = model.network(tf.constant(x))
    options = tf.saved_model.SaveOptions(save_debug_info=False)
    tf.saved_model.save(model, folder, signatures={"serving_default": model.network}, options=options)
    (folder / "fingerprint.pb").unlink(missing_ok=True)
    ordered = [results[key] for key in sorted(results)]
    save_arrays("functions", {"x": x}, ordered, sorted(results))
    frozen = convert_variables_to_constants_v2(
        model.network.get_concrete_function(), lower_control_flow=False
    )
    (FOLDER / "frozen_functions.pb").write_bytes(frozen.graph.as_graph_def().SerializeToString())
    names = [tensor.name for tensor in frozen.outputs]
    outputs = [np.asarray(value) for value in frozen(tf.constant(x))]
    save_arrays("frozen_functions", {"x": x}, outputs, names)


def lowered() -> None:
    """Save a frozen function whose control flow TensorFlow has turned into that of TensorFlow 1: a list that
    grows, a choice of three branches, `map_fn`.
    """
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    signature = [tf.TensorSpec((3,), tf.float32, name="x"), tf.TensorSpec((), tf.int32, name="n")]

    @tf.function(input_signature=signature)  # type: ignore[untyped-decorator]
    def function(x: Any, n: Any) -> Any:
        y = tf.switch_case(n, [lambda: x, lambda: x * 3.0, lambda: -x])
        seen = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        i = 0
        while tf.reduce_sum(tf.abs(x)) > 0.3:
            x = x / 2.0 if i % 2 == 0 else x - 0.1
            seen = seen.write(i, x)
            i += 1
            if i > 5:
                break
        return y, seen.stack(), i, tf.map_fn(lambda part: part * part + 1.0, x)

    frozen = convert_variables_to_constants_v2(function.get_concrete_function())
    (FOLDER / "lowered.pb").write_bytes(frozen.graph.as_graph_def().SerializeToString())
    inputs = {"x": np.array([1.0, 2.0, 3.0], "float32"), "n": np.array(1, "int32")}
    outputs = frozen(*map(tf.constant, inputs.values()))
    save_arrays("lowered", inputs, [np.asarray(v) for v in outputs], [t.name for t in frozen.outputs])


def keras_model() -> None:
    """Save a SavedModel of Keras with a bidirectional LSTM and a convolution over time."""
    keras = tf.keras
    keras.utils.set_random_seed(5)
    model = keras.Sequential(
        [
            keras.Input((6,), dtype="int32", name="words"),
            keras.layers.Embedding(11, 4),
            keras.layers.Conv1D(4, 3, padding="same", activation="relu"),
            keras.layers.Bidirectional(keras.layers.LSTM(3, return_sequences=True)),
            keras.layers.GRU(3),
            keras.layers.Dense(2, activation="softmax"),
        ]
    )
    folder = FOLDER / "tagger"
    shutil.rmtree(folder, ignore_errors=True)
    words = np.random.default_rng(2).integers(0, 11, (2, 6)).astype("int32")

    @tf.function(input_signature=[tf.TensorSpec((None, 6), tf.int32, name="words")])  # type: ignore[untyped-decorator]
    def serve(words: Any) -> dict[str, Any]:
        return {"classes": model(words)}

    module = tf.Module()
    module.values = [variable.value for variable in model.variables]  # without Keras's own functions
    options = tf.saved_model.SaveOptions(save_debug_info=False)
    tf.saved_model.save(
        module, folder, signatures={"serving_default": serve.get_concrete_function()}, options=options
    )
    (folder / "fingerprint.pb").unlink(missing_ok=True)
    without_objects(folder / "saved_model.pb")
    save_arrays("tagger", {"words": words}, [serve(tf.constant(words))["classes"]], ["classes"])


def without_objects(path: Path) -> None:
    """Remove what Keras needs to restore its objects, which is most of the file, and nothing else reads."""
    from tensorflow.core.protobuf.saved_model_pb2 import SavedModel  # type: ignore[import-untyped]

    saved = SavedModel.FromString(path.read_bytes())
    meta = saved.meta_graphs[0]
    meta.ClearField("object_graph_def")
    meta.meta_info_def.ClearField("stripped_op_list")
    path.write_bytes(saved.SerializeToString())


def main() -> None:
    """Make all models."""
    global FOLDER
    if len(sys.argv) > 1:
        FOLDER = Path(sys.argv[1])
    FOLDER.mkdir(parents=True, exist_ok=True)
    functions()
    keras_model()
    lowered()
    graphs = (
        convolutional, lstm, nested_loops, tensor_arrays, conditionals, attention, selection, elementwise,
        indexing, layers, bicubic,
    )  # fmt: skip
    for build in graphs:
        save_graph(build.__name__, build)


if __name__ == "__main__":
    main()
