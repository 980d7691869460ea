"""Find which expressions of two programs correspond: by their common ancestor, by the node that they were
imported from, by their structure, or by their order.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from hashlib import blake2b

from ...frontends.base.source import node_of
from ...ir.adt import Constructor
from ...ir.expr import Call, Constant, Expr, Function, GlobalVar, TupleGetItem, Var
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.walk import children, post_order
from .sequences import common

MAX_ROOTS = 4  # ancestors of one expression that are remembered
_NAMES = (Op, GlobalVar, Constructor)
Keys = dict[Expr, Hashable]


def expressions(module: IRModule) -> list[Expr]:
    """Return the expressions of a module, each once, without the names of operators and functions."""
    functions = [function for function in module.functions.values() if isinstance(function, Expr)]
    return [
        expr
        for expr in dict.fromkeys(expr for function in functions for expr in post_order(function))
        if not isinstance(expr, _NAMES)
    ]


def correspondence(before: IRModule, after: IRModule) -> dict[Expr, Expr]:
    """Return the expression of `before` that corresponds to each of `after`, as far as there is one."""
    old, new = expressions(before), expressions(after)
    source: dict[Expr, Expr] = {}
    _functions(before, after, source)
    related = _pair_ancestors(old, new, source)
    kinds: list[Callable[[Sequence[Expr]], Keys]] = [
        _by_node,
        lambda exprs: _by_structure(exprs, True),
        lambda exprs: _by_structure(exprs, False),
    ]
    for kind in kinds[:2] if related else kinds:
        _pair(old, new, kind(old), kind(new), source)
    for describe in (_detailed, label):
        taken = set(source.values())
        left = [expr for expr in old if expr not in taken]
        right = [expr for expr in new if expr not in source]
        for i, j in common([describe(expr) for expr in left], [describe(expr) for expr in right]):
            source[right[j]] = left[i]
    _pair_calls(old, new, source)
    return source


def _functions(before: IRModule, after: IRModule, source: dict[Expr, Expr]) -> None:
    """Let functions with the same name correspond, and their parameters with the same names."""
    old = {var.name_hint: function for var, function in before.functions.items()}
    for var, function in after.functions.items():
        other = old.get(var.name_hint)
        if not isinstance(function, Function) or not isinstance(other, Function):
            continue
        source[function] = other
        params = {param.name_hint: param for param in other.params}
        if len(params) == len(other.params) and len({p.name_hint for p in function.params}) == len(
            function.params
        ):
            source.update(
                (param, params[param.name_hint]) for param in function.params if param.name_hint in params
            )


def _pair(
    old: Sequence[Expr], new: Sequence[Expr], keys_old: Keys, keys_new: Keys, source: dict[Expr, Expr]
) -> None:
    """Let expressions with equal keys correspond, in their order."""
    taken = set(source.values())
    waiting: dict[Hashable, list[Expr]] = {}
    for expr in reversed(old):
        if expr not in taken and expr in keys_old:
            waiting.setdefault(keys_old[expr], []).append(expr)
    for expr in new:
        if expr not in source and expr in keys_new and waiting.get(keys_new[expr]):
            source[expr] = waiting[keys_new[expr]].pop()


def _pair_calls(old: Sequence[Expr], new: Sequence[Expr], source: dict[Expr, Expr]) -> None:
    """Let calls that are left correspond if they have corresponding operands: the operator differs."""
    taken = set(source.values())
    waiting: dict[Hashable, list[Expr]] = {}
    for expr in reversed(old):
        if isinstance(expr, Call) and expr.args and expr not in taken:
            waiting.setdefault(tuple(map(id, expr.args)), []).append(expr)
    for expr in new:  # operands come first
        if isinstance(expr, Call) and expr.args and expr not in source:
            candidates = waiting.get(tuple(id(source.get(arg)) for arg in expr.args))
            if candidates:
                source[expr] = candidates.pop()


# -- by a common ancestor


def _pair_ancestors(old: Sequence[Expr], new: Sequence[Expr], source: dict[Expr, Expr]) -> bool:
    """Let expressions that came from the same ones correspond; return whether there are any."""
    roots: dict[Expr, tuple[Expr, ...]] = {}
    for expr in (*old, *new):
        _roots(expr, roots)
    ancestors = {root for expr in old for root in roots[expr]}
    if not any(root in ancestors for expr in new for root in roots[expr]):
        return False
    kinds: list[Callable[[Expr], Hashable]] = [
        lambda expr: (roots[expr], _detailed(expr)),
        lambda expr: (roots[expr], label(expr)),
        lambda expr: (roots[expr][0], label(expr)),
        lambda expr: (roots[expr], type(expr)),
        lambda expr: (roots[expr][0], type(expr)),
    ]
    for kind in kinds:
        _pair(old, new, {e: kind(e) for e in old}, {e: kind(e) for e in new}, source)
    return True


def _roots(expr: Expr, roots: dict[Expr, tuple[Expr, ...]]) -> None:
    """Enter the first ancestors of an expression, those that came from no other, into `roots`."""
    pending = [expr]
    while pending:
        current = pending[-1]
        missing = [origin for origin in current.origin if origin not in roots]
        if missing and current not in roots:
            pending += missing
            continue
        pending.pop()
        first = dict.fromkeys(root for origin in current.origin for root in roots[origin])
        roots.setdefault(current, tuple(first)[:MAX_ROOTS] or (current,))


# -- by node, by structure


def _by_node(exprs: Sequence[Expr]) -> Keys:
    """Return as the key of an expression the node that it was imported from, and its operator."""
    keys: Keys = {}
    for expr in exprs:
        node = node_of(expr.span)
        if node is not None and node.name:
            keys[expr] = (node.op, node.path, node.name, label(expr))
    return keys


def _by_structure(exprs: Sequence[Expr], values: bool) -> Keys:
    """Return as the key of an expression a digest of it and everything below it; with `values`, of the values
    of constants and the names of variables too.
    """
    digests: dict[Expr, bytes] = {}
    for expr in exprs:
        hasher = blake2b(repr(_detailed(expr)).encode("utf-8", "replace"), digest_size=16)
        if isinstance(expr, Constant) and values:
            hasher.update(expr.data.data)
        elif isinstance(expr, Var):
            hasher.update(str(expr.type_annotation).encode("utf-8", "replace"))
            hasher.update(expr.name_hint.encode("utf-8", "replace") if values else b"")
        for part in children(expr):
            hasher.update(digests.get(part, b"") or repr(label(part)).encode("utf-8", "replace"))
        digests[expr] = hasher.digest()
    return {**digests}


def _detailed(expr: Expr) -> Hashable:
    """Return the label of an expression, with a call's attributes."""
    if isinstance(expr, Call) and expr.attrs is not None:
        return label(expr), repr(expr.attrs.items())
    return label(expr)


def label(expr: Expr) -> Hashable:
    """Return what an expression is, without its parts."""
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


def corresponding(source: Mapping[Expr, Expr], mine: Expr, other: Expr) -> bool:
    """Whether an expression of the second program corresponds to one of the first."""
    if isinstance(mine, _NAMES):
        return type(mine) is type(other) and label(mine) == label(other)
    return source.get(mine) is other
