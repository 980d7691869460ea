"""Schedules kernels for a GPU. Convolutions are tiled over channels and positions. Other reductions use TVM's
rules for GPUs (dlight): matrix products in tiles of shared memory, and reductions by all threads of a block.
For reductions that dlight does not support, each thread accumulates one sum in a register. Every other kernel
computes one element per thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from ...ir.declaration import Trait
from ..compose import Composed
from ..require import tvm
from ..targets.dots import dots_of
from ..targets.target import Target
from ..tvm_types import PrimFunc, Trace
from . import gpu_convolution, gpu_dlight, gpu_dots, gpu_sums
from .dots import sentence, with_dots
from .parts import Plan
from .scheduled import Candidate, Choice, Scheduled

ORDER = {
    "Convolution": "a convolution, tiled over channels and positions",
    "Dot": "a product of matrices of bytes, in tiles",
    "Matmul": "a matrix product, in tiles",
    "GEMV": "a matrix-vector product",
    "Reduction": "a reduction with a prologue or an epilogue",
    "GeneralReduction": "several reductions of the same rows",
    "Sums": "one sum per thread",
    "Transpose": "a transpose through shared memory",
    "Fallback": "any kernel",
}
REDUCTION_RULES = ("Convolution", "Dot", "Matmul", "GEMV", "Reduction", "GeneralReduction", "Sums")
# Warp shuffles do not support integers of less than 32 bits, or bfloat16. TVM uses shared memory instead,
# and omits barriers on the assumption that the threads of a warp run in lockstep. They need not, so this is
# a race.
NARROW_TYPES = ("bool", "int8", "uint8", "int16", "uint16", "bfloat16")
COOPERATIVE_RULES = ("GEMV", "Reduction", "GeneralReduction")  # several threads compute one sum
MAX_SERIAL_TERMS = 32  # terms that one thread sums as fast as a warp
MOST_THREADS, MOST_DEEP = 1024, 64  # threads of a block, in total and along z
MAX_GRID = (2**31 - 1, 2**16 - 1, 2**16 - 1)  # blocks of a grid along x, y and z


def schedule(composed: Composed, target: Target, choice: Choice | None = None) -> Scheduled | None:
    """Schedule a kernel by the choice, or by the first candidate that succeeds; return None if none does, or
    the target is not a GPU.
    """
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
                size = f"{tile.outputs} × {tile.high} × {tile.across}"
                dot = gpu_convolution.instruction_of(composed, target)
                how = "" if dot is None else f"{sentence(dot)}; "
                why = f"{how}{size} accumulators per block, {tile.sums} per thread"
                yield Candidate({"rule": rule, **asdict(tile)}, why)
        elif rule == "Dot":
            yield from gpu_dots.candidates(composed, target)
        else:
            yield Candidate({"rule": rule}, ORDER[rule])


def _rules(composed: Composed, target: Target) -> list[str]:
    """Return the names of the rules to try for a kernel, in order of preference. Most rules are for
    reductions; one is for transposes, whose tiles in shared memory need static sizes. Short sums are not
    worth several threads. Rules that create vectors of booleans are excluded, because TVM emits those as
    16-bit numbers, twice as wide as they are.
    """
    plan = Plan(composed, target)
    reducing = [name for name in plan.names if plan.is_reduction(name)]
    transposes = composed.is_static and any(stage.op.has(Trait.TRANSPOSE) for stage in composed.stages)
    rules = [
        rule
        for rule in ORDER
        if rule == "Fallback" or (reducing if rule in REDUCTION_RULES else transposes and not reducing)
    ]
    short = len(reducing) == 1 and gpu_dlight.terms(plan, reducing[0]) <= MAX_SERIAL_TERMS
    narrow = any(plan.dtype(name) in NARROW_TYPES for name in reducing)
    left_out = set(COOPERATIVE_RULES) if short or narrow else set()
    tensors = [*composed.inputs, *[tensor for stage in composed.stages for tensor in stage.tensors]]
    if any(str(tensor.dtype) == "bool" for tensor in tensors):
        left_out |= {"Matmul", "GEMV"}
    return [rule for rule in rules if rule not in left_out]


def _applied(composed: Composed, target: Target, choice: Choice) -> tuple[PrimFunc, Trace] | None:
    """Apply one rule; return the scheduled function and its trace, or None if the rule does not apply."""
    rule = str(choice["rule"])
    if rule not in ("Convolution", "Dot", "Sums"):
        return gpu_dlight.applied(rule, composed, target, fits)
    named = replace(composed, name="main")  # as in TVM's rules, so that all traces are replayed alike
    if rule == "Sums":
        sch = gpu_sums.schedule(named, target)
    elif rule == "Dot":
        sch = gpu_dots.schedule(named, target, choice)
    else:
        sch = gpu_convolution.schedule(named, target, choice)
    if sch is None or not fits(sch.mod["main"]):
        return None
    mod = sch.mod
    for dot in dots_of(target):
        mod = with_dots(mod, dot)
    return mod["main"], sch.trace


def fits(func: PrimFunc) -> bool:
    """Whether the static numbers of blocks and threads of each launch of a scheduled function are within a
    GPU's limits. Loops that are not bound to threads, which TVM's rule for transposes can leave, are not
    accepted: they would run on the host, which cannot read the GPU's memory.
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
