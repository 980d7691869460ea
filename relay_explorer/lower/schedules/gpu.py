"""Kernels for a GPU: convolutions in tiles of channels and places; other sums by the rules for GPUs that come
with TVM (dlight), products of matrices in tiles of shared memory and reductions by all threads of a block;
what these do not take a sum a thread, in a register; everything else one element a thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from ...ir.declaration import Trait
from ..compose import Composed
from ..require import tvm
from ..targets.target import Target
from ..tvm_types import PrimFunc, Trace
from . import gpu_convolution, gpu_dlight, gpu_sums
from .parts import Plan
from .scheduled import Candidate, Choice, Scheduled

ORDER = {
    "Convolution": "a convolution, in tiles of channels and places",
    "Matmul": "a product of matrices, in tiles",
    "GEMV": "a matrix times a vector",
    "Reduction": "a reduction with something before or after it",
    "GeneralReduction": "several reductions of the same rows",
    "Sums": "a sum in each thread",
    "Transpose": "axes that change places, through shared memory",
    "Fallback": "anything",
}
REDUCTION_RULES = ("Convolution", "Matmul", "GEMV", "Reduction", "GeneralReduction", "Sums")
# Warp shuffles do not support integers of less than 32 bits, or bfloat16. TVM uses shared memory instead,
# and assumes that the threads of a warp run in lockstep, which they need not: without a barrier that is a
# race.
NARROW_TYPES = ("bool", "int8", "uint8", "int16", "uint16", "bfloat16")
COOPERATIVE_RULES = ("GEMV", "Reduction", "GeneralReduction")  # several threads compute one sum
MAX_SERIAL_TERMS = 32  # terms that one thread sums as fast as a warp
MOST_THREADS, MOST_DEEP = 1024, 64  # of a block, in all and along z
MAX_GRID = (2**31 - 1, 2**16 - 1, 2**16 - 1)  # of a grid


def schedule(composed: Composed, target: Target, choice: Choice | None = None) -> Scheduled | None:
    """By the first of the rules that takes the kernel."""
    if target.kind != "cuda":
        return None
    options = tuple(_candidates(composed, target))
    refused = []
    for chosen in [*([choice] if choice else []), *[candidate.choice for candidate in options]]:
        try:
            result = _applied(composed, target, chosen)
        except (tvm().s_tir.ScheduleError, TypeError) as problem:
            refused.append(f"{chosen['rule']}: {str(problem).strip().partition(chr(10))[0]}")
            continue
        if result is not None:
            func, trace = result
            mod = tvm().IRModule({composed.name: func.with_attr("global_symbol", composed.name)})
            return Scheduled(composed, mod, trace, "gpu", dict(chosen), options, tuple(refused))
    return None


def _candidates(composed: Composed, target: Target) -> Iterator[Candidate]:
    """Yield the candidates for a kernel in order of preference."""
    for rule in _rules(composed, target):
        if rule == "Convolution":
            tile = gpu_convolution.tile_of(composed, target)
            if tile is not None:
                why = f"{tile.outputs} × {tile.high} × {tile.across} sums a block, {tile.sums} a thread"
                yield Candidate({"rule": rule, **asdict(tile)}, why)
        else:
            yield Candidate({"rule": rule}, ORDER[rule])


def _rules(composed: Composed, target: Target) -> list[str]:
    """Most rules are for kernels that reduce, one for those that move: the tiles of shared memory of the
    latter are of a size that must be known. A short sum is not worth several threads. Vectors of truth values
    TVM writes as numbers of 16 bits, twice as wide as they are: rules that make such are left out.
    """
    plan = Plan(composed, target)
    reducing = [name for name in plan.names if plan.is_reduction(name)]
    turns = composed.is_static and any(stage.op.has(Trait.TRANSPOSE) for stage in composed.stages)
    rules = [
        rule
        for rule in ORDER
        if rule == "Fallback" or (reducing if rule in REDUCTION_RULES else turns and not reducing)
    ]
    short = len(reducing) == 1 and gpu_dlight.terms(plan, reducing[0]) <= MAX_SERIAL_TERMS
    narrow = any(plan.dtype(name) in NARROW_TYPES for name in reducing)
    left_out = set(COOPERATIVE_RULES) if short or narrow else set()
    tensors = [*composed.inputs, *[tensor for stage in composed.stages for tensor in stage.tensors]]
    if any(str(tensor.dtype) == "bool" for tensor in tensors):
        left_out |= {"Matmul", "GEMV"}
    return [rule for rule in rules if rule not in left_out]


def _applied(composed: Composed, target: Target, choice: Choice) -> tuple[PrimFunc, Trace] | None:
    """Apply one rule; return the scheduled function and its trace, or None where the rule does not match."""
    rule = str(choice["rule"])
    if rule not in ("Convolution", "Sums"):
        return gpu_dlight.applied(rule, composed, target, fits)
    named = replace(composed, name="main")  # as TVM's rules have it, so that records are replayed alike
    if rule == "Sums":
        sch = gpu_sums.schedule(named, target)
    else:
        sch = gpu_convolution.schedule(named, target, choice)
    return (sch.mod["main"], sch.trace) if sch is not None and fits(sch.mod["main"]) else None


def fits(func: PrimFunc) -> bool:
    """Return whether a GPU accepts as many blocks and threads as each launch of a scheduled function has,
    where that is static. Loops without threads, as TVM's rule for transposes leaves them behind, would run on
    the host, which cannot read the GPU's memory.
    """
    body = func.body.block.body
    return all(map(_fits, getattr(body, "seq", [body])))


def _fits(launch: Any) -> bool:
    sizes: dict[str, int] = {}
    for loop in _loops(launch):
        tag = str(loop.thread_binding.thread_tag)
        sizes[tag] = max(sizes.get(tag, 1), int(getattr(loop.extent, "value", 1)))
    threads = [sizes.get(f"threadIdx.{axis}", 1) for axis in "xyz"]
    blocks = [sizes.get(f"blockIdx.{axis}", 1) for axis in "xyz"]
    return (
        bool(sizes)
        and threads[0] * threads[1] * threads[2] <= MOST_THREADS
        and threads[2] <= MOST_DEEP
        and all(have <= most for have, most in zip(blocks, MAX_GRID))
    )


def _loops(body: Any) -> Iterator[Any]:
    """Yield the loops that are bound to threads."""
    pending = [body]
    while pending:
        node = pending.pop()
        if getattr(node, "thread_binding", None) is not None:
            yield node
        for field in ("body", "block", "init", "then_case", "else_case"):
            if (part := getattr(node, field, None)) is not None:
                pending.append(part)
        pending.extend(getattr(node, "seq", ()))
