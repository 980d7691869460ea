"""VGG: 3 × 3 convolutions, stacked."""

from __future__ import annotations

from .. import relay
from ..ir.expr import Expr
from ..ir.module import IRModule
from .layers import Builder

_CHANNELS = (64, 128, 256, 512, 512)  # of the five stages
_CONVOLUTIONS = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}


def vgg16() -> IRModule:
    """Build a network from data (1, 3, 224, 224) to class probabilities (1, 1000)."""
    return vgg()


def vgg(
    layers: int = 16,
    batch: int = 1,
    classes: int = 1000,
    image: tuple[int, int, int] = (3, 224, 224),
    batch_norm: bool = False,
    dtype: str = "float32",
) -> IRModule:
    """Build a network from data (batch, *image) to class probabilities (batch, classes); `layers` is the
    number of layers with weights, 11 to 19.
    """
    if layers not in _CONVOLUTIONS:
        raise ValueError(f"a VGG has {', '.join(map(str, _CONVOLUTIONS))} layers, not {layers}")
    b = Builder(dtype=dtype)
    x: Expr = b.image("data", batch, image)
    inputs = image[0]
    for stage, (channels, count) in enumerate(zip(_CHANNELS, _CONVOLUTIONS[layers]), 1):
        for index in range(1, count + 1):
            name = f"conv{stage}_{index}"
            x = b.conv(x, name, inputs, channels, kernel=3, padding=1, bias=True)
            x = relay.nn.relu(b.batch_norm(x, f"{name}_bn", channels) if batch_norm else x)
            inputs = channels
        x = b.max_pool(x, size=2, stride=2)
    x = relay.nn.batch_flatten(x)
    x = relay.nn.relu(b.dense(x, "fc6", 512 * (image[1] // 32) * (image[2] // 32), 4096))
    x = relay.nn.relu(b.dense(x, "fc7", 4096, 4096))
    return b.module(relay.nn.softmax(b.dense(x, "fc8", 4096, classes)))
