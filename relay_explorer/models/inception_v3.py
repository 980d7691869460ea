"""Inception, version 3: convolutions of several shapes side by side."""

from __future__ import annotations

from .. import relay
from ..ir.expr import Expr
from ..ir.module import IRModule
from .layers import Builder, Pair


class _Inception(Builder):
    """Convolutions with normalization and ReLU that track the number of channels of each expression."""

    def __init__(self, dtype: str) -> None:
        super().__init__(dtype=dtype)
        self.channels: dict[Expr, int] = {}

    def cell(
        self, x: Expr, name: str, channels: int, kernel: Pair, stride: int = 1, padding: Pair = 0
    ) -> Expr:
        out = self.conv_norm_relu(x, name, self.channels[x], channels, kernel, stride, padding)
        self.channels[out] = channels
        return out

    def chain(self, x: Expr, name: str, *cells: tuple[int, Pair, Pair]) -> Expr:
        """Add cells in sequence, each given by channels, kernel and padding."""
        for number, (channels, kernel, padding) in enumerate(cells, 1):
            x = self.cell(x, f"{name}_{number}", channels, kernel, padding=padding)
        return x

    def pooled(self, x: Expr, mean: bool = False) -> Expr:
        """Add 3 × 3 pooling: average with stride 1, maximum with stride 2."""
        out = self.avg_pool(x, 3, 1, 1) if mean else self.max_pool(x, 3, 2)
        self.channels[out] = self.channels[x]
        return out

    def side_by_side(self, *parts: Expr) -> Expr:
        out = self.join(parts)
        self.channels[out] = sum(self.channels[part] for part in parts)
        return out


def inception_v3(
    batch: int = 1, classes: int = 1000, image: tuple[int, int, int] = (3, 299, 299), dtype: str = "float32"
) -> IRModule:
    """Build a network from data (batch, *image) to class probabilities (batch, classes); without the
    auxiliary classifier that training uses.
    """
    b = _Inception(dtype)
    x: Expr = b.image("data", batch, image)
    b.channels[x] = image[0]
    x = b.cell(x, "stem1", 32, 3, stride=2)
    x = b.chain(x, "stem2", (32, 3, 0), (64, 3, 1))
    x = b.chain(b.pooled(x), "stem3", (80, 1, 0), (192, 3, 0))
    x = b.pooled(x)
    for number, pool_channels in enumerate((32, 64, 64), 1):
        x = _block_a(b, x, f"mixed_a{number}", pool_channels)
    x = _shrink_a(b, x, "shrink_a")
    for number, width in enumerate((128, 160, 160, 192), 1):
        x = _block_b(b, x, f"mixed_b{number}", width)
    x = _shrink_b(b, x, "shrink_b")
    for number in (1, 2):
        x = _block_c(b, x, f"mixed_c{number}")
    return b.module(relay.nn.softmax(b.dense(b.global_pool(x), "fc", b.channels[x], classes)))


def _block_a(b: _Inception, x: Expr, name: str, pool_channels: int) -> Expr:
    """Add a block with branches of 1 × 1, 5 × 5, and two 3 × 3 convolutions."""
    return b.side_by_side(
        b.cell(x, f"{name}_one", 64, 1),
        b.chain(x, f"{name}_five", (48, 1, 0), (64, 5, 2)),
        b.chain(x, f"{name}_three", (64, 1, 0), (96, 3, 1), (96, 3, 1)),
        b.cell(b.pooled(x, mean=True), f"{name}_pool", pool_channels, 1),
    )


def _shrink_a(b: _Inception, x: Expr, name: str) -> Expr:
    """Halve the height and width."""
    three = b.chain(x, f"{name}_three", (64, 1, 0), (96, 3, 1))
    return b.side_by_side(
        b.cell(x, f"{name}_one", 384, 3, stride=2),
        b.cell(three, f"{name}_last", 96, 3, stride=2),
        b.pooled(x),
    )


def _block_b(b: _Inception, x: Expr, name: str, width: int) -> Expr:
    """Add a block with 7 × 7 convolutions factored into 1 × 7 and 7 × 1, once and twice."""
    across: tuple[Pair, Pair] = ((1, 7), (0, 3))
    down: tuple[Pair, Pair] = ((7, 1), (3, 0))
    return b.side_by_side(
        b.cell(x, f"{name}_one", 192, 1),
        b.chain(x, f"{name}_seven", (width, 1, 0), (width, *across), (192, *down)),
        b.chain(
            x,
            f"{name}_twice",
            (width, 1, 0),
            (width, *down),
            (width, *across),
            (width, *down),
            (192, *across),
        ),
        b.cell(b.pooled(x, mean=True), f"{name}_pool", 192, 1),
    )


def _shrink_b(b: _Inception, x: Expr, name: str) -> Expr:
    """Halve the height and width."""
    three = b.cell(x, f"{name}_three", 192, 1)
    seven = b.chain(x, f"{name}_seven", (192, 1, 0), (192, (1, 7), (0, 3)), (192, (7, 1), (3, 0)))
    return b.side_by_side(
        b.cell(three, f"{name}_three_last", 320, 3, stride=2),
        b.cell(seven, f"{name}_seven_last", 192, 3, stride=2),
        b.pooled(x),
    )


def _block_c(b: _Inception, x: Expr, name: str) -> Expr:
    """Add a block with 3 × 3 convolutions factored into two parallel parts: once after a 1 × 1 and once after
    another 3 × 3 convolution.
    """
    three = b.cell(x, f"{name}_three", 384, 1)
    twice = b.chain(x, f"{name}_twice", (448, 1, 0), (384, 3, 1))
    return b.side_by_side(
        b.cell(x, f"{name}_one", 320, 1),
        b.cell(three, f"{name}_three_across", 384, (1, 3), padding=(0, 1)),
        b.cell(three, f"{name}_three_down", 384, (3, 1), padding=(1, 0)),
        b.cell(twice, f"{name}_twice_across", 384, (1, 3), padding=(0, 1)),
        b.cell(twice, f"{name}_twice_down", 384, (3, 1), padding=(1, 0)),
        b.cell(b.pooled(x, mean=True), f"{name}_pool", 192, 1),
    )
