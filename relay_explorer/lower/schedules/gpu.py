"""Kernels for a GPU, by TVM's own rules for it (dlight): products of matrices in tiles of shared memory,
reductions by all threads of a block, everything else one element a thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from ..compose import Composed
from ..require import tvm
from ..target import Target
from .parts import REDUCED, Plan
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
# Threads of a warp cannot hand each other integers of less than 32 bits, or bfloat16. TVM lets them take
# turns in shared memory instead, and trusts that a warp goes in step, which it need not: without a barrier
# that is a race.
NARROW = ("bool", "int8", "uint8", "int16", "uint16", "bfloat16")
COPIED = ("GEMV", "GeneralReduction")  # rules that want something to follow their sums
TOGETHER = ("GEMV", "Reduction", "GeneralReduction")  # rules by which threads compute one sum
LONG = 64  # numbers for which a block of threads is worth it
MOST_THREADS, MOST_DEEP = 1024, 64  # of a block, in all and along z
MOST_BLOCKS = (2**31 - 1, 2**16 - 1, 2**16 - 1)  # of a grid


def schedule(composed: Composed, target: Target, choice: Choice | None = None) -> Scheduled | None:
    """By the first of the rules that takes the kernel."""
    if target.kind != "cuda":
        return None
    rules = _rules(composed, target)
    for name in [choice["rule"]] if choice else rules:
        made = _applied(name, composed, target)
        if made is not None:
            sch, trace = made
            scheduled = sch.mod["main"].with_attr("global_symbol", composed.name)
            mod = tvm().IRModule({composed.name: scheduled})
            candidates = tuple([Candidate({"rule": rule}, ORDER[rule]) for rule in rules])
            return Scheduled(composed, mod, trace, "gpu", {"rule": name}, candidates)
    return None


def _rules(composed: Composed, target: Target) -> list[str]:
    """The rules that a kernel is worth trying with: four are for kernels that reduce, one for those that
    move: the tiles of shared memory of the latter are of a size that must be known. Vectors of truth values
    TVM writes as numbers of 16 bits, twice as wide as they are: rules that make such are left out.
    """
    plan = Plan(composed, target)
    reducing = [name for name in plan.names if plan.is_reduction(name)]
    turns = composed.is_static and any(
        stage.op.name in ("transpose", "layout_transform") for stage in composed.stages
    )
    rules = [
        rule
        for rule in ORDER
        if rule == "Fallback" or (reducing if rule in REDUCING else turns and not reducing)
    ]
    left_out = set(TOGETHER) if any(plan.dtype(name) in NARROW for name in reducing) else set()
    tensors = [*composed.inputs, *[tensor for stage in composed.stages for tensor in stage.tensors]]
    if any(str(tensor.dtype) == "bool" for tensor in tensors):
        left_out |= {"Matmul", "GEMV"}
    return [rule for rule in rules if rule not in left_out]


def _applied(name: str, composed: Composed, target: Target) -> tuple[Any, Any] | None:
    """TVM's schedule by one rule, and the record of it; None where the rule is for other kernels."""
    rule = getattr(import_module("tvm.s_tir.dlight.gpu"), name)()
    with target.tvm:
        for func, before in _ways(name, composed):
            try:
                made = rule.apply(func, target.tvm, False)
            except (AssertionError, RuntimeError, ValueError, TypeError, AttributeError, IndexError):
                continue  # it does not always look whether it can
            sch = made[0] if isinstance(made, list) else made
            if sch is not None and fits(sch.mod["main"]):
                return sch, _one_after_the_other(before, sch.trace)
    return None


def _ways(name: str, composed: Composed) -> Iterator[tuple[Any, Any]]:
    """The function as a rule may be given it, and the record of what was done to it before.

    Where the sums that threads compute together are the result, GEMV writes those of threads beyond the last
    row, too: who is within is asked only for what follows. So a copy follows. With one, GeneralReduction also
    takes what folds otherwise than by adding.
    """
    if name != "GEMV":
        yield composed.prim_func, None
    plan = Plan(composed, composed.target)
    folds = name in COPIED and plan.is_reduction(plan.names[-1])
    if folds and (name == "GEMV" or _terms(plan, plan.names[-1]) >= LONG):
        sch = tvm().s_tir.Schedule(tvm().IRModule({"main": composed.prim_func}))
        sch.cache_write(sch.get_sblock(plan.names[-1]), 0, "local")
        yield sch.mod["main"], sch.trace
    elif name == "GEMV":
        yield composed.prim_func, None


def _terms(plan: Plan, name: str) -> float:
    """How many numbers a block folds into one; ∞ where that is not known."""
    found = 1.0
    for var in plan.sch.get(plan.block(name)).iter_vars:
        if int(var.iter_type) == REDUCED:
            found *= getattr(var.dom.extent, "value", float("inf"))
    return found


def _one_after_the_other(first: Any, second: Any) -> Any:
    if first is None:
        return second
    decisions = {**dict(first.decisions), **dict(second.decisions)}
    return tvm().s_tir.schedule.Trace([*first.insts, *second.insts], decisions)


def fits(func: Any) -> bool:
    """Whether a GPU takes as many blocks and threads as a scheduled function has, where that is known."""
    sizes: dict[str, int] = {}
    for loop in _loops(func.body):
        tag = str(loop.thread_binding.thread_tag)
        sizes[tag] = max(sizes.get(tag, 1), int(getattr(loop.extent, "value", 1)))
    threads = [sizes.get(f"threadIdx.{axis}", 1) for axis in "xyz"]
    blocks = [sizes.get(f"blockIdx.{axis}", 1) for axis in "xyz"]
    return (
        threads[0] * threads[1] * threads[2] <= MOST_THREADS
        and threads[2] <= MOST_DEEP
        and all(have <= most for have, most in zip(blocks, MOST_BLOCKS))
    )


def _loops(body: Any) -> Iterator[Any]:
    """The loops that are bound to threads."""
    pending = [body]
    while pending:
        node = pending.pop()
        if getattr(node, "thread_binding", None) is not None:
            yield node
        for field in ("body", "block", "init", "then_case", "else_case"):
            if (part := getattr(node, field, None)) is not None:
                pending.append(part)
        pending.extend(getattr(node, "seq", ()))
