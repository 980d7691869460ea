"""What the lowering explorer says: one sentence for each primitive of a schedule, and why one does that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...lower.inspect.replay import Primitive
from ..format import Sentence
from ..words import count, counted
from .format import Code, Effect

BEGIN_WHY: Sentence = (
    "Correct, and slow: each result goes to memory and comes back, one number at a time, on one core. "
    "A schedule changes when what is computed, never what.",
)
_STORES_NOTHING = "Its values are not stored at all: nothing is written to memory only to be read again."
_WHY = {
    "Split": "The inner loop has a small, fixed number of turns: few enough for registers or for one vector. "
    "The outer one goes over the tiles.",
    "Fuse": "One long loop is easier to share out than several short ones.",
    "Reorder": "What stands innermost runs through while all that depends on the outer loops alone stays "
    "where it is: in a register, or in the cache.",
    "Parallel": "No turn needs what another one makes.",
    "Vectorize": "One instruction does the work of all lanes.",
    "Unroll": "There is no counter and no jump left, and what each copy sums up can have its own register.",
    "Bind": "A GPU runs the turns side by side.",
    "ComputeInline": _STORES_NOTHING,
    "ReverseComputeInline": _STORES_NOTHING,
    "ComputeAt": "What is made is used at once, while it is in a register or near in the cache.",
    "ReverseComputeAt": "What was made is used at once, while it is in a register or near in the cache.",
    "SetScope": "It is as small as one turn of the loop around it needs, and nobody else looks at it.",
    "CacheRead": "The copy lies in the order in which it will be read.",
    "CacheWrite": "Sums can stay in registers until they are whole.",
    "DecomposeReduction": "The loop that reduces is left without a question in it.",
    "RFactor": "Partial results do not wait for one another.",
    "DecomposePadding": "Where there is no border, nothing asks whether there is one.",
    "ReIndex": "Then every index of the computation is one loop of it, and the copy can have any order.",
    "TransformLayout": "What is read together lies together.",
    "TransformBlockLayout": "A rule for a kind of computation can now take its loops by their places.",
    "PadEinsum": "Every tile is whole; what was added is zero.",
    "StorageAlign": "Threads that read one column do not wait for the same bank of the memory.",
}


def begin(stages: int, nests: int) -> Sentence:
    return (
        f"The loops as they follow from the expressions: **{counted(nests, 'nest')}** for "
        f"{counted(stages, 'operator')}, one after the other.",
    )


def why(primitive: Primitive) -> Sentence:
    text = _WHY.get(primitive.kind)
    return (text,) if text else ()


def told(p: Primitive) -> Sentence:
    """Describe a schedule primitive. Loops and blocks are arguments of the sentence, because their names are
    the program's.
    """
    loops = [name for name, _ in p.loops]
    turns = _turns(p.loops[0][1]) if p.loops else ""
    block = p.blocks[0] if p.blocks else ""
    first = p.loops[0][0] if p.loops else "?"
    times = _size(p.loops[0][1]) if p.loops else ""
    match p.kind:
        case "Split" if p.made:
            sizes = " × ".join(_size(extent) for _, extent in p.made)
            parts, names = _listed([name for name, _ in p.made], 1)
            return (f"The loop {{0}}, {turns}, is **split** into {parts}: {sizes}.", first, *names)
        case "Split":
            return (f"The loop {{0}}, {turns}, is **split** into loops within one another.", first)
        case "Fuse" if p.made:
            parts, names = _listed(loops, 0)
            new, extent = p.made[0]
            one = f"{{{len(names)}}}, {_turns(extent)}"
            return (f"The loops {parts} become **one**, {one}.", *names, new)
        case "Reorder":
            parts, names = _listed(loops, 0)
            return (f"The loops are put in **another order**: {parts}.", *names)
        case "Parallel":
            return (f"The turns of {{0}}, {times} of them, are **shared out** among the cores.", first)
        case "Vectorize":
            return (f"The loop {{0}} becomes **one vector** of {times} lanes.", first)
        case "Unroll":
            return (f"The loop {{0}} is **unrolled**: its body is written {times} times.", first)
        case "Bind":
            return ("The turns of {0} are those of the GPU's {1}.", first, (p.words or ("threads",))[-1])
        case "RFactor":
            how = f"becomes **partial results**, {times} side by side, put together at the end"
            return (f"The reduction over {{0}} {how}.", first)
    return _placed(p, block, first)


def _placed(p: Primitive, block: str, first: str) -> Sentence:
    """Describe a primitive that determines where something is computed or stored."""
    match p.kind:
        case "ComputeInline" | "ReverseComputeInline" if p.users:
            parts, names = _listed(p.users, 1)
            where = "used" if p.kind == "ComputeInline" else "made"
            return (f"{{0}} is **computed where it is {where}**, in {parts}.", block, *names)
        case "ComputeAt" | "ReverseComputeAt" if p.loops:
            what = "it needs" if p.kind == "ComputeAt" else "was made there"
            text = f"{{0}} moves **into the loop** {{1}}: each turn computes as much of it as {what}."
            return (text, block, first)
        case "SetScope":
            return (f"What {{0}} stores is kept in memory that is **{_scope(p)}**.", block)
        case "CacheRead":
            return ("{0} reads from a **copy** of what it needs.", block)
        case "ReIndex":
            return ("{0} gets a **copy** of an array whose axes are its own loops.", block)
        case "TransformLayout":
            return ("An array of {0} is stored in **another order**.", block)
        case "TransformBlockLayout":
            return ("The loops around {0} are **made anew**, by a map of its axes.", block)
        case "PadEinsum":
            return ("The axes of {0} are **made longer**, to what its tiles need.", block)
        case "StorageAlign":
            return ("The rows of what {0} stores are put **apart** by a few elements.", block)
        case "CacheWrite":
            return ("{0} writes into a **buffer of its own**, which is copied when it is whole.", block)
        case "DecomposeReduction" if p.loops:
            return ("{0} gets its **first value before** the loop {1}, not in its first turn.", block, first)
    return ("The primitive {0} is applied to {1}.", p.kind, block or first)


def _scope(p: Primitive) -> str:
    return "shared by the threads of a block" if "shared" in p.words else "local"


def _size(extent: int) -> str:
    return "?" if extent < 0 else count(extent)


def _turns(extent: int) -> str:
    return "of unknown length" if extent < 0 else counted(extent, "turn")


def _listed(names: Sequence[str], first: int) -> tuple[str, list[str]]:
    """`{1}, {2} and {3}`, and the arguments."""
    shown = [f"{{{first + k}}}" for k in range(len(names))]
    text = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
    return text, list(names)


def compiled(codes: Sequence[Code]) -> Sentence:
    code = codes[-1]
    tally = Counter(code.purposes[line.purpose] for line in code.lines if line.purpose >= 0)
    total = sum(tally.values()) + code.cut
    if total == 0:
        return ("LLVM makes **no instruction** of these loops: there is nothing to compute.",)
    if codes[0].name == "CUDA C":
        text = f"TVM writes **{counted(_lines(codes[0]), 'line')} of CUDA C** of these loops"
        if code.name == "PTX":
            text += f", and NVIDIA's compiler makes **{counted(total, 'instruction')}** of PTX of them"
            text += f", **{tally['multiply-add']}** of which multiply and add"
        return (f"{text}.",)
    deepest = max((line.depth for line in code.lines), default=0)
    inner = [n for n in code.lines if n.purpose >= 0 and n.depth == deepest]
    useful = sum(code.purposes[n.purpose] == "multiply-add" for n in inner)
    text = f"LLVM makes **{counted(total, 'instruction')}** of these loops"
    if useful and deepest:
        return (f"{text}. In the innermost loops, **{useful} of {len(inner)}** multiply and add.",)
    return (f"{text}.",)


def _lines(code: Code) -> int:
    return sum(line.purpose >= 0 for line in code.lines) + code.cut


def compiled_why(codes: Sequence[Code]) -> Sentence:
    if codes[0].name == "CUDA C":
        text = "A line has the colour of the block whose array it stores into, or helps to compute."
        link = " PTX is linked to the lines of CUDA C by the compiler's own table." if len(codes) > 1 else ""
        return (text + link,)
    code = codes[-1]
    if not code.others:
        return ()
    return (
        "Each came from the block whose colour it has, by LLVM's own table of lines; what has none keeps "
        f"count and computes addresses. Not shown: {count(code.others)} instructions that check arguments "
        "and share out the work.",
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
    return f" On this machine a run took {_time(times[0])} before it, and {_time(times[-1])} after it."


def _time(seconds: float) -> str:
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"
