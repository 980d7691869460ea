"""Schedules products of two computed matrices of small integers (`nn.batch_matmul`), with a processor's dot
instruction.

Neither operand is known when the program is compiled. The kernel therefore begins by copying the second one
to the layout that the instruction reads: for each block of columns, the elements of each group of adjacent
inner indices. Each of these elements is used once for every row, so that the copy soon pays off.
"""

from __future__ import annotations

from dataclasses import replace

from ...ir.typed import tensor_type
from ..compose import Composed
from ..passes.blocks import block_of
from ..targets.dots import Dot, dot_for
from ..targets.target import Target
from .dense import best_tiles, tile
from .dots import MARK, sentence, with_dots
from .overlap import overlapped
from .parts import MIN_PARALLEL_ELEMENTS, Plan, product
from .scheduled import Choice, Scheduled

NAME = "nn.batch_matmul"


def schedule(composed: Composed, target: Target, choice: Choice | None = None) -> Scheduled | None:
    anchor = composed.anchor
    if anchor is None or anchor.op.name != NAME or not composed.is_static or len(composed.outputs) != 1:
        return None
    data, other = map(tensor_type, anchor.call.args)
    dot, attrs = dot_for(target, data.dtype, other.dtype), anchor.call.attrs
    assert attrs is not None
    _, rows, columns = tensor_type(anchor.call).concrete_shape
    inner = data.concrete_shape[2]
    if dot is None or attrs["transpose_a"] or inner % dot.products or inner == dot.products:
        return None
    block = block_of(columns, dot.lanes)
    if block == 1:
        return None
    options = [
        replace(option, why=f"{sentence(dot)}; {option.why}")
        for option in best_tiles(rows, columns // block, 2 * inner * block, target)
    ]
    chosen = dict(choice or options[0].choice)
    plan = Plan(composed, target)
    _packed(plan, anchor.blocks[-1], block, dot, attrs["transpose_b"], product(other.concrete_shape))
    tile(plan, chosen, block, inner, lambda plan, name, block: _reduction(plan, name, block, dot))
    mod = with_dots(overlapped(plan.sch.mod), dot)
    return Scheduled(composed, mod, plan.sch.trace, "int8_batch", chosen, tuple(options))


def _packed(plan: Plan, name: str, block: int, dot: Dot, transposed: bool, elements: int) -> None:
    """Copy the second operand to blocks of `block` columns and `dot.products` inner indices."""
    sch = plan.sch
    copy = sch.cache_read(plan.block(name), 1, "global")

    def pack(batch: int, first: int, second: int) -> tuple[int, int, int, int, int]:
        column, inner = (first, second) if transposed else (second, first)
        return batch, column // block, inner // dot.products, column % block, inner % dot.products

    sch.transform_layout(copy, ("write", 0), pack)
    batch, first, second = sch.get_loops(copy)
    column, inner = (first, second) if transposed else (second, first)
    columns, column = sch.split(column, [None, block])
    groups, inner = sch.split(inner, [None, dot.products])
    sch.reorder(batch, columns, groups, column, inner)
    tasks = sch.fuse(batch, columns)
    if elements >= MIN_PARALLEL_ELEMENTS and plan.extent(tasks) > 1 and plan.target.cores > 1:
        sch.parallel(tasks)
    sch.unroll(column)
    sch.vectorize(inner) if transposed else sch.unroll(inner)


def _reduction(plan: Plan, name: str, block: int, dot: Dot) -> None:
    """Order the loops within a tile: the innermost two become the dot instruction."""
    sch, matrix_product = plan.sch, plan.block(name)
    *rows, unit, k = sch.get_loops(matrix_product)[1:]
    units, lane = sch.split(unit, [None, block])
    k, within = sch.split(k, [None, dot.products])
    sch.reorder(k, *rows, units, lane, within)
    for loop in (*rows, units):
        sch.unroll(loop)
    sch.annotate(within, MARK, dot.name)
    init = sch.decompose_reduction(matrix_product, k)
    for loop in sch.get_loops(init)[1:-1]:
        sch.unroll(loop)
    sch.vectorize(sch.get_loops(init)[-1])
