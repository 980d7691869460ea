"""Place shared expressions in scopes: decide which get a number (`%0`), and where each is written.

An expression is written in place where it ends a scope (a body, a branch, the value of a `let`) and is used
once. Any other that is not a name or a constant is a graph binding, `%0 = …`. It is written in the innermost
scope that contains all its uses, so a node shared by two branches is written before the `if`. Numbers follow
the order of TVM 0.14: an operand gets its number when the expression that uses it is reached.
"""

from __future__ import annotations

from typing import Protocol

from .adt import Clause, Constructor, Match, pattern_vars
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
from .trampoline import Steps, run

LEAVES = frozenset((Var, Constant, GlobalVar, Op, Constructor))


class Binders(Protocol):
    """The interface through which the walk reports binders and uses of variables, in their order."""

    def enter(self, binder: Function | Let | Clause) -> None: ...
    def used(self, variable: Var) -> None: ...


class Scope:
    """A region of the program in which names are visible; `bindings` are the graph bindings written there.

    `far` is an ancestor many levels up, chosen so that any ancestor is found in logarithmic time (Myers'
    skew-binary jump pointers): chains of `let` are deep.
    """

    __slots__ = ("bindings", "depth", "far", "parent")

    def __init__(self, parent: Scope | None) -> None:
        self.bindings: list[Expr] = []
        self.parent: Scope = parent or self
        self.far: Scope = self
        self.depth = 0
        if parent is not None:
            self.depth = parent.depth + 1
            other = parent.far
            even = parent.depth - other.depth == other.depth - other.far.depth
            self.far = other.far if even else parent


def common(a: Scope, b: Scope) -> Scope:
    """Return the innermost scope that contains both."""
    while a.depth > b.depth:
        a = a.far if a.far.depth >= b.depth else a.parent
    while b.depth > a.depth:
        b = b.far if b.far.depth >= a.depth else b.parent
    while a is not b:
        if a.far is not b.far:
            a, b = a.far, b.far
        else:
            a, b = a.parent, b.parent
    return a


class Layout:
    """The scopes and numbers of one printed expression. `first` is the first number to use."""

    def __init__(self, root: Expr, binders: Binders, first: int = 0) -> None:
        self.binders = binders
        self.root = Scope(None)
        self.numbers: dict[int, int] = {}
        self.inner: dict[
            tuple[int, int], Scope
        ] = {}  # by expression and index: the scopes that an expression opens
        self._uses: dict[int, int] = {}
        self._ends: set[int] = set()  # expressions that end a scope somewhere
        self.order: list[Expr] = []  # each after its operands
        self._numbered: list[Expr] = []  # in the order in which numbers are assigned
        if self._reach(root, True):
            run(self._visit(root))
        self.scope_of = scope_of = self._scopes(root)
        self.next = first
        for node in self._numbered:
            if id(node) not in self.numbers and not self.in_place(node):
                self.numbers[id(node)] = self.next
                self.next += 1
                scope_of[id(node)].bindings.append(node)

    def in_place(self, node: Expr) -> bool:
        """Whether `node` is written at its use."""
        key = id(node)
        return node.__class__ in LEAVES or (key in self._ends and self._uses[key] == 1)

    def _reach(self, node: Expr, ends: bool = False) -> bool:
        """Count a use; return whether the node is still to be visited."""
        if node.__class__ in LEAVES:
            if isinstance(node, Var):
                self.binders.used(node)
            return False
        key = id(node)
        if ends:
            self._ends.add(key)
        count = self._uses.get(key, 0)
        self._uses[key] = count + 1
        return count == 0

    def _visit(self, node: Expr) -> Steps[None]:
        if isinstance(node, Call):
            yield self._operands((node.op, *node.args), (*node.args, node.op))
        elif isinstance(node, Tuple):
            yield self._operands(node.fields, node.fields)
        elif isinstance(node, TupleGetItem):
            yield self._operands((node.tuple_value,), (node.tuple_value,))
        elif isinstance(node, Let):
            yield self._lets(node)
            return
        elif isinstance(node, Function):
            self.binders.enter(node)
            yield self._operand(node.body, True)
        elif isinstance(node, Match):
            yield self._operand(node.data)
            for clause in node.clauses:
                self.binders.enter(clause)
                yield self._operand(clause.rhs, True)
        else:
            for part, ends in _parts(node):
                yield self._operand(part, ends)
        self.order.append(node)

    def _operands(self, visited: tuple[Expr, ...], numbered: tuple[Expr, ...]) -> Steps[None]:
        for part in visited:
            if self._reach(part):
                yield self._visit(part)
        self._numbered += [part for part in numbered if part.__class__ not in LEAVES]

    def _operand(self, part: Expr, ends: bool = False) -> Steps[None]:
        if self._reach(part, ends):
            yield self._visit(part)
        self._numbered.append(part)

    def _lets(self, node: Expr) -> Steps[None]:
        """Visit a chain of lets without recursion."""
        chain: list[Let] = []
        while isinstance(node, Let):
            chain.append(node)
            self.binders.enter(node)
            yield self._operand(node.value, True)
            node = node.body
            if not self._reach(node, True):
                break
        else:
            yield self._visit(node)
        for let in reversed(chain):
            self._numbered.append(let.body)
            self.order.append(let)

    def _scopes(self, root: Expr) -> dict[int, Scope]:
        """Compute the scope of every visited expression: the innermost that contains all its uses.

        In the reversed order, users come before their operands.
        """
        scopes: dict[int, Scope] = {id(root): self.root}
        for node in reversed(self.order):
            here = scopes[id(node)]
            for number, (part, ends) in enumerate(_parts(node)):
                scope = here
                if ends and not (number == 0 and isinstance(node, Let)):
                    scope = self.inner[id(node), number] = Scope(here)
                if part.__class__ not in LEAVES:
                    before = scopes.get(id(part))
                    scopes[id(part)] = scope if before is None else common(before, scope)
        return scopes


