"""The data types and the module's functions of random programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..ir.adt import Clause, Constructor, Match, PatternConstructor, PatternVar, TypeData
from ..ir.expr import Call, Expr, Function, GlobalVar, Var
from ..ir.substitute import substitute_type
from ..ir.types import FuncType, GlobalTypeVar, TensorType, Type, TypeCall, TypeVar

if TYPE_CHECKING:
    from .generator import Generator


class Known(NamedTuple):
    """A function of the module that may be called."""

    var: GlobalVar
    params: tuple[Type, ...]
    result: Type


class DataTypes:
    """Declares types and functions in the generator's module as they are needed."""

    def __init__(self, generator: Generator) -> None:
        self.make = generator
        self.rng = generator.rng
        self.globals: list[Known] = []
        self.generics: dict[str, GlobalVar] = {}
        self.folds: dict[tuple[Type, Type], GlobalVar] = {}
        self.named = 0
        self.declared: dict[str, TypeData] = {}

    # -- declarations

    def declare(self, name: str) -> TypeData:
        """A declaration by name, entered in the module when first used."""
        if name in self.declared:
            return self.declared[name]
        header = GlobalTypeVar(name)
        if name == "Shade":
            plain = TensorType.of((), "float32")
            made = TypeData(
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
            made = TypeData(
                header, [a], [Constructor(n, inputs, header) for n, inputs in cases[name].items()]
            )
        self.declared[name] = made
        self.make.module.add_type(header, made)
        return made

    def type(self, depth: int) -> TypeCall:
        """A data type, with random arguments."""
        data = self.declare(self.rng.choice(["List", "List", "Maybe", "Tree", "Shade"]))
        return TypeCall(data.header, [self.make.type(depth) for _ in data.type_vars])

    def constructors(self, type_: TypeCall) -> list[tuple[Constructor, list[Type]]]:
        """The constructors of a data type, each with the types that it takes there."""
        assert isinstance(type_.func, GlobalTypeVar)  # as `type` makes it
        data = self.make.module.type_definitions[type_.func]
        replaced = dict(zip(data.type_vars, type_.args))
        return [(c, [substitute_type(i, replaced) for i in c.inputs]) for c in data.constructors]

    def value(self, type_: TypeCall) -> Expr:
        """A value of a data type: while there is budget, often of the constructor that holds more."""
        cases = self.constructors(type_)
        constructor, inputs = cases[0] if self.make.budget > 0 and self.make.chance(0.6) else cases[-1]
        # Without arguments, only what is written tells the type.
        written = type_.args if not inputs or self.make.chance(0.3) else ()
        args = [self.make.expr(i) for i in inputs]
        return self.make.made(Call(constructor, args, None, written), type_)

    # -- functions of the module

    def define(self, params: Sequence[Type], result: Type, name: str = "") -> Known:
        """A new function of the module with a random body."""
        make = self.make
        var = GlobalVar(name or f"f{len(self.globals)}")
        variables = [make.var(p, True) for p in params]
        with make.within(variables, inside_function=True):
            body = make.expr(result)
        function = Function(variables, body, result if make.chance(0.5) else None)
        make.types[function] = FuncType(params, result)
        make.module[var] = function
        known = Known(var, tuple(params), result)
        self.globals.append(known)
        return known

    def generic(self, type_: Type) -> Expr:
        """A call of a generic function: `@first`, or `@map` where a list is wanted."""
        make = self.make
        if (
            isinstance(type_, TypeCall)
            and isinstance(type_.func, GlobalTypeVar)
            and type_.func.name == "List"
        ):
            source = make.type(1)
            function = make.expr(FuncType([source], type_.args[0]))
            elements = make.expr(TypeCall(type_.func, [source]))
            written = (source, type_.args[0]) if make.chance(0.3) else ()
            return make.made(Call(self._map(), [function, elements], None, written), type_)
        other = make.type(1)
        args = [make.expr(type_), make.expr(other)]
        return make.made(Call(self._first(), args, None, (type_, other) if make.chance(0.3) else ()), type_)

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
        self.make.module[self.generics[name]] = function

    def consumed(self, type_: Type) -> Expr:
        """A fold of a list: a function of the module that calls itself on the rest."""
        make = self.make
        element = make.type(1)
        fold = self.folds.get((element, type_))
        if fold is None:
            fold = self._fold(element, type_)
        start = make.expr(type_)
        elements = make.expr(TypeCall(self.declare("List").header, [element]))
        return make.made(Call(fold, [elements, start]), type_)

    def _fold(self, element: Type, result: Type) -> GlobalVar:
        make = self.make
        data = self.declare("List")
        cons, nil = data.constructors
        list_type = TypeCall(data.header, [element])
        var = GlobalVar(f"fold{self.named}")
        self.named += 1
        elements, state = make.var(list_type, True), make.var(result, True)
        head, rest = make.var(element, False), make.var(list_type, False)
        outer, make.scopes = make.scopes, []  # a function of the module sees no variables of where it is used
        with make.within([head, state]):
            step = make.expr(result)
        make.scopes = outer
        again = make.made(Call(var, [rest, step]), result)
        clauses = [
            Clause(PatternConstructor(cons, [PatternVar(head), PatternVar(rest)]), again),
            Clause(PatternConstructor(nil, []), state),
        ]
        body = make.made(Match(elements, clauses), result)
        function = Function([elements, state], body, result)
        make.types[function] = FuncType([list_type, result], result)
        make.module[var] = function
        self.folds[(element, result)] = var
        return var

    def alternated(self, type_: Type) -> Expr:
        """A call of two functions of the module that call each other a small number of times."""
        make = self.make
        number = self.named
        self.named += 1
        pair = [GlobalVar(f"{name}{number}") for name in ("ping", "pong")]
        outer, make.scopes = make.scopes, []
        functions = [make.counting(callee, type_) for callee in reversed(pair)]
        make.scopes = outer
        for var, function in zip(pair, functions):
            make.types[function] = FuncType([p.checked_type for p in function.params], type_)
            make.module[var] = function
        start = [make.number(make.rng.randint(0, 3)), make.expr(type_)]
        return make.made(Call(pair[0], start), type_)
