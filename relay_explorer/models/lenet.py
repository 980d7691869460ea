"""LeNet-5, with max pooling and ReLU as it is taught today."""

from __future__ import annotations

from .. import relay
from ..ir.expr import Expr
from ..ir.module import IRModule
from .layers import Builder


def lenet(batch: int = 1) -> IRModule:
    """Build a network from data (batch, 1, 28, 28) to class probabilities (batch, 10)."""
    b = Builder()
    x: Expr = b.input("data", (batch, 1, 28, 28))
    x = relay.nn.relu(b.conv(x, "conv1", 1, 6, kernel=5, padding=2, bias=True))
    x = relay.nn.max_pool2d(x, pool_size=(2, 2), strides=(2, 2))
    x = relay.nn.relu(b.conv(x, "conv2", 6, 16, kernel=5, bias=True))
    x = relay.nn.max_pool2d(x, pool_size=(2, 2), strides=(2, 2))
    x = relay.nn.batch_flatten(x)
    x = relay.nn.relu(b.dense(x, "fc1", 400, 120))
    x = relay.nn.relu(b.dense(x, "fc2", 120, 84))
    return b.module(relay.nn.softmax(b.dense(x, "fc3", 84, 10)))
