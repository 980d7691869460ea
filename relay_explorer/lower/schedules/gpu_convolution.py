"""Schedules convolutions for a GPU: over one, two or three spatial axes, grouped, depthwise or transposed,
with channels before the spatial axes ("NCHW").

A thread block computes some channels of a rectangle of the result. For a few input channels at a time, its
threads load the data in the rectangle's windows, and the weights, into shared memory. Adjacent threads load
adjacent elements, so that a warp reads whole sectors; elements outside the data are stored as 0. Then each
thread accumulates a column of positions for several channels in registers: it uses an element of the data for
all of these channels, and a weight for all of these positions. Bias, residual and ReLU are applied before the
sums are stored, and a warp stores along a row.
"""

from __future__ import annotations

from math import prod
from typing import Any

from ...ir.declaration import Trait
from ...ir.ndarray import itemsize
from ...ir.op import Op
from ..compose import Composed, Stage
from ..require import tvm
from ..targets.dots import Dot, dot_for
from ..targets.target import Target
from ..tvm_types import IRModule, LoopRV, Schedule
from .blocked import NAME as INTEGER_CONVOLUTION
from .depthwise import NAME as INTEGER_DEPTHWISE
from .dots import MARK
from .gpu_sums import GPUPlan, is_plain, spread
from .gpu_tiles import Tile, Window, best
from .parts import REDUCED, SPATIAL
from .scheduled import Choice

PLAIN_LAYOUTS = ("NCW", "NCHW", "NCDHW")
MAX_UNROLLED = 32  # positions of a kernel that are unrolled
MAX_SHARED_BYTES = 48 << 10  # shared memory of a thread block
WARP = 32


def tile_of(composed: Composed, target: Target) -> Tile | None:
    """Choose the tile for a kernel's convolution. Return None if the kernel has no convolution that this file
    can schedule, or if the result has a single position per channel, which is a matrix-vector product.
    """
    plan = GPUPlan(composed, target)
    name = convolution_of(plan)
    window = None if name is None else _window(plan, name)
    alone = window is not None and window.images * window.high * window.wide == 1
    return None if window is None or (alone and not window.depthwise) else best(window)


def instruction_of(composed: Composed, target: Target) -> Dot | None:
    """Return the dot instruction of a kernel that `tile_of` has a tile for, if it uses one."""
    plan = GPUPlan(composed, target)
    name = convolution_of(plan)
    return None if name is None else dot_of(plan, name)


def schedule(composed: Composed, target: Target, choice: Choice) -> Schedule | None:
    """Schedule with a tile; return None if it takes more shared memory than there is."""
    plan = GPUPlan(composed, target)
    name = convolution_of(plan)
    if name is None:
        return None
    convolution = _Convolution(
        plan, name, Tile(**{key: int(choice[key]) for key in Tile.__dataclass_fields__})
    )
    convolution.run()
    return plan.sch if shared_bytes(plan.sch.mod) <= MAX_SHARED_BYTES else None


def shared_bytes(module: IRModule) -> int:
    """Return the bytes of shared memory that the thread blocks of scheduled functions take. TVM shrinks each
    array to the part that a thread block accesses, as far as it can derive that.
    """
    passes = tvm().s_tir.transform
    for step in (
        passes.LowerInitBlock(),
        passes.PlanAndUpdateBufferAllocationLocation(),
        passes.ConvertBlocksToOpaque(),
        passes.CompactBufferAllocation(),
    ):
        module = step(module)
    total = 0

    def add(block: Any) -> None:
        nonlocal total
        for buffer in block.alloc_buffers:
            if str(buffer.scope()) == "shared":
                total += prod([int(size) for size in buffer.shape]) * itemsize(str(buffer.dtype))

    from tvm_ffi import structural_walk

    for func in module.functions.values():
        structural_walk(func.body, [(tvm().s_tir.SBlock, add)])
    return total


def convolution_of(plan: GPUPlan) -> str | None:
    """Return the reduction block of a convolution whose result has its channel axis before its spatial
    axes.
    """
    anchor = plan.composed.anchor
    if anchor is None or not _is_convolution(anchor.op) or not plan.composed.is_static:
        return None
    names = [name for name in anchor.blocks if plan.is_reduction(name)]
    if len(names) != 1 or not is_plain(plan, names[0]) or not _plain_layouts(anchor):
        return None
    reads = plan.sch.get(plan.block(names[0])).reads
    kinds = plan.kinds(names[0])
    reduced = kinds.count(REDUCED)
    in_order = kinds == [SPATIAL] * (len(kinds) - reduced) + [REDUCED] * reduced
    if len(reads) != 2 or not in_order or 0 in (plan.shape(names[0]) or (0,)):
        return None
    return names[0] if _axis_of(plan, names[0]) is not None else None


