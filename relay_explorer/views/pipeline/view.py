"""The pipeline explorer's data: a program before and after each pass, aligned by where each expression came
from.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from ..._project import source_address
from ...analysis.cost import Cost, costs, nbytes
from ...ir.adt import Constructor
from ...ir.equal import structural_equal
from ...ir.errors import RelayError
from ...ir.expr import Call, Constant, Expr, Function, GlobalVar, Let, TupleGetItem, Var
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.recorder import Recorder
from ...ir.rewrites import Rewrite
from ...ir.types import Type
from ...ir.walk import post_order
from ...transform.infrastructure import Pass, Sequential
from ...typing import infer_types
from ..compare.format import CompareView
from ..fates import Fate
from ..format import Row, Sentence
from ..rows import ProgramRows, program_rows
from ..words import counted
from .alignment import aligned
from .flow import Place, flow
from .format import Aligned, Pipeline, PipelineItem, PipelineView, RewriteStep, Stage, StageTotals
from .origins import Origins
from .rewrites import MAX_REWRITES, rewrite_steps

GIVEN = "as given"
_NOT_SHOWN = (Op, GlobalVar, Constructor)


def pipeline_view(
    module: IRModule,
    passes: Sequence[Pass] | str | Pass,
    against: Sequence[Pass] | str | Pass | None = None,
    title: str = "",
    times: bool = False,
) -> PipelineView:
    """Build the view of a module that goes through `passes`, one after the other; with `against`, through
    other passes too. A Sequential stands for its passes, a text for the pipeline that it names. With `times`,
    the time of each pass is recorded.
    """
    builder = _Builder(times)
    first = builder.pipeline(module, _flat(passes))
    pipelines = [("the passes", first)]
    if against is not None:
        pipelines.append(("against", builder.pipeline(module, _flat(against))))
    return builder.view(title, pipelines)


def _flat(passes: Sequence[Pass] | str | Pass) -> list[Pass]:
    """List the passes of a pipeline, including those of nested pipelines."""
    steps = [passes] if isinstance(passes, Pass) else Sequential(passes).passes
    flat: list[Pass] = []
    for step in steps:
        flat += _flat(step.passes) if isinstance(step, Sequential) else [step]
    return flat


class _Written(NamedTuple):
    """A stage as it is shown: its module, its rows (counted from `offset`), its items by expression."""

    module: IRModule
    program: ProgramRows
    offset: int
    origins: Origins
    stage: int

    @property
    def items(self) -> dict[Expr, int]:
        return self.origins.items


class _Annotation(NamedTuple):
    """What is compared of a parameter: its type."""

    text: str


class _Builder:
    def __init__(self, times: bool) -> None:
        self.times = times
        self.rows: list[Row] = []
        self.items: list[PipelineItem] = []
        self.signatures: list[Hashable] = []  # of each item
        self.stages: list[Stage] = []
        self.written: list[_Written] = []  # by stage
        self.given: _Written | None = None

    def view(self, title: str, pipelines: list[tuple[str, list[int]]]) -> PipelineView:
        return PipelineView(
            title=title or "passes",
            summary=self._summary(pipelines[0][1]),
            rows=tuple(self.rows),
            items=tuple(self.items),
            stages=tuple(self.stages),
            pipelines=tuple(Pipeline(name, tuple(stages)) for name, stages in pipelines),
            tree=source_address(""),
            ends=self._ends(pipelines),
        )

    def _ends(self, pipelines: list[tuple[str, list[int]]]) -> CompareView | None:
        """Return the final programs of two pipelines, side by side."""
        if len(pipelines) < 2:
            return None
        from ..compare.view import compare_view

        (first, one), (second, other) = pipelines
        before, after = (self.written[stages[-1]].module for stages in (one, other))
        return compare_view(before, after, (first, second), "the final programs")

    def pipeline(self, module: IRModule, passes: list[Pass]) -> list[int]:
        """Return the numbers of the stages of a pipeline."""
        if self.given is None:
            self.given = self._written(module, None)
            say = ("The program as given: {0}.", counted(len(self.given.items), "expression"))
            self._stage(self.given, GIVEN, "", "", None, say, (), (), None, Recorder(Rewrite), ())
        shown, current, stages = self.given, module, [0]
        for step in passes:
            started = time.perf_counter()
            with Recorder(Rewrite, limit=MAX_REWRITES) as recorder:
                current = step(current)
            ms = round(1000 * (time.perf_counter() - started), 3) if self.times else None
            shown = self._after(step, shown, current, ms, recorder)
            stages.append(shown.stage)
        return stages

    # -- one stage

    def _after(
        self, step: Pass, before: _Written, module: IRModule, ms: float | None, recorder: Recorder[Rewrite]
    ) -> _Written:
        name, what, source = step.info.name, _what(step), _source(step)
        text = None if str(step) == name else str(step)
        if structural_equal(before.module, module):
            same = before._replace(stage=len(self.stages))
            say: Sentence = ("{0} changed nothing.", name)
            self._stage(same, name, what, source, before, say, (), (), ms, Recorder(Rewrite), (), text)
            return same
        after = self._written(module, before)
        own = [self.items[n] for n in after.items.values()]
        used = {source for item in own for source in item.came_from}
        removed = tuple(n for n in before.items.values() if n not in used)
        pairs = self._aligned(before, after)
        steps = rewrite_steps(
            recorder, before.origins, after.origins, before.program.name, after.program.name
        )
        sentence = self._say(name, own, removed, pairs)
        self._stage(after, name, what, source, before, sentence, pairs, removed, ms, recorder, steps, text)
        return after

    def _stage(
        self, written: _Written, name: str, what: str, source: str, before: _Written | None, say: Sentence,
        align: tuple[Aligned, ...], removed: tuple[int, ...], ms: float | None, recorder:
        Recorder[Rewrite], rewrites: tuple[RewriteStep, ...], text: str | None = None,
    ) -> None:  # fmt: skip
        first = written.offset
        last = first + len(written.program.source) - 1
        totals = self._totals(written)
        same = before is not None and not align
        self.stages.append(
            Stage(
                name, what, source, -1 if before is None else before.stage, first, last, same, say, align,
                removed, totals, ms, rewrites, recorder.total, text,
            )
        )  # fmt: skip
        self.written.append(written)

    def _written(self, module: IRModule, before: _Written | None) -> _Written:
        """Add a module's rows and items to the view."""
        cost, types = _inferred(module)
        program, offset, stage = program_rows(module, types), len(self.rows), len(self.stages)
        origins = Origins(before.items if before is not None else None)
        items = origins.items
        functions = [function for function in module.functions.values() if isinstance(function, Expr)]
        for function in functions:
            for expr in post_order(function):
                if isinstance(expr, _NOT_SHOWN) or expr in items:
                    continue
                came = origins.add(expr, len(self.items))
                mark = Fate.KEPT if before is None else self._fate(expr, came)
                row = program.row(expr)
                amount = cost.get(expr)
                # A variable is called what its row calls it, which may differ from its name hint.
                called = program.name(expr) if isinstance(expr, Var) else None
                self.items.append(
                    PipelineItem(
                        stage, row + offset if row >= 0 else -1, called or label(expr), came, mark,
                        amount.flops if amount else 0, amount.bytes if amount else 0,
                    )
                )  # fmt: skip
                self.signatures.append(_signature(expr))
        self._place(items, flow(functions))
        filled = program.filled(lambda expr: items.get(expr, -1))
        for row_ in filled:
            end = row_.end + offset if row_.end >= 0 else -1
            self.rows.append(row_._replace(end=end))
        return _Written(module, program, offset, origins, stage)

    def _place(self, items: dict[Expr, int], places: dict[Expr, Place]) -> None:
        """Add the data flow to the items of a stage."""
        for expr, number in items.items():
            part, operands, kernel = places[expr]
            sources = tuple(items[operand] for operand in operands if operand in items)
            inside = -1 if kernel is None else items[kernel]
            self.items[number] = self.items[number]._replace(part=part, operands=sources, kernel=inside)

    def _fate(self, expr: Expr, came: tuple[int, ...]) -> Fate:
        if not came:
            return Fate.ADDED
        if isinstance(expr, Let) or (isinstance(expr, Var) and expr.type_annotation is None):
            return Fate.KEPT  # a name for what it came from
        same = len(came) == 1 and self.signatures[came[0]] == _signature(expr)
        if isinstance(expr, Var):  # only a parameter whose type is another one is not the same
            known = len(came) == 1 and isinstance(self.signatures[came[0]], _Annotation)
            return Fate.REWRITTEN if known and not same else Fate.KEPT
        return Fate.KEPT if same else Fate.REWRITTEN

    def _aligned(self, before: _Written, after: _Written) -> tuple[Aligned, ...]:
        """Align the rows of two stages."""

        def came(expr: Expr) -> Expr | None:
            """Return the expression of the previous stage in whose row the row of `expr` belongs. An
            expression built around one that is still present, such as a function, has a row of its own.
            """
            if expr not in after.items:
                return None
            item = self.items[after.items[expr]]
            for number in item.came_from:
                if number in old and (item.mark != Fate.REWRITTEN or number not in still):
                    return old[number]
            return None

        old = {number: expr for expr, number in before.items.items()}
        still = {
            self.items[n].came_from[0]
            for expr, n in after.items.items()
            if self.items[n].mark == Fate.KEPT and not isinstance(expr, (Var, Let))
        }
        rewritten = {
            self.items[n].row - after.offset
            for n in after.items.values()
            if self.items[n].mark == Fate.REWRITTEN
        }
        pairs = aligned(before.program, after.program, came, rewritten)
        return tuple(
            Aligned(b + before.offset if b >= 0 else -1, a + after.offset if a >= 0 else -1, fate)
            for b, a, fate in pairs
        )

    # -- totals and words

    def _totals(self, laid_out: _Written) -> StageTotals:
        own = [self.items[n] for n in laid_out.items.values()]
        operators = sum(isinstance(e, Call) and isinstance(e.op, Op) for e in laid_out.items)
        kernels = [e for e in laid_out.items if isinstance(e, Function) and "Primitive" in e.attrs]
        moved = _kernel_traffic(laid_out.module) if kernels else sum(item.bytes for item in own)
        return StageTotals(len(own), operators, len(kernels), sum(item.flops for item in own), moved)

    def _say(
        self,
        name: str,
        own: list[PipelineItem],
        removed: tuple[int, ...],
        pairs: tuple[Aligned, ...],
    ) -> Sentence:
        counts = [
            (sum(item.mark == Fate.REWRITTEN for item in own), "rewritten"),
            (sum(item.mark == Fate.ADDED for item in own), "added"),
            (len(removed), "removed"),
        ]
        text = ", ".join(f"{count:,} {word}" for count, word in counts if count)
        if not text:
            moved = any(fate == Fate.MOVED for _, _, fate in pairs)
            text = "all kept, in another order" if moved else "all kept, written differently"
        return f"{{0}} changed the program. Of its expressions: {text}.", name

    def _summary(self, stages: list[int]) -> str:
        first, last = self.stages[stages[0]].totals, self.stages[stages[-1]].totals
        acted = sum(not self.stages[n].same for n in stages[1:])
        passes = f"{len(stages) - 1} pass{'' if len(stages) == 2 else 'es'}"
        return (
            f"{passes}, {acted} of which change{'s' if acted == 1 else ''} the program: from "
            f"{counted(first.expressions, 'expression')} to {last.expressions:,}."
        )


