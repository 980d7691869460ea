"""Models of Keras 2 (tf-keras) and of Keras 3 on TensorFlow compute what TensorFlow computes.

TensorFlow is in an environment of its own (`make test-frameworks`):

    pytest -m frameworks tests/frontends/keras/test_tf_keras.py
"""

from __future__ import annotations

import importlib
import os
from typing import Any

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.frontends.keras import from_keras
from relay_explorer.ir.errors import RelayError

pytestmark = [pytest.mark.frameworks, pytest.mark.filterwarnings("ignore")]
RNG = np.random.default_rng(0)
Array = np.ndarray[Any, Any]


@pytest.fixture(params=["tf_keras", "keras"])
def keras(request: pytest.FixtureRequest) -> Any:
    """Return the module of Keras 2 or 3."""
    os.environ["KERAS_BACKEND"] = "tensorflow"  # the tests that start this one may have set another
    return importlib.import_module(request.param)


def check(model: Any, layout: str = "NHWC", tolerance: float = 1e-5) -> None:
    """Assert that the imported model computes what Keras computes."""
    for weight in model.weights:
        values = RNG.normal(size=tuple(weight.shape)) * 0.4
        weight.assign(np.abs(values) + 0.5 if "variance" in weight.name else values)
    inputs: list[Array] = []
    for tensor in model.inputs:
        shape = [2, *tensor.shape[1:]]
        whole = "int" in str(tensor.dtype)
        kind = "int32" if whole else "float32"
        inputs.append((RNG.integers(0, 4, shape) if whole else RNG.normal(size=shape)).astype(kind))
    expected = _flat(model(inputs if len(inputs) > 1 else inputs[0]))
    names = [tensor._keras_history[0].name for tensor in model.inputs]
    first = layout == "NCHW"
    arguments = [x.transpose(0, 3, 1, 2) if first and x.ndim == 4 else x for x in inputs]
    mod, params = from_keras(model, {name: x.shape for name, x in zip(names, arguments)}, layout)
    weights = [params[var.name_hint].numpy() for var in mod["main"].params[len(arguments) :]]
    results = _flat(relay.create_executor("debug", mod).evaluate()(*arguments, *weights))
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected):
        wanted = wanted.transpose(0, 3, 1, 2) if first and wanted.ndim == 4 else wanted
        np.testing.assert_allclose(result, wanted, rtol=tolerance, atol=tolerance)


def _flat(result: Any) -> list[Array]:
    if isinstance(result, (list, tuple)):
        return [array for part in result for array in _flat(part)]
    return [np.asarray(result.numpy())]


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
def test_images(keras: Any, layout: str) -> None:
    layers = keras.layers
    x = keras.Input((9, 8, 3))
    y = layers.Conv2D(4, 3, strides=2, padding="same", activation="relu")(x)
    z = layers.BatchNormalization()(layers.DepthwiseConv2D(3, padding="same", depth_multiplier=2)(y))
    z = layers.Concatenate()([y, layers.SeparableConv2D(4, 3, padding="same")(z)])
    pools = layers.Average()([
        layers.AveragePooling2D(2, strides=2, padding="same")(z), layers.MaxPooling2D((3, 2), 2,
        padding="same")(z),
    ])  # fmt: skip
    grown = layers.UpSampling2D(2, interpolation="bilinear")(layers.Conv2DTranspose(3, 3, 2, "same")(pools))
    dense = layers.Dense(5, activation="softmax")(layers.Flatten()(pools))
    check(
        keras.Model(x, [grown, dense, layers.GlobalAveragePooling2D()(z), layers.LayerNormalization()(y)]),
        layout,
    )


def test_averages_leave_out_the_padding(keras: Any) -> None:
    for shape, name in (((8, 3), "1D"), ((9, 8, 3), "2D"), ((4, 5, 6, 2), "3D")):
        x = keras.Input(shape)
        for size, stride in ((2, 1), (3, 2), (2, 3)):
            check(
                keras.Model(
                    x, getattr(keras.layers, f"AveragePooling{name}")(size, stride, padding="same")(x)
                )
            )


def test_transposed_convolutions_with_output_padding(keras: Any) -> None:
    x = keras.Input((5, 4, 3))
    for padding in ("same", "valid"):
        for extra in (None, 0, 1):
            layer = keras.layers.Conv2DTranspose(2, 3, strides=2, padding=padding, output_padding=extra)
            check(keras.Model(x, layer(x)))


