"""Builds the dot instructions of depthwise convolutions: a lane multiplies several adjacent columns of its
channel by the channel's weights.

    for lane in range(16):
        for k in range(4):                          # marked
            sums[…, lane] += int32(data[…, column + k, lane]) * int32(weights[…, k, 0, lane])

With as many channels in a block as a vector has lanes, the elements of the columns are contiguous, and so are
the weights. In memory the channels are innermost, and in a lane the columns, so both are shuffled. LLVM moves
the shuffles of the weights out of the loop over columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..require import tvm
from ..targets.dots import Dot

if TYPE_CHECKING:
    from .dots import Axes


def applies(axes: Axes, store: Any, data: Any, weight: Any) -> bool:
    """Whether the elements that two loops access are those of adjacent columns and of their weights."""
    lane, within = axes.loops
    lanes = int(lane.extent)
    if len(data.indices) < 2 or len(weight.indices) < 3:
        return False
    ends = (data.source.shape[-1], weight.source.shape[-1], weight.source.shape[-2])
    if [int(size) for size in ends] != [lanes, lanes, 1]:
        return False
    return (
        axes.steps(store.indices, lane)
        and axes.steps(data.indices[:-1], within)
        and axes.steps(data.indices[-1:], lane)
        and axes.steps(weight.indices[:-2], within)
        and axes.steps(weight.indices[-1:], lane)
        and axes.aligned(data.indices[-1])
        and axes.aligned(weight.indices[-1])
    )


def instruction(dot: Dot, store: Any, data: Any, weight: Any, lanes: int) -> Any:
    """Build the statement that adds the products of all lanes."""
    tirx = tvm().tirx
    size = lanes * dot.products

    def load(part: Any, count: int) -> Any:
        return tirx.BufferLoad(part.source, [*part.indices[:-1], tirx.Ramp(part.indices[-1], 1, count)])

    order = [tirx.const(k * lanes + lane, "int32") for lane in range(lanes) for k in range(dot.products)]
    operands = [tirx.Shuffle([load(part, size)], order) for part in (data, weight)]
    place = [*store.indices[:-1], tirx.Ramp(store.indices[-1], 1, lanes)]
    name = f"llvm.x86.avx512.{dot.name}.{32 * lanes}"
    sums = tirx.BufferLoad(store.buffer, place)
    value = tirx.call_llvm_pure_intrin(f"int32x{lanes}", name, sums, *operands)
    return tirx.BufferStore(store.buffer, value, place)
