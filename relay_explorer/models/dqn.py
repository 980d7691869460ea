"""The deep Q-network."""

from __future__ import annotations

from .. import relay
from ..ir.module import IRModule
from .layers import Builder


def dqn(actions: int = 18) -> IRModule:
    """data (1, 4, 84, 84), four grey frames, to the value of each action (1, actions)."""
    b = Builder()
    x = b.input("data", (1, 4, 84, 84))
    x = relay.nn.relu(b.conv(x, "conv1", 4, 32, kernel=8, stride=4, bias=True))
    x = relay.nn.relu(b.conv(x, "conv2", 32, 64, kernel=4, stride=2, bias=True))
    x = relay.nn.relu(b.conv(x, "conv3", 64, 64, kernel=3, bias=True))
    x = relay.nn.batch_flatten(x)
    x = relay.nn.relu(b.dense(x, "fc1", 3136, 512))
    return b.module(b.dense(x, "fc2", 512, actions))
