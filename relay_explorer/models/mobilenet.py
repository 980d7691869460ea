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


def mobilenet() -> IRModule:
    """data (1, 3, 224, 224) to class probabilities (1, 1000)."""
    b = Builder()
    x = b.conv_norm_relu(b.input("data", (1, 3, 224, 224)), "stem", 3, 32, kernel=3, stride=2, padding=1)
    inputs = 32
    for index, (channels, stride) in enumerate(_BLOCKS, 1):
        x = b.conv_norm_relu(
            x, f"block{index}_depthwise", inputs, inputs, kernel=3, stride=stride, padding=1, groups=inputs
        )
        x = b.conv_norm_relu(x, f"block{index}_pointwise", inputs, channels, kernel=1)
        inputs = channels
    x = relay.nn.batch_flatten(relay.nn.global_avg_pool2d(x))
    return b.module(relay.nn.softmax(b.dense(x, "fc", inputs, 1000)))
