"""Kernels for a GPU, by TVM's own rules for it (dlight): products of matrices in tiles of shared memory,
reductions by all threads of a block, everything else one element a thread.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..compose import Composed
from ..require import tvm
from ..target import Target
from .parts import Plan
from .scheduled import Candidate, Choice, Scheduled

ORDER = {
    "Matmul": "a product of matrices, in tiles",
    "GEMV": "a matrix times a vector",
    "Reduction": "a reduction with something before or after it",
    "GeneralReduction": "several reductions of the same rows",
    "Transpose": "axes that change places, through shared memory",
    "Fallback": "anything",
}
REDUCING = ("Matmul", "GEMV", "Reduction", "GeneralReduction")
# Threads of a warp cannot hand each other integers of less than 32 bits. TVM lets them take turns in shared
# memory instead, and trusts that a warp goes in step, which it need not: without a barrier that is a race.
NARROW = ("bool", "int8", "uint8", "int16", "uint16")


def schedule(composed: Composed, target: Target, choice: Choice | None = None) -> Scheduled | None:
    """By the first of the rules that takes the kernel."""
    if target.kind != "cuda":
        return None
    rules = _rules(composed, target)
    for name in [choice["rule"]] if choice else rules:
        made = _applied(name, composed, target)
        if made is not None:
            scheduled = made.mod["main"].with_attr("global_symbol", composed.name)
            mod = tvm().IRModule({composed.name: scheduled})
            candidates = tuple([Candidate({"rule": rule}, ORDER[rule]) for rule in rules])
            return Scheduled(composed, mod, made.trace, "gpu", {"rule": name}, candidates)
    return None


def _rules(composed: Composed, target: Target) -> list[str]:
    """The rules that a kernel is worth trying with: four are for kernels that reduce, one for those that
    move: the tiles of shared memory of the latter are of a size that must be known.
    """
    plan = Plan(composed, target)
    reducing = [name for name in plan.names if plan.is_reduction(name)]
    turns = composed.is_static and any(
        stage.op.name in ("transpose", "layout_transform") for stage in composed.stages
    )
    if any(plan.dtype(name) in NARROW for name in reducing):
        return ["Matmul", "Fallback"]
    return [
        rule
        for rule in ORDER
        if rule == "Fallback" or (reducing if rule in REDUCING else turns and not reducing)
    ]


def _applied(name: str, composed: Composed, target: Target) -> Any:
    """TVM's schedule by one rule; None where the rule is for other kernels."""
    rule = getattr(import_module("tvm.s_tir.dlight.gpu"), name)()
    with target.tvm:
        try:
            made = rule.apply(composed.prim_func, target.tvm, False)
        except (AssertionError, RuntimeError, ValueError, TypeError, AttributeError, IndexError):
            return None  # it does not always look whether it can
    return made[0] if isinstance(made, list) else made
