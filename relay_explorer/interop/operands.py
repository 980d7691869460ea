"""The data flow between expressions: which values an expression is computed from, and in which roles.

The children of an expression (`ir.children`) are its parts in the text. Its operands are the values that flow
into it. The two differ where a name is bound: the value of a `let` flows into the variable, and the variable
flows into its uses; the `let` itself only passes on the value of its body.
"""

from __future__ import annotations

from typing import NamedTuple

from ..ir.adt import Constructor, Match, pattern_vars
from ..ir.expr import (
    Call,
    Expr,
    Function,
    If,
    Let,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
)
from ..ir.op import Op

CALLEE = -1  # the operand index of a called function


class Operand(NamedTuple):
    """A value that flows into an expression: its number among the operands, its role, and the operator's name
    for it ("" if there is none).
    """

    value: Expr
    number: int
    role: str
    name: str = ""


def operands(expr: Expr) -> list[Operand]:
    """Return the values that flow into an expression, except those that a binder passes to its variables."""
    match expr:
        case Call():
            return _of_call(expr)
        case Tuple():
            return [Operand(field, index, "field") for index, field in enumerate(expr.fields)]
        case TupleGetItem():
            return [Operand(expr.tuple_value, 0, "tuple")]
        case Let():
            return [Operand(expr.body, 0, "body")]
        case Function():
            return [Operand(expr.body, 0, "body")]
        case If():
            return [
                Operand(expr.cond, 0, "condition"),
                Operand(expr.true_branch, 1, "true"),
                Operand(expr.false_branch, 2, "false"),
            ]
        case Match():
            clauses = enumerate(expr.clauses, 1)
            return [Operand(expr.data, 0, "data"), *(Operand(c.rhs, i, "clause") for i, c in clauses)]
        case RefCreate():
            return [Operand(expr.value, 0, "value")]
        case RefRead():
            return [Operand(expr.ref, 0, "reference")]
        case RefWrite():
            return [Operand(expr.ref, 0, "reference"), Operand(expr.value, 1, "value")]
    return []


def _of_call(call: Call) -> list[Operand]:
    names = (call.op.inputs or ()) if isinstance(call.op, Op) else ()
    arguments = [
        Operand(arg, index, "argument", names[index] if index < len(names) else "")
        for index, arg in enumerate(call.args)
    ]
    return arguments if is_named(call.op) else [Operand(call.op, CALLEE, "callee"), *arguments]


def is_named(callee: Expr) -> bool:
    """Return whether a callee is an operator or a constructor, which is a part of the call and no operand."""
    return isinstance(callee, (Op, Constructor))


def bound(expr: Expr) -> list[tuple[Var, Expr, str]]:
    """Return the variables into which a binder passes a value, with the value and the role of the edge."""
    if isinstance(expr, Let):
        return [(expr.var, expr.value, "value")]
    if isinstance(expr, Match):
        return [(var, expr.data, "pattern") for clause in expr.clauses for var in pattern_vars(clause.lhs)]
    return []


def in_order(root: Expr) -> list[Expr]:
    """Return `root` and every expression below it whose value flows somewhere, each after its operands, and
    variables after the values that are bound to them. (A function that calls itself follows its variable.)
    """
    done: list[Expr] = []
    visited = {id(root)}
    stack = [(root, iter(_before(root)))]
    while stack:
        node, rest = stack[-1]
        for part in rest:
            if id(part) not in visited:
                visited.add(id(part))
                stack.append((part, iter(_before(part))))
                break
        else:
            done.append(node)
            stack.pop()
    return done


def _before(expr: Expr) -> list[Expr]:
    """Return the expressions to visit before `expr`, in the order of the program."""
    match expr:
        case Let():
            return [expr.value, expr.var, expr.body]
        case Function():
            return [*expr.params, expr.body]
        case Match():
            parts: list[Expr] = [expr.data]
            for clause in expr.clauses:
                parts += [*pattern_vars(clause.lhs), clause.rhs]
            return parts
    return [operand.value for operand in operands(expr)]
