"""Groups: the non-overlapping parts of a program that a pattern matches.

Rewriting and partitioning search for groups from the program's result back to its inputs. Of two matches that
overlap, the one nearer to the result, usually the larger one, is therefore taken. A group is closed: its
intermediate expressions are used only inside it, or by expressions that its root post-dominates.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..ir.adt import Constructor, Match
from ..ir.expr import Call, Constant, Expr, Function, GlobalVar, If, Let, Tuple, TupleGetItem, Var
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.walk import children, post_order, rebuild
from .matching import Matcher, NodeMap
from .patterns import (
    CallPattern,
    ConstantPattern,
    DFPattern,
    DominatorPattern,
    ExprPattern,
    FunctionPattern,
    LetPattern,
    TuplePattern,
    pattern_order,
)

PARTITIONED = "PartitionedFromPattern"  # the attribute of functions that `partition` creates


# These never become arguments of a group: operators, constructors and global names mean the same everywhere,
# and functions stay inside the group.
INSIDE = (Op, Constructor, GlobalVar, Function)


class Group(NamedTuple):
    """A match of a pattern, with the group as a function. `root` is the matched expression, and `bound` maps
    each part of the pattern to the expressions that it matched. `params` replace `args`, expressions outside
    the group; `body` is a copy of the group, and `name` lists its operators.
    """

    root: Expr
    bound: NodeMap
    params: tuple[Var, ...]
    args: tuple[Expr, ...]
    body: Expr
    name: str


def find_groups(pattern: DFPattern, root: Expr, module: IRModule | None = None) -> dict[Expr, Group]:
    """Find the groups in `root` that match `pattern`; return them by their roots."""
    return _Finder(pattern, root, module).run()


class _Finder:
    def __init__(self, pattern: DFPattern, root: Expr, module: IRModule | None) -> None:
        self.matcher = Matcher(pattern, root, module)
        self.order = post_order(root)
        self.parts = pattern_order(pattern)
        self.taken: set[Expr] = set()  # expressions that are inside a group
        self.groups: dict[Expr, Group] = {}
        self._users: dict[Expr, list[Expr]] | None = None

    def run(self) -> dict[Expr, Group]:
        partitioned: set[Expr] = set()
        for node in reversed(self.order):
            if node in self.taken or node in partitioned:
                continue
            if isinstance(node, Function) and PARTITIONED in node.attrs:
                partitioned.update(post_order(node))
                continue
            bound = self.matcher.match(node)
            if bound is not None:
                self._make(node, bound)
        return self.groups

    def _make(self, root: Expr, bound: NodeMap) -> None:
        """Add the group of a match, if it overlaps no other group and is closed."""
        params: dict[Expr, Var] = {}
        for arg in self._arguments(bound):
            params.setdefault(arg, Var(f"FunctionVar_{len(self.groups)}_{len(params)}"))
        inside = self._inside(root, params)
        if inside is None or not self._closed(root, inside, params):
            return
        memo: dict[Expr, Expr] = dict(params)
        for node in inside:
            memo[node] = rebuild(node, [memo[part] for part in children(node)])
        self.taken.update(inside)
        name = "".join(map(_label, inside))
        self.groups[root] = Group(root, bound, tuple(params.values()), tuple(params), memo[root], name)

    def _arguments(self, bound: NodeMap) -> Iterator[Expr]:
        """Iterate over the inputs of the group in the order of the pattern: the expressions that the
        pattern's leaves matched, and the operands of calls and tuples for which the pattern accepts any
        operands. Constants that the pattern requires stay inside.
        """
        within = self._within(bound)
        for part in self.parts:
            for expr in bound.get(part, ()):
                if isinstance(part, CallPattern) and part.args is None and isinstance(expr, Call):
                    inputs: tuple[Expr, ...] = expr.args
                elif isinstance(part, TuplePattern) and part.fields is None and isinstance(expr, Tuple):
                    inputs = expr.fields
                elif part.parts():
                    continue
                else:
                    inputs = (expr,)
                for arg in inputs:
                    if arg not in within and not isinstance(arg, INSIDE) and not _embedded(part, arg):
                        yield arg

    def _within(self, bound: NodeMap) -> set[Expr]:
        """Return the expressions that are inside although a leaf of the pattern matched them: the paths of
        dominator patterns, the bodies of functions, and variables that the group binds.
        """
        inside: set[Expr] = set()
        for part in self.parts:
            exprs = bound.get(part, [])
            if isinstance(part, DominatorPattern):
                for step in (part.parent, part.path):
                    inside.update(bound.get(step, ()))
            elif isinstance(part, FunctionPattern):
                for expr in exprs:
                    if expr not in inside:
                        inside.update(post_order(expr))
            elif isinstance(part, LetPattern):
                inside.update([expr.var for expr in exprs if isinstance(expr, Let)])
        return inside

    def _inside(self, root: Expr, params: dict[Expr, Var]) -> list[Expr] | None:
        """Return the expressions that `root` reaches without passing through an argument, in post-order; None
        if one of them is in another group.
        """
        if root in params:
            return []
        done: list[Expr] = []
        visited = {root}
        stack = [(root, iter(children(root)))]
        while stack:
            node, rest = stack[-1]
            for part in rest:
                if part not in visited and part not in params:
                    if part in self.taken and not isinstance(part, (*INSIDE, Constant)):
                        return None
                    visited.add(part)
                    stack.append((part, iter(children(part))))
                    break
            else:
                done.append(node)
                stack.pop()
        return done

    def _closed(self, root: Expr, inside: list[Expr], params: dict[Expr, Var]) -> bool:
        """Return whether the intermediate expressions are used only inside the group, or by expressions that
        `root` post-dominates.
        """
        members = set(inside)
        for node in inside:
            if node is root or isinstance(node, (*INSIDE, Constant)):
                continue
            for user in self.users[node]:
                if user not in members and not self.matcher.dominators.dominates(root, user):
                    return False
        return True

    @property
    def users(self) -> dict[Expr, list[Expr]]:
        """The users of each expression."""
        if self._users is None:
            self._users = {node: [] for node in self.order}
            for node in self.order:
                for part in children(node):
                    self._users[part].append(node)
        return self._users


def _embedded(part: DFPattern, arg: Expr) -> bool:
    """Return whether the pattern requires a constant here, rather than allowing one."""
    if not isinstance(arg, Constant):
        return False
    return isinstance(part, ConstantPattern) or (
        isinstance(part, ExprPattern) and isinstance(part.expr, Constant)
    )


def _label(node: Expr) -> str:
    """Return the part of a group's name that an expression contributes; the names are TVM's."""
    match node:
        case Call(op=Op(name=name)):
            return f"{name}_"
        case Call():
            return "Call_"
        case TupleGetItem():
            return f"TupleGetItem{node.index}_"
        case Function():
            return "Function"
        case Tuple() | Let() | If() | Match():
            return f"{type(node).__name__}_"
    return ""