def _is_convolution(op: Op) -> bool:
    traits = op.has(Trait.CONVOLUTION) or op.has(Trait.TRANSPOSED_CONVOLUTION)
    return traits or op.name == INTEGER_CONVOLUTION or op.name == INTEGER_DEPTHWISE


def dot_of(plan: GPUPlan, name: str) -> Dot | None:
    """Return the instruction that adds the products of adjacent input channels, if there is one for the
    convolution's element types, and its channels fill the instruction's words.
    """
    anchor, block = plan.composed.anchor, plan.sch.get(plan.block(name))
    assert anchor is not None
    assert anchor.call.attrs is not None
    dot = dot_for(plan.target, *[str(read.source.dtype) for read in block.reads])
    if dot is None or plan.dtype(name) != "int32" or anchor.op.has(Trait.TRANSPOSED_CONVOLUTION):
        return None
    inputs = int(block.iter_vars[-plan.kinds(name).count(REDUCED)].dom.extent)
    plain = str(anchor.call.attrs["kernel_layout"]).startswith("OI")
    return dot if plain and inputs % dot.products == 0 else None


def _plain_layouts(anchor: Stage) -> bool:
    attrs = anchor.call.attrs
    assert attrs is not None
    layout = str(attrs["data_layout"])
    return layout in PLAIN_LAYOUTS and str(attrs["out_layout"] or layout) == layout


def _window(plan: GPUPlan, name: str) -> Window:
    anchor = plan.composed.anchor
    assert anchor is not None
    attrs = anchor.call.attrs
    assert attrs is not None
    block = plan.sch.get(plan.block(name))
    extents = [int(axis.dom.extent) for axis in block.iter_vars]
    count = plan.kinds(name).count(REDUCED)
    (images, outputs, *places), (inputs, *taps) = extents[:-count], extents[-count:]
    strides = (
        [1] * len(taps) if anchor.op.has(Trait.TRANSPOSED_CONVOLUTION) else [int(s) for s in attrs["strides"]]
    )
    steps = [int(d) for d in attrs["dilation"]]
    return Window(
        images=images * prod(places[:-2]),
        outputs=outputs,
        group=outputs // int(attrs["groups"]),
        inputs=inputs,
        high=places[-2] if len(places) > 1 else 1,
        wide=places[-1],
        taps=_two(taps),
        strides=_two(strides),
        steps=_two(steps),
        turns=prod(taps[:-2]),
        bytes=max([itemsize(str(read.source.dtype)) for read in block.reads]),
        products=1 if (dot := dot_of(plan, name)) is None else dot.products,
    )


def _axis_of(plan: GPUPlan, name: str) -> int | None:
    """Return the axis of the weight that corresponds to the channels of the result; None if it is the last
    axis, or not unique.
    """
    block = plan.sch.get(plan.block(name))
    outputs, region = block.iter_vars[1].var, block.reads[1].region
    axes = [n for n, part in enumerate(region) if _uses(part.min, outputs)]
    return axes[0] if len(axes) == 1 and axes[0] + 1 < len(region) else None


def _uses(expression: Any, var: Any) -> bool:
    return any(var.same_as(used) for used in tvm().tirx.analysis.undefined_vars(expression))


def _two(sizes: list[int]) -> tuple[int, int]:
    """Return the values of the last two axes; the first is 1 if there is only one axis."""
    return (1 if len(sizes) == 1 else sizes[-2], sizes[-1])


