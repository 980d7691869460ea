"""SqueezeNet: fire modules squeeze the channels before convolutions of two sizes."""

from __future__ import annotations

from .. import relay
from ..ir.expr import Expr
from ..ir.module import IRModule
from .layers import Builder

# (squeezed, expanded) channels of each fire module.
_FIRES = ((16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256))
_POOLED_BEFORE = {"1.0": (0, 3, 7), "1.1": (0, 2, 4)}


def squeezenet(
    version: str = "1.0",
    batch: int = 1,
    classes: int = 1000,
    image: tuple[int, int, int] = (3, 224, 224),
    dtype: str = "float32",
) -> IRModule:
    """Build a network from data (batch, *image) to class probabilities (batch, classes). Version 1.1 pools
    earlier, so it computes less.
    """
    if version not in _POOLED_BEFORE:
        raise ValueError(f"SqueezeNet has the versions {', '.join(_POOLED_BEFORE)}, not {version}")
    b = Builder(dtype=dtype)
    x: Expr = b.image("data", batch, image)
    first, kernel = (96, 7) if version == "1.0" else (64, 3)
    x = relay.nn.relu(b.conv(x, "conv1", image[0], first, kernel=kernel, stride=2, bias=True))
    inputs = first
    for index, (squeezed, expanded) in enumerate(_FIRES):
        if index in _POOLED_BEFORE[version]:
            x = b.max_pool(x, size=3, stride=2, ceil_mode=True)
        x = _fire(b, x, f"fire{index + 2}", inputs, squeezed, expanded)
        inputs = 2 * expanded
    x = relay.nn.relu(b.conv(x, "conv10", inputs, classes, kernel=1, bias=True))
    return b.module(relay.nn.softmax(b.global_pool(x)))


def _fire(b: Builder, x: Expr, name: str, inputs: int, squeezed: int, expanded: int) -> Expr:
    """Add a 1 × 1 convolution to few channels, then parallel 1 × 1 and 3 × 3 convolutions."""
    x = relay.nn.relu(b.conv(x, f"{name}_squeeze", inputs, squeezed, kernel=1, bias=True))
    small = relay.nn.relu(b.conv(x, f"{name}_expand1", squeezed, expanded, kernel=1, bias=True))
    large = relay.nn.relu(b.conv(x, f"{name}_expand3", squeezed, expanded, kernel=3, padding=1, bias=True))
    return b.join([small, large])