def _signature(expr: Expr) -> Hashable:
    """Return a key of an expression without its parts."""
    match expr:
        case Call():
            callee = expr.op.name if isinstance(expr.op, Op) else type(expr.op).__name__
            return "call", callee, len(expr.args), repr(expr.attrs.items()) if expr.attrs is not None else ""
        case Constant():
            return "constant", expr.data
        case Var() if expr.type_annotation is not None:
            return _Annotation(str(expr.type_annotation))
        case TupleGetItem():
            return "field", expr.index
        case Function():
            return "fn", len(expr.params), tuple(expr.attrs.keys()) if expr.attrs is not None else ()
    return type(expr).__name__


def label(expr: Expr) -> str:
    """Return the label of an expression in one word."""
    match expr:
        case Call(op=Op() as op):
            return op.name
        case Call(op=GlobalVar() as var):
            return f"@{var.name_hint}"
        case Call(op=Constructor() as constructor):
            return constructor.name_hint
        case Call(op=Function() as function) if "Primitive" in function.attrs:
            return "kernel"
        case Call():
            return "call"
        case TupleGetItem():
            return f".{expr.index}"
        case Var():
            return f"%{expr.name_hint}"
        case Constant():
            return f"constant {expr.data.item()}" if not expr.data.shape else "constant"
        case Function():
            return "kernel" if "Primitive" in expr.attrs else "fn"
        case Let():
            return "let"
    return type(expr).__name__.lower()