class _Convolution:
    """Applies the primitives for one tile; `name` is the reduction block."""

    def __init__(self, plan: GPUPlan, name: str, tile: Tile) -> None:
        self.plan, self.sch = plan, plan.sch
        self.name, self.tile, self.window = name, tile, _window(plan, name)
        self.dot = dot_of(plan, name)  # if there is one, channels are loaded in words

    def run(self) -> None:
        plan, sch = self.plan, self.sch
        axis = _axis_of(plan, self.name)
        data, weight = self._shared(0), self._shared(1)
        self.weight = weight
        last = plan.epilogue(self.name)
        keep = [self.name, last, data, weight]
        plan.inline_before(keep)
        others = [name for name in plan.names if name not in keep]
        threads = self._threads(last)
        sch.compute_at(plan.block(self.name), threads, preserve_unit_loops=True)
        sch.set_scope(plan.block(self.name), 0, "local")
        pieces, depth = self._pieces()
        window, tile = self.window, self.tile
        channels = window.outputs % tile.outputs == 0
        places = window.high % tile.high == 0 and window.wide % tile.across == 0
        self._bring(data, pieces[-1], depth, None if places and (channels or not window.depthwise) else 1)
        self._bring(weight, pieces[-1], depth, None if channels else axis)
        one_channel = tile.across * tile.down >= WARP  # all threads of a warp read weights of one channel
        if not one_channel and axis == 0 and self.dot is None:
            sch.storage_align(plan.block(weight), 0, axis=0, factor=2, offset=1)
        sch.decompose_reduction(plan.block(self.name), pieces[0])
        for name in others:
            spread(plan, name)

    def _shared(self, number: int) -> str:
        """Return the block that loads an operand of the sums into shared memory: the block that computes it,
        such as a padding, or a copy.
        """
        plan, sch, block = self.plan, self.sch, self.plan.block(self.name)
        source = sch.get(block).reads[number].source
        producers = [name for name in plan.makers(self.name) if plan.buffer(name).same_as(source)]
        if producers and plan.users(producers[0]) == [self.name] and is_plain(plan, producers[0]):
            copy = plan.block(producers[0])
            sch.set_scope(copy, 0, "shared")
        else:
            copy = sch.cache_read(block, number, "shared")
        if self.dot is not None:
            sch.transform_layout(copy, ("write", 0), self._in_words)
        return str(sch.get(copy).name_hint)

    def _in_words(self, outer: Any, channel: Any, *space: Any) -> list[Any]:
        """Put the channels of a word next to each other: (N, C, …) becomes (N, C / 4, …, 4)."""
        products = self.window.products
        return [outer, channel // products, *space, channel % products]

    def _threads(self, last: str) -> LoopRV:
        """Bind the loops of the block that stores the result to thread blocks and threads; return the loop
        over the threads along rows and columns.
        """
        sch, tile = self.sch, self.tile
        images, outputs, *outer, wide = sch.get_loops(self.plan.block(last))
        if outer:
            high = outer.pop()
        else:
            images, high = sch.split(images, [None, 1])
        channels, deep, channel = sch.split(outputs, [None, tile.deep, tile.channels])
        rows, down, row = sch.split(high, [None, tile.down, tile.rows])
        columns, across = sch.split(wide, [None, tile.across])
        grid = [images, *outer, rows, columns]
        sch.reorder(*grid, channels, deep, down, across, channel, row)
        sch.bind(sch.fuse(*grid), "blockIdx.x")
        sch.bind(channels, "blockIdx.y")
        sch.bind(deep, "threadIdx.y")
        threads = sch.fuse(down, across)
        sch.bind(threads, "threadIdx.x")
        sch.annotate(threads, "pragma_unroll_explicit", 0)  # leaves unrolling to nvcc: the source stays short
        self._unrolled([channel, row])
        return threads

    def _pieces(self) -> tuple[list[LoopRV], int]:
        """Split the reduction loops into chunks that are loaded at once; return them, and the number of loops
        around the computation on a chunk.
        """
        plan, sch = self.plan, self.sch
        block = plan.block(self.name)
        kinds = plan.kinds(self.name)
        count = kinds.count(REDUCED)
        outside = len(sch.get_loops(block)) - len(kinds)
        loops = sch.get_loops(block)[outside:]
        spatial, (inputs, *taps) = loops[:-count], loops[-count:]
        outer, inner = taps[:-2], taps[-2:]
        products = self.window.products
        pieces, channel, word = sch.split(inputs, [None, self.tile.inputs // products, products])
        sch.reorder(pieces, *outer, channel, *inner, *spatial, word)
        if self.dot is not None:
            sch.add_unit_loop(word)  # the lane: an instruction adds to one sum
            sch.annotate(word, MARK, self.dot.name)
        if prod([plan.extent(loop) for loop in inner]) <= MAX_UNROLLED:
            self._unrolled(inner)
        self._unrolled(spatial)
        return [pieces, *outer], outside + 1 + len(outer)

    def _unrolled(self, loops: list[LoopRV]) -> None:
        for loop in loops:
            if self.plan.extent(loop) > 1:
                self.sch.unroll(loop)

    def _bring(self, name: str, piece: LoopRV, depth: int, ragged: int | None) -> None:
        """Load a thread block's part of an operand into shared memory by all its threads, adjacent threads
        loading adjacent elements.

        Parts may extend beyond the end of an axis. If several axes are fused into one loop, TVM cannot derive
        from the bounds check of one axis how much of the array a part covers, and keeps all of it in shared
        memory. In that case the loops stay separate: `ragged` is the axis over which the rows of threads are
        distributed, and the last of the loops runs over a row of threads.
        """
        plan, sch, tile = self.plan, self.sch, self.tile
        sch.compute_at(plan.block(name), piece, preserve_unit_loops=True)
        loops = sch.get_loops(plan.block(name))[depth:]
        count = tile.down * tile.across
        if ragged is None:
            _, deep, across = sch.split(sch.fuse(*loops), [None, tile.deep, count])
        else:
            rest = loops[-1:] if name != self.weight else loops[ragged + 1 :]
            _, deep = sch.split(loops[ragged], [None, tile.deep])
            _, across = sch.split(sch.fuse(*rest) if len(rest) > 1 else rest[0], [None, count])
        sch.bind(deep, "threadIdx.y")
        sch.bind(across, "threadIdx.x")
