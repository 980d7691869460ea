"""MobileNet, version 1: depthwise separable convolutions."""

from __future__ import annotations

from .. import relay
from ..ir.module import IRModule
from .layers import Builder

_BLOCKS = (
    (64, 1),
    (128, 2),
    (128, 1),
    (256, 2),
    (256, 1),
    (512, 2),
    *[(512, 1)] * 5,
    (1024, 2),
    (1024, 1),
)  # output channels, stride


def mobilenet(
    batch: int = 1,
    classes: int = 1000,
    image: tuple[int, int, int] = (3, 224, 224),
    layout: str = "NCHW",
    dtype: str = "float32",
) -> IRModule:
    """Build a network from data (batch, *image) to class probabilities (batch, classes)."""
    b = Builder(layout, dtype)
    x = b.conv_norm_relu(b.image("data", batch, image), "stem", image[0], 32, kernel=3, stride=2, padding=1)
    inputs = 32
    for index, (channels, stride) in enumerate(_BLOCKS, 1):
        x = b.conv_norm_relu(
            x, f"block{index}_depthwise", inputs, inputs, kernel=3, stride=stride, padding=1, groups=inputs
        )
        x = b.conv_norm_relu(x, f"block{index}_pointwise", inputs, channels, kernel=1)
        inputs = channels
    return b.module(relay.nn.softmax(b.dense(b.global_pool(x), "fc", inputs, classes)))
