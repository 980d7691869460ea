"""Layers of images and vectors compute what Keras computes, in both layouts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relay_explorer.frontends.keras import from_keras
from tests.frontends.keras.models import check, check_layer, computed, keras, layers, normal, run

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")

IMAGE = (9, 8, 6)
SPACE = {1: (9, 6), 2: IMAGE, 3: (6, 5, 4, 6)}
LAYOUTS_BY_RANK = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC",)}
ACTIVATIONS = (
    "celu", "elu", "exponential", "gelu", "hard_shrink", "hard_sigmoid", "hard_silu", "hard_tanh",
    "leaky_relu",
    "linear", "log_sigmoid", "log_softmax", "mish", "relu", "relu6", "selu", "sigmoid", "silu", "soft_shrink",
    "softmax", "softplus", "softsign", "sparse_plus", "sparse_sigmoid", "squareplus", "tanh", "tanh_shrink",
)  # fmt: skip


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation_functions(name: str) -> None:
    check_layer(layers.Activation(name), (5, 4, 3))


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("padding", ["same", "valid"])
@pytest.mark.parametrize("stride", [1, 2])
def test_convolutions(rank: int, padding: str, stride: int) -> None:
    layer = getattr(layers, f"Conv{rank}D")
    check_layer(layer(4, 3, strides=stride, padding=padding, activation="relu"), SPACE[rank])
    transposed = getattr(layers, f"Conv{rank}DTranspose")
    check_layer(transposed(4, 3, strides=stride, padding=padding), SPACE[rank])


@pytest.mark.parametrize("layer", [
    layers.Conv1D(5, 3, padding="causal", dilation_rate=2), layers.DepthwiseConv1D(3, depth_multiplier=2),
    layers.SeparableConv1D(5, 3, strides=2, padding="same"),
])  # fmt: skip
def test_convolutions_of_sequences(layer: Any) -> None:
    check_layer(layer, (9, 4))


@pytest.mark.parametrize("layer", [
    layers.Conv2D(6, 3, groups=3, dilation_rate=2, padding="same"), layers.DepthwiseConv2D(3,
    depth_multiplier=2),
    layers.DepthwiseConv2D(3, strides=2, padding="same"), layers.SeparableConv2D(5, 3, depth_multiplier=2),
    layers.Conv2DTranspose(5, 1, strides=3), layers.Conv2DTranspose(5, 3, dilation_rate=2),
    layers.Conv2DTranspose(5, (3, 2), strides=2, output_padding=1),
    layers.Conv2DTranspose(5, (3, 2), strides=2, padding="same", output_padding=0),
])  # fmt: skip
def test_convolutions_of_images(layer: Any) -> None:
    check_layer(layer, IMAGE)


def test_a_depthwise_convolution_of_one_channel() -> None:
    check_layer(layers.DepthwiseConv2D(3, depth_multiplier=3), (6, 6, 1))


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("kind", ["Max", "Average"])
def test_pools(kind: str, rank: int) -> None:
    pool = getattr(layers, f"{kind}Pooling{rank}D")
    check_layer(pool(3, strides=2, padding="valid"), SPACE[rank])
    # Where the padding is not symmetric, Keras's averages on PyTorch differ from those on TensorFlow.
    check_layer(pool(3, strides=2 if kind == "Max" else 1, padding="same"), SPACE[rank])
    for keeps in (False, True):
        check_layer(getattr(layers, f"Global{kind}Pooling{rank}D")(keepdims=keeps), SPACE[rank])
    check_layer(getattr(layers, f"Adaptive{kind}Pooling{rank}D")(2), SPACE[rank])


@pytest.mark.parametrize("layer", [
    layers.BatchNormalization(), layers.BatchNormalization(axis=1),
    layers.BatchNormalization(scale=False, center=False), layers.LayerNormalization(),
    layers.LayerNormalization(axis=[2, 3]), layers.LayerNormalization(center=False),
    layers.GroupNormalization(3),
    layers.GroupNormalization(3, axis=1), layers.GroupNormalization(-1, scale=False),
    layers.GroupNormalization(2, scale=False, center=False), layers.UnitNormalization(),
    layers.UnitNormalization(axis=[1, 2]), layers.RMSNormalization(),
    layers.SpectralNormalization(layers.Conv2D(4, 3)),
])  # fmt: skip
def test_normalization(layer: Any) -> None:
    check_layer(layer, IMAGE)


@pytest.mark.parametrize("layer", [
    layers.ReLU(), layers.ReLU(6.0), layers.ReLU(6.0, 0.1, 0.5), layers.LeakyReLU(0.2), layers.ELU(0.5),
    layers.PReLU(), layers.PReLU(shared_axes=[1, 2]), layers.Softmax(), layers.Softmax(axis=1),
    layers.Softmax(axis=[1, 2]),
])  # fmt: skip
def test_advanced_activations(layer: Any) -> None:
    check_layer(layer, IMAGE)


@pytest.mark.parametrize("layer", [
    layers.Flatten(), layers.Reshape((4, -1, 3)), layers.Reshape((-1,)), layers.ZeroPadding2D(((1, 2), (0,
    3))),
    layers.Cropping2D(((1, 2), (0, 3))), layers.UpSampling2D((2, 3)),
    layers.UpSampling2D((2, 3), interpolation="bilinear"), layers.Dropout(0.5), layers.GaussianNoise(1.0),
    layers.SpatialDropout2D(0.5), layers.Rescaling(1 / 255.0, offset=-1.0),
    layers.Normalization(mean=[1.0, 2, 3, 4, 5, 6], variance=[1.0, 2, 3, 4, 5, 6]),
    layers.Normalization(mean=2.0, variance=3.0, invert=True), layers.CenterCrop(5, 4), layers.Resizing(5,
    13),
    layers.Resizing(5, 13, interpolation="nearest"), layers.Dense(5, activation="relu"),
])  # fmt: skip
def test_shapes_and_preprocessing(layer: Any) -> None:
    check_layer(layer, IMAGE)


@pytest.mark.parametrize(("layer", "shape"), [
    (layers.ZeroPadding1D((1, 2)), (4, 3)), (layers.Cropping1D((1, 2)), (6, 3)), (layers.UpSampling1D(2),
    (4, 3)),
    (layers.ZeroPadding3D((1, 2, 0)), (3, 3, 3, 2)), (layers.Cropping3D(1), (3, 4, 5, 2)),
    (layers.UpSampling3D((2, 1, 2)), (3, 3, 3, 2)), (layers.RepeatVector(3), (4,)),
    (layers.Dense(5, activation="softmax"), (4,)), (layers.Dense(5, use_bias=False), (3, 4)),
    (layers.EinsumDense("abc,cd->abd", output_shape=(None, 6), bias_axes="d"), (4, 5)),
    (layers.EinsumDense("...x,xy->...y", output_shape=7, activation="tanh"), (4, 5)),
])  # fmt: skip
def test_other_ranks(layer: Any, shape: tuple[int, ...]) -> None:
    check_layer(layer, shape)


@pytest.mark.parametrize(
    "name", ["Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate"]
)
def test_merges(name: str) -> None:
    check_layer(getattr(layers, name)(), IMAGE, IMAGE)
    check_layer(getattr(layers, name)(), (5,), (5,))


def test_merges_of_different_ranks_and_axes() -> None:
    check_layer(layers.Add(), (4, 5), (5,))
    check_layer(layers.Concatenate(axis=1), IMAGE, IMAGE)


@pytest.mark.parametrize(("axes", "shapes"), [
    (1, ((4,), (4,))), ((1, 2), ((4, 3), (5, 4))), (2, ((4, 3), (5, 3))), ((2, 1), ((4, 3), (3,))),
])  # fmt: skip
def test_dot(axes: Any, shapes: Any) -> None:
    for normalize in (False, True):
        check_layer(layers.Dot(axes=axes, normalize=normalize), *shapes, layouts=("NHWC",))


def test_embeddings_and_permutations_keep_the_order_of_their_operands() -> None:
    for shape in ((4,), (2, 3, 4)):
        tokens = keras.Input(shape, dtype="int32")
        model = keras.Model(tokens, layers.Embedding(5, 3)(tokens))
        check(model, layouts=("NHWC",))
        mod, _ = from_keras(model)
        assert "transpose" not in str(mod)
    image = keras.Input((2, 3, 4))
    mod, _ = from_keras(keras.Model(image, layers.Permute((3, 1, 2))(image)))
    assert str(mod).count("transpose") == 1


def test_images_with_channels_first_keep_their_order() -> None:
    x = keras.Input((3, 8, 8))
    y = layers.Conv2D(4, 3, data_format="channels_first")(x)
    y = layers.MaxPooling2D(2, data_format="channels_first")(y)
    model = keras.Model(x, layers.Flatten(data_format="channels_first")(y))
    inputs = [normal(2, 3, 8, 8)]
    mod, params = from_keras(model, {x._keras_history.operation.name: (2, 3, 8, 8)})
    np.testing.assert_allclose(run(mod, params, inputs)[0], computed(model, inputs)[0], rtol=1e-4, atol=1e-5)


def test_channels_are_moved_only_where_a_model_begins_and_ends() -> None:
    x = keras.Input((8, 8, 3))
    y = layers.BatchNormalization()(layers.Conv2D(4, 3, padding="same")(x))
    y = layers.Concatenate()([layers.ReLU()(y), layers.Activation("sigmoid")(y)])
    y = layers.Conv2D(3, 3)(layers.MaxPooling2D(2)(layers.Add()([y, y])))
    for layout in ("NCHW", "NHWC"):
        assert "transpose" not in str(from_keras(keras.Model(x, y), layout=layout)[0])
