"""The lowering explorer's data: one kernel as Relay, as tensor expressions, as loops after each primitive of
its schedule, and as machine code, with the operators that each part of each belongs to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..ir.errors import RelayError
from ..ir.expr import Call, Expr, Function
from ..ir.module import IRModule
from ..ir.op import Op
from ..lower.executable import Executable
from ..lower.kernel import Kernel
from ..lower.measure import step_times
from ..lower.replay import MARKS, PLACE, Loop, Nest, Primitive, replay
from ..lower.te_text import stages_text
from ..lower.traced import CLASSES, traced
from . import lowering_say as say
from .families import describe
from .lowering_format import (
    Code,
    CodeLine,
    Effect,
    LoweringMark,
    LoweringView,
    Operator,
    Part,
    ScheduleStep,
    Stage,
)
from .rows import program_rows

HUES = ("blue", "orange", "teal", "purple", "olive", "pink", "sky", "red", "brown")
MOST_LINES = 3_000  # of code; more are cut, and that is said
LONGEST = 160  # characters of a statement of the loops


def lowering_view(x: object, kernel: object = None, title: str = "", measure: bool = False) -> LoweringView:
    """The view of a kernel: of one itself, of a program that `relay_explorer.build` gave, or of a module,
    which is built for this machine. `kernel` is its name or number; without it, the one that computes most.
    With `measure` the kernel is timed here after each primitive of its schedule.
    """
    return _Builder(chosen(x, kernel)).view(title, measure)


def chosen(x: object, kernel: object) -> Kernel:
    """The kernel that is meant."""
    if isinstance(x, Kernel):
        return x
    if isinstance(x, (IRModule, Expr)):
        from ..lower.build import build

        x = build(x, quiet=True)
    if not isinstance(x, Executable):
        raise TypeError(
            "the lowering explorer takes what relay_explorer.build gives, one of its kernels, or a module, "
            f"not {type(x).__name__}"
        )
    if not x.kernels:
        raise RelayError("the program has no kernel: it computes nothing")
    if kernel is None:
        here = [k for k in x.kernels if not k.on_host] or x.kernels
        return max(here, key=lambda k: k.flops)
    for number, found in enumerate(x.kernels):
        if kernel == found.name or (kernel == number and not isinstance(kernel, bool)):
            return found
    shown = ", ".join(f"`{found.name}`" for found in x.kernels[:8])
    more = f" and {len(x.kernels) - 8} more" if len(x.kernels) > 8 else ""
    raise RelayError(
        f"the program has no kernel {kernel!r:.60}",
        help=[f"its kernels are numbered 0 to {len(x.kernels) - 1}: {shown}{more}"],
    )


class _Builder:
    def __init__(self, kernel: Kernel) -> None:
        if kernel.on_host:
            raise RelayError(
                f"the kernel `{kernel.name}` runs on the host: it has no loops to be shown",
                help=["choose another one with `kernel=`"],
            )
        if kernel.target.kind == "cuda":
            raise RelayError(
                f"the kernel `{kernel.name}` is for a GPU: rules of TVM's schedule it, and leave nothing "
                "to be replayed",
                help=['its code can be read: kernel.source("cuda")', "build for a processor"],
            )
        self.kernel = kernel
        self.made = kernel.scheduled
        self.function: Function = self.made.composed.function
        self.calls: list[Call] = [stage.call for stage in self.made.composed.stages]
        self.number = {id(call): number for number, call in enumerate(self.calls)}
        self.program = program_rows(self.function)

    def view(self, title: str, measure: bool) -> LoweringView:
        first, owners, primitives = replay(self.made)
        self.owners = primitives[-1].owners if primitives else owners
        code = self.code()
        steps = self.steps(first, owners, primitives, code)
        times = step_times(self.made, primitives) if measure else []
        operators = self.operators()
        names = [operator.name for operator in operators]
        target = str(self.kernel.target)
        return LoweringView(
            title=title or self.kernel.name,
            summary=say.summary(names, target, steps[0].effect, steps[-1].effect, len(primitives), code)
            + say.measured(times),
            rows=self.program.filled(lambda expr: self.number.get(id(expr), -1)),
            name=self.kernel.name,
            target=target,
            rule=self.made.rule,
            choice=tuple([(name, str(value)) for name, value in self.made.choice.items()]),
            flops=self.kernel.flops,
            operators=tuple(operators),
            stages=tuple([Stage(number, text) for number, text in stages_text(self.made.composed)]),
            steps=tuple(steps),
            code=code,
            # The last step, machine code, is that of the loops before it.
            times=tuple([max(1, round(t * 1e9)) for t in [*times, *times[-1:]]]),
        )

    def operators(self) -> list[Operator]:
        found = []
        for number, call in enumerate(self.calls):
            assert isinstance(call.op, Op)
            row = self.program.row(call)
            found.append(Operator(row, call.op.name, HUES[number % len(HUES)], describe(call)[1]))
        return found

    # -- the schedule

    def steps(
        self, first: Nest, owners: Mapping[str, Sequence[int]], primitives: Sequence[Primitive], code: Code
    ) -> list[ScheduleStep]:
        nest = self.nest(first, owners, set())
        effect = _effect(first)
        begin = say.begin(len(self.calls), effect.nests)
        found = [ScheduleStep(LoweringMark.BEGIN, "", begin, say.BEGIN_WHY, nest, effect)]
        before = first
        for p in primitives:
            mark = (
                LoweringMark.RUN
                if p.kind in MARKS
                else LoweringMark.PLACE
                if p.kind in PLACE
                else LoweringMark.SHAPE
            )
            nest = self.nest(p.nest, p.owners, _touched(p, before))
            found.append(ScheduleStep(mark, p.kind, say.told(p), say.why(p), nest, _effect(p.nest)))
            before = p.nest
        last = self.nest(before, self.owners, set())
        end = (say.compiled(code), say.compiled_why(code))
        found.append(ScheduleStep(LoweringMark.COMPILED, "", *end, last, _effect(before)))
        return found

    def nest(self, parts: Nest, owners: Mapping[str, Sequence[int]], touched: set[int]) -> tuple[Part, ...]:
        found = []
        for at, part in enumerate(parts):
            if isinstance(part, Loop):
                inside = tuple(sorted({n for block in part.blocks for n in owners.get(block, ())}))
                made = Part(False, part.depth, part.name, "", part.extent, part.how, inside, at in touched)
            else:
                text = part.text if len(part.text) <= LONGEST else part.text[: LONGEST - 1] + "…"
                own = tuple(owners.get(part.name, ()))
                made = Part(True, part.depth, part.name, text, 1, "", own, at in touched)
            found.append(made)
        return tuple(found)

    # -- the code

    def code(self) -> Code:
        found = traced(self.made)
        kept = tuple([CodeLine(n.text, n.purpose, n.block, n.depth) for n in found.lines[:MOST_LINES]])
        owners = tuple([tuple(self.owners.get(block, ())) for block in found.blocks])
        return Code("assembly", CLASSES, owners, kept, found.others, max(0, len(found.lines) - MOST_LINES))


def _touched(p: Primitive, before: Nest) -> set[int]:
    """The parts that a primitive was about: loops that now run in another way, and what it was given or has
    made, by name.
    """
    if p.kind in MARKS and len(before) == len(p.nest):
        return {at for at, (old, new) in enumerate(zip(before, p.nest, strict=True)) if old != new}
    loops = {name for name, _ in (*p.loops, *p.made)}
    blocks = {*p.blocks, *(p.users if "Inline" in p.kind else ())}
    first, last = _changed(before, p.nest)
    return {
        at
        for at, part in enumerate(p.nest)
        if first <= at < last and part.name in (loops if isinstance(part, Loop) else blocks)
    }


def _changed(before: Nest, after: Nest) -> tuple[int, int]:
    """Where two nests differ: the parts of the second from the first number on, up to the second."""
    first, most = 0, min(len(before), len(after))
    while first < most and before[first] == after[first]:
        first += 1
    same = 0
    while same < most - first and before[-1 - same] == after[-1 - same]:
        same += 1
    return first, len(after) - same


def _effect(parts: Nest) -> Effect:
    tasks = lanes = copies = 1
    around: list[Loop] = []
    for part in parts:
        del around[part.depth :]
        if isinstance(part, Loop):
            around.append(part)
            continue
        tasks = max(tasks, _product(around, ("parallel",)))
        lanes = max(lanes, _product(around, ("vectorized",)))
        copies = max(copies, _product(around, ("unrolled",)))
    return Effect(sum(part.depth == 0 for part in parts), tasks, lanes, copies)


def _product(loops: Sequence[Loop], ways: Sequence[str]) -> int:
    total = 1
    for loop in loops:
        if loop.how in ways:
            total *= max(1, loop.extent)
    return total