@pytest.mark.parametrize("name", ["SimpleRNN", "LSTM", "GRU"])
def test_recurrent_layers(keras: Any, name: str) -> None:
    layers = keras.layers
    x = keras.Input((5, 3))
    layer = getattr(layers, name)
    check(keras.Model(x, layer(4, return_sequences=True, go_backwards=True)(x)))
    check(keras.Model(x, layers.Bidirectional(layer(4, return_sequences=True))(x)))
    check(keras.Model(x, layer(4, return_state=True)(x)))
    states = [keras.Input((4,)) for _ in range(2 if name == "LSTM" else 1)]
    check(keras.Model([x, *states], layer(4)(x, initial_state=states)))
    states = layers.RNN(layers.LSTMCell(3), return_sequences=True)(x)
    check(keras.Model(x, layers.TimeDistributed(layers.Dense(2))(states)))


def test_masks(keras: Any) -> None:
    layers = keras.layers
    tokens = keras.Input((6,), dtype="int32")
    x = layers.Embedding(4, 5, mask_zero=True)(tokens)
    other = layers.Embedding(4, 5, mask_zero=True)(tokens)
    for merge in (layers.Add(), layers.Concatenate(), layers.Concatenate(axis=1)):
        check(keras.Model(tokens, layers.LSTM(3)(merge([x, other]))))
    check(keras.Model(tokens, layers.GlobalAveragePooling1D()(layers.GRU(3, return_sequences=True)(x))))


@pytest.mark.parametrize(
    "name", ["hard_sigmoid", "gelu", "selu", "softplus", "softsign", "swish", "elu", "exponential"]
)
def test_activations(keras: Any, name: str) -> None:
    x = keras.Input((4, 5))
    check(keras.Model(x, keras.layers.Activation(name)(x)))


def test_attention(keras: Any) -> None:
    layers = keras.layers
    query, value = keras.Input((4, 5)), keras.Input((6, 5))
    check(keras.Model([query, value], layers.Attention(use_scale=True)([query, value])))
    check(keras.Model([query, value], layers.AdditiveAttention()([query, value])))
    check(keras.Model([query, value], layers.MultiHeadAttention(2, 3)(query, value)))
    check(keras.Model(query, layers.MultiHeadAttention(2, 3)(query, query, use_causal_mask=True)))


def test_nested_models_and_shared_layers(keras: Any) -> None:
    layers = keras.layers
    x = keras.Input((6,))
    inner = keras.Sequential([layers.Input((6,)), layers.Dense(6, activation="tanh")])
    shared = layers.Dense(6)
    check(keras.Model(x, layers.Add()([inner(shared(x)), shared(inner(x))])))


def test_functions_of_tensorflow_in_a_model_of_keras_2() -> None:
    tf, keras = importlib.import_module("tensorflow"), importlib.import_module("tf_keras")
    x = keras.Input((4, 6))
    results = [
        x + 1, 2 - x, x * x / 3, x**2, -x, tf.cast(x > 0.5, tf.float32), x[:, 1:3, ::2], x[:, -1], x[:,
        None, ..., 2],
        tf.matmul(x, x, transpose_b=True), tf.reduce_mean(x, axis=1), tf.reduce_sum(x, 1, keepdims=True),
        tf.nn.relu(x), tf.nn.softmax(x), tf.concat([x, x], 1), tf.stack([x, x], 1), tf.reshape(x, (-1, 24)),
        tf.expand_dims(x, 1), tf.squeeze(x[:, :1], 1), tf.transpose(x, (0, 2, 1)), tf.exp(x),
        tf.sqrt(tf.abs(x)),
        tf.clip_by_value(x, -0.5, 0.5), tf.maximum(x, 0.1),
    ]  # fmt: skip
    check(keras.Model(x, results))
    with pytest.raises(RelayError, match=r"tf\.signal"):
        from_keras(keras.Model(x, tf.signal.fftshift(x)))


def test_what_cannot_be_imported_is_refused(keras: Any) -> None:
    x = keras.Input((6,))
    with pytest.raises(RelayError, match="Lambda"):
        from_keras(keras.Model(x, keras.layers.Lambda(lambda v: v * 2)(x)))
    with pytest.raises(RelayError, match="training=True"):
        from_keras(keras.Model(x, keras.layers.Dropout(0.5)(x, training=True)))
    with pytest.raises(RelayError, match="no input shape yet"):
        from_keras(keras.Sequential([keras.layers.Dense(2)]))
