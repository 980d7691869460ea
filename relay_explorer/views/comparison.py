"""Show several versions of a program one after the other: the pipeline view shows them as stages, aligned by
their structure. (Two programs are shown by the view `compare`.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace as dataclass_replace
from pathlib import Path

from ..ir.adt import Match, pattern_vars
from ..ir.annotate import set_origin
from ..ir.expr import Constant, Expr, Function, Var
from ..ir.module import IRModule
from ..ir.walk import children, rebuild
from ..transform.infrastructure import Pass, PassContext
from .compare.matching import correspondence, expressions
from .pipeline.format import PipelineView
from .pipeline.origins import Origins
from .pipeline.view import pipeline_view
from .words import counted


class _Version(Pass):
    """The next version of the program. It is no pass: its expressions are matched with those of the version
    before.
    """

    def __init__(self, name: str, module: IRModule) -> None:
        self.name = name
        self.module = module

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return matched(mod, self.module)


def comparison_view(
    modules: Sequence[IRModule], title: str = "", names: Sequence[str] | None = None
) -> PipelineView:
    """Build the pipeline view of versions of a program, one after the other; `names` are their names."""
    labels = list(names) if names else [_name(module, number) for number, module in enumerate(modules)]
    steps = [_Version(label, module) for label, module in zip(labels[1:], modules[1:], strict=True)]
    view = pipeline_view(modules[0], steps, None, title or " and ".join(labels))
    stages = [view.stages[0]._replace(name=labels[0])]
    for before, stage in zip(labels, view.stages[1:]):
        counts = stage.say[0].partition("Of its expressions: ")[2]
        say = ("{0} is the same as {1}.",) if stage.same else (f"{{0}} beside {{1}}: {counts}",)
        stages.append(stage._replace(say=(*say, stage.name, before)))
    return dataclass_replace(view, stages=tuple(stages), summary=_summary(labels, view))


def _summary(labels: Sequence[str], view: PipelineView) -> str:
    sizes = [counted(stage.totals.expressions, "expression") for stage in view.stages]
    programs = ", ".join(f"{label} has {size}" for label, size in zip(labels, sizes))
    if all(stage.same for stage in view.stages[1:]):
        return f"The programs are the same, but for the names of variables: {programs}."
    return f"The programs differ: {programs}."


def _name(module: IRModule, number: int) -> str:
    source = module.source
    known = source is not None and source.name not in ("from_string", "")
    return Path(source.name).stem if known and source is not None else f"version {number + 1}"


def matched(before: IRModule, after: IRModule) -> IRModule:
    """Return `after` with each of its expressions as if it came from the corresponding one of `before`.

    If `after` came from `before` by passes, that is how it is shown. Otherwise, expressions correspond as
    `compare.matching` finds.
    """
    old, new = expressions(before), expressions(after)
    origins = Origins({expr: number for number, expr in enumerate(old)})
    if any(origins.add(expr, number) for number, expr in enumerate(new)):
        return after
    return _copied(after, new, correspondence(before, after))


def _copied(module: IRModule, exprs: Iterable[Expr], source: Mapping[Expr, Expr]) -> IRModule:
    """Return a copy of a module whose expressions have the given origins."""
    order = list(exprs)
    bound = {
        var
        for expr in order
        if isinstance(expr, Match)
        for clause in expr.clauses
        for var in pattern_vars(clause.lhs)
    }
    copies: dict[Expr, Expr] = {}
    for expr in order:
        copy: Expr
        if isinstance(expr, Var):
            if expr in bound:  # a pattern refers to it
                continue
            copy = Var(expr.name_hint, expr.type_annotation, expr.span)
        elif isinstance(expr, Constant):
            copy = Constant(expr.data, expr.span)
        else:
            copy = rebuild(expr, [copies.get(part, part) for part in children(expr)])
            if copy is expr:
                continue
        copies[expr] = set_origin(copy, (source[expr],) if expr in source else ())
    result = module.copy()
    for var, function in module.functions.items():
        if isinstance(function, Function):
            new = copies.get(function, function)
            assert isinstance(new, Function)
            result[var] = new
    return result
