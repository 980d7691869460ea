"""The matching rule of each kind of pattern.

`steps_for` returns a boolean if no other match is needed, and otherwise a generator. The generator yields
each match that it requires as (pattern, expression, alone), receives the result of each, and returns whether
the pattern matches. A match that is `alone` ignores the bindings made so far.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING
from typing import Any as Anything

from ..ir.attrs import DictAttrs
from ..ir.declaration import Trait
from ..ir.equal import structural_equal
from ..ir.expr import Call, Constant, Expr, Function, If, Let, Tuple, TupleGetItem, Var
from ..ir.op import Op
from ..ir.types import TensorType
from ..ir.walk import children
from .associate import called, reassociated
from .patterns import (
    AltPattern,
    AttrPattern,
    CallPattern,
    ConstantPattern,
    DataTypePattern,
    DFPattern,
    DominatorPattern,
    ExprPattern,
    FunctionPattern,
    IfPattern,
    LetPattern,
    ShapePattern,
    TupleGetItemPattern,
    TuplePattern,
    TypePattern,
    VarPattern,
    WildcardPattern,
)

if TYPE_CHECKING:
    from .matching import Search

Request = tuple[DFPattern, Expr, bool]
Steps = Generator[Request, bool, bool]

_CLASSES: dict[type[DFPattern], type[Expr]] = {
    ConstantPattern: Constant,
    FunctionPattern: Function,
    IfPattern: If,
    LetPattern: Let,
    TuplePattern: Tuple,
    TupleGetItemPattern: TupleGetItem,
}
_TRIES = 24


def may_match(pattern: DFPattern, expr: Expr) -> bool:
    """Check quickly whether `expr` may match `pattern`; False only if it cannot. This rejects most
    expressions, and most alternatives, before any traversal.
    """
    pending = [pattern]
    for _ in range(_TRIES):
        if not pending:
            return False
        p = pending.pop()
        if isinstance(p, AltPattern):
            pending += (p.right, p.left)
        elif isinstance(p, (AttrPattern, TypePattern, DataTypePattern, ShapePattern)):
            pending.append(p.pattern)
        elif isinstance(p, DominatorPattern):
            pending.append(p.child)
        elif isinstance(p, WildcardPattern):
            if p.pattern is None:
                return True
            pending.append(p.pattern)
        elif _looks_like(p, expr):
            return True
    return True


def _has(name: str, trait: Trait) -> bool:
    """Return whether `name` is that of an operator with the trait."""
    return bool(name) and Op.get(name).has(trait)


def _looks_like(p: DFPattern, expr: Expr) -> bool:
    """Check as `may_match` does, for patterns without alternatives."""
    if isinstance(p, CallPattern):
        if not isinstance(expr, Call):
            return False
        name = called(p)
        if name and not (isinstance(expr.op, Op) and expr.op.name == name):
            return (
                _has(name, Trait.ASSOCIATIVE) and isinstance(expr.op, Op) and expr.op.has(Trait.ASSOCIATIVE)
            )
        return p.args is None or len(p.args) == len(expr.args)
    if isinstance(p, ExprPattern):
        if isinstance(p.expr, (Op, Var)):
            return p.expr is expr
        return p.expr.__class__ is expr.__class__
    if isinstance(p, VarPattern):
        return isinstance(expr, Var) and p.name in ("", expr.name_hint)
    return isinstance(expr, _CLASSES.get(p.__class__, Expr))


def steps_for(p: DFPattern, e: Anything, search: Search) -> Steps | bool:
    """Match `p` with `e` after `may_match` has succeeded: return the result, or the steps that lead to it."""
    match p:
        case CallPattern():
            return _call(p, e, search)
        case WildcardPattern():
            return True if p.pattern is None else _stands_for(p, p.pattern, e, search)
        case ExprPattern():
            return p.expr is e or structural_equal(p.expr, e)
        case VarPattern() | ConstantPattern():
            return True
        case AltPattern():
            return _either(p, e)
        case TuplePattern():
            return _lists(p.fields, e.fields)
        case TupleGetItemPattern():
            return p.index in (-1, e.index) and _all([(p.tuple, e.tuple_value)])
        case FunctionPattern():
            return _function(p, e)
        case IfPattern():
            return _all(zip(p.parts(), (e.cond, e.true_branch, e.false_branch)))
        case LetPattern():
            return _all(zip(p.parts(), (e.var, e.value, e.body)))
        case AttrPattern():
            return _has_attributes(p, e) and _all([(p.pattern, e)])
        case TypePattern() | DataTypePattern() | ShapePattern():
            return _typed(p, e, search)
        case DominatorPattern():
            return _dominates(p, e, search)
    raise TypeError(f"this is not a kind of pattern: {type(p).__name__}")


def _all(pairs: Iterator[tuple[DFPattern, Expr]] | list[tuple[DFPattern, Expr]]) -> Steps:
    for pattern, expr in pairs:
        if not (yield pattern, expr, False):
            return False
    return True


def _lists(patterns: Sequence[DFPattern] | None, exprs: Sequence[Expr]) -> Steps | bool:
    """Match each of `patterns` with one of `exprs`, in order."""
    if patterns is None:
        return True
    return _hopeful(patterns, exprs) and _all(zip(patterns, exprs))


def _hopeful(patterns: Sequence[DFPattern], exprs: Sequence[Expr]) -> bool:
    """Check quickly whether every expression may match its pattern, before any traversal."""
    return len(patterns) == len(exprs) and all(map(may_match, patterns, exprs))


def _stands_for(p: WildcardPattern, target: DFPattern, e: Expr, search: Search) -> Steps:
    """Match the pattern that a wildcard was redirected to. If that pattern is recursive, the bindings of the
    enclosing pattern do not apply.
    """
    return (yield target, e, p in search.matcher.below)


def _either(p: AltPattern, e: Expr) -> Steps:
    return (yield p.left, e, False) or (yield p.right, e, False)


def _function(p: FunctionPattern, e: Function) -> Steps | bool:
    if p.params is None:
        return _all([(p.body, e.body)])
    return len(p.params) == len(e.params) and _all([*zip(p.params, e.params), (p.body, e.body)])


def _call(p: CallPattern, e: Call, search: Search) -> Steps:
    if not (yield p.op, e.op, False):
        for other in reassociated(p, e):
            if (yield other, e, False):
                return True
        return False
    if p.args is None:
        return True
    orders = [p.args, p.args[::-1]] if _has(called(p), Trait.COMMUTATIVE) else [p.args]
    mark = search.mark()
    for patterns in orders:
        if _hopeful(patterns, e.args):
            for pattern, arg in zip(patterns, e.args):
                if not (yield pattern, arg, False):
                    break
            else:
                return True
            search.undo(mark)  # bindings of the first order of arguments must not apply to the other
    return False


def _has_attributes(p: AttrPattern, e: Expr) -> bool:
    """Return whether an operator, call or function has all the attributes; nothing else has attributes."""
    if isinstance(e, Op):
        return all(e.has_attr(k) and agree(v, e.get_attr(k)) for k, v in p.attrs.items())
    if isinstance(e, (Call, Function)):
        own = DictAttrs() if e.attrs is None else e.attrs
        return all(k in own and agree(v, own[k]) for k, v in p.attrs.items())
    return False


def agree(expected: Anything, actual: Anything) -> bool:
    """Compare two attribute values. A list equals a tuple of the same items, and 1 equals True, as in TVM."""
    if isinstance(expected, (list, tuple)) or isinstance(actual, (list, tuple)):
        both = isinstance(expected, (list, tuple)) and isinstance(actual, (list, tuple))
        return both and len(expected) == len(actual) and all(map(agree, expected, actual))
    return structural_equal(expected, actual)


def _typed(p: TypePattern | DataTypePattern | ShapePattern, e: Expr, search: Search) -> Steps:
    if not (yield p.pattern, e, False):
        return False
    type_ = search.matcher.types.of(e)
    if isinstance(p, TypePattern):
        return type_ is not None and p.type == type_
    if isinstance(p, DataTypePattern):
        return isinstance(type_, TensorType) and type_.dtype == p.dtype
    return isinstance(type_, TensorType) and agree(p.shape, type_.shape)


def _dominates(p: DominatorPattern, e: Expr, search: Search) -> Steps:
    """Match a dominator pattern. The first parent reached is the only candidate: every other path must lead
    to it, or end in a step that matches the path.
    """
    matcher = search.matcher
    if not ((yield p.child, e, False) and matcher.dominates_a(p.parent, e)):
        return False
    parent: Expr | None = None
    visited: set[Expr] = set()
    pending = [iter(_inputs(e))]
    while pending:
        at = next(pending[-1], None)
        if at is None:
            pending.pop()
        elif at not in visited:
            visited.add(at)
            if (yield p.parent, at, False):
                parent = at
                if not matcher.dominators.strictly_dominates(e, parent):
                    return False
            elif (yield p.path, at, True):
                pending.append(iter(_inputs(at)))
            else:
                return False
    return parent is not None


def _inputs(expr: Expr) -> tuple[Expr, ...]:
    """Return the inputs of an expression: its parts, without its callee."""
    return expr.args if isinstance(expr, Call) else children(expr)
