"""Replaces marked loops by dot instructions.

A rule marks the loop over the products that one lane adds; the loop over the lanes of a vector is around it:

    for lane in range(16):
        for k in range(4):                          # marked
            sums[…, lane] += int32(data[…, k]) * int32(weights[…, lane, k])

becomes one instruction on three vectors: `sums` in a register, the group of 4 data elements broadcast to all
lanes, and the 64 weights, which are contiguous. (TVM's `tensorize` does the same, but refuses tiles that do
not divide their axis.)
"""

from __future__ import annotations

from typing import Any

from ..require import tvm
from ..targets.dots import Dot
from ..tvm_types import IRModule
from . import dots_arm, dots_columns
from .rewriting import mapped, substituted

MARK = "relay_explorer.dot"


def sentence(dot: Dot) -> str:
    """Say what an instruction does."""
    return f"{dot.name}: {dot.products} products of {dot.data} and {dot.weight} per lane"


class NotADotError(TypeError):
    """A marked loop does not have the form that the dot instruction computes."""


def with_dots(mod: IRModule, dot: Dot) -> IRModule:
    """Replace the marked loops of each function by `dot`. Raise a NotADotError where one has another form."""
    result = mod.clone()
    problems: list[NotADotError] = []  # raised after the traversal, which would turn them into other errors
    loops: list[Any] = []

    def collect(loop: Any) -> Any:
        loops.append(loop)
        return loop

    def change(loop: Any) -> Any:
        if not isinstance(loop.body, tvm().tirx.For) or MARK not in loop.body.annotations:
            return loop
        try:
            return _dot(loop, loop.body, dot, loops)
        except NotADotError as problem:
            problems.append(problem)
            return loop

    for var, function in mod.functions_items():
        mapped(function.body, tvm().tirx.For, collect)
        result[var] = function.with_body(mapped(function.body, tvm().tirx.For, change))
    if problems:
        raise problems[0]
    return result


def _dot(lane: Any, within: Any, dot: Dot, loops: list[Any]) -> Any:
    """Build the block that computes two loops, over the lanes and within a lane, by one instruction. `loops`
    are all loops of the function.
    """
    realize = within.body
    if not isinstance(realize, tvm().s_tir.SBlockRealize):
        raise NotADotError("the marked loop does not contain exactly one block")
    if int(within.extent) != dot.products:
        raise NotADotError(f"the marked loop has {within.extent} iterations, not {dot.products}")
    zeros = {lane.loop_var: 0, within.loop_var: 0}
    if not realize.predicate.same_as(substituted(realize.predicate, zeros)):
        raise NotADotError("a condition holds for some lanes only")
    values = [substituted(value, zeros) for value in realize.iter_values]
    body = _instruction(realize, Axes(realize, lane, within, loops), dot)
    return tvm().s_tir.SBlockRealize(values, realize.predicate, body)


def _instruction(realize: Any, axes: Axes, dot: Dot) -> Any:
    """Build the block: the instruction, and the regions of memory that it reads and writes."""
    tirx, block, (lane, within) = tvm().tirx, realize.block, axes.loops
    lanes = int(lane.extent)
    store = block.body
    try:
        total, product = store.value.a, store.value.b
        data, weight = product.a.value, product.b.value
        operands = total.source, data.source, weight.source
    except AttributeError as problem:
        raise NotADotError(f"its body is not a sum of products: {store}".splitlines()[0]) from problem
    if (str(data.ty.dtype), str(weight.ty.dtype)) != (dot.data, dot.weight):
        raise NotADotError(
            f"it multiplies {data.ty.dtype} by {weight.ty.dtype}, not {dot.data} by {dot.weight}"
        )
    if dots_columns.applies(axes, store, data, weight):
        body = dots_columns.instruction(dot, store, data, weight, lanes)
        regions = [[axes.widened(region) for region in part] for part in (block.reads, block.writes)]
        return tvm().s_tir.SBlock(block.iter_vars, *regions, f"{block.name_hint}_{dot.name}", body)
    contiguous = (
        axes.steps(store.indices, lane), axes.steps(data.indices, within),
        axes.steps(weight.indices[:-1], lane) and axes.steps(weight.indices[-1:], within),
        axes.aligned(weight.indices[-1]), lanes == 1 or axes.aligned(weight.indices[-2]),
        lanes > 1 or axes.aligned(data.indices[-1]),
    )  # fmt: skip
    if not all(contiguous):
        raise NotADotError("the elements of its vectors are not contiguous")
    sizes = lanes, dot.products, lanes * dot.products
    accesses = [
        [*part.indices[:-1], tirx.Ramp(part.indices[-1], 1, size) if size > 1 else part.indices[-1]]
        for part, size in zip((store, data, weight), sizes)
    ]
    sums, group, weights = (tirx.BufferLoad(source, i) for source, i in zip(operands, accesses))
    body = tirx.BufferStore(store.buffer, expression(dot, sums, group, weights, lanes), accesses[0])
    regions = [[axes.widened(region) for region in part] for part in (block.reads, block.writes)]
    return tvm().s_tir.SBlock(block.iter_vars, *regions, f"{block.name_hint}_{dot.name}", body)


