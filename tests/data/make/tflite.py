"""Make the files of `tests/data/tflite` with TensorFlow Lite: models, inputs, and the interpreter's outputs.

Run with an environment that has TensorFlow: `python tests/data/make/tflite.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder, whose tensorflow.py is not TensorFlow

import numpy as np
import tensorflow as tf  # type: ignore[import-untyped]

FOLDER = Path(__file__).parents[1] / "tflite"
RNG = np.random.default_rng(0)
L = tf.keras.layers
Array = Any


def normal(*shape: int) -> Array:
    """Return random float32 numbers."""
    return RNG.normal(size=shape).astype(np.float32)


def save(
    name: str, contents: bytes, inputs: list[Array], has_reference: bool = False, kernels: str = "AUTO"
) -> None:
    """Write a model, the inputs, and what the interpreter computes (also with its reference kernels)."""
    outputs = run(contents, inputs, kernels)
    (FOLDER / f"{name}.tflite").write_bytes(contents)
    kinds = {"input": inputs, "output": outputs}
    if has_reference:
        kinds["reference"] = run(contents, inputs, "BUILTIN_REF")
    arrays = {f"{kind}_{i}": value for kind, values in kinds.items() for i, value in enumerate(values)}
    np.savez_compressed(FOLDER / f"{name}.npz", **arrays)
    print(name, len(contents), [value.shape for value in outputs])


def run(contents: bytes, inputs: list[Array], kernels: str) -> list[Array]:
    """Return what the interpreter computes with some of its kernels."""
    resolver = getattr(tf.lite.experimental.OpResolverType, kernels)
    interpreter = tf.lite.Interpreter(model_content=contents, experimental_op_resolver_type=resolver)
    details = interpreter.get_input_details()
    for detail, value in zip(details, inputs):
        interpreter.resize_tensor_input(detail["index"], value.shape)
    interpreter.allocate_tensors()
    for detail, value in zip(details, inputs):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


def of_function(function: Callable[..., Any], *signature: Any, **options: Any) -> bytes:
    """Convert a function of tensors with the shapes and types of `signature`."""
    wrapped = tf.function(function, input_signature=signature)
    converter = tf.lite.TFLiteConverter.from_concrete_functions([wrapped.get_concrete_function()])
    for option, value in options.items():
        setattr(converter, option, value)
    return bytes(converter.convert())


def spec(*shape: int | None, dtype: Any = tf.float32) -> Any:
    """Return the type of an input."""
    return tf.TensorSpec(shape, dtype)


def of_keras(model: Any, **options: Any) -> bytes:
    """Convert a Keras model."""
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    for option, value in options.items():
        setattr(converter, option, value)
    return bytes(converter.convert())


def conv_model() -> Any:
    """A small convolutional network with every kind of layer that such networks have."""
    tf.keras.utils.set_random_seed(1)
    x = inputs = L.Input((12, 12, 3), batch_size=1)
    x = L.Conv2D(8, 3, strides=2, padding="same", activation="relu")(x)
    y = L.DepthwiseConv2D(3, padding="same", depth_multiplier=1)(x)
    y = L.BatchNormalization(moving_variance_initializer="ones")(y)
    x = L.Concatenate()([L.Add()([x, L.ReLU(6)(y)]), y])
    x = L.Conv2D(8, 1, activation="relu6")(x)
    x = L.AveragePooling2D(2)(L.MaxPooling2D(3, strides=1, padding="same")(x))
    x = L.Dense(5)(L.Flatten()(x))
    return tf.keras.Model(inputs, L.Softmax()(x))


def quantized(model: Any, shape: tuple[int, ...], kind: str = "int8") -> bytes:
    """Convert a model to integers, whose inputs and outputs are int8, uint8 or int16."""
    data = [RNG.normal(size=shape).astype(np.float32) for _ in range(16)]
    wide = "EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8"
    wanted = getattr(tf.lite.OpsSet, wide if kind == "int16" else "TFLITE_BUILTINS_INT8")
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([value] for value in data)
    converter.target_spec.supported_ops = [wanted]
    converter.inference_input_type = converter.inference_output_type = getattr(tf, kind)
    return bytes(converter.convert())


def quantized_function(function: Callable[[Any], Any], shape: tuple[int, ...], kind: str) -> bytes:
    """Convert a function of one tensor to integers, whose input is int8 or int16."""
    data = [RNG.normal(size=shape).astype(np.float32) for _ in range(16)]
    wide = "EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8"
    return of_function(
        function,
        spec(*shape),
        optimizations=[tf.lite.Optimize.DEFAULT],
        representative_dataset=lambda: ([value] for value in data),
        target_spec=tf.lite.TargetSpec(
            [getattr(tf.lite.OpsSet, wide if kind == "int16" else "TFLITE_BUILTINS_INT8")]
        ),
        inference_input_type=getattr(tf, kind),
    )


def convolutional() -> None:
    """Convolutions: float, integers of 8 and 16 bits, half-precision weights, transposed, dilated, 3-D."""
    model = conv_model()
    save("conv_float", of_keras(model), [normal(1, 12, 12, 3)])
    images = RNG.integers(-128, 128, (1, 12, 12, 3)).astype(np.int8)
    save("conv_int8", quantized(model, (1, 12, 12, 3)), [images])
    images = RNG.integers(-30000, 30000, (1, 12, 12, 3)).astype(np.int16)
    save("conv_int16", quantized(model, (1, 12, 12, 3), "int16"), [images])
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.target_spec.supported_types = [tf.float16]
    save("conv_float16", bytes(converter.convert()), [normal(1, 12, 12, 3)])
    converter = tf.lite.TFLiteConverter.from_keras_model(
        tf.keras.Sequential([L.Input((40,), batch_size=1), L.Dense(64)])
    )
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    save("dynamic_range", bytes(converter.convert()), [normal(1, 40)])
    kernel, volume = normal(3, 3, 4, 6), normal(2, 2, 2, 2, 3)
    back, deep = normal(3, 3, 5, 4), normal(3, 3, 4, 2)

    def many(x: Any, v: Any) -> list[Any]:
        return [
            tf.nn.conv2d(x, kernel, 1, "SAME", dilations=2),
            tf.nn.conv2d_transpose(x, back, (1, 14, 12, 5), 2, "SAME"),
            tf.nn.conv2d_transpose(x, back, (1, 15, 13, 5), 2, "VALID"),
            tf.nn.depthwise_conv2d(x, deep, (1, 1, 1, 1), "VALID", dilations=(2, 2)),
            tf.nn.conv3d(v, volume, (1, 1, 1, 1, 1), "SAME"),
            tf.image.resize(x, (5, 11)), tf.image.resize(x, (5, 11), method="nearest"),
            tf.compat.v1.image.resize_bilinear(x, (9, 4), align_corners=True),
            tf.nn.local_response_normalization(x, 2, 1.0, 0.3, 0.6), tf.nn.l2_normalize(x, -1),
            tf.nn.space_to_depth(tf.pad(x, [[0, 0], [1, 0], [0, 0], [0, 0]]), 2),
        ]  # fmt: skip

    save(
        "conv_kinds",
        of_function(many, spec(1, 7, 6, 4), spec(1, 4, 5, 3, 2)),
        [normal(1, 7, 6, 4), normal(1, 4, 5, 3, 2)],
    )


def recurrent() -> None:
    """Recurrent layers: fused, unrolled, and as a loop."""
    tf.keras.utils.set_random_seed(2)
    x = L.Input((6, 3), batch_size=2)
    save("lstm_fused", of_keras(tf.keras.Model(x, L.LSTM(4, return_sequences=True)(x))), [normal(2, 6, 3)])
    save("lstm_unrolled", of_keras(tf.keras.Model(x, L.LSTM(4, unroll=True)(x))), [normal(2, 6, 3)])
    save("gru_loop", of_keras(tf.keras.Model(x, L.GRU(4)(x))), [normal(2, 6, 3)])
    both = L.Bidirectional(L.LSTM(3, return_sequences=True))(x)
    save("lstm_both_directions", of_keras(tf.keras.Model(x, both)), [normal(2, 6, 3)])
    long = L.Input((80, 2), batch_size=1)
    save(
        "lstm_long",
        of_keras(tf.keras.Model(long, L.LSTM(3, return_sequences=True)(long))),
        [normal(1, 80, 2)],
    )


def hybrid() -> None:
    """Layers with weights of 8 bits and float data."""
    dynamic = {"optimizations": [tf.lite.Optimize.DEFAULT]}
    filters, deep, back = normal(3, 3, 8, 16), normal(5, 5, 8, 6), normal(3, 3, 16, 8)
    grouped, matrix, many = normal(3, 3, 4, 32), normal(12, 96), normal(2, 12, 48)

    def layers(x: Any) -> list[Any]:
        return [
            tf.nn.relu(tf.nn.conv2d(x, filters, 2, "SAME") + 0.5),
            tf.nn.conv2d(x, grouped, 1, "VALID"), tf.nn.depthwise_conv2d(x, deep, (1, 1, 1, 1), "SAME"),
            tf.nn.conv2d_transpose(x, back, (2, 8, 6, 16), 2, "SAME"),
        ]  # fmt: skip

    images = normal(2, 4, 3, 8) * np.array([1, 4], np.float32).reshape(2, 1, 1, 1) + np.float32(0.3)
    contents = of_function(layers, spec(2, 4, 3, 8), **dynamic)
    save("hybrid_convolutions", contents, [images], has_reference=True)
    point = normal(1, 1, 72, 16)
    contents = of_function(lambda x: tf.nn.conv2d(x, point, 1, "SAME"), spec(2, 2, 3, 72), **dynamic)
    sizes = np.array([1, 3, 9], np.float32).reshape(1, 1, 3, 1)
    save("hybrid_pointwise", contents, [normal(2, 2, 3, 72) * sizes], has_reference=True)
    rows = normal(2, 5, 12) * np.array([1, 0, 3, 2, 9], np.float32).reshape(1, 5, 1)
    save(
        "hybrid_dense",
        of_function(lambda x: tf.einsum("bij,jk->bik", x, matrix) + normal(96), spec(2, 5, 12), **dynamic),
        [rows],
        has_reference=True,
    )
    contents = of_function(
        lambda x, y: [tf.matmul(x, many), tf.matmul(y, many, adjoint_a=True, adjoint_b=True)],
        spec(2, 4, 12),
        spec(2, 48, 4),
        **dynamic,
    )
    operands = [normal(2, 4, 12), normal(2, 48, 4)]  # XNNPACK's kernel (of 2.21) reads beyond the first one
    save("hybrid_matmul", contents, operands, kernels="BUILTIN_WITHOUT_DEFAULT_DELEGATES")
    table = normal(40, 32)
    contents = of_function(lambda i: tf.gather(table, i), spec(5, dtype=tf.int32), **dynamic)
    save("hybrid_embedding", contents, [np.array([3, 0, 39, 3, 7], np.int32)])


def old_recurrent() -> None:
    """LSTMs with integers, which only the old version of Keras converts to one operator each.

    Run with the environment variable TF_USE_LEGACY_KERAS=1.
    """
    tf.keras.utils.set_random_seed(7)
    x = L.Input((4, 32), batch_size=2)
    model = tf.keras.Model(x, L.LSTM(32, return_sequences=True, bias_initializer="random_normal")(x))
    save("hybrid_lstm", of_keras(model, optimizations=[tf.lite.Optimize.DEFAULT]), [normal(2, 4, 32)])
    x = L.Input((5, 6), batch_size=1)
    model = tf.keras.Model(x, L.LSTM(8, return_sequences=True, bias_initializer="random_normal")(x))
    sequence = RNG.integers(-128, 128, (1, 5, 6)).astype(np.int8)
    save("lstm_int8", quantized(model, (1, 5, 6)), [sequence])


def attention() -> None:
    """A block of a transformer."""
    tf.keras.utils.set_random_seed(3)
    x = L.Input((5, 8), batch_size=2)
    y = L.LayerNormalization()(L.Add()([x, L.MultiHeadAttention(2, 4)(x, x)]))
    y = L.Add()([y, L.Dense(8)(L.Dense(16, activation="gelu")(y))])
    save("attention", of_keras(tf.keras.Model(x, y)), [normal(2, 5, 8)])


def control_flow() -> None:
    """Loops, nested ones and conditionals, and variables."""

    def loop(x: Any, n: Any) -> Any:
        def body(i: Any, total: Any) -> tuple[Any, Any]:
            inner = tf.while_loop(
                lambda j, t: j < i, lambda j, t: (j + 1, t + tf.cast(j, tf.float32)), (0, total)
            )
            return i + 1, inner[1] * 0.5

        return tf.while_loop(lambda i, total: i < n, body, (0, x))[1]

    save("loops", of_function(loop, spec(2, 3), spec(dtype=tf.int32)), [normal(2, 3), np.array(5, np.int32)])

    def branch(x: Any) -> Any:
        return tf.cond(tf.reduce_sum(x) > 0.0, lambda: (x * 2.0, x + 1.0), lambda: (x - 3.0, tf.exp(x)))

    save("branches", of_function(branch, spec(2, 3)), [np.abs(normal(2, 3))])

    def growing(x: Any) -> Any:
        shape = (tf.TensorShape([]), tf.TensorShape([None, 2]))
        return tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, tf.concat([t, x], 0)), (0, x), shape)[1]

    save("growing", of_function(growing, spec(1, 2)), [normal(1, 2)])

    class Counter(tf.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.scale = tf.Variable(normal(3), name="scale")

        @tf.function(input_signature=[spec(2, 3)])  # type: ignore[untyped-decorator]
        def read(self, x: Any) -> Any:
            return x * self.scale

        @tf.function(input_signature=[spec(2, 3)])  # type: ignore[untyped-decorator]
        def change(self, x: Any) -> Any:
            self.scale.assign_add(tf.reduce_sum(x, 0))
            return x * self.scale

    counter = Counter()
    for name, function in (("variable_read", counter.read), ("variable_changed", counter.change)):
        converter = tf.lite.TFLiteConverter.from_concrete_functions(
            [function.get_concrete_function()], counter
        )
        converter.experimental_enable_resource_variables = True
        save(name, bytes(converter.convert()), [normal(2, 3)])


def dynamic() -> None:
    """Axes whose extents only a run knows."""
    weight = normal(4, 3)

    def function(x: Any) -> list[Any]:
        shape = tf.shape(x)
        rows = tf.reshape(x, (-1, 4))
        product = tf.reshape(tf.matmul(rows, weight), (shape[0], shape[1], 3))
        return [
            product, tf.reduce_mean(x, 1), x[:, -1], x[:, 1:],
            tf.zeros_like(x) + tf.cast(shape[1], tf.float32),
            tf.concat([x, x], 1), tf.tile(x, (1, shape[0], 1)), tf.fill((shape[1], 2), 3.0),
            tf.range(shape[1]), tf.slice(x, (0, 0, 1), (shape[0], 2, 2)), tf.transpose(x, (1, 0, 2)),
        ]  # fmt: skip

    save("dynamic", of_function(function, spec(None, None, 4)), [normal(3, 5, 4)])


def operators() -> None:
    """Operators by family, each an output."""

    def elementwise(x: Any, y: Any, k: Any) -> list[Any]:
        positive = tf.abs(x) + 0.5
        return [
            x + y, x - y, x * y, x / (tf.abs(y) + 1.0), tf.maximum(x, y), tf.minimum(x, y),
            tf.pow(positive, y),
            tf.math.squared_difference(x, y), tf.math.floordiv(x, positive), tf.math.floormod(x, positive),
            tf.abs(x), tf.math.ceil(x), tf.floor(x), tf.round(x * 2.0), tf.exp(x), tf.math.log(positive),
            tf.sqrt(positive), tf.math.rsqrt(positive), tf.square(x), -x, tf.sin(x), tf.cos(x), tf.tanh(x),
            tf.sigmoid(x), tf.sign(x), tf.nn.relu(x), tf.nn.relu6(x * 5.0), tf.nn.elu(x),
            tf.nn.leaky_relu(x, 0.3),
            tf.nn.gelu(x, True), x * tf.nn.relu6(x + 3.0) / 6.0, tf.nn.softmax(x),
            tf.nn.log_softmax(x), tf.math.atan2(x, y), tf.where(x > y, x, y), tf.cast(x * 3.0, tf.int32),
            x > y, x >= y, x < y, x <= y, tf.equal(k, 2), tf.not_equal(k, 2), (x > 0.0) & (y > 0.0),
            (x > 0.0) | (y > 0.0), ~(x > 0.0), k // 2, k % 3, tf.bitwise.bitwise_xor(k, 5),
            tf.bitwise.right_shift(k, 1), tf.add_n([x, y, x]), tf.clip_by_value(x, -1.0, 1.0), k + 3, k * k,
            tf.math.cumsum(x, 1, exclusive=True, reverse=True), tf.zeros_like(x),
            tf.bitcast(x, tf.int32),
        ]  # fmt: skip

    ints = RNG.integers(-4, 5, (3, 4)).astype(np.int32)
    contents = of_function(elementwise, spec(3, 4), spec(3, 4), spec(3, 4, dtype=tf.int32))
    save("elementwise", contents, [normal(3, 4), normal(3, 4), ints])

    def shapes(x: Any) -> list[Any]:
        return [
            tf.reshape(x, (6, 4)), tf.transpose(x, (2, 0, 1)), tf.expand_dims(x, 1), tf.squeeze(x[:1], 0),
            tf.concat([x, x], -1), tf.stack([x, x], 1), *tf.unstack(x, axis=1), *tf.split(x, 2, 2),
            *tf.split(x, [1, 3], 2), tf.tile(x, (1, 2, 1)), tf.pad(x, ((0, 0), (1, 2), (0, 1))),
            tf.pad(x, ((0, 0), (1, 2), (0, 1)), constant_values=2.0),
            tf.pad(x, ((0, 0), (1, 1), (2, 0)), "REFLECT"),
            tf.pad(x, ((0, 0), (1, 1), (2, 0)), "SYMMETRIC"), tf.reverse(x, (1,)),
            tf.reverse_sequence(x, (1, 3), seq_axis=1, batch_axis=0), tf.broadcast_to(x[:1], (5, 3, 4)),
            x[:, ::2, 1:-1], x[:, None, ..., 2], x[1, ::-1], x[..., -1], tf.slice(x, (0, 1, 0), (-1, 2, 3)),
            tf.space_to_batch_nd(x[..., None], (1, 2), ((0, 0), (0, 0))), tf.shape(x), tf.rank(x),
            tf.fill((2, 3), 7.0), tf.range(1.0, 4.0, 0.5), tf.one_hot(tf.argmax(x, 2), 5, 2.0, -1.0),
            tf.linalg.diag(x[0, :, 0]), tf.linalg.set_diag(x[0, :, :3], x[0, :, 3]),
        ]  # fmt: skip

    save("shapes", of_function(shapes, spec(2, 3, 4)), [normal(2, 3, 4)])

    def selections(x: Any, i: Any) -> list[Any]:
        return [
            tf.gather(x, i, axis=0), tf.gather(x, i[:2], axis=1), tf.gather_nd(x, i[:2, None]),
            tf.gather(x[:3], tf.reshape(i, (3, 1)), axis=1, batch_dims=1), *tf.math.top_k(x, 2),
            tf.argmax(x, 1), tf.argmin(x, 0, tf.int32), tf.reduce_sum(x, 1), tf.reduce_mean(x, (0, 1)),
            tf.reduce_max(x, 0, keepdims=True), tf.reduce_min(x, 1), tf.reduce_prod(x, 1),
            tf.reduce_any(x > 1.0, 1), tf.reduce_all(x > -1.0, 0), tf.where(x > 0.3),
            tf.scatter_nd(i[:, None], x[:3], (5, 4)), tf.math.segment_sum(x, [0, 0, 1, 2]),
            tf.math.unsorted_segment_max(x, [0, 2, 1, 0], 3),
            tf.math.unsorted_segment_prod(x, [0, 2, 1, 0], 3),
            tf.nn.embedding_lookup(x, i), tf.unique(i)[0], tf.unique(i)[1],
            tf.sparse.to_dense(tf.SparseTensor([[0, 1], [2, 0]], x[0, :2], (3, 3))),
            tf.matmul(x, x, transpose_b=True), tf.tensor_scatter_nd_update(x, [[1]], x[:1]),
            tf.raw_ops.Bucketize(input=x, boundaries=[-1.0, 0.0, 1.0]),
        ]  # fmt: skip

    contents = of_function(selections, spec(4, 4), spec(3, dtype=tf.int32))
    save("selections", contents, [normal(4, 4), np.array([2, 0, 2], np.int32)])


def quantized_operators() -> None:
    """Operators on integers of 8 bits."""
    tf.keras.utils.set_random_seed(4)
    x = L.Input((6, 6, 4), batch_size=1)
    y = L.Conv2DTranspose(4, 3, strides=2, padding="same")(L.Conv2D(4, 3, padding="same")(x))
    y = L.Cropping2D(3)(L.ZeroPadding2D(2)(L.UpSampling2D(1)(y)))
    z = L.Reshape((10, 10, 4))(y) * L.Activation("sigmoid")(y) + L.Activation("tanh")(y)
    z = L.Concatenate()([z, L.LeakyReLU()(y), L.Maximum()([z, y])])
    z = L.GlobalAveragePooling2D()(L.DepthwiseConv2D(3, depth_multiplier=2)(z))
    model = tf.keras.Model(x, L.Softmax()(L.Dense(6)(z)))
    images = RNG.integers(-128, 128, (1, 6, 6, 4)).astype(np.int8)
    save("operators_int8", quantized(model, (1, 6, 6, 4)), [images])


def residual_model() -> Any:
    """A residual network with a depthwise convolution, of which every integer of the result counts."""
    tf.keras.utils.set_random_seed(6)
    x = inputs = L.Input((12, 12, 3), batch_size=1)
    x = L.Conv2D(8, 3, strides=2, padding="same", activation="relu", bias_initializer="random_normal")(x)
    y = L.Conv2D(8, 3, padding="same", activation="relu6")(x)
    y = L.DepthwiseConv2D(3, padding="same", bias_initializer="random_normal")(y)
    x = L.ReLU()(L.Add()([x, y]))
    gate = L.Conv2D(8, 1, activation="sigmoid")(L.GlobalAveragePooling2D(keepdims=True)(x))
    x = L.Concatenate()([x, L.Conv2D(8, 1)(x) * gate])
    x = L.Conv2DTranspose(6, 2, strides=2)(L.AveragePooling2D(2)(L.MaxPooling2D(2, strides=1)(x)))
    return tf.keras.Model(inputs, [x, L.Dense(24)(L.Flatten()(x))])


def quantized_networks() -> None:
    """Networks of integers: signed ones of 8 and 16 bits, and unsigned ones."""
    rng = np.random.default_rng(1)
    for name in ("int8", "uint8", "int16"):
        shape, limits = (1, 12, 12, 3), np.iinfo(name)
        images = rng.integers(limits.min, limits.max + 1, shape).astype(name)
        save(f"residual_{name}", quantized(residual_model(), shape, name), [images], has_reference=True)


def integer_kernels() -> None:
    """Operators whose kernels for integers have an arithmetic of their own."""

    def bytes_(x: Any) -> list[Any]:
        y = tf.reduce_mean(x, 3, keepdims=True)
        return [
            tf.image.resize(x, (7, 5)), tf.compat.v1.image.resize_bilinear(x, (7, 9), align_corners=True),
            tf.compat.v1.image.resize_nearest_neighbor(x, (7, 9), align_corners=True),
            x * tf.nn.relu6(x + 3.0) / 6.0, tf.nn.leaky_relu(x, 0.3), tf.sqrt(tf.nn.relu(x)),
            tf.math.squared_difference(x, y), x > y, tf.equal(x, y), x <= 0.4,
        ]  # fmt: skip

    images = RNG.integers(-128, 128, (1, 4, 5, 4)).astype(np.int8)
    contents = quantized_function(bytes_, (1, 4, 5, 4), "int8")
    save("kernels_int8", contents, [images], has_reference=True)

    def shorts(x: Any) -> list[Any]:
        y = tf.reduce_mean(x, 3, keepdims=True)
        return [
            x + y, x - y, x * y, tf.tanh(x), tf.sigmoid(x), tf.nn.softmax(x), tf.exp(x), tf.nn.gelu(x),
            tf.math.rsqrt(tf.nn.relu(x) + 0.5), tf.image.resize(x, (7, 5)), tf.nn.leaky_relu(x, 0.3),
            tf.matmul(x, x, transpose_b=True),
        ]  # fmt: skip

    images = RNG.integers(-32768, 32768, (1, 4, 5, 4)).astype(np.int16)
    save("kernels_int16", quantized_function(shorts, (1, 4, 5, 4), "int16"), [images])


def detection() -> None:
    """The selection of boxes as a custom operator, and non-maximum suppression."""
    anchors = np.abs(normal(8, 4)) + 0.3
    options = {
        "max_detections": 5, "max_classes_per_detection": 1, "num_classes": 3, "nms_score_threshold": 0.2,
        "nms_iou_threshold": 0.5, "y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0,
    }  # fmt: skip
    for regular in (False, True):
        attributes = "".join(
            f' attr {{ key: "{key}" value {{ {"f" if isinstance(value, float) else "i"}: {value} }} }}'
            for key, value in options.items()
        )
        attributes += f' attr {{ key: "use_regular_nms" value {{ b: {str(regular).lower()} }} }}'

        @tf.function(  # type: ignore[untyped-decorator]
            experimental_implements=f'name: "TFLite_Detection_PostProcess"{attributes}',
            input_signature=[spec(1, 8, 4), spec(1, 8, 4), spec(8, 4)],
        )
        def select(boxes: Any, scores: Any, anchors: Any) -> Any:
            return tf.zeros((1, 5, 4)), tf.zeros((1, 5)), tf.zeros((1, 5)), tf.zeros((1,))

        def model(boxes: Any, scores: Any, select: Any = select) -> Any:
            return select(boxes, scores, anchors)

        contents = of_function(model, spec(1, 8, 4), spec(1, 8, 4), allow_custom_ops=True)
        scores = RNG.uniform(0, 1, (1, 8, 4)).astype(np.float32)
        save("detection_regular" if regular else "detection_fast", contents, [normal(1, 8, 4), scores])

    def suppress(boxes: Any, scores: Any) -> Any:
        return tf.raw_ops.NonMaxSuppressionV5(
            boxes=boxes, scores=scores, max_output_size=6, iou_threshold=0.4, score_threshold=0.1,
            soft_nms_sigma=0.0, pad_to_max_output_size=True,
        )  # fmt: skip

    corners = RNG.uniform(0, 1, (9, 2)).astype(np.float32)
    boxes = np.concatenate([corners, corners + 0.4], 1)
    save(
        "suppression",
        of_function(suppress, spec(9, 4), spec(9)),
        [boxes, RNG.uniform(0, 1, 9).astype(np.float32)],
    )


def sparse() -> None:
    """Weights that are stored sparsely."""
    tf.keras.utils.set_random_seed(5)
    model = tf.keras.Sequential([L.Input((32,), batch_size=1), L.Dense(16, use_bias=False)])
    weights = model.get_weights()[0]
    weights[RNG.uniform(size=weights.shape) < 0.9] = 0
    model.set_weights([weights])
    contents = of_keras(model, optimizations=[tf.lite.Optimize.EXPERIMENTAL_SPARSITY])
    save("sparse", contents, [normal(1, 32)])


PARTS = (
    convolutional, recurrent, attention, control_flow, dynamic, operators, quantized_operators, detection,
    sparse, quantized_networks, hybrid, integer_kernels, old_recurrent,
)  # fmt: skip

if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        if len(sys.argv) < 2 or part.__name__ in sys.argv[1:]:
            part()
