"""VGG: 3 × 3 convolutions, stacked."""

from __future__ import annotations

from .. import relay
from ..ir.module import IRModule
from .layers import Builder

_STAGES = ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))  # channels, convolutions


def vgg16() -> IRModule:
    """data (1, 3, 224, 224) to class probabilities (1, 1000)."""
    b = Builder()
    x = b.input("data", (1, 3, 224, 224))
    inputs = 3
    for stage, (channels, count) in enumerate(_STAGES, 1):
        for index in range(1, count + 1):
            x = relay.nn.relu(
                b.conv(x, f"conv{stage}_{index}", inputs, channels, kernel=3, padding=1, bias=True)
            )
            inputs = channels
        x = relay.nn.max_pool2d(x, pool_size=(2, 2), strides=(2, 2))
    x = relay.nn.batch_flatten(x)
    x = relay.nn.relu(b.dense(x, "fc6", 512 * 7 * 7, 4096))
    x = relay.nn.relu(b.dense(x, "fc7", 4096, 4096))
    return b.module(relay.nn.softmax(b.dense(x, "fc8", 4096, 1000)))
