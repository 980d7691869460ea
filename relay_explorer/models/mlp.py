"""A multi-layer perceptron: the smallest model of the book."""

from __future__ import annotations

import math

from .. import relay
from ..ir.expr import Expr
from ..ir.module import IRModule
from .layers import Builder


def mlp() -> IRModule:
    """Build a network from x (1, 784) to class probabilities (1, 10)."""
    b = Builder()
    x = b.input("x", (1, 784))
    hidden = relay.nn.relu(b.dense(x, "fc1", 784, 256))
    return b.module(relay.nn.softmax(b.dense(hidden, "fc2", 256, 10)))


def image_mlp(
    batch: int = 1,
    classes: int = 10,
    image: tuple[int, ...] = (1, 28, 28),
    hidden: tuple[int, ...] = (128, 64),
    dtype: str = "float32",
) -> IRModule:
    """Build a network from data (batch, *image) to class probabilities (batch, classes), through layers of
    `hidden` units.
    """
    b = Builder(dtype=dtype)
    x: Expr = relay.nn.batch_flatten(b.input("data", (batch, *image)))
    inputs = math.prod(image)
    for number, units in enumerate(hidden, 1):
        x = relay.nn.relu(b.dense(x, f"fc{number}", inputs, units))
        inputs = units
    return b.module(relay.nn.softmax(b.dense(x, f"fc{len(hidden) + 1}", inputs, classes)))
