"""Schedules products of small integers with a packed weight, with a processor's dot instruction.

The tiles are those of the rule `dense`. The instruction multiplies several adjacent features of a row, which
are broadcast, by a vector that holds the weights of these features for each output.
"""

from __future__ import annotations

from dataclasses import replace

from ...ir.typed import tensor_type
from ..compose import Composed
from ..targets.dots import Dot, dot_for
from ..targets.target import Target
from .dense import NAME, candidates, tile
from .dots import MARK, sentence, with_dots
from .overlap import overlapped
from .parts import Plan, sizes
from .scheduled import Choice, Scheduled


def schedule(composed: Composed, target: Target, choice: Choice | None = None) -> Scheduled | None:
    anchor = composed.anchor
    if anchor is None or anchor.op.name != NAME or not composed.is_static or len(composed.outputs) != 1:
        return None
    data, weight = map(tensor_type, anchor.call.args)
    dot = dot_for(target, data.dtype, weight.dtype)
    shape = sizes(weight)
    if dot is None or len(shape) != 4 or shape[3] != dot.products or shape[1] == 1:
        return None
    options = [
        replace(option, why=f"{sentence(dot)}; {option.why}") for option in candidates(composed, target)
    ]
    chosen = dict(choice or options[0].choice)
    plan = Plan(composed, target)
    tile(plan, chosen, shape[2], shape[1], lambda plan, name, block: _reduction(plan, name, block, dot))
    mod = with_dots(overlapped(plan.sch.mod), dot)
    return Scheduled(composed, mod, plan.sch.trace, "int8_dense", chosen, tuple(options))


def _reduction(plan: Plan, name: str, block: int, dot: Dot) -> None:
    """Order the loops within a tile: the innermost two become the dot instruction."""
    sch, product = plan.sch, plan.block(name)
    *rows, unit, k, within = sch.get_loops(product)[1:]
    units, lane = sch.split(unit, [None, block])
    sch.reorder(k, *rows, units, lane, within)
    for loop in (*rows, units):
        sch.unroll(loop)
    sch.annotate(within, MARK, dot.name)
    init = sch.decompose_reduction(product, k)
    for loop in sch.get_loops(init)[1:-1]:
        sch.unroll(loop)
    sch.vectorize(sch.get_loops(init)[-1])
