"""Chooses how a convolution is tiled on a GPU: the part that a thread block computes, the part of each of its
threads, and how much of the data and the weight the block loads into shared memory at once.

The choice is computed by a cost model, for a GPU of an A100's size. In large tiles, each element that is
loaded is reused more often; small tiles give more blocks, so that every multiprocessor has work. The cost of
a tile is counted in cycles: of the multiply-adds, of the loads from shared memory, and of the loads from
global memory. The cost only ranks tiles; it does not predict a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product as every
from math import prod
from typing import NamedTuple

from ...ir.lazy_dataclass import dataclass

MULTIPROCESSORS = 108  # of an A100
MULTIPLY_ADDS_PER_CYCLE = 128  # of a multiprocessor
FROM_SHARED, FROM_GLOBAL = 4, 12  # the cost of loading one element, in multiply-adds
LOAD_LATENCY = 500  # cycles from requesting the next chunk to its arrival, if they are not hidden
MIN_IN_FLIGHT = 512  # multiply-adds in flight that keep the units busy, since each takes four cycles
BOUNDS_CHECK_FACTOR = 1.2  # relative time of a launch whose tiles extend beyond the end
MAX_ROW_THREADS = 64  # threads along a row
MAX_ACCUMULATORS = 32  # accumulators of a thread, each in a register
THREADS = (32, 256)  # threads of a block, if the kernel has enough
SHARED_MEMORY_BYTES = (
    24 << 10
)  # shared memory of a block, so that two fit on any architecture's multiprocessor
MAX_CHUNK_CHANNELS = 20  # channels of the data that are loaded at once, at most


class Window(NamedTuple):
    """The geometry of a convolution. `images` is the product of all axes of the result except the channels
    and the last two spatial axes, `high` and `wide`. `outputs` is the number of its channels, `group` the
    number that read the same channels of the data, and `inputs` the number of the latter. `taps` are the
    sizes of the kernel along those two axes, `strides` the distances between windows, and `steps` (the
    dilation) those between taps; `turns` is the number of taps along further axes.
    """

    images: int
    outputs: int
    group: int
    inputs: int
    high: int
    wide: int
    taps: tuple[int, int]
    strides: tuple[int, int] = (1, 1)
    steps: tuple[int, int] = (1, 1)
    turns: int = 1
    bytes: int = 4  # of an element
    products: int = 1  # channels whose products one instruction adds

    @property
    def depthwise(self) -> bool:
        return self.inputs == 1 and self.group < self.outputs

    def seen(self, rows: int, columns: int) -> int:
        """Return the number of elements of a data channel that `rows` by `columns` results depend on."""
        return prod(
            (size - 1) * stride + (taps - 1) * step + 1
            for size, stride, taps, step in zip((rows, columns), self.strides, self.taps, self.steps)
        )


@dataclass(frozen=True)
class Tile:
    """The tile of a thread block. It has `across` threads along a row, `down` along a column, and `deep`
    along the channels. Each thread accumulates `rows` adjacent rows of `channels` channels; the block loads
    `inputs` channels of the data at once.
    """

    across: int
    down: int
    deep: int
    rows: int
    channels: int
    inputs: int

    @property
    def threads(self) -> int:
        return self.across * self.down * self.deep

    @property
    def sums(self) -> int:
        return self.rows * self.channels

    @property
    def outputs(self) -> int:
        """The output channels of a block."""
        return self.deep * self.channels

    @property
    def high(self) -> int:
        """The output rows of a block."""
        return self.down * self.rows


def best(window: Window) -> Tile | None:
    """Return the cheapest tile; None if none fits."""
    return min(tiles(window), key=lambda tile: cost(window, tile), default=None)


def tiles(window: Window) -> Iterator[Tile]:
    """Yield all tiles within the limits of registers, threads and shared memory."""
    rows = sorted({_even(window.high, most) for most in range(1, 9)})
    channels = (1,) if window.depthwise else (1, 2, 4, 8)
    deep = (1, 2, 4, 8, 16, 32, 64)
    for across, row, down, channel, far in every(_widths(window), rows, (1, 2, 4, 8, 16), channels, deep):
        if row * channel > MAX_ACCUMULATORS or across * down * far > THREADS[1]:
            continue
        beyond = window.high % (row * down)
        if beyond and ((down - 1) * row >= window.high or window.strides[0] > 1):
            continue
        if not _whole_groups(window, channel * far):
            continue
        for inputs in _chunk_sizes(window.inputs, window.products):
            tile = Tile(across, down, far, row, channel, inputs)
            if shared(window, tile) * window.bytes <= SHARED_MEMORY_BYTES:
                yield tile
                break


def _widths(window: Window) -> list[int]:
    """Return the possible numbers of threads along a row. With a stride, the number must divide the row,
    because TVM cannot bound the part of the data that a tile reads if it extends beyond the end.
    """
    if window.strides[1] == 1:
        return [_even(window.wide, MAX_ROW_THREADS)]
    divisors = [d for d in range(1, min(window.wide, THREADS[1]) + 1) if window.wide % d == 0]
    return [d for d in divisors if d <= MAX_ROW_THREADS][-1:] + [d for d in divisors if d > MAX_ROW_THREADS][
        :1
    ]


def _even(size: int, most: int) -> int:
    """Return the length of chunks of at most `most` that are as few and as even as possible."""
    return -(-size // -(-size // most))


def _whole_groups(window: Window, outputs: int) -> bool:
    """Whether the channels of a block all read the same channels of the data (unless the convolution is
    depthwise), and less than half of them are beyond the last channel.
    """
    if window.depthwise or window.group == window.outputs:
        return outputs < 2 * window.outputs
    return window.group % outputs == 0


def _chunk_sizes(inputs: int, products: int) -> Iterator[int]:
    """Yield the numbers of channels that may be loaded at once: divisors that are multiples of `products`,
    the largest first.
    """
    most = min(inputs, MAX_CHUNK_CHANNELS)
    yield from (d for d in range(most, 0, -1) if inputs % d == 0 and d % products == 0)


def shared(window: Window, tile: Tile) -> int:
    """Return the number of elements in a block's shared memory."""
    return sum(brought(window, tile))


