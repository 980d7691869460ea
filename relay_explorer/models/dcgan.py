"""DCGAN's generator: transposed convolutions from noise to an image."""

from __future__ import annotations

from .. import relay
from ..ir.expr import Expr
from ..ir.module import IRModule
from .layers import Builder


def dcgan(
    batch: int = 1,
    noise: int = 100,
    image: tuple[int, int, int] = (3, 64, 64),
    width: int = 128,
    dtype: str = "float32",
) -> IRModule:
    """Build a generator from data (batch, noise) to images (batch, *image) with values from -1 to 1. The side
    of an image is four times a power of two: each layer doubles it, and halves the channels, down to `width`.
    """
    channels, height, columns = image
    doublings = (height // 4).bit_length() - 1
    if height != columns or height != 4 << doublings or doublings < 1:
        raise ValueError(f"the images of a DCGAN are square, 8, 16, 32 … wide, not {height} × {columns}")
    b = Builder(dtype=dtype)
    inputs = width << (doublings - 1)
    x: Expr = b.input("data", (batch, noise))
    x = relay.nn.dense(x, b.weight("project_weight", (16 * inputs, noise)), units=16 * inputs)
    x = relay.reshape(relay.nn.relu(x), (batch, inputs, 4, 4))
    for number in range(1, doublings):
        x = _doubled(b, x, f"layer{number}", inputs, inputs // 2)
        x = relay.nn.relu(b.batch_norm(x, f"layer{number}_bn", inputs // 2))
        inputs //= 2
    return b.module(relay.tanh(_doubled(b, x, "last", inputs, channels)))


def _doubled(b: Builder, x: Expr, name: str, inputs: int, channels: int) -> Expr:
    """Add a transposed 4 × 4 convolution that doubles height and width."""
    return relay.nn.conv2d_transpose(
        x,
        b.weight(f"{name}_weight", (inputs, channels, 4, 4)),
        channels=channels,
        kernel_size=(4, 4),
        strides=(2, 2),
        padding=(1, 1),
    )