def _inferred(module: IRModule) -> tuple[dict[Expr, Cost], dict[Expr, Type]]:
    """Return the cost of each operator's call, and the types of expressions, if the program is well typed."""
    try:
        typed = infer_types(module)
    except RelayError:
        return {}, {}
    inferred = costs(typed)
    cost_of: dict[Expr, Cost] = {}
    types: dict[Expr, Type] = {}
    for var, function in module.functions.items():
        other = typed.functions[typed.get_global_var(var.name_hint)]
        if isinstance(function, Expr) and isinstance(other, Expr):
            for old, new in zip(post_order(function), post_order(other)):
                if new._checked_type is not None:
                    types[old] = new._checked_type
                if new in inferred:
                    cost_of[old] = inferred[new]
    return cost_of, types


def _kernel_traffic(module: IRModule) -> int:
    """Return the bytes that kernels read and write."""
    try:
        typed = infer_types(module)
    except RelayError:
        return 0
    total = 0
    for function in typed.functions.values():
        order = post_order(function) if isinstance(function, Expr) else []
        values = {node.var: node.value for node in order if isinstance(node, Let)}
        for node in order:
            if not isinstance(node, Call):
                continue
            callee = values.get(node.op, node.op) if isinstance(node.op, Var) else node.op
            if isinstance(callee, Function) and "Primitive" in callee.attrs:
                total += nbytes(node._checked_type) + sum(nbytes(arg._checked_type) for arg in node.args)
    return total


def _what(step: Pass) -> str:
    """Return a pass's own one-sentence description."""
    text = " ".join((type(step).__doc__ or "").replace("`", "").split())
    return text.partition(". ")[0].rstrip(".") + "." if text else ""


def _source(step: Pass) -> str:
    """Return the file of a pass of `relay_explorer.transform`; empty for a pass made from a reader's
    function.
    """
    module = type(step).__module__
    if not module.startswith("relay_explorer.transform.") or ".infrastructure" in module:
        return ""
    package = hasattr(sys.modules[module], "__path__")
    return module.replace(".", "/") + ("/__init__.py" if package else ".py")
