"""Random well-typed programs, generated together with the type of every expression.

    program = generate(7, size=60)
    program.module, program.types[program.module["main"].body]

The generator chooses a type first, and then generates an expression of that type, by typing rules of the
operators and the language that are stated here; it does not use type inference, so its types are an
independent check of inference. The programs use every construct of the language: functions, closures, `let`,
`if`, tuples, references, data types and `match`, generic functions, recursion, and shared expressions. They
terminate: recursion is over data, or counts down from a small number.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ..ir.adt import Clause, Constructor, Match, PatternConstructor, PatternTuple, PatternVar, PatternWildcard
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
    const,
)
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.types import Any, Dim, FuncType, RefType, TensorType, TupleType, Type, TypeCall
from ..ir.walk import children
from .data_types import DataTypes
from .tensor_calls import plain_tensor, tensor_call

BOOL, INT = TensorType((), "bool"), TensorType((), "int32")
UNIT = TupleType([])
DTYPES = ("float32", "float32", "float32", "float32", "int32", "bool", "float64")
MAX_DEPTH = 60  # levels of expressions, so that every traversal of a program may recurse


class Generated(NamedTuple):
    """A program, and the type of each of its expressions (except operators and generic functions, which have
    no single type).
    """

    module: IRModule
    types: dict[Expr, Type]


def generate(seed: int | random.Random, size: int = 40, closed: bool = False) -> Generated:
    """Generate a program of about `size` expressions (a few times as many at most), determined by `seed`. If
    `closed`, its `@main` takes no arguments, so that it can be run directly.
    """
    rng = seed if isinstance(seed, random.Random) else random.Random(seed)
    return Generator(rng, size).program(closed)


class Scope:
    """The expressions in scope: variables, and expressions that may be shared."""

    def __init__(self, variables: list[Var]) -> None:
        self.variables = variables
        self.shared: list[Expr] = []


class Generator:
    """Generates one program."""

    def __init__(self, rng: random.Random, size: int) -> None:
        self.rng = rng
        self.size = size
        self.budget = size
        self.depth = 0
        self.types: dict[Expr, Type] = {}
        self.effects: set[Expr] = set()  # expressions that may read or write references
        self.scopes: list[Scope] = [Scope([])]
        self.names = 0
        self.module = IRModule()
        self.data = DataTypes(self)

    # -- choices

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def shape(self, largest_rank: int = 3) -> tuple[int, ...]:
        return tuple(self.rng.choice([1, 2, 3, 4]) for _ in range(self.rng.randint(0, largest_rank)))

    def type(self, depth: int = 2) -> Type:
        """Choose a type for which to generate an expression."""
        kind = self.rng.random()
        if depth == 0 or kind < 0.6:
            shape: list[Dim] = list(self.shape())
            if shape and self.chance(0.06):
                shape[self.rng.randrange(len(shape))] = Any()
            return TensorType.of(tuple(shape), self.rng.choice(DTYPES))
        if kind < 0.75:
            return TupleType([self.type(depth - 1) for _ in range(self.rng.randint(0, 3))])
        if kind < 0.83:
            return FuncType(
                [self.type(depth - 1) for _ in range(self.rng.randint(0, 2))], self.type(depth - 1)
            )
        if kind < 0.9:
            return RefType(self.type(depth - 1))
        return self.data.type(depth - 1)

    # -- expressions

    def record(self, expr: Expr, type_: Type) -> Expr:
        """Record the type of a new expression, and whether it may be shared."""
        self.types[expr] = type_
        effect = isinstance(expr, (RefCreate, RefRead, RefWrite)) or (
            isinstance(expr, Call) and not isinstance(expr.op, (Op, Constructor))
        )
        if effect or any(part in self.effects for part in children(expr)):
            self.effects.add(expr)
        else:
            self.scopes[-1].shared.append(expr)
        return expr

    def var(self, type_: Type, annotate: bool) -> Var:
        """Create a new variable. One without an annotation must be used so that its type can be inferred."""
        self.names += 1
        variable = Var(self.rng.choice(["a", "b", "x", "y", f"v{self.names}"]), type_ if annotate else None)
        self.types[variable] = type_
        return variable

    @contextmanager
    def within(self, variables: list[Var], inside_function: bool = False) -> Iterator[None]:
        """Bring variables into scope. Inside a function, expressions outside of it are not shared."""
        outer = self.scopes
        visible = [Scope(s.variables) for s in outer] if inside_function else outer
        self.scopes = [*visible, Scope(variables)]
        try:
            yield
        finally:
            self.scopes = outer

    def expr(self, type_: Type) -> Expr:
        """Generate an expression of a type."""
        self.budget -= 1
        candidates = self.available(type_)
        if self.budget <= 0 or self.depth > MAX_DEPTH or (candidates and self.chance(0.3)):
            return self.rng.choice(candidates) if candidates and self.chance(0.8) else self.plain(type_)
        self.depth += 1
        try:
            return self.rng.choice(self.producers(type_))(type_)
        finally:
            self.depth -= 1

    def available(self, type_: Type) -> list[Expr]:
        """Return the variables and shared expressions of a type that are in scope."""
        exprs: list[Expr] = []
        for scope in self.scopes:
            exprs += [v for v in scope.variables if self.types[v] == type_]
            exprs += [e for e in scope.shared if self.types[e] == type_]
        return exprs

    def producers(self, type_: Type) -> list[Callable[[Type], Expr]]:
        """Return the functions that generate an expression of a type, common ones several times."""
        producers: list[Callable[[Type], Expr]] = [self.let, self.let, self.let, self.branch, self.projection]
        producers += [
            self.call,
            self.applied,
            self.counted,
            self.matched,
            self.tuple_matched,
            self.read,
            self.reference,
        ]
        producers += [self.data.consumed, self.data.generic, self.data.alternated]
        if isinstance(type_, TensorType):
            tensor = type_
            return producers + [lambda _: tensor_call(self, tensor)] * 14
        return producers + [self.plain] * 8

    def plain(self, type_: Type) -> Expr:
        """Generate an expression of a type from its parts."""
        match type_:
            case TensorType():
                return plain_tensor(self, type_)
            case TupleType():
                return self.record(Tuple([self.expr(f) for f in type_.fields]), type_)
            case FuncType():
                return self.function(list(type_.arg_types), type_.ret_type)
            case RefType():
                return self.record(RefCreate(self.expr(type_.value)), type_)
            case TypeCall():
                return self.data.value(type_)
        raise TypeError(f"cannot generate an expression of type {type_}")

    # -- functions

    def function(self, params: list[Type], result: Type, annotate: bool = True) -> Function:
        variables = [self.var(p, annotate) for p in params]
        with self.within(variables, inside_function=True):
            body = self.expr(result)
        ret = result if self.chance(0.3) else None
        function = Function(variables, body, ret)
        self.record(function, FuncType(params, result))
        return function

    def call(self, type_: Type) -> Expr:
        """Generate a call of a function value, or of a function of the module."""
        params = [self.type(1) for _ in range(self.rng.randint(0, 2))]
        callees = [f for f in self.data.globals if f.result == type_]
        if callees and self.chance(0.7):
            callee = self.rng.choice(callees)
            args = [self.expr(p) for p in callee.params]
            return self.record(Call(callee.var, args), type_)
        function = self.expr(FuncType(params, type_))
        return self.record(Call(function, [self.expr(p) for p in params]), type_)

    def applied(self, type_: Type) -> Expr:
        """Generate a function that is called immediately, so that its parameters need no annotations."""
        params = [self.type(1) for _ in range(self.rng.randint(1, 2))]
        function = self.function(params, type_, annotate=False)
        return self.record(Call(function, [self.expr(p) for p in params]), type_)

    def counted(self, type_: Type) -> Expr:
        """Generate a local function that calls itself a small number of times."""
        loop_type = FuncType([INT, type_], type_)
        loop = self.var(loop_type, self.chance(0.3))
        function = self.counting(loop, type_)
        self.record(function, loop_type)
        start = self.record(Call(loop, [self.number(self.rng.randint(0, 3)), self.expr(type_)]), type_)
        return self.record(Let(loop, function, start), type_)

    def counting(self, callee: Expr, type_: Type) -> Function:
        """Generate a function of a count and a state that calls `callee`, which has the same type, with a
        decremented count, down to 0.
        """
        count, state = self.var(INT, True), self.var(type_, True)
        with self.within([state], inside_function=True):
            stop = self.record(Call(Op.get("less_equal"), [count, self.number(0)]), BOOL)
            less = self.record(Call(Op.get("subtract"), [count, self.number(1)]), INT)
            with self.within([]):
                again = self.record(Call(callee, [less, self.expr(type_)]), type_)
            body = self.record(If(stop, state, again), type_)
        # A recursive function is annotated with its result type, because inference visits the calls first.
        return Function([count, state], body, type_)

    def number(self, value: int) -> Expr:
        constant = const(value, "int32")
        self.types[constant] = INT
        return constant

    # -- other constructs

    def let(self, type_: Type) -> Expr:
        inner = self.type()
        with self.within([]):
            value = self.expr(inner)
        variable = self.var(inner, self.chance(0.3))
        with self.within([variable]):
            body = self.expr(type_)
        return self.record(Let(variable, value, body), type_)

    def branch(self, type_: Type) -> Expr:
        condition = self.expr(BOOL)
        with self.within([]):
            yes = self.expr(type_)
        with self.within([]):
            no = self.expr(type_)
        return self.record(If(condition, yes, no), type_)

    def projection(self, type_: Type) -> Expr:
        fields = [self.type(1) for _ in range(self.rng.randint(1, 3))]
        at = self.rng.randrange(len(fields))
        fields[at] = type_
        return self.record(TupleGetItem(self.expr(TupleType(fields)), at), type_)

    def read(self, type_: Type) -> Expr:
        return self.record(RefRead(self.expr(RefType(type_))), type_)

    def reference(self, type_: Type) -> Expr:
        """Generate a reference that is created, written and read."""
        cell = self.var(RefType(type_), self.chance(0.3))
        start = self.record(RefCreate(self.expr(type_)), RefType(type_))
        with self.within([cell]):
            write = self.record(RefWrite(cell, self.expr(type_)), UNIT)
            nothing = self.var(UNIT, self.chance(0.3))
            read = self.record(RefRead(cell), type_)
        rest = self.record(Let(nothing, write, read), type_)
        return self.record(Let(cell, start, rest), type_)

    def tuple_matched(self, type_: Type) -> Expr:
        """Generate a match on a tuple."""
        fields = [self.type(1) for _ in range(self.rng.randint(1, 3))]
        data = self.expr(TupleType(fields))
        variables = [self.var(f, False) for f in fields]
        parts = [PatternVar(v) if self.chance(0.8) else PatternWildcard() for v in variables]
        with self.within([p.var for p in parts if isinstance(p, PatternVar)]):
            body = self.expr(type_)
        return self.record(Match(data, [Clause(PatternTuple(parts), body)]), type_)

    def matched(self, type_: Type) -> Expr:
        """Generate a match with a clause for every constructor, or a last one for all others."""
        data_type = self.data.type(1)
        data = self.expr(data_type)
        clauses = []
        constructors = self.data.constructors(data_type)
        last = self.rng.randrange(len(constructors)) if self.chance(0.3) else len(constructors)
        for constructor, inputs in constructors[:last]:
            parts = [
                PatternVar(self.var(t, False)) if self.chance(0.8) else PatternWildcard() for t in inputs
            ]
            with self.within([p.var for p in parts if isinstance(p, PatternVar)]):
                clauses.append(Clause(PatternConstructor(constructor, parts), self.expr(type_)))
        if last < len(constructors):
            with self.within([]):
                clauses.append(Clause(PatternWildcard(), self.expr(type_)))
        return self.record(Match(data, clauses), type_)

    # -- the program

    def program(self, closed: bool) -> Generated:
        helpers = self.rng.randint(0, 2)
        for _ in range(helpers):
            self.budget = self.size // (helpers + 1)
            self.data.define([self.type() for _ in range(self.rng.randint(0, 2))], self.type())
        self.budget = self.size
        params = [] if closed else [self.type() for _ in range(self.rng.randint(0, 3))]
        self.data.define(params, self.type(), "main")
        return Generated(self.module, self.types)
