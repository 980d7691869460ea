"""The deep Q-network."""

from __future__ import annotations

from .. import relay
from ..ir.expr import Expr
from ..ir.module import IRModule
from .layers import Builder, pooled


def dqn(
    actions: int = 18,
    batch: int = 1,
    image: tuple[int, int, int] = (4, 84, 84),
    layout: str = "NCHW",
    dtype: str = "float32",
) -> IRModule:
    """Build a network from data (batch, 4, 84, 84), four grayscale frames, to the value of each action
    (batch, actions).
    """
    b = Builder(layout, dtype)
    x: Expr = b.image("data", batch, image)
    x = relay.nn.relu(b.conv(x, "conv1", image[0], 32, kernel=8, stride=4, bias=True))
    x = relay.nn.relu(b.conv(x, "conv2", 32, 64, kernel=4, stride=2, bias=True))
    x = relay.nn.relu(b.conv(x, "conv3", 64, 64, kernel=3, bias=True))
    rows, columns = (pooled(pooled(pooled(size, 8, 4), 4, 2), 3, 1) for size in image[1:])
    x = relay.nn.batch_flatten(x)
    x = relay.nn.relu(b.dense(x, "fc1", 64 * rows * columns, 512))
    return b.module(b.dense(x, "fc2", 512, actions))
