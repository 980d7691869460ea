"""Visitors and mutators with the interface of `tvm.relay`, to be subclassed.

    class Count(ExprVisitor):
        def visit_call(self, call):
            super().visit_call(call)      # first the parts
            self.found += 1

Each shared expression is visited once. A visitor uses Python's own recursion, so that the order of visits is
the one that its author wrote; the recursion limit is raised to what the depth of the expression needs.
"""

from __future__ import annotations

import sys
from operator import is_
from typing import Any as Anything

from .adt import (
    Clause,
    Constructor,
    Match,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
)
from .annotate import set_origin, set_span
from .expr import (
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
from .op import Op
from .recorder import active
from .rewrites import Rewrite, emit_rewrite, first_sentence
from .walk import children, is_same, post_order, rebuild

_METHODS: dict[type, str] = {
    Function: "visit_function",
    Call: "visit_call",
    Let: "visit_let",
    Var: "visit_var",
    GlobalVar: "visit_global_var",
    If: "visit_if",
    Tuple: "visit_tuple",
    TupleGetItem: "visit_tuple_getitem",
    Constant: "visit_constant",
    RefCreate: "visit_ref_create",
    RefRead: "visit_ref_read",
    RefWrite: "visit_ref_write",
    Constructor: "visit_constructor",
    Match: "visit_match",
    Op: "visit_op",
}
# Python frames per level: visit, visit_call, super().visit_call, and some for the subclass's own calls.
_FRAMES_PER_LEVEL = 6


def depth_of(expr: Expr) -> int:
    """Return the length of the longest path from `expr` down to a leaf, in expressions."""
    depth: dict[Expr, int] = {}
    for node in post_order(expr):
        depth[node] = 1 + max((depth[c] for c in children(node)), default=0)
    return depth[expr]


class ExprFunctor:
    """Dispatches on the class of an expression; memoizes the result of each node."""

    def __init__(self) -> None:
        self.memo_map: dict[Expr, Anything] = {}
        self._entered = False

    def visit(self, expr: Expr) -> Anything:
        """Return the result for `expr`, computed at most once."""
        memo = self.memo_map
        if expr in memo:
            return memo[expr]
        name = _METHODS.get(expr.__class__)
        if name is None:
            raise TypeError(
                f"{type(self).__name__} cannot visit a {type(expr).__name__}: it is not a Relay expression"
            )
        if not self._entered:
            return self._enter(expr, name)
        result = memo[expr] = getattr(self, name)(expr)
        return result

    def _enter(self, expr: Expr, name: str) -> Anything:
        """Visit the root: raise Python's recursion limit for the recursion below it."""
        limit = sys.getrecursionlimit()
        self._entered = True
        sys.setrecursionlimit(max(limit, limit + _FRAMES_PER_LEVEL * depth_of(expr)))
        try:
            result = self.memo_map[expr] = getattr(self, name)(expr)
        finally:
            sys.setrecursionlimit(limit)
            self._entered = False
        return result

    def _unhandled(self, expr: Anything) -> Anything:
        raise NotImplementedError(f"{type(self).__name__} has no method {_METHODS[type(expr)]}")

    visit_function = visit_call = visit_let = visit_var = visit_global_var = visit_if = visit_tuple = (
        visit_tuple_getitem
    ) = _unhandled
    visit_constant = visit_ref_create = visit_ref_read = visit_ref_write = visit_constructor = visit_match = (
        visit_op
    ) = _unhandled


class ExprVisitor(ExprFunctor):
    """Visits every expression once, and returns nothing. Override `visit_…`, and call `super()` to visit the
    operands.
    """

    def visit_function(self, fn: Function) -> None:
        for param in fn.params:
            self.visit(param)
        self.visit(fn.body)

    def visit_call(self, call: Call) -> None:
        self.visit(call.op)
        for arg in call.args:
            self.visit(arg)

    def visit_let(self, let: Let) -> None:
        self.visit(let.var)
        self.visit(let.value)
        self.visit(let.body)

    def visit_if(self, i: If) -> None:
        self.visit(i.cond)
        self.visit(i.true_branch)
        self.visit(i.false_branch)

    def visit_tuple(self, tup: Tuple) -> None:
        for field in tup.fields:
            self.visit(field)

    def visit_tuple_getitem(self, op: TupleGetItem) -> None:
        self.visit(op.tuple_value)

    def visit_ref_create(self, r: RefCreate) -> None:
        self.visit(r.value)

    def visit_ref_read(self, r: RefRead) -> None:
        self.visit(r.ref)

    def visit_ref_write(self, r: RefWrite) -> None:
        self.visit(r.ref)
        self.visit(r.value)

    def visit_match(self, m: Match) -> None:
        self.visit(m.data)
        for clause in m.clauses:
            self.visit(clause.rhs)

    def visit_var(self, var: Var) -> None:
        pass

    def visit_global_var(self, gvar: GlobalVar) -> None:
        pass

    def visit_constant(self, const: Constant) -> None:
        pass

    def visit_op(self, op: Op) -> None:
        pass

    def visit_constructor(self, con: Constructor) -> None:
        pass


class ExprMutator(ExprFunctor):
    """Builds a new expression from an old one. Override `visit_…`; `super().visit_call(call)` returns the
    call rebuilt on its mutated operands.

    Unchanged parts are reused, not copied. New expressions carry the span of the old ones and name them as
    their `origin`.
    """

    def visit(self, expr: Expr) -> Anything:
        cached = expr in self.memo_map
        result = super().visit(expr)
        if (
            not cached
            and result is not expr
            and isinstance(result, Expr)
            and not result.origin
            and result.__class__ not in _NAMES
        ):
            set_origin(result, (expr,))
            if result.span is None:
                set_span(result, expr.span)
        if not cached and result is not expr and active(Rewrite) is not None:
            self._emit_rewrite(expr, result)
        return result

    def _emit_rewrite(self, expr: Expr, result: Anything) -> None:
        """Emit a rewrite of the subclass: a change beyond rebuilding the expression on its mutated parts."""
        if not isinstance(result, Expr):
            return
        parts = [self.memo_map.get(part, part) for part in children(expr)]
        renewed = rebuild(expr, [part if isinstance(part, Expr) else expr for part in parts])
        if is_same(renewed, result):
            return
        method = getattr(type(self), _METHODS[type(expr)])
        own = first_sentence(method.__doc__) or first_sentence(type(self).__doc__)
        emit_rewrite(method, expr, result, sentence=own)

    def visit_function(self, fn: Function) -> Expr:
        params = [self.visit(p) for p in fn.params]
        body = self.visit(fn.body)
        if body is fn.body and all(map(is_, params, fn.params)):
            return fn
        return Function(params, body, fn.ret_type, fn.type_params, fn.attrs, fn.span)

    def visit_call(self, call: Call) -> Expr:
        op = self.visit(call.op)
        args = [self.visit(a) for a in call.args]
        if op is call.op and all(map(is_, args, call.args)):
            return call
        return Call.of(op, tuple(args), call.attrs, call.type_args, call.span)

    def visit_let(self, let: Let) -> Expr:
        var, value, body = self.visit(let.var), self.visit(let.value), self.visit(let.body)
        if var is let.var and value is let.value and body is let.body:
            return let
        return Let(var, value, body, let.span)

    def visit_if(self, i: If) -> Expr:
        cond, yes, no = self.visit(i.cond), self.visit(i.true_branch), self.visit(i.false_branch)
        if cond is i.cond and yes is i.true_branch and no is i.false_branch:
            return i
        return If(cond, yes, no, i.span)

    def visit_tuple(self, tup: Tuple) -> Expr:
        fields = [self.visit(f) for f in tup.fields]
        return tup if all(map(is_, fields, tup.fields)) else Tuple(fields, tup.span)

    def visit_tuple_getitem(self, op: TupleGetItem) -> Expr:
        value = self.visit(op.tuple_value)
        return op if value is op.tuple_value else TupleGetItem(value, op.index, op.span)

    def visit_ref_create(self, r: RefCreate) -> Expr:
        value = self.visit(r.value)
        return r if value is r.value else RefCreate(value, r.span)

    def visit_ref_read(self, r: RefRead) -> Expr:
        ref = self.visit(r.ref)
        return r if ref is r.ref else RefRead(ref, r.span)

    def visit_ref_write(self, r: RefWrite) -> Expr:
        ref, value = self.visit(r.ref), self.visit(r.value)
        return r if ref is r.ref and value is r.value else RefWrite(ref, value, r.span)

    def visit_pattern(self, p: Pattern) -> Pattern:
        """Rewrite the variables of a pattern."""
        if isinstance(p, PatternVar):
            var = self.visit(p.var)
            return p if var is p.var else PatternVar(var, p.span)
        if isinstance(p, (PatternConstructor, PatternTuple)):
            parts = [self.visit_pattern(q) for q in p.patterns]
            if all(map(is_, parts, p.patterns)):
                return p
            return (
                PatternTuple(parts, p.span)
                if isinstance(p, PatternTuple)
                else PatternConstructor(p.constructor, parts, p.span)
            )
        return p

    def visit_match(self, m: Match) -> Expr:
        data = self.visit(m.data)
        clauses = []
        for clause in m.clauses:
            pattern = self.visit_pattern(clause.lhs)
            rhs = self.visit(clause.rhs)
            clauses.append(
                clause if pattern is clause.lhs and rhs is clause.rhs else Clause(pattern, rhs, clause.span)
            )
        if data is m.data and all(map(is_, clauses, m.clauses)):
            return m
        return Match(data, clauses, m.complete, m.span)

    def visit_var(self, var: Var) -> Expr:
        return var

    def visit_global_var(self, gvar: GlobalVar) -> Expr:
        return gvar

    def visit_constant(self, const: Constant) -> Expr:
        return const

    def visit_op(self, op: Op) -> Expr:
        return op

    def visit_constructor(self, con: Constructor) -> Expr:
        return con


_NAMES = frozenset({Var, GlobalVar, Op, Constructor})
