"""Sentences of the lowering view: what each primitive of a schedule does, and why it is applied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...lower.inspect.replay import DOT, Primitive
from ..format import Sentence
from ..words import count, counted
from .format import Code, Effect

BEGIN_WHY: Sentence = (
    "Correct, but slow: each intermediate result is written to memory and read back, one element at a time, "
    "on one core. A schedule changes when something is computed, never what.",
)
_STORES_NOTHING = "Its values are never stored, which saves a write to memory and a read from it."
_WHY = {
    "Split": "The inner loop has a small, fixed number of iterations: few enough for registers or for one "
    "vector. The outer loop iterates over the tiles.",
    "Fuse": "One long loop is easier to divide among cores than several short ones.",
    "Reorder": "While the innermost loop runs, data that depend only on the outer loops stay in a "
    "register or "
    "in the cache.",
    "Parallel": "The iterations are independent of each other.",
    "Vectorize": "One instruction computes all lanes.",
    "Unroll": "This removes the counter and the jump, and each copy can have an accumulator in its "
    "own register.",
    "Bind": "A GPU runs the iterations in parallel.",
    DOT: "In each of its lanes, the instruction multiplies several pairs of small integers, and adds all "
    "products to a 32-bit accumulator.",
    "ComputeInline": _STORES_NOTHING,
    "ReverseComputeInline": _STORES_NOTHING,
    "ComputeAt": "Its values are used at once, while they are in a register or in a near cache.",
    "ReverseComputeAt": "The values are used at once, while they are in a register or in a near cache.",
    "SetScope": "It only has to hold what one iteration of the loop around it needs.",
    "CacheRead": "The copy lies in the order in which it will be read.",
    "CacheWrite": "Accumulators can stay in registers until they are complete.",
    "DecomposeReduction": "The reduction loop then needs no test for its first iteration.",
    "RFactor": "Partial results do not wait for one another.",
    "DecomposePadding": "The interior then needs no test for the padding.",
    "ReIndex": "Every index of the computation is then one of its loops, and the copy can have any layout.",
    "TransformLayout": "Elements that are read together are then adjacent in memory.",
    "TransformBlockLayout": "A schedule rule can now find the loops by their positions.",
    "PadEinsum": "Every tile is then full; the added elements are zero.",
    "StorageAlign": "Threads that read one column then avoid bank conflicts.",
}


# Where the loop has one iteration.
_ONE_ITERATION = {
    "Split": "The **split** of {0} changes nothing: the loop has one iteration.",
    "Parallel": "The loop {0} becomes **parallel**, but it has one iteration, so one core runs it.",
    "Vectorize": "The loop {0} becomes **one vector** of 1 lane: it has one iteration.",
    "Unroll": "The loop {0} is **unrolled**: it has one iteration, so only its body remains.",
}
_ONE_ITERATION_WHY = "A schedule rule applies the same primitives to loops of every size."


def begin(stages: int, nests: int) -> Sentence:
    return (
        f"The loops that follow directly from the tensor expressions: **{counted(nests, 'nest')}** for "
        f"{counted(stages, 'operator')}, one after the other.",
    )


def why(primitive: Primitive) -> Sentence:
    text = _ONE_ITERATION_WHY if _has_one_iteration(primitive) else _WHY.get(primitive.kind)
    return (text,) if text else ()


def told(p: Primitive) -> Sentence:
    """Describe a schedule primitive. Loops and blocks are arguments of the sentence, because their names are
    the program's.
    """
    loops = [name for name, _ in p.loops]
    length = _length(p.loops[0][1]) if p.loops else ""
    block = p.blocks[0] if p.blocks else ""
    first = p.loops[0][0] if p.loops else "?"
    extent = p.loops[0][1] if p.loops else -1
    if _has_one_iteration(p):
        return (_ONE_ITERATION[p.kind], first)
    match p.kind:
        case "Split" if p.made:
            sizes = " × ".join(_size(part) for _, part in p.made)
            parts, names = _listed([name for name, _ in p.made], 1)
            return (f"The loop {{0}}, {length}, is **split** into {parts}: {sizes}.", first, *names)
        case "Split":
            return (f"The loop {{0}}, {length}, is **split** into loops within one another.", first)
        case "Fuse" if p.made:
            parts, names = _listed(loops, 0)
            new, size = p.made[0]
            one = f"{{{len(names)}}}, {_length(size)}"
            return (f"The loops {parts} are **fused** into one, {one}.", *names, new)
        case "Reorder":
            parts, names = _listed(loops, 0)
            return (f"The loops are **reordered**: {parts}.", *names)
        case "Parallel":
            return (f"The {_size(extent)} iterations of {{0}} are **divided** among the cores.", first)
        case "Vectorize":
            return (f"The loop {{0}} becomes **one vector** of {_size(extent)} lanes.", first)
        case "Unroll":
            return (f"The loop {{0}} is **unrolled**: its body is repeated {_size(extent)} times.", first)
        case "Bind":
            return (
                "The iterations of {0} are mapped to the GPU's {1}.",
                first,
                (p.words or ("threads",))[-1],
            )
        case "Dot":
            name = (p.words or ("",))[-1]
            text = "The loop {0}, with the vector around it, becomes one **dot instruction**, {1}."
            return (text, first, name)
        case "RFactor":
            how = f"is split into {_size(extent)} **partial results**, which are combined at the end"
            return (f"The reduction over {{0}} {how}.", first)
    return _placed(p, block, first)


def _has_one_iteration(p: Primitive) -> bool:
    """Whether a primitive is about a loop with one iteration, so that it has little or no effect."""
    alone = p.kind in _ONE_ITERATION and len(p.loops) == 1 and p.loops[0][1] == 1
    return alone and all(extent == 1 for _, extent in p.made)


def _placed(p: Primitive, block: str, first: str) -> Sentence:
    """Describe a primitive that determines where something is computed or stored."""
    match p.kind:
        case "ComputeInline" | "ReverseComputeInline" if p.users:
            parts, names = _listed(p.users, 1)
            where = "used" if p.kind == "ComputeInline" else "its input is computed"
            it = "it is " if p.kind == "ComputeInline" else ""
            return (f"{{0}} is **computed where {it}{where}**, in {parts}.", block, *names)
        case "ComputeAt" | "ReverseComputeAt" if p.loops:
            what = "it needs" if p.kind == "ComputeAt" else "was computed there"
            text = f"{{0}} moves **into the loop** {{1}}: each iteration computes as much of it as {what}."
            return (text, block, first)
        case "SetScope":
            return (f"The result of {{0}} is stored in {_scope(p)}.", block)
        case "CacheRead":
            return ("{0} reads from a **copy** of its input.", block)
        case "ReIndex":
            return ("{0} gets a **copy** of an array whose axes are its own loops.", block)
        case "TransformLayout":
            return ("An array of {0} gets **another layout**.", block)
        case "TransformBlockLayout":
            return ("The loops around {0} are **rebuilt** from a map of its axes.", block)
        case "PadEinsum":
            return ("The axes of {0} are **padded** to multiples of its tiles.", block)
        case "StorageAlign":
            return ("The rows of the result of {0} are **padded** by a few elements.", block)
        case "CacheWrite":
            return ("{0} writes into a **buffer of its own**, which is copied when it is complete.", block)
        case "DecomposeReduction" if p.loops:
            return ("{0} is **initialized before** the loop {1}, not in its first iteration.", block, first)
    return ("The primitive {0} is applied to {1}.", p.kind, block or first)


def _scope(p: Primitive) -> str:
    return "memory **shared by the threads of a block**" if "shared" in p.words else "**local** memory"


def _size(extent: int) -> str:
    return "?" if extent < 0 else count(extent)


def _length(extent: int) -> str:
    return "of unknown length" if extent < 0 else counted(extent, "iteration")


def _listed(names: Sequence[str], first: int) -> tuple[str, list[str]]:
    """Return placeholders as a list in words, `{1}, {2} and {3}`, and their arguments."""
    shown = [f"{{{first + k}}}" for k in range(len(names))]
    text = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
    return text, list(names)


def compiled(codes: Sequence[Code]) -> Sentence:
    code = codes[-1]
    tally = Counter(code.purposes[line.purpose] for line in code.lines if line.purpose >= 0)
    total = sum(tally.values()) + code.cut
    if total == 0:
        return ("LLVM generates **no instructions** for these loops: there is nothing to compute.",)
    if codes[0].name == "CUDA C":
        text = f"TVM generates **{counted(_lines(codes[0]), 'line')} of CUDA C** from these loops"
        if code.name == "PTX":
            text += f", from which NVIDIA's compiler generates **{counted(total, 'instruction')}** of PTX"
            text += f", **{tally['multiply-add']}** of them multiply-adds"
        return (f"{text}.",)
    deepest = max((line.depth for line in code.lines), default=0)
    inner = [n for n in code.lines if n.purpose >= 0 and n.depth == deepest]
    useful = sum(code.purposes[n.purpose] == "multiply-add" for n in inner)
    text = f"LLVM generates **{counted(total, 'instruction')}** for these loops"
    if useful and deepest:
        return (f"{text}. In the innermost loops, **{useful} of {len(inner)}** are multiply-adds.",)
    return (f"{text}.",)


def _lines(code: Code) -> int:
    return sum(line.purpose >= 0 for line in code.lines) + code.cut


def compiled_why(codes: Sequence[Code]) -> Sentence:
    if codes[0].name == "CUDA C":
        text = "Each line has the color of the block whose result it stores or helps to compute."
        link = " PTX is linked to the lines of CUDA C by the compiler's own table." if len(codes) > 1 else ""
        return (text + link,)
    code = codes[-1]
    if not code.others:
        return ()
    return (
        "LLVM's line table gives each instruction the color of its block; those without a color count "
        f"iterations and compute addresses. Not shown: {count(code.others)} instructions that "
        "check arguments "
        "and divide the work among cores.",
    )


def summary(
    operators: Sequence[str], target: str, first: Effect, last: Effect, steps: int, codes: Sequence[Code]
) -> str:
    shown = " · ".join(operators[:6]) + (" · …" if len(operators) > 6 else "")
    nests = f"{counted(first.nests, 'loop nest')}" + (
        f" become{'s' if first.nests == 1 else ''} {count(last.nests)}" if last.nests != first.nests else ""
    )
    lines = sum(line.purpose >= 0 for line in codes[-1].lines)
    what = "line" if codes[-1].name == "CUDA C" else "instruction"
    return (
        f"{shown} as one kernel for {target}. {nests} in {counted(steps, 'step')} of its schedule, and "
        f"{counted(lines, what)} of {codes[-1].name}."
    )


def measured(times: Sequence[float]) -> str:
    """State the effect of the schedule on the time, as the end of the summary."""
    if not times:
        return ""
    return (
        f" On this machine a run took {_time(times[0])} before the schedule and {_time(times[-1])} after it."
    )


def _time(seconds: float) -> str:
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"
