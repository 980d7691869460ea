"""The data flow of one stage of a pipeline, as its graph is drawn. It looks through names and kernels, so a
node is the expression that computes a value, whatever form the program has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...ir.adt import Match
from ...ir.expr import (
    Call,
    Constant,
    Expr,
    Function,
    GlobalVar,
    If,
    Let,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
)
from ...ir.op import Op
from ...ir.walk import children, post_order
from .format import Part

_COMPUTED = (Call, Tuple, TupleGetItem, If, Match, RefCreate, RefRead, RefWrite)


class Place(NamedTuple):
    """An expression's place in the graph: its kind, its operands, the kernel that contains it."""

    part: Part = Part.NONE
    operands: tuple[Expr, ...] = ()
    kernel: Expr | None = None


def flow(functions: Sequence[Expr]) -> dict[Expr, Place]:
    """Return the places of all expressions of a module's functions."""
    orders = [post_order(function) for function in functions]
    values = {node.var: node.value for order in orders for node in order if isinstance(node, Let)}
    kernels = _kernels(orders, values)
    through = _Through(values, kernels)
    inside = {
        node: kernel
        for kernel in dict.fromkeys(kernels.values())
        for node in post_order(kernel)
        if node is not kernel
    }
    places: dict[Expr, Place] = {}
    fused = set(kernels.values())
    params: set[Expr] = set()
    for order in orders:
        for node in order:
            if isinstance(node, Function) and node not in fused:
                params.update(node.params)
    for order in orders:
        for node in order:
            places[node] = _place(node, kernels, through, params, inside.get(node))
    return places


def _place(
    node: Expr,
    kernels: Mapping[Expr, Function],
    through: _Through,
    params: set[Expr],
    kernel: Expr | None,
) -> Place:
    if node in params:
        return Place(Part.PARAMETER, (), None)
    if not isinstance(node, _COMPUTED) or node in kernels:
        return Place(Part.NONE, (), kernel)
    sources: dict[Expr, None] = {}
    for part in children(node):
        if not isinstance(part, (Op, GlobalVar)):
            source = through.of(part)
            if source is not None:
                sources[source] = None
    return Place(Part.COMPUTED, tuple(sources), kernel)


def _kernels(orders: Sequence[Sequence[Expr]], values: Mapping[Var, Expr]) -> dict[Expr, Function]:
    """Return the kernels that are called once, by their calls."""
    calls: list[tuple[Call, Function]] = []
    for order in orders:
        for node in order:
            if isinstance(node, Call):
                callee: Expr = node.op
                if isinstance(callee, Var):
                    callee = values.get(callee, callee)
                if isinstance(callee, Function) and "Primitive" in callee.attrs:
                    calls.append((node, callee))
    times = Counter(function for _, function in calls)
    return {call: function for call, function in calls if times[function] == 1}


class _Through:
    """Finds the expression that computes a value, through names, `let`s and calls of kernels."""

    def __init__(self, values: Mapping[Var, Expr], kernels: Mapping[Expr, Function]) -> None:
        self.values: dict[Expr, Expr] = {var: value for var, value in values.items()}  # noqa: C416
        for call, function in kernels.items():
            assert isinstance(call, Call)
            self.values[call] = function.body
            self.values.update(zip(function.params, call.args))

    def of(self, expr: Expr) -> Expr | None:
        """Return the expression that computes a value, or the parameter that it is; None for a constant and
        for a function.
        """
        visited: set[Expr] = set()
        while expr not in visited:
            visited.add(expr)
            if expr in self.values:
                expr = self.values[expr]
            elif isinstance(expr, Let):
                expr = expr.body
        return None if isinstance(expr, (Constant, Function, Op, GlobalVar)) else expr
