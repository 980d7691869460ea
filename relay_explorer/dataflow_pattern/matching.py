"""Matching: does an expression look as a pattern says, and which part is which?

Each kind of pattern has a small generator below that says what must match: it yields a pattern and an
expression, and is sent the answer. `Search.run` keeps the waiting generators in a list, since patterns that
recurse go as deep as programs do. A pattern that has matched is bound to its expression, and must be the same
one when it is met again; what was bound is undone where a larger pattern fails.

The search commits: of `p | q` the second is tried only where the first fails *there*, not where something
fails later on. So it takes a number of steps that depends on the pattern, not on the program around it.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from ..analysis.dominators import DominatorTree, post_dominators
from ..ir.expr import Expr, unwrapped
from ..ir.module import IRModule
from .kinds import Request, Steps, may_match, steps_for
from .patterns import DFPattern, ExprPattern, pattern_order
from .typed import Types

NodeMap = dict[DFPattern, list[Expr]]
__all__ = ["Matcher", "NodeMap", "match"]


def match(pattern: DFPattern, expr: Expr) -> bool:
    """Whether `expr` itself, not something in it, matches `pattern`."""
    expr = unwrapped(expr)
    if not isinstance(expr, Expr):
        raise TypeError(f"a pattern matches an expression, as mod['main'].body, not a {type(expr).__name__}")
    return Matcher(pattern, expr).match(expr) is not None


class Matcher:
    """Matches `pattern` against expressions in `root`; what is learnt of `root` is kept between them."""

    def __init__(self, pattern: DFPattern, root: Expr, module: IRModule | None = None) -> None:
        if not isinstance(pattern, DFPattern):
            raise TypeError(f"this is no pattern: {pattern!r:.60}")
        self.pattern = pattern
        self.root = root
        self.types = Types(root, module)
        self.below = _recursive(pattern)
        # Pairs that cannot match, whatever else does. Only for patterns that contain themselves: with others
        # looking again costs a fixed number of steps.
        self.failed: set[tuple[DFPattern, Expr]] = set()

    @cached_property
    def dominators(self) -> DominatorTree[Expr]:
        """The post-dominators of `root`."""
        return post_dominators(self.root)

    def match(self, expr: Expr) -> NodeMap | None:
        """What each part of the pattern matched, where `expr` matches; otherwise None."""
        if not may_match(self.pattern, expr):
            return None
        search = Search(self)
        return search.bound if search.run(self.pattern, expr) else None


def _recursive(pattern: DFPattern) -> dict[DFPattern, frozenset[DFPattern]]:
    """The patterns that contain themselves, each with what it contains, operators and the like left out."""
    order = pattern_order(pattern)
    place = {p: k for k, p in enumerate(order)}
    if all(place[part] < place[p] for p in order for part in p.parts()):
        return {}
    within = {p: frozenset(pattern_order(p)) for p in order}
    return {
        p: frozenset(q for q in within[p] if not isinstance(q, ExprPattern))
        for p in order
        if any(p in within[part] for part in p.parts())
    }


class _Frame(NamedTuple):
    """A pattern that waits for the answer of one of its parts."""

    steps: Steps
    pattern: DFPattern
    expr: Expr
    mark: int  # how long the trail was when it began
    outer: tuple[NodeMap, list[DFPattern]] | None  # of what is matched on its own: the bindings around it
    final: bool  # whether a failure does not depend on what is bound


class Search:
    """One match under way. `bound` says what each pattern has matched, `trail` in which order."""

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher
        self.bound: NodeMap = {}
        self.trail: list[DFPattern] = []
        self.frames: list[_Frame] = []
        self.active: set[tuple[DFPattern, Expr]] = set()
        self.circular = False

    def run(self, pattern: DFPattern, expr: Expr) -> bool:
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

    def _enter(self, pattern: DFPattern, expr: Expr, alone: bool) -> bool | None:
        """Whether `expr` matches, or None where that takes more steps."""
        if not alone:
            known = self.bound.get(pattern)
            if known is not None:
                return any(found is expr for found in known)
        if not may_match(pattern, expr):
            return False
        key = (pattern, expr)
        if key in self.active:  # a pattern that asks itself the same question gets no further by it
            self.circular = True
            return False
        below = self.matcher.below.get(pattern)
        if below is not None and key in self.matcher.failed:
            return False
        steps = steps_for(pattern, expr, self)
        if isinstance(steps, bool):
            if steps:
                self._bind(pattern, [expr])
            return steps
        final = below is not None and (alone or below.isdisjoint(self.bound))
        outer = None
        if alone:
            outer = (self.bound, self.trail)
            self.bound, self.trail = {}, []
        self.active.add(key)
        self.frames.append(_Frame(steps, pattern, expr, len(self.trail), outer, final))
        return None

    def _leave(self, frame: _Frame, answer: bool) -> bool:
        self.active.discard((frame.pattern, frame.expr))
        if answer:
            self._bind(frame.pattern, [frame.expr])
        else:
            self.undo(frame.mark)
            if frame.final and not self.circular:
                self.matcher.failed.add((frame.pattern, frame.expr))
        if frame.outer is not None:
            inner = self.bound
            self.bound, self.trail = frame.outer
            for pattern, found in inner.items():
                self._bind(pattern, found)
        return answer

    def _bind(self, pattern: DFPattern, found: list[Expr]) -> None:
        known = self.bound.setdefault(pattern, [])
        for expr in found:
            if not (known and known[-1] is expr):
                known.append(expr)
                self.trail.append(pattern)

    def mark(self) -> int:
        """For `undo`: how much has been bound so far."""
        return len(self.trail)

    def undo(self, mark: int) -> None:
        """Forgets what has been bound since."""
        while len(self.trail) > mark:
            pattern = self.trail.pop()
            found = self.bound[pattern]
            found.pop()
            if not found:
                del self.bound[pattern]
