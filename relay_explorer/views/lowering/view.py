"""The lowering explorer's data: one kernel as Relay, as tensor expressions, as loops after each primitive of
its schedule, and as the code generated from them, with the operators to which each part belongs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...ir.errors import RelayError
from ...ir.expr import Call, Expr, Function
from ...ir.module import IRModule
from ...ir.op import Op
from ...lower.codegen.te_text import stages_text
from ...lower.inspect.estimate import estimate
from ...lower.inspect.measure import step_times
from ...lower.inspect.replay import MARKS, PLACE, Loop, Nest, Primitive, replay
from ...lower.inspect.traced import CLASSES, Traced, both
from ...lower.inspect.traced_cuda import C_CLASSES, PTX_CLASSES, traced_cuda, traced_ptx
from ...lower.runtime.executable import Executable
from ...lower.runtime.kernel import Kernel
from ...lower.targets.device import nvcc
from ..families import describe
from ..rows import program_rows
from . import sentences as say
from .format import (
    Choice,
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

HUES = ("blue", "orange", "teal", "purple", "olive", "pink", "sky", "red", "brown")
MAX_LINES = 3_000  # of code; the rest is cut, and counted
MAX_LENGTH = 160  # characters of a statement of the loops


def lowering_view(
    x: object, kernel: object = None, title: str = "", measure: bool = False, ptx: bool = True
) -> LoweringView:
    """Build the view of a kernel, of a kernel of a program that `relay_explorer.build` returned, or of a
    module, which is built for this machine. `kernel` is its name or number, by default the one with the most
    operations. With `measure` the kernel is timed here after each primitive of its schedule. A kernel for a
    GPU is shown as CUDA C and, with `ptx` and if nvcc is installed, as PTX.
    """
    return _Builder(chosen(x, kernel), ptx).view(title, measure)


def chosen(x: object, kernel: object) -> Kernel:
    """Return the selected kernel."""
    if isinstance(x, Kernel):
        return x
    if isinstance(x, (IRModule, Expr)):
        from ...lower.build import build

        x = build(x, quiet=True)
    if not isinstance(x, Executable):
        raise TypeError(
            "the lowering explorer takes the result of relay_explorer.build, one of its kernels, or a "
            f"module, not {type(x).__name__}"
        )
    if not x.kernels:
        raise RelayError(
            "the program has no kernel: no part of it is compiled to loops",
            help=["explore(module, view='machine', args=[…]) shows how it runs"],
        )
    if kernel is None:
        here = [k for k in x.kernels if not k.on_host] or x.kernels
        return max(here, key=lambda k: k.flops)
    for number, candidate in enumerate(x.kernels):
        if kernel == candidate.name or (kernel == number and not isinstance(kernel, bool)):
            return candidate
    shown = ", ".join(f"`{candidate.name}`" for candidate in x.kernels[:8])
    more = f" and {len(x.kernels) - 8} more" if len(x.kernels) > 8 else ""
    raise RelayError(
        f"the program has no kernel {kernel!r:.60}",
        help=[f"its kernels are numbered 0 to {len(x.kernels) - 1}: {shown}{more}"],
    )


class _Builder:
    def __init__(self, kernel: Kernel, ptx: bool) -> None:
        if kernel.on_host:
            raise RelayError(
                f"the kernel `{kernel.name}` runs on the host, so it has no loops to show",
                help=["choose another one with `kernel=`, where the program has one"],
            )
        self.kernel, self.ptx = kernel, ptx
        self.made = kernel.scheduled
        self.function: Function = self.made.composed.function
        self.calls: list[Call] = [stage.call for stage in self.made.composed.stages]
        self.number = {id(call): number for number, call in enumerate(self.calls)}
        self.program = program_rows(self.function)

    def view(self, title: str, measure: bool) -> LoweringView:
        first, owners, primitives = replay(self.made)
        self.owners = primitives[-1].owners if primitives else owners
        codes = self.codes()
        steps = self.steps(first, owners, primitives, codes)
        times = step_times(self.made, primitives) if measure else []
        operators = self.operators()
        names = [operator.name for operator in operators]
        target = str(self.kernel.target)
        return LoweringView(
            title=title or self.kernel.name,
            summary=say.summary(names, target, steps[0].effect, steps[-1].effect, len(primitives), codes)
            + say.measured(times),
            rows=self.program.filled(lambda expr: self.number.get(id(expr), -1)),
            name=self.kernel.name,
            target=target,
            rule=self.made.rule,
            choice=tuple([Choice(name, str(value)) for name, value in self.made.choice.items()]),
            flops=self.kernel.flops,
            operators=tuple(operators),
            stages=tuple([Stage(number, text) for number, text in stages_text(self.made.composed)]),
            steps=tuple(steps),
            codes=codes,
            # The last step, the generated code, has the time of the loops before it.
            times=tuple([max(1, round(t * 1e9)) for t in [*times, *times[-1:]]]),
        )

    def operators(self) -> list[Operator]:
        operators = []
        for number, call in enumerate(self.calls):
            assert isinstance(call.op, Op)
            row = self.program.row(call)
            operators.append(Operator(row, call.op.name, HUES[number % len(HUES)], describe(call)[1]))
        return operators

    # -- the schedule

    def steps(
        self,
        first: Nest,
        owners: Mapping[str, Sequence[int]],
        primitives: Sequence[Primitive],
        codes: Sequence[Code],
    ) -> list[ScheduleStep]:
        nest = self.nest(first, owners, set())
        effect = self.effect(first, self.made.composed.prim_func)
        begin = say.begin(len(self.calls), effect.nests)
        steps = [ScheduleStep(LoweringMark.BEGIN, "", begin, say.BEGIN_WHY, nest, effect)]
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
            steps.append(
                ScheduleStep(mark, p.kind, say.told(p), say.why(p), nest, self.effect(p.nest, p.func))
            )
            before = p.nest
        last = self.nest(before, self.owners, set())
        end = (say.compiled(codes), say.compiled_why(codes))
        steps.append(ScheduleStep(LoweringMark.COMPILED, "", *end, last, steps[-1].effect))
        return steps

    def effect(self, parts: Nest, func: Any) -> Effect:
        target = self.kernel.target
        caches = target.caches if target.kind != "cuda" else None
        return Effect(*_counted(parts), *estimate(func, target.cores, caches))

    def nest(self, parts: Nest, owners: Mapping[str, Sequence[int]], touched: set[int]) -> tuple[Part, ...]:
        nest = []
        for at, part in enumerate(parts):
            if isinstance(part, Loop):
                inside = tuple(sorted({n for block in part.blocks for n in owners.get(block, ())}))
                new = Part(False, part.depth, part.name, "", part.extent, part.how, inside, at in touched)
            else:
                text = part.text if len(part.text) <= MAX_LENGTH else part.text[: MAX_LENGTH - 1] + "…"
                own = tuple(owners.get(part.name, ()))
                new = Part(True, part.depth, part.name, text, 1, "", own, at in touched)
            nest.append(new)
        return tuple(nest)

    # -- the code

    def codes(self) -> tuple[Code, ...]:
        """Return the code that is generated from the loops, ending with the level nearest to the machine."""
        if self.kernel.target.kind != "cuda":
            llvm, assembly = both(self.made)
            return self.code("LLVM IR", CLASSES, llvm), self.code("assembly", CLASSES, assembly)
        source = self.kernel.source("cuda")
        traced, numbers = traced_cuda(self.made, source)
        cuda = self.code("CUDA C", C_CLASSES, traced)
        if not self.ptx or nvcc() is None:
            return (cuda,)
        ptx = traced_ptx(source, traced, numbers, self.kernel.target)
        return cuda, self.code("PTX", PTX_CLASSES, ptx)

    def code(self, name: str, purposes: tuple[str, ...], traced: Traced) -> Code:
        lines = tuple([CodeLine(n.text, n.purpose, n.block, n.depth) for n in traced.lines[:MAX_LINES]])
        blocks = [
            {n for block in name.split("+") for n in self.owners.get(block, ())} for name in traced.blocks
        ]
        cut = max(0, len(traced.lines) - MAX_LINES)
        return Code(name, purposes, tuple([tuple(sorted(b)) for b in blocks]), lines, traced.others, cut)


def _touched(p: Primitive, before: Nest) -> set[int]:
    """Return the parts that a primitive affects: loops whose kind changes, and the loops and blocks that it
    takes or creates, by name.
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
    """Return the range of parts of the second nest, as start and end, that differ from the first nest."""
    first, most = 0, min(len(before), len(after))
    while first < most and before[first] == after[first]:
        first += 1
    same = 0
    while same < most - first and before[-1 - same] == after[-1 - same]:
        same += 1
    return first, len(after) - same


def _counted(parts: Nest) -> tuple[int, int, int, int]:
    """Compute the first four fields of an Effect."""
    tasks = lanes = copies = 1
    around: list[Loop] = []
    for part in parts:
        del around[part.depth :]
        if isinstance(part, Loop):
            around.append(part)
            continue
        threads = [loop.how for loop in around if "." in loop.how]  # a GPU's: threadIdx.x and the like
        tasks = max(tasks, _product(around, ("parallel", *threads)))
        lanes = max(lanes, _product(around, ("vectorized",)))
        copies = max(copies, _product(around, ("unrolled",)))
    return sum(part.depth == 0 for part in parts), tasks, lanes, copies


def _product(loops: Sequence[Loop], ways: Sequence[str]) -> int:
    total = 1
    bound = set()  # loops that are bound to the same threads share their iterations
    for loop in loops:
        if loop.how in ways and loop.how not in bound:
            total *= max(1, loop.extent)
            bound |= {loop.how} if "." in loop.how else set()
    return total
