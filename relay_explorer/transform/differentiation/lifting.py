"""Translate a program whose tensors change their representation: to a pair with a cell, or to a value that is
computed on demand. Everything that contains tensors changes with them: tuples, closures, references, data
types.
"""

from __future__ import annotations

from typing import Any as Anything

from ...ir.adt import (
    Clause,
    Constructor,
    Match,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    TypeData,
    pattern_vars,
)
from ...ir.annotate import set_checked_type, set_origin
from ...ir.errors import RelayError
from ...ir.expr import (
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
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.substitute import substitute_type
from ...ir.trampoline import Steps, run
from ...ir.types import FuncType, GlobalTypeVar, RefType, TensorType, TupleType, Type, TypeCall
from ...ir.walk import rewrite, type_children
from ...typing import infer_types
from ..eta_expand import EtaExpand
from ..normal_forms.to_a_normal_form import to_a_normal_form
from .bindings import Bindings


def normal_module(mod: IRModule) -> IRModule:
    """Convert every function of the module to A-normal form, with types; kernels are treated like other
    functions, and constructors that are used as values are eta-expanded.
    """
    new = mod.copy()
    for var, function in mod.functions.items():
        if isinstance(function, Function) and "Compiler" not in function.attrs:
            new[var] = rewrite(function, _opened)
    new = EtaExpand(True, False)(new)
    for var, function in new.functions.items():
        if isinstance(function, Function) and "Compiler" not in function.attrs:
            new[var] = to_a_normal_form(function)
    return infer_types(new)


def _opened(node: Expr) -> Expr | None:
    if isinstance(node, Function) and "Primitive" in node.attrs:
        return node.without_attr("Primitive")
    return None


class Lifting:
    """Translates functions of `mod`, a module from `normal_module`, into functions of `target`, and adds the
    functions that they call to `target`, with `suffix` appended to their names.

    Subclasses define the translation of a tensor type (`tensor`), a constant, a call of an operator and a
    condition, and the additional parameters of every function (`more`).
    """

    suffix = "_lifted"

    def __init__(self, mod: IRModule, target: IRModule) -> None:
        self.mod = mod
        self.target = target
        self.variables: dict[Var, Var] = {}
        self.globals: dict[GlobalVar, GlobalVar] = {}
        self.pending: list[GlobalVar] = []
        self.data_types: dict[GlobalTypeVar, GlobalTypeVar] = {}
        self.constructors: dict[Constructor, Constructor] = {}
        self.changed = self._changed_types()
        self.types: dict[int, tuple[Type, Type]] = {}

    # -- defined by subclasses

    def tensor(self, type_: TensorType) -> Type:
        raise NotImplementedError

    def more(self) -> list[Var]:
        """Return the parameters that every function takes after its own."""
        return []

    def constant(self, value: Constant, var: Var, block: Block) -> None:
        """Bind `var` to the translation of a constant."""
        raise NotImplementedError

    def operator(self, call: Call, var: Var, block: Block) -> None:
        """Bind `var` to the translation of a call of an operator."""
        raise NotImplementedError

    def condition(self, cond: Expr) -> Expr:
        """Extract the boolean from a translated condition."""
        raise NotImplementedError

    # -- types

    def type(self, type_: Type) -> Type:
        """Translate a type."""
        cached = self.types.get(id(type_))
        if cached is None:
            cached = self.types[id(type_)] = (type_, run(self._type(type_)))
        return cached[1]

    def _type(self, type_: Type) -> Steps[Type]:
        match type_:
            case TensorType():
                return self.tensor(type_)
            case GlobalTypeVar():
                return self._data_type(type_)
        parts = []
        for part in type_children(type_):
            parts.append((yield self._type(part)))
        match type_:
            case TupleType():
                return TupleType(parts)
            case RefType():
                return RefType(parts[0])
            case TypeCall():
                return TypeCall(parts[0], parts[1:])
            case FuncType():
                count = len(type_.arg_types)
                more = [var.type_annotation for var in self.more() if var.type_annotation is not None]
                return FuncType([*parts[:count], *more], parts[count], type_.type_params)
        return type_

    def _changed_types(self) -> set[GlobalTypeVar]:
        """Return the data types that contain tensors or functions themselves, apart from their type
        arguments.
        """
        holds: dict[GlobalTypeVar, set[Type]] = {}
        for var, data in self.mod.type_definitions.items():
            pending = [part for constructor in data.constructors for part in constructor.inputs]
            held: set[Type] = set()
            while pending:
                part = pending.pop()
                if isinstance(part, (TensorType, FuncType, GlobalTypeVar)):
                    held.add(part)
                pending.extend(type_children(part))
            holds[var] = held
        changed = {v for v, parts in holds.items() if any(not isinstance(p, GlobalTypeVar) for p in parts)}
        while more := {v for v, parts in holds.items() if v not in changed and parts & changed}:
            changed |= more
        return changed

    def _data_type(self, var: GlobalTypeVar) -> GlobalTypeVar:
        if var not in self.changed:
            return var
        if var not in self.data_types:
            name = self._free_name(var.name_hint)
            new = self.data_types[var] = GlobalTypeVar(name, var.kind)
            data = self.mod.type_definitions[var]
            constructors = []
            for old in data.constructors:
                inputs = [self.type(part) for part in old.inputs]
                constructors.append(Constructor(old.name_hint + self.suffix, inputs, new))
                self.constructors[old] = constructors[-1]
            self.target.add_type(new, TypeData(new, data.type_vars, constructors, data.span))
        return self.data_types[var]

    def constructor(self, old: Constructor) -> Constructor:
        self._data_type(old.belong_to)
        return self.constructors.get(old, old)

    def _free_name(self, name: str) -> str:
        name += self.suffix
        while name in self.target or GlobalTypeVar(name) in self.target.type_definitions:
            name += "_"
        return name

    # -- names

    def variable(self, var: Var) -> Var:
        """Return the variable that replaces a variable of the program."""
        if var not in self.variables:
            new = self.variables[var] = Var(var.name_hint, self.type(var.checked_type), var.span)
            set_origin(new, (var,))
        return self.variables[var]

    def global_function(self, var: GlobalVar) -> GlobalVar:
        """Return the name of a translated function, and queue the function for translation."""
        if var not in self.globals:
            new = self.globals[var] = GlobalVar(self._free_name(var.name_hint))
            self.pending.append(var)
            self.target[new] = self.mod[var]  # reserves the name until `finish`
        return self.globals[var]

    def finish(self) -> None:
        """Translate the functions that are called, and those that they call in turn."""
        while self.pending:
            var = self.pending.pop()
            function = self.mod[var]
            assert isinstance(function, Function)
            self.target[self.globals[var]] = run(self.function(function))

    def atom(self, expr: Expr, type_: Type | None = None) -> Expr:
        """Translate an atom; `type_` is its type if it is an operator that is used as a value."""
        match expr:
            case Var():
                return self.variables[expr]
            case GlobalVar():
                return self.global_function(expr)
            case Constructor():
                return self.constructor(expr)
            case Op() if isinstance(type_, FuncType):
                return run(self.function(_calling(expr, type_)))
        raise RelayError(
            f"`{expr}` is used as a value where its type is not known",
            expr.span,
            help=["write a function that calls it: fn (%x) { … }"],
        )

    # -- programs

    def function(self, function: Function) -> Steps[Function]:
        params = [self.variable(param) for param in function.params]
        block = Block(self.more())
        body = yield self.body(function.body, block)
        type_ = function.checked_type
        assert isinstance(type_, FuncType)
        result = Function(
            [*params, *block.more], body, self.type(type_.ret_type), function.type_params, None, function.span
        )
        set_origin(result, (function,))
        return result

    def body(self, body: Expr, block: Block) -> Steps[Expr]:
        """Translate a block in A-normal form into `block`, and wrap the bindings of `block` around the
        result.
        """
        result = yield self.statements(body, block)
        return block.around(result)

    def statements(self, body: Expr, block: Block) -> Steps[Expr]:
        """Add the bindings of a block in A-normal form to `block`; return the atom that is its result."""
        while isinstance(body, Let):
            yield self._binding(body, block)
            body = body.body
        return self.atom(body)

    def _binding(self, let: Let, block: Block) -> Steps[None]:
        if isinstance(let.value, Var):  # an alias
            self.variables[let.var] = self.variables[let.value]
            return
        value, var = let.value, self.variable(let.var)
        if isinstance(value, Constant):
            self.constant(value, var, block)
        elif isinstance(value, Call) and isinstance(value.op, Op):
            self.operator(value, var, block)
        else:
            result = yield self._value(value, let.var.checked_type, block)
            if not result.origin:
                set_origin(result, (value,))
            block.bind(var, result)

    def _value(self, value: Expr, type_: Type, block: Block) -> Steps[Expr]:
        match value:
            case Call():
                return self._call(value, block)
            case Tuple():
                types = type_.fields if isinstance(type_, TupleType) else ()
                return Tuple([self.atom(f, t) for f, t in zip(value.fields, types, strict=True)], value.span)
            case TupleGetItem():
                return TupleGetItem(self.atom(value.tuple_value), value.index, value.span)
            case If():
                true: Expr = yield self.body(value.true_branch, Block(block.more))
                false: Expr = yield self.body(value.false_branch, Block(block.more))
                return If(self.condition(self.atom(value.cond)), true, false, value.span)
            case Match():
                result: Expr = yield self._match(value, block)
                return result
            case Function():
                function: Function = yield self.function(value)
                return function
            case RefCreate():
                return RefCreate(self.atom(value.value), value.span)
            case RefRead():
                return RefRead(self.atom(value.ref), value.span)
            case RefWrite():
                return RefWrite(self.atom(value.ref), self.atom(value.value), value.span)
        return self.atom(value, type_)

    def _call(self, call: Call, block: Block) -> Expr:
        callee = call.op
        type_args = [self.type(t) for t in call.type_args]
        args = [self.atom(a, t) for a, t in zip(call.args, self._argument_types(call), strict=True)]
        if isinstance(callee, Constructor):
            return Call(self.constructor(callee), args, None, type_args, call.span)
        return Call(self.atom(callee), [*args, *block.more], None, type_args, call.span)

    def _argument_types(self, call: Call) -> list[Type | None]:
        """Return the parameter types of the callee, needed where an argument is an operator."""
        if not any(isinstance(arg, Op) for arg in call.args):
            return [None] * len(call.args)
        callee = self.mod[call.op] if isinstance(call.op, GlobalVar) else call.op
        type_: Anything = callee.checked_type
        if not isinstance(type_, FuncType):
            return [None] * len(call.args)
        substitution = dict(zip(type_.type_params, call.type_args, strict=False))
        return [substitute_type(part, substitution) for part in type_.arg_types]

    def _match(self, match: Match, block: Block) -> Steps[Expr]:
        clauses = []
        for clause in match.clauses:
            for var in pattern_vars(clause.lhs):
                self.variable(var)
            rhs = yield self.body(clause.rhs, Block(block.more))
            clauses.append(Clause(self._pattern(clause.lhs), rhs, clause.span))
        return Match(self.atom(match.data), clauses, match.complete, match.span)

    def _pattern(self, pattern: Pattern) -> Pattern:
        match pattern:
            case PatternVar():
                return PatternVar(self.variables[pattern.var], pattern.span)
            case PatternConstructor():
                parts = [self._pattern(part) for part in pattern.patterns]
                return PatternConstructor(self.constructor(pattern.constructor), parts, pattern.span)
            case PatternTuple():
                return PatternTuple([self._pattern(part) for part in pattern.patterns], pattern.span)
        return pattern


class Block(Bindings):
    """A block of the translated program, in a function whose additional parameters are `more`."""

    def __init__(self, more: list[Var]) -> None:
        super().__init__()
        self.more = more


def _calling(op: Op, type_: FuncType) -> Function:
    """Wrap an operator in a typed function in A-normal form."""
    params = [Var("x", part) for part in type_.arg_types]
    call, result = Call(op, params), Var("y", type_.ret_type)
    set_checked_type(call, type_.ret_type)
    body = Let(result, call, result)
    set_checked_type(body, type_.ret_type)
    new = Function(params, body, type_.ret_type)
    set_checked_type(new, type_)
    return new
