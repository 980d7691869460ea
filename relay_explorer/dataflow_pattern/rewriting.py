"""Rewriting: every match is replaced by what a callback makes of it, until nothing changes any more."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.adt import Clause, Constructor, Match, Pattern, PatternConstructor, PatternTuple, PatternVar
from ..ir.annotate import set_origin, set_span
from ..ir.equal import structural_equal
from ..ir.errors import RelayError
from ..ir.expr import Constant, Expr, Function, GlobalVar, Let, Var, unwrapped
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.recorder import active
from ..ir.rewrites import Rewrite, emit_rewrite, first_sentence
from ..ir.walk import children, post_order, rebuild
from .groups import Group, find_groups
from .matching import NodeMap
from .patterns import DFPattern
from .typed import infer_expr

MOST_ROUNDS = 100
# A rewrite that makes a program this much larger, and is not done, will not end.
MOST_GROWTH, SMALL = 100, 1000

_LEAVES = (Var, GlobalVar, Constant, Op, Constructor)


class DFPatternCallback:
    """What to look for, and what to put in its place: subclasses set `self.pattern` and define `callback`.

        class NoDoubleNegation(DFPatternCallback):
            def __init__(self):
                super().__init__()
                self.x = wildcard()
                self.pattern = is_op("negative")(is_op("negative")(self.x))

            def callback(self, pre, post, node_map):
                return node_map[self.x][0]

    With `require_type` types are inferred before each round, so that `pre` has its `checked_type`. With
    `rewrite_once` the callback takes part in no further round after the first in which it changed something.
    """

    pattern: DFPattern | None = None

    def __init__(self, require_type: bool = False, rewrite_once: bool = False) -> None:
        self.pattern = None
        self.require_type = require_type
        self.rewrite_once = rewrite_once

    def rewrite(self, expr: Expr) -> Expr:
        """`expr` rewritten with this callback."""
        return rewrite(self, expr)

    def callback(self, pre: Expr, post: Expr, node_map: NodeMap) -> Expr:
        """What takes the place of a match. `pre` is the expression that matched, `post` the same with its
        parts rewritten; `node_map` gives for each part of the pattern the list of what it matched, rewritten.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method `callback(pre, post, node_map)`")


def rewrite(
    callbacks: DFPatternCallback | Sequence[DFPatternCallback], expr: Expr, mod: IRModule | None = None
) -> Expr:
    """`expr` with what matches the callbacks' patterns replaced by what they give, one callback after the
    other, again and again until a round changes nothing. `mod` holds the functions that `expr` calls, for
    callbacks that require types.

    A RelayError says so where the callbacks do not come to an end.
    """
    expr = unwrapped(expr)
    if not isinstance(expr, Expr):
        raise TypeError(f"what is rewritten is an expression, as mod['main'], not a {type(expr).__name__}")
    active = [callbacks] if isinstance(callbacks, DFPatternCallback) else list(callbacks)
    for callback in active:
        if callback.pattern is None:
            raise ValueError(f"{type(callback).__name__} has no pattern: set self.pattern in its __init__")
    limit = MOST_GROWTH * (len(post_order(expr)) + SMALL)
    for _ in range(MOST_ROUNDS):
        start = expr
        for callback in list(active):
            before = expr
            expr = _one_round(callback, expr, mod, limit)
            if callback.rewrite_once and _changed(before, expr):
                active.remove(callback)
        if not _changed(start, expr):
            return expr
    raise _endless(active, f"something still changes after {MOST_ROUNDS} rounds")


def _changed(before: Expr, after: Expr) -> bool:
    return before is not after and not structural_equal(before, after)


def _endless(callbacks: Sequence[DFPatternCallback], how: str) -> RelayError:
    names = ", ".join(dict.fromkeys(type(c).__name__ for c in callbacks))
    return RelayError(
        f"this rewriting comes to no end: {how} (with {names})",
        help=[
            "make what the callback returns one that its pattern does not match, "
            "or give the callback rewrite_once=True"
        ],
    )


def _one_round(callback: DFPatternCallback, expr: Expr, mod: IRModule | None, limit: int) -> Expr:
    """`expr` with each match of one callback's pattern replaced once."""
    assert callback.pattern is not None
    if callback.require_type:
        expr = infer_expr(expr, mod)
    groups = find_groups(callback.pattern, expr, mod)
    if not groups:
        return expr
    order = post_order(expr)
    if len(order) > limit:
        raise _endless([callback], f"the program has grown to {len(order):,} expressions")
    memo: dict[Expr, Expr] = {}
    made: set[Expr] = set()
    for node in order:
        new = renewed(node, memo)
        made.add(new)
        if node in groups:
            new = _replaced(callback, groups[node], new, memo, made)
        memo[node] = new
    return memo[expr]


def _replaced(
    callback: DFPatternCallback, group: Group, post: Expr, memo: dict[Expr, Expr], made: set[Expr]
) -> Expr:
    """What the callback gives for a group, with its new expressions linked to where they come from."""
    memo[group.root] = post
    node_map = {part: [memo.get(e, e) for e in found] for part, found in group.bound.items()}
    new = unwrapped(callback.callback(group.root, post, node_map))
    if not isinstance(new, Expr):
        raise TypeError(
            f"{type(callback).__name__}.callback must return an expression, not {new!r:.60}: "
            "return `post` to leave the match as it is"
        )
    if new is not post and active(Rewrite) is not None:
        said = first_sentence(callback.callback.__doc__) or first_sentence(type(callback).__doc__)
        emit_rewrite(callback.callback, post, new, group.root, sentence=said)
    pending = [new]
    while pending:
        node = pending.pop()
        if node not in made and not node.origin and not isinstance(node, _LEAVES):
            made.add(node)
            set_origin(node, (group.root,))
            set_span(node, node.span or group.root.span)
            pending += children(node)
    return new


def renewed(node: Expr, memo: dict[Expr, Expr]) -> Expr:
    """`node` with its parts as `memo` has them. What binds a variable takes another variable, but not another
    expression: there it stays as it was.
    """
    parts = [memo[part] for part in children(node)]
    if isinstance(node, Function):
        parts = [_binder(p, memo) for p in node.params] + parts[-1:]
    elif isinstance(node, Let):
        parts[0] = _binder(node.var, memo)
    new = rebuild(node, parts)
    if isinstance(node, Match):
        clauses = [Clause(_pattern(c.lhs, memo), rhs, c.span) for c, rhs in zip(node.clauses, parts[1:])]
        if any(a.lhs is not b.lhs for a, b in zip(node.clauses, clauses)):
            new = Match(parts[0], clauses, node.complete, node.span)
            set_origin(new, (node,))
    return new


def _binder(var: Var, memo: dict[Expr, Expr]) -> Var:
    new = memo.get(var)
    return new if isinstance(new, Var) else var


def _pattern(pattern: Pattern, memo: dict[Expr, Expr]) -> Pattern:
    """A pattern of a `match` with its variables renamed; patterns are as deep as a person writes them."""
    if isinstance(pattern, PatternVar):
        var = _binder(pattern.var, memo)
        return pattern if var is pattern.var else PatternVar(var, pattern.span)
    if isinstance(pattern, (PatternTuple, PatternConstructor)):
        parts = [_pattern(p, memo) for p in pattern.patterns]
        if all(a is b for a, b in zip(parts, pattern.patterns)):
            return pattern
        if isinstance(pattern, PatternTuple):
            return PatternTuple(parts, pattern.span)
        return PatternConstructor(pattern.constructor, parts, pattern.span)
    return pattern
