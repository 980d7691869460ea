"""Walks over expressions that do not use Python's stack: programs may be 100,000 levels deep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_

from .adt import (
    Clause,
    Constructor,
    Match,
    pattern_vars,
)
from .annotate import set_origin
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
from .rewrites import emit_rewrite
from .types import FuncType, RefType, TensorType, TupleType, Type, TypeCall, TypeRelation, TypeVar

_LEAVES = (Constant, Var, GlobalVar, Op, Constructor)


def children(expr: Expr) -> tuple[Expr, ...]:
    """Return the direct subexpressions in the order of evaluation, including parameters and bound variables,
    as `post_order_visit` visits them.
    """
    cls = expr.__class__
    if cls is Call:
        return (expr.op, *expr.args)  # type: ignore[attr-defined]  # `cls` is Call; isinstance is twice as slow here
    if cls in _LEAF_SET:
        return ()
    match expr:
        case TupleGetItem():
            return (expr.tuple_value,)
        case Tuple():
            return expr.fields
        case Function():
            return (*expr.params, expr.body)
        case Let():
            return (expr.var, expr.value, expr.body)
        case If():
            return (expr.cond, expr.true_branch, expr.false_branch)
        case Match():
            return (expr.data, *(c.rhs for c in expr.clauses))
        case RefCreate():
            return (expr.value,)
        case RefRead():
            return (expr.ref,)
        case RefWrite():
            return (expr.ref, expr.value)
        case Call():
            return (expr.op, *expr.args)
    return ()


_LEAF_SET = frozenset(_LEAVES)


def post_order(expr: Expr) -> list[Expr]:
    """Return `expr` and every expression below it, each shared one once, after its subexpressions."""
    done: list[Expr] = []
    visited: set[int] = {id(expr)}
    stack: list[tuple[Expr, tuple[Expr, ...], int]] = [(expr, children(expr), 0)]
    while stack:
        node, parts, at = stack.pop()
        count = len(parts)
        while at < count:
            part = parts[at]
            at += 1
            key = id(part)
            if key in visited:
                continue
            visited.add(key)
            if part.__class__ in _LEAF_SET:
                done.append(part)
                continue
            stack.append((node, parts, at))
            node, parts, at = part, children(part), 0
            count = len(parts)
        done.append(node)
    return done


def post_order_visit(expr: Expr, fvisit: Callable[[Expr], object]) -> None:
    """Call `fvisit` on every expression below `expr`, and on itself, once per shared node, after its
    subexpressions.
    """
    for node in post_order(expr):
        fvisit(node)


def rebuild(expr: Expr, parts: Sequence[Expr]) -> Expr:
    """Rebuild `expr` on the subexpressions `parts`, in the order of `children`; return `expr` itself where
    they are unchanged. Span and origin are carried over.
    """
    old = children(expr)
    if len(old) == len(parts) and all(map(is_, old, parts)):
        return expr
    new: Expr
    match expr:
        case Call():
            return Call.of(parts[0], tuple(parts[1:]), expr.attrs, expr.type_args, expr.span, (expr,))
        case TupleGetItem():
            new = TupleGetItem(parts[0], expr.index, expr.span)
        case Tuple():
            new = Tuple(parts, expr.span)
        case Function():
            new = Function(parts[:-1], parts[-1], expr.ret_type, expr.type_params, expr.attrs, expr.span)  # type: ignore[arg-type]  # parameters stay variables
        case Let():
            return Let.of(parts[0], parts[1], parts[2], expr.span, (expr,))  # type: ignore[arg-type]  # a variable stays one
        case If():
            new = If(parts[0], parts[1], parts[2], expr.span)
        case Match():
            clauses = [Clause(c.lhs, rhs, c.span) for c, rhs in zip(expr.clauses, parts[1:])]
            new = Match(parts[0], clauses, expr.complete, expr.span)
        case RefCreate():
            new = RefCreate(parts[0], expr.span)
        case RefRead():
            new = RefRead(parts[0], expr.span)
        case RefWrite():
            new = RefWrite(parts[0], parts[1], expr.span)
        case _:
            return expr
    set_origin(new, (expr,))
    return new


def is_same(a: Expr, b: Expr) -> bool:
    """Whether two expressions are interchangeable: of one class, with identical parts."""
    if a is b:
        return True
    if a.__class__ is not b.__class__ or a.__class__ in _LEAF_SET:
        return False
    own, other = children(a), children(b)
    if len(own) != len(other) or not all(map(is_, own, other)):
        return False
    return all(getattr(a, name, None) == getattr(b, name, None) for name in ("attrs", "index"))


def rewrite_nodes(expr: Expr, rule: Callable[[Expr, Expr], Expr | None]) -> Expr:
    """Replace every node of `expr`, from the leaves up, by `rule(node, rebuilt)`; None keeps `rebuilt`.

    `rebuilt` is the node on its rewritten operands, and the node itself where these are unchanged, so
    unchanged parts are shared with `expr`; its span and origin are carried over. A shared node is rewritten
    once. Python's stack is not used: programs may be 100,000 levels deep. A rule that builds a node sets its
    origin.
    """
    memo: dict[Expr, Expr] = {}
    for node in post_order(expr):
        rebuilt = node
        if node.__class__ not in _LEAF_SET:
            rebuilt = rebuild(node, [memo[part] for part in children(node)])
        replacement = rule(node, rebuilt)
        memo[node] = rebuilt if replacement is None else replacement  # an empty tuple is falsy
    return memo[expr]


def rewrite(expr: Expr, change: Callable[[Expr], Expr | None]) -> Expr:
    """Replace every node of `expr`, from the leaves up, by the result of `change` on the node (rebuilt on its
    replaced operands); None keeps it. Sharing is preserved. The origin of a new expression without one is the
    old one.
    """
    originals = set(post_order(expr))

    def rule(node: Expr, rebuilt: Expr) -> Expr | None:
        changed = change(rebuilt)
        if changed is None:
            return None
        if changed is not rebuilt:
            emit_rewrite(change, rebuilt, changed, node)
        if not changed.origin and changed not in originals and isinstance(changed, Call):
            set_origin(changed, (node,))
        return changed

    return rewrite_nodes(expr, rule)


def _variables(expr: Expr) -> tuple[dict[Var, None], dict[Var, None]]:
    """Return the variables that occur in `expr`, and those that it binds, in the order of the program's text:
    a binder comes before the expressions in its scope.
    """
    occurring: dict[Var, None] = {}
    bound: dict[Var, None] = {}
    visited: set[int] = set()
    pending: list[Expr | list[Var]] = [expr]
    while pending:
        node = pending.pop()
        if isinstance(node, list):  # binders, in text order
            bound.update(dict.fromkeys(node))
            occurring.update(dict.fromkeys(node))
        elif node.__class__ is Var:
            occurring[node] = None
        elif id(node) not in visited:
            visited.add(id(node))
            if isinstance(node, Function):
                pending += [node.body, list(node.params)]
            elif isinstance(node, Let):
                pending += [node.body, node.value, [node.var]]
            elif isinstance(node, Match):
                for clause in reversed(node.clauses):
                    pending += [clause.rhs, pattern_vars(clause.lhs)]
                pending.append(node.data)
            else:
                pending.extend(reversed(children(node)))
    return occurring, bound


def all_vars(expr: Expr) -> list[Var]:
    """Return every variable that occurs in `expr`, bound or free, in the order of the text; including those
    of patterns.
    """
    return list(_variables(expr)[0])


def bound_vars(expr: Expr) -> list[Var]:
    """Return the variables that `expr` itself binds: parameters, those of `let`, and those of patterns, in
    the order of the text.
    """
    return list(_variables(expr)[1])


def free_vars(expr: Expr) -> list[Var]:
    """Return the variables that `expr` uses and does not bind, in the order of their first use."""
    occurring, bound = _variables(expr)
    return [v for v in occurring if v not in bound]


def types_in(expr: Expr) -> list[Type]:
    """Return the types written in `expr`: annotations, return types and type arguments, in post-order."""
    types: list[Type] = []
    for node in post_order(expr):
        if isinstance(node, Var) and node.type_annotation is not None:
            types.append(node.type_annotation)
        elif isinstance(node, Function) and node.ret_type is not None:
            types.append(node.ret_type)
        elif isinstance(node, Call):
            types.extend(node.type_args)
        elif isinstance(node, Match):
            for clause in node.clauses:
                types.extend(
                    v.type_annotation for v in pattern_vars(clause.lhs) if v.type_annotation is not None
                )
    return types


def type_children(type_: Type) -> tuple[Type, ...]:
    """Return the direct parts of a type, without a function's type parameters."""
    match type_:
        case TensorType():
            return ()
        case TupleType():
            return type_.fields
        case FuncType():
            return (*type_.arg_types, type_.ret_type, *type_.type_constraints)
        case TypeCall():
            return (type_.func, *type_.args)
        case RefType():
            return (type_.value,)
        case TypeRelation():
            return type_.args
    return ()


def type_vars_in(type_: Type) -> tuple[list[TypeVar], list[TypeVar]]:
    """Return the type variables that occur in a type, in order, and those that function types in it bind."""
    occurring: dict[TypeVar, None] = {}
    bound: dict[TypeVar, None] = {}
    pending = [type_]
    while pending:
        current = pending.pop()
        if isinstance(current, TypeVar):
            occurring[current] = None
        else:
            if isinstance(current, FuncType):
                bound.update(dict.fromkeys(current.type_params))
            pending.extend(reversed(type_children(current)))
    return list(occurring), list(bound)


def free_type_vars(expr: Expr | Type) -> list[TypeVar]:
    """Return the type variables that are used and not bound, in the order of their first use."""
    if isinstance(expr, Type):
        used, bound = type_vars_in(expr)
        return [v for v in used if v not in bound]
    introduced = {p for node in post_order(expr) if isinstance(node, Function) for p in node.type_params}
    free: dict[TypeVar, None] = {}
    for type_ in types_in(expr):
        free.update(dict.fromkeys(v for v in free_type_vars(type_) if v not in introduced))
    return list(free)
