"""Matching: check whether an expression has the form of a pattern, and bind the pattern's parts.

Each kind of pattern has a small generator (see kinds.py) that yields the matches it requires, each a pattern
and an expression, and receives their results. `Search.run` keeps the waiting generators on an explicit stack,
because recursive patterns match programs of any depth. A pattern that has matched is bound to its expression,
and matches only that expression from then on; the bindings are undone where a larger pattern fails. The steps
of a dominator's path are matched alone, each with bindings of its own, and so is each iteration of a
recursive pattern.

The search does not backtrack into alternatives: of `p | q`, `q` is tried only if `p` itself fails, not if
another part of the pattern fails later. The number of steps therefore depends on the pattern, not on the rest
of the program.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from typing import Any as Anything
from typing import NamedTuple

from ..analysis.dominators import DominatorTree, post_dominators
from ..ir.expr import Expr, unwrapped
from ..ir.module import IRModule
from .kinds import Request, Steps, may_match, steps_for
from .patterns import DFPattern, ExprPattern, pattern_order
from .typed import Types

NodeMap = dict[DFPattern, list[Expr]]
Scope = dict[DFPattern, Expr]
Entry = tuple[DFPattern, Expr] | list[Anything]  # a list is the log of a nested match
__all__ = ["Matcher", "NodeMap", "match"]


def match(pattern: DFPattern, expr: Expr) -> bool:
    """Return whether `expr` itself, not an expression in it, matches `pattern`."""
    expr = unwrapped(expr)
    if not isinstance(expr, Expr):
        raise TypeError(f"a pattern matches an expression, as mod['main'].body, not a {type(expr).__name__}")
    return Matcher(pattern, expr).match(expr) is not None


class Matcher:
    """Matches `pattern` against expressions in `root`, and caches results about `root` between matches."""

    def __init__(self, pattern: DFPattern, root: Expr, module: IRModule | None = None) -> None:
        if not isinstance(pattern, DFPattern):
            raise TypeError(f"this is not a pattern: {pattern!r:.60}")
        self.pattern = pattern
        self.root = root
        self.types = Types(root, module)
        # By pattern: the positions in the dominator tree of the expressions that may match it.
        self._positions: dict[DFPattern, list[int]] = {}
        self.below = _recursive(pattern)
        # Results that do not depend on bindings: pairs that cannot match, and the bindings of those that did.
        # Only for patterns that contain themselves; matching others again takes a fixed number of steps.
        self.failed: set[tuple[DFPattern, Expr]] = set()
        self.matched: dict[tuple[DFPattern, Expr], list[Entry]] = {}

    @cached_property
    def dominators(self) -> DominatorTree[Expr]:
        """The post-dominators of `root`."""
        return post_dominators(self.root)

    def dominates_a(self, parent: DFPattern, expr: Expr) -> bool:
        """Return whether `expr` post-dominates an expression that may match `parent`."""
        places = self._positions.get(parent)
        if places is None:
            tree = self.dominators
            places = [tree.places(node)[0] for node in tree.nodes if may_match(parent, node)]
            places.sort()
            self._positions[parent] = places
        below = self.dominators.places(expr)
        return bisect_left(places, below.stop) > bisect_left(places, below.start + 1)

    def match(self, expr: Expr) -> NodeMap | None:
        """Return the expressions that each part of the pattern matched if `expr` matches; otherwise None."""
        if not may_match(self.pattern, expr):
            return None
        search = Search(self)
        return search.bindings() if search.run(self.pattern, expr) else None


def _recursive(pattern: DFPattern) -> dict[DFPattern, frozenset[DFPattern]]:
    """Map each pattern that contains itself to the patterns that it contains, except expression patterns such
    as operators.
    """
    order = pattern_order(pattern)
    position = {p: k for k, p in enumerate(order)}
    if all(position[part] < position[p] for p in order for part in p.parts()):
        return {}
    within = {p: frozenset(pattern_order(p)) for p in order}
    return {
        p: frozenset(q for q in within[p] if not isinstance(q, ExprPattern))
        for p in order
        if any(p in within[part] for part in p.parts())
    }


class _Frame(NamedTuple):
    """A pattern that waits for the result of one of its parts."""

    steps: Steps
    pattern: DFPattern
    expr: Expr
    mark: int  # the length of the log when the match began
    outer: tuple[Scope, list[Entry]] | None  # the enclosing bindings, if the match is alone
    final: bool  # whether a failure is independent of the bindings


class Search:
    """A match in progress. `bound` maps each pattern to its expression; `log` records the bindings in order,
    with the logs of expressions matched alone as entries.
    """

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher
        self.bound: Scope = {}
        self.log: list[Entry] = []
        self.frames: list[_Frame] = []
        self.active: set[tuple[DFPattern, Expr]] = set()
        self.circular = False

    def run(self, pattern: DFPattern, expr: Expr) -> bool:
        """Return whether `expr` matches `pattern`."""
        answer = self._enter(pattern, expr, False)
        while self.frames:
            frame = self.frames[-1]
            try:
                request: Request = frame.steps.send(answer)  # type: ignore[arg-type]  # None starts it
            except StopIteration as stop:
                answer = self._leave(self.frames.pop(), bool(stop.value))
            else:
                answer = self._enter(*request)
        return bool(answer)

    def bindings(self) -> NodeMap:
        """Return the expressions that each pattern has matched, each once."""
        bindings: dict[DFPattern, dict[Expr, None]] = {}
        visited: set[int] = set()  # nested logs, which entries may share
        pending = [iter(self.log)]
        while pending:
            entry = next(pending[-1], None)
            if entry is None:
                pending.pop()
            elif isinstance(entry, tuple):
                bindings.setdefault(entry[0], {})[entry[1]] = None
            elif id(entry) not in visited:
                visited.add(id(entry))
                pending.append(iter(entry))
        return {pattern: list(exprs) for pattern, exprs in bindings.items()}

    def mark(self) -> int:
        """Return the current length of the log, for `undo`."""
        return len(self.log)

    def undo(self, mark: int) -> None:
        """Remove all bindings made since the mark."""
        while len(self.log) > mark:
            entry = self.log.pop()
            if isinstance(entry, tuple):
                del self.bound[entry[0]]

    def _enter(self, pattern: DFPattern, expr: Expr, alone: bool) -> bool | None:
        """Begin a match: return whether `expr` matches, or None if that takes more steps."""
        if not alone and pattern in self.bound:
            return self.bound[pattern] is expr
        if not may_match(pattern, expr):
            return False
        key = (pattern, expr)
        if key in self.active:  # a pattern that requires itself of the same expression makes no progress
            self.circular = True
            return False
        below = self.matcher.below.get(pattern)
        if below is not None and key in self.matcher.failed:
            return False
        if below is not None and alone and key in self.matcher.matched:
            self.log.append(self.matcher.matched[key])
            return True
        steps = steps_for(pattern, expr, self)
        if isinstance(steps, bool):
            if steps and alone:
                self.log.append([(pattern, expr)])
            elif steps:
                self._bind(pattern, expr)
            return steps
        final = below is not None and (alone or below.isdisjoint(self.bound))
        outer = None
        if alone:
            outer = (self.bound, self.log)
            self.bound, self.log = {}, []
        self.active.add(key)
        self.frames.append(_Frame(steps, pattern, expr, len(self.log), outer, final))
        return None

    def _leave(self, frame: _Frame, answer: bool) -> bool:
        key = (frame.pattern, frame.expr)
        self.active.discard(key)
        if answer:
            self._bind(*key)
        else:
            self.undo(frame.mark)
            if frame.final and not self.circular:
                self.matcher.failed.add(key)
        if frame.outer is not None:
            inner = self.log
            self.bound, self.log = frame.outer
            if answer:
                self.log.append(inner)
                if frame.final:
                    self.matcher.matched[key] = inner
        return answer

    def _bind(self, pattern: DFPattern, expr: Expr) -> None:
        self.bound[pattern] = expr
        self.log.append((pattern, expr))
