"""How a convolution is shared out on a GPU: what a block of threads computes, what each of its threads, and
how much of the data and the weight the block brings to shared memory at once.

A tile is chosen by arithmetic, for a GPU of an A100's size. Large tiles read a number more often once it is
there; small ones make more blocks, so that no multiprocessor is without one. What a tile costs is counted in
cycles: of the multiply-adds, of what threads read from shared memory for them, and of what blocks read from
global memory. It orders tiles; it does not tell a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product as every
from math import prod
from typing import NamedTuple

from ...ir.lazy_dataclass import dataclass

MULTIPROCESSORS = 108  # of an A100
MULTIPLY_ADDS_PER_CYCLE = 128  # of a multiprocessor
FROM_SHARED, FROM_GLOBAL = 4, 12  # multiply-adds that a load of one element costs
LOAD_LATENCY = 500  # cycles from requesting the next chunk to its arrival, when they are not hidden
MIN_IN_FLIGHT = 512  # multiply-adds in flight that keep the units busy: each takes four cycles
BOUNDS_CHECK_FACTOR = 1.2  # relative time of a launch whose tiles extend beyond the end
MAX_ROW_THREADS = 64  # threads along a row
MAX_ACCUMULATORS = 32  # of a thread, each in a register
THREADS = (32, 256)  # of a block, where the kernel has as many
SHARED_MEMORY_BYTES = 24 << 10  # bytes of shared memory: two blocks fit a multiprocessor of any architecture
MAX_CHUNK_CHANNELS = 20  # channels of the data that are loaded at once


class Window(NamedTuple):
    """A convolution. `images` is the product of all axes of the result except the channels and the last two
    spatial axes, `high` and `wide`; `outputs` are its channels, `group` those that read the same channels of
    the data, of which there are `inputs`. `taps` are the sizes of the kernel along those two axes, `strides`
    and `steps` (the dilation) the distances of windows and taps; `turns` is the number of taps along further
    axes.
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
    bytes: int = 4  # of a number

    @property
    def depthwise(self) -> bool:
        return self.inputs == 1 and self.group < self.outputs

    def seen(self, rows: int, columns: int) -> int:
        """Numbers of a channel of the data that a part of the result sees."""
        return prod(
            (size - 1) * stride + (taps - 1) * step + 1
            for size, stride, taps, step in zip((rows, columns), self.strides, self.taps, self.steps)
        )


@dataclass(frozen=True)
class Tile:
    """A block's threads: `across` along a row, `down` along a column, `deep` along the channels. A thread
    sums up `rows` places below each other of `channels` channels; the block brings `inputs` channels of the
    data at once.
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
        """Channels of the block."""
        return self.deep * self.channels

    @property
    def high(self) -> int:
        """Rows of the block."""
        return self.down * self.rows


def best(window: Window) -> Tile | None:
    """Return the cheapest tile; None where none fits."""
    return min(tiles(window), key=lambda tile: cost(window, tile), default=None)


def tiles(window: Window) -> Iterator[Tile]:
    """Yield all tiles that fit registers, threads and shared memory."""
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
        for inputs in _pieces(window.inputs):
            tile = Tile(across, down, far, row, channel, inputs)
            if shared(window, tile) * window.bytes <= SHARED_MEMORY_BYTES:
                yield tile
                break


def _widths(window: Window) -> list[int]:
    """Return the possible numbers of threads along a row. With a stride, TVM cannot bound the part of the
    data that a tile reads when it extends beyond the end: then the number must divide the row.
    """
    if window.strides[1] == 1:
        return [_even(window.wide, MAX_ROW_THREADS)]
    divisors = [d for d in range(1, min(window.wide, THREADS[1]) + 1) if window.wide % d == 0]
    return [d for d in divisors if d <= MAX_ROW_THREADS][-1:] + [d for d in divisors if d > MAX_ROW_THREADS][
        :1
    ]


def _even(size: int, most: int) -> int:
    """Return the length of chunks of at most `most`, as few and as even as possible."""
    return -(-size // -(-size // most))


def _whole_groups(window: Window, outputs: int) -> bool:
    """Return whether the channels of a block read the same channels of the data, and are less than twice as
    many as there are.
    """
    if window.depthwise or window.group == window.outputs:
        return outputs < 2 * window.outputs
    return window.group % outputs == 0


def _pieces(inputs: int) -> Iterator[int]:
    """Yield how many channels may be loaded at once, the largest number first: divisors."""
    yield from (d for d in range(min(inputs, MAX_CHUNK_CHANNELS), 0, -1) if inputs % d == 0)


def shared(window: Window, tile: Tile) -> int:
    """Numbers in a block's shared memory."""
    return sum(brought(window, tile))


def brought(window: Window, tile: Tile) -> tuple[int, int]:
    """Numbers of the data and of the weight that a block brings at once."""
    positions = window.seen(tile.high, tile.across)
    channels = tile.outputs if window.depthwise else tile.inputs
    return channels * positions, tile.outputs * tile.inputs * prod(window.taps)


def loads(window: Window, tile: Tile) -> tuple[int, int]:
    """Numbers of the data and of the weight that a thread reads from shared memory for one channel of the
    data. What rows below each other share is read once.
    """
    high, wide = window.taps
    rows = min(window.seen(tile.rows, 1) // ((wide - 1) * window.steps[1] + 1), tile.rows * high)
    return rows * wide * (tile.channels if window.depthwise else 1), tile.channels * high * wide


def blocks(window: Window, tile: Tile) -> int:
    """Blocks of the launch."""
    return (
        window.images
        * -(-window.outputs // tile.outputs)
        * -(-window.high // tile.high)
        * -(-window.wide // tile.across)
    )


def ragged(window: Window, tile: Tile) -> bool:
    """Return whether some tiles extend beyond the end of the result."""
    return bool(window.outputs % tile.outputs or window.high % tile.high or window.wide % tile.across)


def cost(window: Window, tile: Tile) -> float:
    """Cycles that the launch takes, more or less."""
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