class Axes:
    """The indices of a block's accesses as functions of the two loops that become one instruction."""

    def __init__(self, realize: Any, lane: Any, within: Any, loops: list[Any]) -> None:
        self.values = {axis.var: v for axis, v in zip(realize.block.iter_vars, realize.iter_values)}
        self.loops = lane, within
        self.bounds = tvm().sym.Analyzer()
        for loop in loops:
            self.bounds.bind(loop.loop_var, tvm().ir.Range.from_min_extent(loop.min, loop.extent))

    def steps(self, indices: Any, loop: Any) -> bool:
        """Whether the last index counts the iterations of one of the loops, and nothing else depends on the
        loops.
        """
        *before, last = [substituted(index, self.values) for index in indices]
        if not all(self.bounds.can_prove_equal(index, self._first(index)) for index in before):
            return False
        distance = self.bounds.simplify(last) - self.bounds.simplify(self._first(last))
        return bool(self.bounds.can_prove_equal(distance, loop.loop_var))

    def aligned(self, index: Any) -> bool:
        """Whether an index is 0 in the first iteration."""
        return bool(self.bounds.can_prove_equal(self._first(substituted(index, self.values)), 0))

    def widened(self, region: Any) -> Any:
        """Return a region of memory that one iteration accesses, widened to all iterations."""
        ranges = []
        for part in region.region:
            index = self.bounds.simplify(substituted(part.min, self.values))
            extent = int(part.extent)
            for loop in self.loops:
                if not index.same_as(substituted(index, {loop.loop_var: 0})):
                    extent += int(loop.extent) - 1
            ranges.append(tvm().ir.Range.from_min_extent(part.min, extent))
        return tvm().tirx.BufferRegion(region.source, ranges)

    def _first(self, index: Any) -> Any:
        return substituted(index, {loop.loop_var: 0 for loop in self.loops})


def expression(dot: Dot, sums: Any, group: Any, weights: Any, lanes: int) -> Any:
    """Build the sums of `lanes` lanes: `sums` plus the products of a broadcast `group` and `weights`."""
    if dot.name == "dp4a":
        words = [tvm().tirx.reinterpret("int32", word) for word in (group, weights)]
        return tvm().tirx.call_pure_extern("int32", "__dp4a", *words, sums)
    if dot.data == "int8":
        return dots_arm.expression(dot, sums, group, weights, lanes)
    tirx = tvm().tirx
    types = [f"{dtype}x{lanes * dot.products}" for dtype in (dot.data, dot.weight)]
    everywhere = tirx.Broadcast(tirx.reinterpret("int32", group), lanes)
    operands = [tirx.reinterpret(types[0], everywhere), weights]
    if dot.name == "vpmaddwd":
        products = _PAIRS[32 * lanes]
        return sums + tirx.call_llvm_pure_intrin(f"int32x{lanes}", products, *operands)
    name = f"llvm.x86.avx512.{dot.name}.{32 * lanes}"
    return tirx.call_llvm_pure_intrin(f"int32x{lanes}", name, sums, *operands)


_PAIRS = {128: "llvm.x86.sse2.pmadd.wd", 256: "llvm.x86.avx2.pmadd.wd", 512: "llvm.x86.avx512.pmaddw.d.512"}
