"""A residual network for video: convolutions over frames, rows and columns."""

from __future__ import annotations

from .. import relay
from ..ir.expr import Expr
from ..ir.module import IRModule
from .layers import Builder

_UNITS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3)}  # units of each of the four stages
Triple = tuple[int, int, int]


class _Video(Builder):
    """Convolutions in three dimensions, NCDHW."""

    def conv3d(
        self, x: Expr, name: str, inputs: int, channels: int, kernel: Triple, stride: Triple, padding: Triple
    ) -> Expr:
        """Add a convolution and its normalization."""
        weight = self.weight(f"{name}_conv_weight", (channels, inputs, *kernel))
        x = relay.nn.conv3d(x, weight, strides=stride, padding=padding, channels=channels, kernel_size=kernel)
        return self.batch_norm(x, f"{name}_bn", channels)


def resnet3d(
    layers: int = 18,
    batch: int = 1,
    classes: int = 400,
    video: tuple[int, int, int, int] = (3, 16, 112, 112),
    dtype: str = "float32",
) -> IRModule:
    """Build a network from data (batch, channels, frames, height, width) to class probabilities (batch,
    classes).
    """
    if layers not in _UNITS:
        raise ValueError(f"a ResNet for video has {', '.join(map(str, _UNITS))} layers, not {layers}")
    b = _Video(dtype=dtype)
    x: Expr = b.input("data", (batch, *video))
    x = relay.nn.relu(b.conv3d(x, "stem", video[0], 64, (3, 7, 7), (1, 2, 2), (1, 3, 3)))
    inputs = 64
    for stage, count in enumerate(_UNITS[layers]):
        width = 64 << stage
        for index in range(count):
            stride = 2 if stage and not index else 1
            x = _unit(b, x, f"stage{stage + 1}_unit{index + 1}", inputs, width, stride)
            inputs = width
    x = relay.mean(x, axis=(2, 3, 4))
    return b.module(relay.nn.softmax(b.dense(x, "fc", inputs, classes)))


def _unit(b: _Video, x: Expr, name: str, inputs: int, width: int, stride: int) -> Expr:
    """Add two 3 × 3 × 3 convolutions in parallel with a shortcut."""
    cube, once, strides = (3, 3, 3), (1, 1, 1), (stride, stride, stride)
    out: Expr = relay.nn.relu(b.conv3d(x, f"{name}_1", inputs, width, cube, strides, once))
    out = b.conv3d(out, f"{name}_2", width, width, cube, once, once)
    if inputs != width or stride != 1:
        x = b.conv3d(x, f"{name}_sc", inputs, width, once, strides, (0, 0, 0))
    return relay.nn.relu(relay.add(out, x))
