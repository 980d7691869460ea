"""The module of each operation: from the node that it was imported from, or the names of its parameters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain

from ...ir.expr import Call, Expr, TupleGetItem, Var
from ...ir.op import Op
from ..provenance import Provenance

Scope = tuple[str, ...]  # names, such as those of modules, outer ones first
_NUMBERED = re.compile(r"(.*?)(\d+)")


def node_scope(expr: Expr, provenance: Provenance) -> Scope | None:
    """Return the module of the node from which an expression was imported; None where it is unknown."""
    nodes = provenance.nodes(expr)
    return nodes[0].scope if nodes else None


def parameter_scopes(order: Sequence[Sequence[Expr]]) -> tuple[str, list[list[Scope | None]]]:
    """Return the character that separates the names of modules, and for each operation the module that its
    parameters name, None where it reads none.

    The last part of a parameter's name is its role: `weight` in `layer1_query_weight`. Several parameters of
    one operation share the module: `bn` in `bn_gamma` and `bn_running_mean`.
    """
    names = {
        part.name_hint
        for expr in chain.from_iterable(order)
        if isinstance(expr, Call)
        for part in expr.args
        if isinstance(part, Var)
    }
    used = Counter(char for name in names for char in name if char in "./")
    separator = used.most_common(1)[0][0] if used else "_"

    def scope(expr: Expr) -> Scope | None:
        if not isinstance(expr, Call):
            return None
        paths = [
            tuple(filter(None, p.name_hint.split(separator)))[:-1] for p in expr.args if isinstance(p, Var)
        ]
        paths = [path for path in paths if path]
        if not paths:
            return None
        common = paths[0]
        for path in paths[1:]:
            common = shared(common, path)
        return common or None

    return separator, [[scope(expr) for expr in exprs] for exprs in order]


def shared(a: Scope, b: Scope) -> Scope:
    """Return what two paths, or two lists of names, begin with in common."""
    length = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return a[:length]


def filled(exprs: Sequence[Expr], scopes: Sequence[Scope | None]) -> list[Scope]:
    """Place operations whose module is unknown.

    They belong to the innermost module that the operations before and after them share. But between the
    elements of a list (`unit1` and `unit2`) a model computes nothing, so they belong to the element before
    them, and so do the same operations after the last element.
    """
    scopes = _with_fields(exprs, scopes)
    filled_scopes: list[Scope] = []
    after_element: dict[tuple[Scope, str], Scope] = {}
    index = 0
    while index < len(scopes):
        scope = scopes[index]
        if scope is not None:
            filled_scopes.append(scope)
            index += 1
            continue
        end = index
        while end < len(scopes) and scopes[end] is None:
            end += 1
        before = filled_scopes[-1] if filled_scopes else ()
        after = scopes[end] if end < len(scopes) else None
        filled_scopes += _gap(tuple(map(_label, exprs[index:end])), before, after or (), after_element)
        index = end
    return filled_scopes


def _with_fields(exprs: Sequence[Expr], scopes: Sequence[Scope | None]) -> list[Scope | None]:
    """Place the field of a tuple with the operation that computes the tuple."""
    known: dict[Expr, Scope | None] = {}
    for expr, scope in zip(exprs, scopes, strict=True):
        known[expr] = (
            known.get(expr.tuple_value) if scope is None and isinstance(expr, TupleGetItem) else scope
        )
    return [known[expr] for expr in exprs]


def _gap(
    labels: Scope, before: Scope, after: Scope, after_element: dict[tuple[Scope, str], Scope]
) -> list[Scope]:
    """Return the modules of successive operations between two operations whose modules are known."""
    common = shared(before, after)
    depth = len(common)
    stem = _stem(before[depth]) if depth < len(before) else None
    scopes: list[Scope] = []
    for level in range(len(before), depth, -1):
        inner = _stem(before[level - 1])
        pattern = after_element.get((before[: level - 1], inner), ()) if inner is not None else ()
        rest = labels[len(scopes) :]
        same = next(
            (i for i, (a, b) in enumerate(zip(rest, pattern)) if a != b), min(len(rest), len(pattern))
        )
        scopes += [before[:level]] * same
    rest = labels[len(scopes) :]
    if stem is not None and depth < len(after) and stem == _stem(after[depth]):
        after_element.setdefault((common, stem), rest)
        return scopes + [before[: depth + 1]] * len(rest)
    return scopes + [common] * len(rest)


def _stem(name: str) -> str | None:
    """Return the name without the number at its end, None if there is no number."""
    match = _NUMBERED.fullmatch(name)
    return None if match is None else match[1]


def _label(expr: Expr) -> str:
    if isinstance(expr, Call):
        return expr.op.name if isinstance(expr.op, Op) else "call"
    return "field" if isinstance(expr, TupleGetItem) else type(expr).__name__
