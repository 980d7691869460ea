"""The data types and global functions of random programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..ir.adt import Clause, Constructor, Match, PatternConstructor, PatternVar, TypeData
from ..ir.expr import Call, Expr, Function, GlobalVar, Var
from ..ir.substitute import substitute_type
from ..ir.types import FuncType, GlobalTypeVar, TensorType, Type, TypeCall, TypeVar

if TYPE_CHECKING:
    from .generator import Generator


class ModuleFunction(NamedTuple):
    """A function of the module that calls may use."""

    var: GlobalVar
    params: tuple[Type, ...]
    result: Type


class DataTypes:
    """Declares types and functions in the generator's module when they are needed."""

    def __init__(self, generator: Generator) -> None:
        self.generator = generator
        self.rng = generator.rng
        self.globals: list[ModuleFunction] = []
        self.generics: dict[str, GlobalVar] = {}
        self.folds: dict[tuple[Type, Type], GlobalVar] = {}
        self.named = 0
        self.declared: dict[str, TypeData] = {}

    # -- declarations

    def declare(self, name: str) -> TypeData:
        """Return a declaration by name, added to the module at its first use."""
        if name in self.declared:
            return self.declared[name]
        header = GlobalTypeVar(name)
        if name == "Shade":
            plain = TensorType.of((), "float32")
            data = TypeData(
                header, [], [Constructor("Grey", [plain], header), Constructor("Black", [], header)]
            )
        else:
            a = TypeVar("A")
            itself = TypeCall(header, [a])
            cases: dict[str, dict[str, Sequence[Type]]] = {
                "List": {"Cons": [a, itself], "Nil": []},
                "Maybe": {"Just": [a], "Nothing": []},
                "Tree": {"Node": [itself, a, itself], "Leaf": []},
            }
            data = TypeData(
                header, [a], [Constructor(n, inputs, header) for n, inputs in cases[name].items()]
            )
        self.declared[name] = data
        self.generator.module.add_type(header, data)
        return data

    def type(self, depth: int) -> TypeCall:
        """Choose a data type with random arguments."""
        data = self.declare(self.rng.choice(["List", "List", "Maybe", "Tree", "Shade"]))
        return TypeCall(data.header, [self.generator.type(depth) for _ in data.type_vars])

    def constructors(self, type_: TypeCall) -> list[tuple[Constructor, list[Type]]]:
        """Return the constructors of a data type, each with its instantiated argument types."""
        assert isinstance(type_.func, GlobalTypeVar)  # `type` generates no other
        data = self.generator.module.type_definitions[type_.func]
        replaced = dict(zip(data.type_vars, type_.args))
        return [(c, [substitute_type(i, replaced) for i in c.inputs]) for c in data.constructors]

    def value(self, type_: TypeCall) -> Expr:
        """Generate a value of a data type: while there is budget, often with the constructor that has more
        parts.
        """
        cases = self.constructors(type_)
        constructor, inputs = (
            cases[0] if self.generator.budget > 0 and self.generator.chance(0.6) else cases[-1]
        )
        # Without arguments, only the type arguments determine the type.
        type_args = type_.args if not inputs or self.generator.chance(0.3) else ()
        args = [self.generator.expr(i) for i in inputs]
        return self.generator.record(Call(constructor, args, None, type_args), type_)

    # -- functions of the module

    def define(self, params: Sequence[Type], result: Type, name: str = "") -> ModuleFunction:
        """Define a new function of the module with a random body."""
        generator = self.generator
        var = GlobalVar(name or f"f{len(self.globals)}")
        variables = [generator.var(p, True) for p in params]
        with generator.within(variables, inside_function=True):
            body = generator.expr(result)
        function = Function(variables, body, result if generator.chance(0.5) else None)
        generator.types[function] = FuncType(params, result)
        generator.module[var] = function
        entry = ModuleFunction(var, tuple(params), result)
        self.globals.append(entry)
        return entry

    def generic(self, type_: Type) -> Expr:
        """Generate a call of a generic function: `@first`, or `@map` for a list."""
        generator = self.generator
        if (
            isinstance(type_, TypeCall)
            and isinstance(type_.func, GlobalTypeVar)
            and type_.func.name == "List"
        ):
            source = generator.type(1)
            function = generator.expr(FuncType([source], type_.args[0]))
            elements = generator.expr(TypeCall(type_.func, [source]))
            type_args = (source, type_.args[0]) if generator.chance(0.3) else ()
            return generator.record(Call(self._map(), [function, elements], None, type_args), type_)
        other = generator.type(1)
        args = [generator.expr(type_), generator.expr(other)]
        return generator.record(
            Call(self._first(), args, None, (type_, other) if generator.chance(0.3) else ()), type_
        )

    def _first(self) -> GlobalVar:
        if "first" not in self.generics:
            a, b = TypeVar("A"), TypeVar("B")
            x, y = Var("x", a), Var("y", b)
            self._generic("first", Function([x, y], x, a, [a, b]))
        return self.generics["first"]

    def _map(self) -> GlobalVar:
        if "map" not in self.generics:
            data = self.declare("List")
            cons, nil = data.constructors
            a, b = TypeVar("A"), TypeVar("B")
            f, elements = Var("f", FuncType([a], b)), Var("xs", data.header(a))
            var = GlobalVar("map")
            head, rest = Var("h"), Var("t")
            again = Call(cons, [Call(f, [head]), Call(var, [f, rest])])
            clauses = [
                Clause(PatternConstructor(cons, [PatternVar(head), PatternVar(rest)]), again),
                Clause(PatternConstructor(nil, []), Call(nil, [], None, [b])),
            ]
            self._generic(
                "map", Function([f, elements], Match(elements, clauses), data.header(b), [a, b]), var
            )
        return self.generics["map"]

    def _generic(self, name: str, function: Function, var: GlobalVar | None = None) -> None:
        self.generics[name] = var or GlobalVar(name)
        self.generator.module[self.generics[name]] = function

    def consumed(self, type_: Type) -> Expr:
        """Generate a fold over a list: a function of the module that calls itself on the rest."""
        generator = self.generator
        element = generator.type(1)
        fold = self.folds.get((element, type_))
        if fold is None:
            fold = self._fold(element, type_)
        start = generator.expr(type_)
        elements = generator.expr(TypeCall(self.declare("List").header, [element]))
        return generator.record(Call(fold, [elements, start]), type_)

    def _fold(self, element: Type, result: Type) -> GlobalVar:
        generator = self.generator
        data = self.declare("List")
        cons, nil = data.constructors
        list_type = TypeCall(data.header, [element])
        var = GlobalVar(f"fold{self.named}")
        self.named += 1
        elements, state = generator.var(list_type, True), generator.var(result, True)
        head, rest = generator.var(element, False), generator.var(list_type, False)
        # A global function cannot use its caller's variables.
        outer, generator.scopes = generator.scopes, []
        with generator.within([head, state]):
            step = generator.expr(result)
        generator.scopes = outer
        again = generator.record(Call(var, [rest, step]), result)
        clauses = [
            Clause(PatternConstructor(cons, [PatternVar(head), PatternVar(rest)]), again),
            Clause(PatternConstructor(nil, []), state),
        ]
        body = generator.record(Match(elements, clauses), result)
        function = Function([elements, state], body, result)
        generator.types[function] = FuncType([list_type, result], result)
        generator.module[var] = function
        self.folds[(element, result)] = var
        return var

    def alternated(self, type_: Type) -> Expr:
        """Generate a call of two functions of the module that call each other a small number of times."""
        generator = self.generator
        number = self.named
        self.named += 1
        pair = [GlobalVar(f"{name}{number}") for name in ("ping", "pong")]
        outer, generator.scopes = generator.scopes, []
        functions = [generator.counting(callee, type_) for callee in reversed(pair)]
        generator.scopes = outer
        for var, function in zip(pair, functions):
            generator.types[function] = FuncType([p.checked_type for p in function.params], type_)
            generator.module[var] = function
        start = [generator.number(generator.rng.randint(0, 3)), generator.expr(type_)]
        return generator.record(Call(pair[0], start), type_)
