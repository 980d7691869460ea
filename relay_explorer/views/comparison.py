"""Compare programs that did not come from one another, such as two versions of a model: the pipeline view
shows them as stages, aligned by their structure.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace as dataclass_replace
from difflib import SequenceMatcher
from hashlib import blake2b
from pathlib import Path

from ..frontends.base.source import node_of
from ..ir.adt import Constructor, Match, pattern_vars
from ..ir.annotate import set_origin
from ..ir.expr import Call, Constant, Expr, Function, GlobalVar, TupleGetItem, Var
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.walk import children, post_order, rebuild
from ..transform.infrastructure import Pass, PassContext
from .pipeline.format import PipelineView
from .pipeline.origins import Origins
from .pipeline.view import pipeline_view
from .words import counted

MAX_ALIGNED = 4_000  # expressions that are left for the alignment in order, which takes quadratic time
_NAMES = (Op, GlobalVar, Constructor)


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

    If `after` came from `before` by passes, that is how it is shown. Otherwise expressions correspond if they
    were imported from nodes of the same name, or compute the same, or compute the same but for the values of
    constants, or, in order, call the same operator.
    """
    old, new = _exprs(before), _exprs(after)
    origins = Origins({expr: number for number, expr in enumerate(old)})
    if any(origins.add(expr, number) for number, expr in enumerate(new)):
        return after
    source = _correspondence(old, new)
    return _copied(after, new, source)


def _exprs(module: IRModule) -> list[Expr]:
    functions = [function for function in module.functions.values() if isinstance(function, Expr)]
    return [
        expr
        for expr in dict.fromkeys(expr for function in functions for expr in post_order(function))
        if not isinstance(expr, _NAMES)
    ]


def _correspondence(old: Sequence[Expr], new: Sequence[Expr]) -> dict[Expr, Expr]:
    """Return the expression of `old` that corresponds to each of `new`, as far as there is one."""
    source: dict[Expr, Expr] = {}
    taken: set[Expr] = set()
    kinds: list[Callable[[Sequence[Expr]], dict[Expr, Hashable]]] = [
        _by_node,
        lambda exprs: _by_structure(exprs, True),
        lambda exprs: _by_structure(exprs, False),
    ]
    for kind in kinds:
        keys_old, keys_new = kind(old), kind(new)
        waiting: dict[Hashable, list[Expr]] = {}
        for expr in old:
            if expr not in taken and expr in keys_old:
                waiting.setdefault(keys_old[expr], []).append(expr)
        for exprs in waiting.values():
            exprs.reverse()
        for expr in new:
            candidates = waiting.get(keys_new[expr]) if expr not in source and expr in keys_new else None
            if candidates:
                source[expr] = candidates.pop()
                taken.add(source[expr])
    _in_order([e for e in old if e not in taken], [e for e in new if e not in source], source)
    return source


def _by_node(exprs: Sequence[Expr]) -> dict[Expr, Hashable]:
    """Return as the key of an expression the node that it was imported from, and its operator."""
    keys: dict[Expr, Hashable] = {}
    for expr in exprs:
        node = node_of(expr.span)
        if node is not None and node.name:
            keys[expr] = (node.op, node.path, node.name, _label(expr))
    return keys


def _by_structure(exprs: Sequence[Expr], values: bool) -> dict[Expr, Hashable]:
    """Return as the key of an expression a digest of it and everything below it; with `values`, of the values
    of constants and the names of variables too.
    """
    digests: dict[Expr, bytes] = {}
    for expr in exprs:
        hasher = blake2b(repr(_label(expr)).encode(), digest_size=16)
        if isinstance(expr, Call) and expr.attrs is not None:
            hasher.update(repr(expr.attrs.items()).encode())
        elif isinstance(expr, Constant) and values:
            hasher.update(expr.data.data)
        elif isinstance(expr, Var):
            hasher.update(str(expr.type_annotation).encode())
            hasher.update(expr.name_hint.encode() if values else b"")
        for part in children(expr):
            hasher.update(digests.get(part, b"") or repr(_label(part)).encode())
        digests[expr] = hasher.digest()
    return {**digests}


def _in_order(old: Sequence[Expr], new: Sequence[Expr], source: dict[Expr, Expr]) -> None:
    """Let expressions with the same label correspond, as many as possible in their order."""
    a, b = [_label(expr) for expr in old], [_label(expr) for expr in new]
    large = len(a) + len(b) > MAX_ALIGNED
    for block in SequenceMatcher(None, a, b, autojunk=large).get_matching_blocks():
        for offset in range(block.size):
            source[new[block.b + offset]] = old[block.a + offset]


def _label(expr: Expr) -> Hashable:
    match expr:
        case Call(op=Op() as op):
            return "call", op.name
        case Call(op=GlobalVar() as var):
            return "call", f"@{var.name_hint}"
        case Op():
            return "op", expr.name
        case GlobalVar():
            return "global", expr.name_hint
        case Constructor():
            return "constructor", expr.name_hint
        case Constant():
            return "constant", expr.data.dtype, expr.data.shape
        case TupleGetItem():
            return "field", expr.index
        case Function():
            return "function", len(expr.params)
    return (type(expr).__name__,)


def _copied(module: IRModule, exprs: Iterable[Expr], source: dict[Expr, Expr]) -> IRModule:
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
