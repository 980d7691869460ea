"""Compile a function to straight-line code, which the interpreter runs.

Every expression has a slot in its function's frame. It is computed once per activation, in the innermost
scope that contains all its uses (so a value shared by both branches of an `if` is computed before it), after
its operands, and from left to right. Branches are blocks of their own; a closure copies the slots that it
uses.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Any, NamedTuple

from ..ir.adt import Constructor, Match, Pattern, pattern_vars
from ..ir.errors import RelayError
from ..ir.expr import (
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
from ..ir.op import Op
from ..ir.scopes import Layout, NoNames, Scope


class Kind(IntEnum):
    """The kinds of instructions."""

    OPERATOR = 1
    CALL = 2
    TUPLE = 3
    FIELD = 4
    CLOSURE = 5
    IF = 6
    MATCH = 7
    REF = 8
    READ = 9
    WRITE = 10


class Instruction(NamedTuple):
    """An instruction: it computes slot `target` from the slots `operands`, as `kind` says; `detail` depends
    on the kind.
    """

    kind: Kind
    target: int
    operands: tuple[int, ...]
    detail: Any
    node: Expr


class Block:
    """Instructions, and the slot of their result."""

    __slots__ = ("instructions", "result")

    def __init__(self) -> None:
        self.instructions: list[Instruction] = []
        self.result = -1


class ClauseCode(NamedTuple):
    """A clause of a match: the pattern, the slots of its variables, and the code of its right side."""

    pattern: Pattern
    slots: dict[Var, int]
    block: Block


class Code:
    """A function's code. A frame has `size` slots: parameters first, then the captured values, then the
    rest.
    """

    def __init__(self, function: Function, parent: Code | None) -> None:
        self.function = function
        self.parent = parent
        self.block = Block()
        self.slots: dict[Expr, int] = {}
        self.captures: list[tuple[int, int]] = []  # slot in the frame that creates the closure, slot here
        self.constants: list[tuple[int, Expr]] = []  # slots that are filled when a frame is created
        self.size = 0
        for param in function.params:
            self.new_slot(param)

    def new_slot(self, expr: Expr) -> int:
        self.slots[expr] = self.size
        self.size += 1
        return self.size - 1


def compile_function(function: Function) -> Code:
    """Compile a function without free variables to the interpreter's code."""
    return _Compiler(function).compile()


class _Compiler:
    def __init__(self, function: Function) -> None:
        self.root = function
        self.layout = Layout(function, NoNames())
        self.alias: dict[Expr, Expr] = {}  # a let stands for its body, its variable for its value
        self.nodes: dict[Scope, list[Expr]] = {}
        for node in self.layout.order:
            self.nodes.setdefault(self.layout.scope_of[id(node)], []).append(node)
            if isinstance(node, Let):
                self.alias[node] = node.body
                self.alias[node.var] = node.value
        self.owner: dict[Expr, Code] = {}
        self.pending: list[tuple[Scope, Expr, Block, Code]] = []

    def compile(self) -> Code:
        code = self._function(self.root, None)
        while self.pending:
            scope, result, block, owner = self.pending.pop()
            for node in self._in_order(scope):
                self._emit(node, block, owner)
            block.result = self._slot(result, owner)
        return code

    def _in_order(self, scope: Scope) -> Iterator[Expr]:
        """Iterate over the nodes of a scope, with those of a let's body in place of the let."""
        stack = [iter(self.nodes.get(scope, ()))]
        while stack:
            node = next(stack[-1], None)
            if node is None:
                stack.pop()
            elif isinstance(node, Let):
                stack.append(iter(self.nodes.get(self.layout.inner[id(node), 1], ())))
            else:
                yield node

    def _function(self, function: Function, parent: Code | None) -> Code:
        code = Code(function, parent)
        for param in function.params:
            self.owner[param] = code
        self.pending.append((self.layout.inner[id(function), 0], function.body, code.block, code))
        return code

    # -- slots

    def _resolve(self, expr: Expr) -> Expr:
        while expr in self.alias:
            expr = self.alias[expr]
        return expr

    def _slot(self, expr: Expr, code: Code) -> int:
        """Return the slot of an operand; those of constants and global names are filled when a frame is
        created.
        """
        expr = self._resolve(expr)
        if isinstance(expr, (Constant, Op, Constructor, GlobalVar)):
            slot = code.slots.get(expr)
            if slot is None:
                slot = code.new_slot(expr)
                code.constants.append((slot, expr))
            return slot
        return self._own_slot(expr, code)

    def _own_slot(self, expr: Expr, code: Code) -> int:
        """Return the slot of a value in a function's frame; a value of an outer function is captured."""
        existing = code.slots.get(expr)
        if existing is not None:
            return existing
        owner = self.owner.get(expr)
        if owner is None:
            name = f"`%{expr.name_hint}`" if isinstance(expr, Var) else "a value"
            raise RelayError(f"{name} is used where it is not defined", expr.span)
        if owner is code or code.parent is None:
            return code.new_slot(expr)
        outer = self._own_slot(expr, code.parent)
        slot = code.new_slot(expr)
        code.captures.append((outer, slot))
        return slot

    # -- instructions

    def _emit(self, node: Expr, block: Block, code: Code) -> None:
        self.owner[node] = code
        kind, parts, detail = self._instruction(node, code)
        operands = tuple([self._slot(p, code) for p in parts])
        block.instructions.append(Instruction(kind, self._own_slot(node, code), operands, detail, node))

    def _instruction(self, node: Expr, code: Code) -> tuple[Kind, tuple[Expr, ...], Any]:
        match node:
            case Call() if isinstance(node.op, Op):
                return Kind.OPERATOR, node.args, (node.op, node.attrs)
            case Call():
                return Kind.CALL, (node.op, *node.args), None
            case Tuple():
                return Kind.TUPLE, node.fields, None
            case TupleGetItem():
                return Kind.FIELD, (node.tuple_value,), node.index
            case Function():
                return Kind.CLOSURE, (), self._function(node, code)
            case If():
                return Kind.IF, (node.cond,), (self._branch(node, 1, code), self._branch(node, 2, code))
            case Match():
                return Kind.MATCH, (node.data,), self._clauses(node, code)
            case RefCreate():
                return Kind.REF, (node.value,), None
            case RefRead():
                return Kind.READ, (node.ref,), None
            case RefWrite():
                return Kind.WRITE, (node.ref, node.value), None
        raise RelayError(f"a {type(node).__name__} cannot be run", node.span)

    def _branch(self, node: If | Match, number: int, code: Code) -> Block:
        block = Block()
        result = (
            node.clauses[number - 1].rhs
            if isinstance(node, Match)
            else (node.true_branch, node.false_branch)[number - 1]
        )
        self.pending.append((self.layout.inner[id(node), number], result, block, code))
        return block

    def _clauses(self, node: Match, code: Code) -> list[ClauseCode]:
        clauses = []
        for number, clause in enumerate(node.clauses, 1):
            slots = {}
            for var in pattern_vars(clause.lhs):
                self.owner[var] = code
                slots[var] = code.new_slot(var)
            clauses.append(ClauseCode(clause.lhs, slots, self._branch(node, number, code)))
        return clauses
