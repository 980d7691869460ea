"""Residual networks."""

from __future__ import annotations

from .. import relay
from ..ir.expr import Expr
from ..ir.module import IRModule
from .layers import Builder

_UNITS = {
    18: (2, 2, 2, 2),
    34: (3, 4, 6, 3),
    50: (3, 4, 6, 3),
    101: (3, 4, 23, 3),
    152: (3, 8, 36, 3),
}  # units of each of the four stages, by the number of layers with weights
_BOTTLENECK_FROM = 50


def resnet18() -> IRModule:
    """Build a network from data (1, 3, 224, 224) to class probabilities (1, 1000)."""
    return resnet(18)


def resnet50() -> IRModule:
    """Build a network from data (1, 3, 224, 224) to class probabilities (1, 1000)."""
    return resnet(50)


def resnet(
    layers: int = 18,
    batch: int = 1,
    classes: int = 1000,
    image: tuple[int, int, int] = (3, 224, 224),
    layout: str = "NCHW",
    dtype: str = "float32",
) -> IRModule:
    """Build a network from data (batch, *image) to class probabilities (batch, classes); `layers` is the
    number of layers with weights, 18 to 152.
    """
    if layers not in _UNITS:
        raise ValueError(f"a ResNet has {', '.join(map(str, _UNITS))} layers, not {layers}")
    bottleneck = layers >= _BOTTLENECK_FROM
    b = Builder(layout, dtype)
    x = b.conv_norm_relu(b.image("data", batch, image), "stem", image[0], 64, kernel=7, stride=2, padding=3)
    x = b.max_pool(x, size=3, stride=2, padding=1)
    inputs, widen = 64, 4 if bottleneck else 1
    for stage, count in enumerate(_UNITS[layers]):
        width = 64 << stage
        for index in range(count):
            stride = 2 if stage and not index else 1
            name = f"stage{stage + 1}_unit{index + 1}"
            x = (_bottleneck if bottleneck else _basic)(b, x, name, inputs, width, stride)
            inputs = width * widen
    return b.module(relay.nn.softmax(b.dense(b.global_pool(x), "fc", inputs, classes)))


def _basic(b: Builder, x: Expr, name: str, inputs: int, width: int, stride: int) -> Expr:
    """Add two 3 × 3 convolutions in parallel with a shortcut."""
    out = b.conv_norm_relu(x, f"{name}_1", inputs, width, kernel=3, stride=stride, padding=1)
    out = b.batch_norm(
        b.conv(out, f"{name}_2_conv", width, width, kernel=3, padding=1), f"{name}_2_bn", width
    )
    return relay.nn.relu(relay.add(out, _shortcut(b, x, name, inputs, width, stride)))


def _bottleneck(b: Builder, x: Expr, name: str, inputs: int, width: int, stride: int) -> Expr:
    """Add 1 × 1, 3 × 3, 1 × 1 convolutions in parallel with a shortcut; the 3 × 3 one has the stride."""
    out = b.conv_norm_relu(x, f"{name}_1", inputs, width, kernel=1)
    out = b.conv_norm_relu(out, f"{name}_2", width, width, kernel=3, stride=stride, padding=1)
    out = b.batch_norm(b.conv(out, f"{name}_3_conv", width, 4 * width, kernel=1), f"{name}_3_bn", 4 * width)
    return relay.nn.relu(relay.add(out, _shortcut(b, x, name, inputs, 4 * width, stride)))


def _shortcut(b: Builder, x: Expr, name: str, inputs: int, channels: int, stride: int) -> Expr:
    """Return the input itself, or a 1 × 1 convolution of it where the shape changes."""
    if inputs == channels and stride == 1:
        return x
    return b.batch_norm(
        b.conv(x, f"{name}_sc_conv", inputs, channels, kernel=1, stride=stride), f"{name}_sc_bn", channels
    )
