"""The memory explorer's data: the buffer and the lifetime of each value, and why it has that buffer, in the
program's plan and in plans with fused operators, names freed at the end of their scope, or other orders.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from ...analysis.liveness import Lifetime, Step, StepKind
from ...analysis.packing import packed
from ...analysis.schedules import SCHEDULES
from ...analysis.storage import Choice, StoragePlan, plan_memory
from ...analysis.straight_line import Origin, StraightLine
from ...ir.errors import RelayError
from ...ir.expr import Call, Constant, Expr, Function, If, Let, Var
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.show import short_type
from ...ir.walk import post_order
from ...transform.fuse_ops import FuseOps
from ...transform.normal_forms.to_a_normal_form import ToANormalForm
from ...transform.normal_forms.to_graph_normal_form import ToGraphNormalForm
from ...typing import infer_types
from ..format import Sentence
from ..fusion.view import label, short
from ..rows import ProgramRows, program_rows
from ..words import counted
from . import sentences as say
from .format import (
    Axis,
    Buffer,
    Inside,
    Life,
    MemoryMark,
    MemoryStep,
    MemoryTotals,
    MemoryValue,
    MemoryVariant,
    MemoryView,
    Renamed,
)

MAX_IN_EVERY_ORDER = 1_000  # steps; longer programs are planned in their own order only
MAX_PAIRS = 3_000_000  # of values that are live at the same time, summed over all steps
_ORIGINS = {Origin.COMPUTED: 0, Origin.PARAMETER: 1, Origin.CONSTANT: 2}
_RULES = tuple(say.RULES)
KERNELS = ("one per operator", "fused")
FREED = ("after last use", "at scope's end")


def memory_view(module: IRModule, title: str = "") -> MemoryView:
    """Build the view of `@main`'s memory (of the first function, where there is no `@main`). Types are
    inferred; the function is planned as it is, so passes that should run before must have run. A RelayError
    names the part of a function that cannot be planned.
    """
    return _builder(module).view(title)


def plan_view(module: IRModule, title: str, most: int) -> tuple[MemoryView | None, int]:
    """Build the view of one plan, that of the function as it is, and count its steps. There is no view if
    these are more than `most`.
    """
    builder = _builder(module)
    steps = len(builder.base.steps)
    return (builder.view(title, choices=False) if steps <= most else None), steps


def _builder(module: IRModule) -> _Builder:
    typed = infer_types(module)
    functions = {var: f for var, f in typed.functions.items() if isinstance(f, Function)}
    main = next((var for var in functions if var.name_hint == "main"), next(iter(functions), None))
    if main is None:
        raise RelayError("the module has no function whose memory can be planned")
    return _Builder(typed, functions[main])


class _Builder:
    def __init__(self, module: IRModule, function: Function) -> None:
        self.module = IRModule.from_expr(function)
        self.base = plan_memory(function)
        self.code = self.base.code
        self.program: ProgramRows = program_rows(module)
        # Expressions inside the kernels of an already fused program have no tensor of their own.
        names = [node.var for node in self.code.order if isinstance(node, Let)]
        self.known = {*self.code.order, *names, *(tensor.expr for tensor in self.base.tensors)}
        self.has_let = bool(names)
        self.variants: list[MemoryVariant] = []
        self.numbers: dict[object, int] = {}

    def view(self, title: str, choices: bool = True) -> MemoryView:
        orders = tuple(SCHEDULES) if len(self.base.steps) <= MAX_IN_EVERY_ORDER else ("program",)
        axes = (Axis("kernels", KERNELS), Axis("freed", FREED), Axis("order", orders)) if choices else ()
        choices_of = [(k, f, o) for k in KERNELS for f in FREED for o in orders]
        grid = [self._number(*one) for one in (choices_of if choices else choices_of[:1])]
        return MemoryView(
            title=title or "memory",
            summary=self._summary(self.variants[grid[len(FREED) * len(orders) if choices else 0]]),
            rows=self.program.filled(self._reference),
            values=tuple([self._value(number) for number in range(len(self.base.tensors))]),
            rules=tuple(say.RULES.values()),
            same=tuple(self._same()),
            axes=axes,
            grid=tuple(grid),
            variants=tuple(self.variants),
        )

    def _summary(self, fused: MemoryVariant) -> str:
        first = self.variants[0]
        t = first.totals
        if not first.lives:
            return "The program computes nothing, so it needs no buffers."
        text = (
            f"{counted(len(first.lives), 'value')} in {counted(len(first.buffers), 'buffer')}: at most "
            f"{say.sized(t.peak)} are live at once, the buffers take {say.sized(t.arena)}, and without "
            f"reuse they would take {say.sized(t.total)}."
        )
        if fused.totals == t:
            return text
        stored = counted(len(fused.lives), "value")
        return f"{text} With operators fused, {stored} with a peak of {say.sized(fused.totals.peak)}."

    # -- values and rows

    def _value(self, number: int) -> MemoryValue:
        tensor = self.base.tensors[number]
        row = -1 if isinstance(tensor.expr, Constant) else self.program.row(tensor.expr)
        name = self.program.name(tensor.expr) or ""
        if name and len(self.code.of(tensor.expr)) > 1:
            name += f".{tensor.field}"
        return MemoryValue(
            row, name, what(self.code, tensor.expr), short_type(tensor.type), tensor.bytes,
            _ORIGINS[tensor.origin],
        )  # fmt: skip

    def _same(self) -> Iterator[Renamed]:
        """Iterate over the rows whose tensor another row defines: projections, views, names."""
        for row in range(len(self.program.source)):
            expr = self.program.defines(row)
            if expr in self.known and not isinstance(expr, (Function, Let)):
                number = self._reference(expr)
                if number >= 0 and len(self.code.of(expr)) == 1 and self._value(number).row != row:
                    yield Renamed(row, number)

    def _reference(self, expr: Expr) -> int:
        """Return the value that a token names."""
        if expr not in self.known or isinstance(expr, Function):
            return -1
        try:
            return next(iter(self.code.of(expr)), -1)
        except RelayError:  # a name of a kernel
            return -1

    def called(self, number: int) -> str:
        """Return the name of a value in sentences: `%3 add`, `%x`, `add`."""
        value = self._value(number)
        if isinstance(self.base.tensors[number].expr, Var) or not value.name:
            return value.name or value.label
        return f"{value.name} {value.label}"

    # -- variants

    def _number(self, kernels: str, freed: str, order: str) -> int:
        """Return the number of the variant for some choices; it is added if it differs from the existing
        ones.
        """
        scope = freed == FREED[1]
        plan = self._plan(kernels == KERNELS[1], scope, "program" if scope else order)
        planned = _PlanWriter(self, plan)
        lives = planned.lives()
        key = (tuple(lives), tuple((s.kind, s.reads, s.writes) for s in plan.steps))
        if key in self.numbers:
            return self.numbers[key]
        chosen = [f"operators {kernels}" if kernels == KERNELS[1] else "one kernel for each operator"]
        chosen += ["names freed where their scope ends, `let` by `let`"] if scope else []
        if kernels == KERNELS[1] and self.has_let:
            chosen.append("as a graph without `let`")
        chosen += [f"order: {order}"] if order != "program" and not scope else []
        first = self.variants[0].totals if self.variants else None
        variant = planned.variant(lives, chosen, first)
        self.variants.append(variant)
        self.numbers[key] = len(self.variants) - 1
        return self.numbers[key]

    def _plan(self, fused: bool, scope: bool, order: str) -> StoragePlan:
        """Plan the memory of the program, or of what the passes turn it into."""
        if not fused and not scope:
            return self.base if order == "program" else plan_memory(self.code.function, order)
        module = self.fused if fused else self.module
        if scope and (fused or not self.has_let):
            module = ToANormalForm()(module)
        (function,) = infer_types(module).functions.values()
        assert isinstance(function, Function)
        return plan_memory(function, order, "scope" if scope else "last use")

    @cached_property
    def fused(self) -> IRModule:
        """The function with its operators fused, as a graph, since fusion does not look through `let`."""
        return FuseOps(1)(ToGraphNormalForm()(self.module))

    def came_from(self, exprs: Iterable[Expr]) -> list[Expr]:
        """Return the expressions of the program from which those of a variant came."""
        origins: dict[Expr, None] = {}
        visited: set[int] = set()
        pending = list(exprs)
        for expr in pending:
            if id(expr) in visited:
                continue
            visited.add(id(expr))
            if expr in self.known:
                origins[expr] = None
            else:
                pending += expr.origin
        return list(origins)


def what(code: StraightLine, expr: Expr) -> str:
    """Return the label of an expression: its operator, or those of its kernel."""
    callee = code.callee(expr.op) if isinstance(expr, Call) else None
    if not isinstance(callee, Function):
        return "if" if isinstance(expr, If) else label(expr)
    calls = [node for node in post_order(callee.body) if isinstance(node, Call)]
    return "·".join(short(node.op.name) for node in calls if isinstance(node.op, Op)) or "kernel"


def _packed(plan: StoragePlan, lives: Sequence[Life]) -> int | None:
    """Return the size of the smallest address range that holds the tensors; None where too many are live at
    once to search.
    """
    together = [0] * (len(plan.steps) + 3)
    for life in lives:
        together[life.made] += 1
        together[life.last + 1] -= 1
    if sum(count**2 for count in accumulate(together)) > MAX_PAIRS:
        return None
    sizes = {number: life.bytes for number, life in enumerate(lives)}
    offsets = packed(sizes, {number: Lifetime(life.made, life.last) for number, life in enumerate(lives)})
    return max((offset + sizes[number] for number, offset in offsets.items()), default=0)


class _PlanWriter(NamedTuple):
    """Converts a storage plan to a variant of the view."""

    builder: _Builder
    plan: StoragePlan

    def lives(self) -> list[Life]:
        """Return the lifetimes of the tensors that are stored, in the order in which they are computed."""
        numbers = self._numbers()
        plan = self.plan
        end = len(plan.steps)
        lives = []
        for tensor in numbers:
            choice, life = plan.choices[tensor], plan.lives[tensor]
            assert choice is not None
            value = self.value(tensor)
            size = -(-plan.tensors[tensor].bytes // plan.alignment) * plan.alignment
            before = numbers.get(choice.before, -1)
            lives.append(
                Life(
                    value, life.made + 1, min(life.last, end) + 1, plan.places[tensor].buffer, size,
                    _RULES.index(choice.rule), before, self.called(tensor),
                )
            )  # fmt: skip
        return lives

    def _numbers(self) -> dict[int, int]:
        """Map each tensor to the number of its lifetime."""
        computed = [t for step in self.plan.steps for t in step.writes]
        return {tensor: number for number, tensor in enumerate(dict.fromkeys(computed))}

    def value(self, tensor: int) -> int:
        """Return the program's value that a tensor of the plan represents, -1 where there is none."""
        if self.plan is self.builder.base:
            return tensor
        planned = self.plan.tensors[tensor]
        for expr in self.builder.came_from([planned.expr]):
            if isinstance(expr, Function):
                continue
            values = self.builder.code.of(expr)
            return values[planned.field] if planned.field < len(values) else -1
        return -1

    def called(self, tensor: int) -> str:
        """Return the name of a tensor of the plan in sentences."""
        value = self.value(tensor)
        return (
            self.builder.called(value) if value >= 0 else what(self.plan.code, self.plan.tensors[tensor].expr)
        )

    def variant(self, lives: list[Life], chosen: Sequence[str], first: MemoryTotals | None) -> MemoryVariant:
        plan = self.plan
        outside = sum(t.bytes for t in plan.tensors if t.origin is not Origin.COMPUTED)
        totals = MemoryTotals(plan.peak, plan.arena, plan.total, outside, _packed(plan, lives))
        numbers, peak_step = self._numbers(), plan.peak_step
        stored = {life.value for life in lives}
        inside: dict[int, int] = {}
        ends: list[list[int]] = [[] for _ in range(len(plan.steps) + 2)]
        for number, life in enumerate(lives):
            ends[life.last].append(number)
        steps = [MemoryStep(MemoryMark.BEGIN, "", say.begin(outside, len(plan.steps)))]
        for at, step in enumerate(plan.steps):
            values = self._about(step)
            for value in values:
                if value not in stored and self.builder.base.tensors[value].origin is Origin.COMPUTED:
                    inside.setdefault(value, at + 1)
            makes = [numbers[t] for t in step.writes if lives[numbers[t]].made == at + 1]
            reads = [numbers[t] for t in dict.fromkeys(step.reads) if t in numbers]
            frees = ends[at + 1]
            freed = [(lives[n].name, say.buffer_name(lives[n].buffer)) for n in frees]
            sentence = self._say(step, [lives[n] for n in makes])
            sentence = say.after(sentence, freed, plan.live[at], at == peak_step)
            steps.append(
                MemoryStep(
                    self._mark(step, makes), self._label(step), sentence, tuple(makes), tuple(reads),
                    tuple(frees), tuple(values),
                )
            )  # fmt: skip
        result = tuple(dict.fromkeys(v for t in plan.result if (v := self.value(t)) >= 0))
        ended = say.end(totals, len(plan.buffers))
        steps.append(MemoryStep(MemoryMark.END, "", ended, values=result))
        left = sum(lives[n].bytes for n in ends[-1])
        return MemoryVariant(
            say.variant(chosen, totals, first or totals, len(inside)), tuple(steps), tuple(lives),
            tuple(Buffer(b.offset, b.size) for b in plan.buffers), (0, *plan.live, left),
            tuple(Inside(*pair) for pair in sorted(inside.items())), totals,
        )  # fmt: skip

    # -- one step

    def _kernel(self, step: Step) -> Function | None:
        callee = self.plan.code.callee(step.expr.op) if isinstance(step.expr, Call) else None
        return callee if isinstance(callee, Function) else None

    def _about(self, step: Step) -> list[int]:
        """Return the program's values that a step computes, those that stay inside its kernel first."""
        values: dict[int, None] = {}
        kernel = self._kernel(step)
        if kernel is not None:
            parts = [n for n in post_order(kernel.body) if isinstance(n, Call)]
            for expr in self.builder.came_from(parts):
                if isinstance(expr, Call):
                    values.update(dict.fromkeys(self.builder.code.of(expr)))
        if step.kind is StepKind.VIEW:
            values.update(dict.fromkeys(v for t in step.reads if (v := self.value(t)) >= 0))
        values.update(dict.fromkeys(v for t in step.writes if (v := self.value(t)) >= 0))
        return list(values)

    def _label(self, step: Step) -> str:
        return what(self.plan.code, step.expr)

    def _name(self, step: Step) -> str:
        """Return the name of a step's result in sentences."""
        origin = next(iter(self.builder.came_from([step.expr])), step.expr)
        name, label_ = self.builder.program.name(origin), self._label(step)
        return f"{name} {label_}" if name else label_

    def _choices(self, step: Step) -> list[Choice]:
        return [c for t in step.writes if (c := self.plan.choices[t]) is not None]

    def _mark(self, step: Step, makes: Sequence[int]) -> MemoryMark:
        match step.kind:
            case StepKind.VIEW:
                return MemoryMark.VIEW
            case StepKind.BRANCH:
                return MemoryMark.BRANCH
            case StepKind.COPY:
                return MemoryMark.COPY
        rules = {choice.rule for choice in self._choices(step)}
        if rules & {"first", "apart", "alone"}:
            return MemoryMark.NEW
        return MemoryMark.GROWN if "grown" in rules else MemoryMark.AGAIN

    def _say(self, step: Step, makes: Sequence[Life]) -> Sentence:
        name = self._name(step)
        if step.kind is StepKind.VIEW:
            return say.view(name, self.called(step.reads[0]))
        if step.kind is StepKind.BRANCH:
            return say.branch(self.called(step.reads[0]))
        if step.kind is StepKind.COPY:
            return say.copied(name, step.branch, makes)
        choices = self._choices(step)
        if len(makes) != 1:
            return say.places(name, makes, sum(choice.before < 0 for choice in choices))
        (choice,) = choices
        before = self.called(choice.before) if choice.before >= 0 else ""
        return say.place(name, choice.rule, makes[0], before, choice.was, choice.size)