def brought(window: Window, tile: Tile) -> tuple[int, int]:
    """Return the numbers of elements of the data and of the weight that a block loads at once."""
    positions = window.seen(tile.high, tile.across)
    channels = tile.outputs if window.depthwise else tile.inputs
    return channels * positions, tile.outputs * tile.inputs * prod(window.taps)


def loads(window: Window, tile: Tile) -> tuple[int, int]:
    """Return the numbers of elements of the data and of the weight that a thread reads from shared memory for
    one channel of the data. Elements that adjacent rows share are read once.
    """
    high, wide = window.taps
    rows = min(window.seen(tile.rows, 1) // ((wide - 1) * window.steps[1] + 1), tile.rows * high)
    return rows * wide * (tile.channels if window.depthwise else 1), tile.channels * high * wide


def blocks(window: Window, tile: Tile) -> int:
    """Return the number of thread blocks of the launch."""
    return (
        window.images
        * -(-window.outputs // tile.outputs)
        * -(-window.high // tile.high)
        * -(-window.wide // tile.across)
    )


def ragged(window: Window, tile: Tile) -> bool:
    """Whether some tiles extend beyond the end of the result."""
    return bool(window.outputs % tile.outputs or window.high % tile.high or window.wide % tile.across)


def cost(window: Window, tile: Tile) -> float:
    """Estimate the cycles of the launch, roughly."""
    steps = window.turns * -(-window.inputs // tile.inputs)
    lanes = -(-tile.threads // 32) * 32
    products = tile.sums * prod(window.taps)
    of_thread = tile.inputs * (products + FROM_SHARED * sum(loads(window, tile)))
    of_step = (lanes * of_thread + FROM_GLOBAL * sum(brought(window, tile))) / MULTIPLY_ADDS_PER_CYCLE
    waves = max(1.0, blocks(window, tile) / MULTIPROCESSORS)
    there = tile.threads * min(waves, 8)  # threads of a multiprocessor
    few = max(1.0, MULTIPLY_ADDS_PER_CYCLE / there, MIN_IN_FLIGHT / (there * tile.sums))
    return (
        steps * (waves * of_step * few + LOAD_LATENCY) * (BOUNDS_CHECK_FACTOR if ragged(window, tile) else 1)
    )
