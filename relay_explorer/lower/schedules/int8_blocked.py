"""Schedules convolutions of small integers in blocks of channels, with a processor's dot instruction.

The tiles are those of the rule `blocked`. Where that multiplies a vector of weights by one data element, the
dot instruction multiplies a vector that holds, for each output channel, the weights of several input
channels, by as many data elements. The data is in blocks of channels, so these elements are adjacent and are
broadcast by one load.
"""

from __future__ import annotations

from dataclasses import replace

from ...ir.typed import tensor_type
from ..compose import Composed
from ..targets.dots import Dot, dot_for
from ..targets.target import Target
from ..tvm_types import LoopRV
from .blocked import NAME, Convolution, candidates
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
    attrs = anchor.call.attrs
    assert attrs is not None
    if dot is None or sizes(weight)[-1] != dot.products:
        return None
    block = anchor.tensors[0].shape[-1]
    if attrs["out_layout"] != f"NCHW{block}c" or attrs["kernel_layout"] != f"OIHW{block}o{dot.products}i":
        return None
    options = [
        replace(option, why=f"{sentence(dot)}; {option.why}") for option in candidates(composed, target)
    ]
    chosen = dict(choice or options[0].choice)
    plan = Plan(composed, target)
    _Convolution(plan, chosen, dot).run()
    mod = with_dots(overlapped(plan.sch.mod), dot)
    return Scheduled(composed, mod, plan.sch.trace, "int8_blocked", chosen, tuple(options))


class _Convolution(Convolution):
    """Applies the primitives for one choice; the innermost two loops become the dot instruction."""

    def __init__(self, plan: Plan, choice: Choice, dot: Dot) -> None:
        super().__init__(plan, choice)
        self.dot = dot
        self.work //= dot.products  # of operations that take the time of one in float32

    def order(self, reduced: list[LoopRV], spatial: list[LoopRV]) -> None:
        self.sch.reorder(*reduced[:-1], *spatial, reduced[-1])
        self.sch.annotate(reduced[-1], MARK, self.dot.name)
