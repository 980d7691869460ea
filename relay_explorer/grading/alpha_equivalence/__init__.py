"""The exercise of chapter 6: alpha-equivalence. The functions given to the learner."""

from __future__ import annotations

from ...ir.adt import (
    Constructor,
    Match,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    pattern_vars,
)
from ...ir.equal import structural_equal
from ...ir.expr import Call, Constant, Expr, Function, GlobalVar, Let, TupleGetItem, Var
from ...ir.op import Op
from ...ir.walk import children


def parts(expr: Expr) -> list[Expr]:
    """Return the direct subexpressions of `expr`, in order: the body of a function, the value and the body
    of a `let`. Variables that `expr` binds are not among them.
    """
    if isinstance(expr, Function):
        return [expr.body]
    if isinstance(expr, Let):
        return [expr.value, expr.body]
    return list(children(expr))


def binders(expr: Expr) -> list[Var]:
    """Return the variables that `expr` itself binds, in order: the parameters of a function, the variable of
    a `let`, those in the patterns of a `match`.
    """
    if isinstance(expr, Function):
        return list(expr.params)
    if isinstance(expr, Let):
        return [expr.var]
    if isinstance(expr, Match):
        return [var for clause in expr.clauses for var in pattern_vars(clause.lhs)]
    return []


def same_label(left: Expr, right: Expr) -> bool:
    """Return whether two expressions other than variables agree in everything except their parts and the
    variables that they bind: in kind, in the number of parts, and in their own fields (operator,
    attributes, constant, index of a tuple's field, patterns, types).
    """
    if type(left) is not type(right) or len(parts(left)) != len(parts(right)):
        return False
    mine, others = binders(left), binders(right)
    if len(mine) != len(others):
        return False
    if not all(_same_type(a.type_annotation, b.type_annotation) for a, b in zip(mine, others)):
        return False
    match left, right:
        case (Op(), Op()) | (GlobalVar(), GlobalVar()) | (Constructor(), Constructor()):
            return left is right or structural_equal(left, right)
        case Constant(), Constant():
            return structural_equal(left, right)
        case TupleGetItem(), TupleGetItem():
            return left.index == right.index
        case Call(), Call():
            return left.attrs == right.attrs and len(left.type_args) == len(right.type_args)
        case Function(), Function():
            return _same_type(left.ret_type, right.ret_type)
        case Match(), Match():
            return all(_same_pattern(a.lhs, b.lhs) for a, b in zip(left.clauses, right.clauses))
    return True


def _same_type(left: object, right: object) -> bool:
    if left is None or right is None:
        return left is right
    return structural_equal(left, right)


def _same_pattern(left: Pattern, right: Pattern) -> bool:
    """Return whether two patterns match the same values; the names of their variables may differ."""
    match left, right:
        case PatternConstructor(), PatternConstructor():
            same = left.constructor is right.constructor or structural_equal(
                left.constructor, right.constructor
            )
            return same and _all_same(left.patterns, right.patterns)
        case PatternTuple(), PatternTuple():
            return _all_same(left.patterns, right.patterns)
        case PatternVar(), PatternVar():
            return True
    return type(left) is type(right)


def _all_same(left: tuple[Pattern, ...], right: tuple[Pattern, ...]) -> bool:
    return len(left) == len(right) and all(_same_pattern(a, b) for a, b in zip(left, right))
