"""Substitute arguments into a function's body, in place of its call."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ...ir.adt import Clause, Constructor, Match, Pattern
from ...ir.annotate import set_origin
from ...ir.expr import Call, Constant, Expr, Function, GlobalVar, Let, RefCreate, RefRead, RefWrite, Var
from ...ir.op import Op
from ...ir.substitute import substitute_type
from ...ir.types import Type, TypeVar
from ...ir.walk import bound_vars, children, post_order, rebuild, rewrite_nodes
from ..partial_evaluate.steps import renamed

_LEAVES = (Var, Constant, GlobalVar, Op, Constructor)


def inlined(
    function: Function,
    args: Sequence[Expr],
    call: Call,
    types: Sequence[Type] = (),
    acting: Collection[int] = (),
) -> Expr:
    """Inline a call: substitute `args` into the body of `function`, which replaces `call`. The variables that
    the body binds are new, so that several copies can coexist, and type parameters become `types`.

    An argument replaces every use of its parameter. Those whose numbers are in `acting`, which have side
    effects, are bound by `let` before the body: they are evaluated once, first and in order, as by a call.
    """
    values: dict[Expr, Expr] = dict(zip(function.params, args))
    substitution = dict(zip(function.type_params, types))
    bound = [k for k in sorted(acting) if not isinstance(args[k], _LEAVES)]
    for number in bound:
        param = function.params[number]
        values[param] = Var(param.name_hint, _retyped(param.type_annotation, substitution))
    body = _Copy(values, substitution).of(function.body)
    for number in reversed(bound):
        var = values[function.params[number]]
        assert isinstance(var, Var)
        body = Let(var, args[number], body)
        set_origin(body, (function.params[number],))
    if not isinstance(body, _LEAVES) and all(body is not arg for arg in args):  # it is new
        set_origin(body, (*body.origin, call))
    return body


def copied(expr: Expr) -> Expr:
    """Copy an expression, with new variables for those it binds."""
    return _Copy({}, {}).of(expr)


def substituted(expr: Expr, values: Mapping[Var, Expr]) -> Expr:
    """Replace variables in `expr`; parts that do not use them stay the same objects."""
    return rewrite_nodes(expr, lambda node, _: values.get(node) if isinstance(node, Var) else None)


class _Copy:
    """Copies an expression. Nodes that may have effects are new even if nothing in them differs, because each
    copy is evaluated separately; sharing within the expression is preserved.
    """

    def __init__(self, values: Mapping[Expr, Expr], types: dict[TypeVar, Type]) -> None:
        self.values = values
        self.types = types

    def of(self, root: Expr) -> Expr:
        self.names = {var: self._new(var) for var in bound_vars(root)}
        memo: dict[int, Expr] = {id(var): new for var, new in self.names.items()}
        memo.update({id(var): value for var, value in self.values.items()})
        for node in post_order(root):
            if id(node) not in memo:
                memo[id(node)] = self._copy(node, [memo[id(part)] for part in children(node)])
        return memo[id(root)]

    def _new(self, var: Var) -> Var:
        new = Var(var.name_hint, _retyped(var.type_annotation, self.types), var.span)
        set_origin(new, (var,))
        return new

    def _pattern(self, pattern: Pattern) -> Pattern:
        return renamed(pattern, self.names)

    def _copy(self, node: Expr, parts: list[Expr]) -> Expr:
        new: Expr
        match node:
            case Var() | Constant() | GlobalVar() | Op() | Constructor():
                return node
            case Call():
                types = [substitute_type(t, self.types) for t in node.type_args]
                new = Call(parts[0], parts[1:], node.attrs, types, node.span)
            case Function():
                result = _retyped(node.ret_type, self.types)
                params = [p for p in parts[:-1] if isinstance(p, Var)]
                new = Function(params, parts[-1], result, node.type_params, node.attrs, node.span)
            case Match():
                clauses = [
                    Clause(self._pattern(c.lhs), rhs, c.span) for c, rhs in zip(node.clauses, parts[1:])
                ]
                new = Match(parts[0], clauses, node.complete, node.span)
            case RefCreate():
                new = RefCreate(parts[0], node.span)
            case RefRead():
                new = RefRead(parts[0], node.span)
            case RefWrite():
                new = RefWrite(parts[0], parts[1], node.span)
            case _:
                return rebuild(node, parts)
        set_origin(new, (node,))
        return new


def _retyped(type_: Type | None, types: dict[TypeVar, Type]) -> Type | None:
    return None if type_ is None else substitute_type(type_, types)
