"""Rewriting: replace every match by the result of a callback, until a fixed point."""

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

MAX_ITERATIONS = 100
# A rewrite that has grown a program by this factor, and still changes it, is assumed not to terminate.
MAX_GROWTH, SMALL_PROGRAM = 100, 1000

_LEAVES = (Var, GlobalVar, Constant, Op, Constructor)


class DFPatternCallback:
    """A rewrite rule: subclasses set `self.pattern` and define `callback`, which returns the replacement.

        class NoDoubleNegation(DFPatternCallback):
            def __init__(self):
                super().__init__()
                self.x = wildcard()
                self.pattern = is_op("negative")(is_op("negative")(self.x))

            def callback(self, pre, post, node_map):
                return node_map[self.x][0]

    With `require_type` types are inferred before each iteration, so that `pre` has its `checked_type`. With
    `rewrite_once` the callback does not run again after the first iteration in which it changed the program.
    """

    pattern: DFPattern | None = None

    def __init__(self, require_type: bool = False, rewrite_once: bool = False) -> None:
        self.pattern = None
        self.require_type = require_type
        self.rewrite_once = rewrite_once

    def rewrite(self, expr: Expr) -> Expr:
        """Rewrite `expr` with this callback."""
        return rewrite(self, expr)

    def callback(self, pre: Expr, post: Expr, node_map: NodeMap) -> Expr:
        """Return the replacement of a match. `pre` is the expression that matched, `post` the same with its
        parts rewritten; `node_map` maps each part of the pattern to the list of expressions that it matched,
        rewritten.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method `callback(pre, post, node_map)`")


def rewrite(
    callbacks: DFPatternCallback | Sequence[DFPatternCallback], expr: Expr, mod: IRModule | None = None
) -> Expr:
    """Replace the expressions in `expr` that match the callbacks' patterns, one callback after the other,
    until an iteration changes nothing. `mod` contains the functions that `expr` calls, for callbacks that
    require types.

    Raise a RelayError if the callbacks do not terminate.
    """
    expr = unwrapped(expr)
    if not isinstance(expr, Expr):
        raise TypeError(f"rewrite takes an expression, such as mod['main'], not a {type(expr).__name__}")
    active = [callbacks] if isinstance(callbacks, DFPatternCallback) else list(callbacks)
    for callback in active:
        if callback.pattern is None:
            raise ValueError(f"{type(callback).__name__} has no pattern: set self.pattern in its __init__")
    limit = MAX_GROWTH * (len(post_order(expr)) + SMALL_PROGRAM)
    for _ in range(MAX_ITERATIONS):
        start = expr
        for callback in list(active):
            before = expr
            expr = _one_iteration(callback, expr, mod, limit)
            if callback.rewrite_once and _changed(before, expr):
                active.remove(callback)
        if not _changed(start, expr):
            return expr
    raise _nonterminating(active, f"the program still changes after {MAX_ITERATIONS} iterations")


def _changed(before: Expr, after: Expr) -> bool:
    return before is not after and not structural_equal(before, after)


def _nonterminating(callbacks: Sequence[DFPatternCallback], how: str) -> RelayError:
    names = ", ".join(dict.fromkeys(type(c).__name__ for c in callbacks))
    return RelayError(
        f"this rewriting does not terminate: {how} (with {names})",
        help=[
            "let the callback return an expression that its pattern does not match, "
            "or set its rewrite_once=True"
        ],
    )


def _one_iteration(callback: DFPatternCallback, expr: Expr, mod: IRModule | None, limit: int) -> Expr:
    """Replace each match of one callback's pattern in `expr` once."""
    assert callback.pattern is not None
    if callback.require_type:
        expr = infer_expr(expr, mod)
    groups = find_groups(callback.pattern, expr, mod)
    if not groups:
        return expr
    order = post_order(expr)
    if len(order) > limit:
        raise _nonterminating([callback], f"the program has grown to {len(order):,} expressions")
    memo: dict[Expr, Expr] = {}
    created: set[Expr] = set()
    for node in order:
        new = renewed(node, memo)
        created.add(new)
        if node in groups:
            new = _replaced(callback, groups[node], new, memo, created)
        memo[node] = new
    return memo[expr]


def _replaced(
    callback: DFPatternCallback, group: Group, post: Expr, memo: dict[Expr, Expr], created: set[Expr]
) -> Expr:
    """Call the callback for a group, and link the new expressions in its result to their origins."""
    memo[group.root] = post
    node_map = {part: [memo.get(e, e) for e in exprs] for part, exprs in group.bound.items()}
    new = unwrapped(callback.callback(group.root, post, node_map))
    if not isinstance(new, Expr):
        raise TypeError(
            f"{type(callback).__name__}.callback must return an expression, not {new!r:.60}: "
            "return `post` to leave the match as it is"
        )
    if new is not post and active(Rewrite) is not None:
        sentence = first_sentence(callback.callback.__doc__) or first_sentence(type(callback).__doc__)
        emit_rewrite(callback.callback, post, new, group.root, sentence=sentence)
    pending = [new]
    while pending:
        node = pending.pop()
        if node not in created and not node.origin and not isinstance(node, _LEAVES):
            created.add(node)
            set_origin(node, (group.root,))
            set_span(node, node.span or group.root.span)
            pending += children(node)
    return new


def renewed(node: Expr, memo: dict[Expr, Expr]) -> Expr:
    """Rebuild `node` with its parts replaced by `memo`. A binder can be replaced only by another variable;
    otherwise it stays unchanged.
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
    """Rename the variables in a pattern of a `match`; patterns are small enough for recursion."""
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
