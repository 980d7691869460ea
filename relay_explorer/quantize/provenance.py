"""Which call of the float program a call of a later program stands for."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.expr import Call, Expr
from ..ir.module import IRModule
from ..ir.walk import post_order
from .annotation import SIMULATE


def origins(mod: IRModule, source: IRModule) -> dict[Expr, Call]:
    """Map the calls of a module to those of the module that it was made from, by provenance.

    Simulated quantizations stand for no call of their own: they round the value of one. Calls that a phase
    added, such as conversions, stand for the call at which they were added.
    """
    wanted = {
        node
        for function in source.functions.values()
        for node in post_order(function)
        if isinstance(node, Call)
    }
    sources: dict[Expr, Call] = {}
    for function in mod.functions.values():
        for node in post_order(function):
            if not isinstance(node, Call) or getattr(node.op, "name", "") == SIMULATE:
                continue
            pending: Sequence[Expr] = [node]
            while pending and node not in sources:
                hits = [expr for expr in pending if isinstance(expr, Call) and expr in wanted]
                if hits:
                    sources[node] = hits[0]
                pending = [expr for each in pending for expr in each.origin]
    return sources
