"""DenseNet: each layer reads the channels of all layers before it."""

from __future__ import annotations

from .. import relay
from ..ir.expr import Expr
from ..ir.module import IRModule
from .layers import Builder

# By the number of layers: channels of the stem, channels that a layer adds, layers of the four blocks.
_SIZES = {
    121: (64, 32, (6, 12, 24, 16)),
    161: (96, 48, (6, 12, 36, 24)),
    169: (64, 32, (6, 12, 32, 32)),
    201: (64, 32, (6, 12, 48, 32)),
}


def densenet(
    layers: int = 121,
    batch: int = 1,
    classes: int = 1000,
    image: tuple[int, int, int] = (3, 224, 224),
    layout: str = "NCHW",
    dtype: str = "float32",
) -> IRModule:
    """Build a network from data (batch, *image) to class scores (batch, classes); `layers` is the number of
    layers with weights, 121 to 201.
    """
    if layers not in _SIZES:
        raise ValueError(f"a DenseNet has {', '.join(map(str, _SIZES))} layers, not {layers}")
    channels, growth, blocks = _SIZES[layers]
    b = Builder(layout, dtype)
    x: Expr = b.image("data", batch, image)
    x = b.conv_norm_relu(x, "stem", image[0], channels, kernel=7, stride=2, padding=3)
    x = b.max_pool(x, size=3, stride=2, padding=1)
    for number, count in enumerate(blocks, 1):
        x = _block(b, x, f"block{number}", channels, growth, count)
        channels += growth * count
        if number < len(blocks):
            x = b.norm_relu_conv(x, f"transition{number}", channels, channels // 2, kernel=1)
            x = b.avg_pool(x, size=2, stride=2)
            channels //= 2
    x = relay.nn.relu(b.batch_norm(x, "final_bn", channels))
    return b.module(b.dense(b.global_pool(x), "fc", channels, classes))


def _block(b: Builder, x: Expr, name: str, channels: int, growth: int, count: int) -> Expr:
    """Add `count` layers, each a 1 × 1 and a 3 × 3 convolution, whose results are concatenated with the
    block's input.
    """
    for number in range(1, count + 1):
        layer = f"{name}_layer{number}"
        new = b.norm_relu_conv(x, f"{layer}_1", channels, 4 * growth, kernel=1)
        new = b.norm_relu_conv(new, f"{layer}_2", 4 * growth, growth, kernel=3, padding=1)
        x = b.join([x, new])
        channels += growth
    return x
