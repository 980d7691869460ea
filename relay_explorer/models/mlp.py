"""A multi-layer perceptron: the smallest model of the book."""

from __future__ import annotations

from .. import relay
from ..ir.module import IRModule
from .layers import Builder


def mlp() -> IRModule:
    """x (1, 784) to class probabilities (1, 10)."""
    b = Builder()
    x = b.input("x", (1, 784))
    hidden = relay.nn.relu(b.dense(x, "fc1", 784, 256))
    return b.module(relay.nn.softmax(b.dense(hidden, "fc2", 256, 10)))