def _parts(node: Expr) -> list[tuple[Expr, bool]]:
    """Return the operands of an expression, and whether each ends a scope.

    Each operand that does, except the value of a `let`, has a scope of its own.
    """
    match node:
        case Call():
            return [(node.op, False), *((a, False) for a in node.args)]
        case Tuple():
            return [(f, False) for f in node.fields]
        case TupleGetItem():
            return [(node.tuple_value, False)]
        case Let():
            return [(node.value, True), (node.body, True)]
        case Function():
            return [(node.body, True)]
        case If():
            return [(node.cond, False), (node.true_branch, True), (node.false_branch, True)]
        case Match():
            return [(node.data, False), *((c.rhs, True) for c in node.clauses)]
        case RefCreate():
            return [(node.value, False)]
        case RefRead():
            return [(node.ref, False)]
        case RefWrite():
            return [(node.ref, False), (node.value, False)]
    return []


class NoNames:
    def enter(self, binder: Function | Let | Clause) -> None: ...
    def used(self, variable: Var) -> None: ...


def escaped_variable(root: Expr) -> Var | None:
    """Return a variable that is used where it is not in scope, if there is one.

    Nodes that are shared across scopes can carry a variable out of its scope.
    """
    layout = Layout(root, NoNames())
    home: dict[Var, Scope] = {}
    for node in layout.order:
        if isinstance(node, Function):
            home.update(dict.fromkeys(node.params, layout.inner[id(node), 0]))
        elif isinstance(node, Let):
            # A function may call itself through the variable, so the value is in the variable's scope.
            home[node.var] = layout.scope_of[id(node)]
        elif isinstance(node, Match):
            for number, clause in enumerate(node.clauses, 1):
                home.update(dict.fromkeys(pattern_vars(clause.lhs), layout.inner[id(node), number]))
    for node in layout.order:
        here = layout.scope_of[id(node)]
        for number, (part, _) in enumerate(_parts(node)):
            if isinstance(part, Var) and part in home:
                scope = layout.inner.get((id(node), number), here)
                if common(scope, home[part]) is not home[part]:
                    return part
    return None
