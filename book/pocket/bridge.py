"""Convert programs and values between `pocket` and `relay_explorer`.

    program = bridge.from_relay(module)      # a relay module, as pocket's
    module = bridge.to_relay(program)        # and back

This file is given: it is no part of the compiler that the book writes.
"""

from weakref import WeakKeyDictionary

import numpy as np
from relay_explorer import relay
from relay_explorer.ir.adt import Clause, Constructor, Match
from relay_explorer.ir.adt import PatternConstructor, PatternVar
from relay_explorer.ir.adt import PatternWildcard, TypeData
from relay_explorer.ir.attrs import DictAttrs
from relay_explorer.ir.op import Op
from relay_explorer.ir.types import FuncType, GlobalTypeVar, TensorType
from relay_explorer.ir.types import TupleType, TypeCall, TypeVar

from pocket import ir

try:
    from pocket import types
except ImportError:  # before chapter 10: the package's own types
    types = None

ORIGIN = WeakKeyDictionary()  # of pocket's expressions: the package's


class NotCoveredError(ValueError):
    """The program uses a part of Relay that pocket leaves out."""


class FromRelay:
    """Convert the package's expressions, each once."""

    def __init__(self):
        self.memo = {}
        self.declared = {}  # data types, and their type parameters

    def module(self, module):
        datatypes = {}
        for data in module.type_definitions.values():
            params = list(data.type_vars)
            type_ = TypeCall(data.header, params) if params else data.header
            pair = self.type(type_), tuple(map(self.type, params))
            self.declared[data.header] = pair
            parts = tuple(map(self.constructor, data.constructors))
            datatypes[data.header.name_hint] = parts
        functions = {
            var.name_hint: self.expr(function)
            for var, function in module.functions.items()
        }
        return ir.Module(functions, datatypes)

    def expr(self, expr):
        if expr not in self.memo:
            new = self.memo[expr] = self.convert(expr)
            if not isinstance(new, ir.Op):
                ORIGIN.setdefault(new, expr)
        return self.memo[expr]

    def exprs(self, exprs):
        return tuple([self.expr(expr) for expr in exprs])

    def convert(self, expr):
        match expr:
            case relay.Var():
                return ir.Var(
                    expr.name_hint, self.type(expr.type_annotation)
                )
            case relay.Constant():
                return ir.Constant(np.array(expr.data.numpy()))
            case Op():
                return ir.Op(expr.name)
            case relay.GlobalVar():
                return ir.GlobalVar(expr.name_hint)
            case Constructor():
                return self.constructor(expr)
            case relay.Call():
                return self.call(expr)
            case relay.Tuple():
                return ir.Tuple(self.exprs(expr.fields))
            case relay.TupleGetItem():
                return ir.TupleGetItem(
                    self.expr(expr.tuple_value), expr.index
                )
            case relay.Function():
                return ir.Function(
                    self.exprs(expr.params),
                    self.expr(expr.body),
                    self.type(expr.ret_type),
                    tuple(map(self.type, expr.type_params)),
                    "Primitive" in expr.attrs,
                )
            case relay.Let():
                parts = expr.var, expr.value, expr.body
                return ir.Let(*self.exprs(parts))
            case relay.If():
                parts = expr.cond, expr.true_branch, expr.false_branch
                return ir.If(*self.exprs(parts))
            case Match():
                clauses = [
                    ir.Clause(self.pattern(c.lhs), self.expr(c.rhs))
                    for c in expr.clauses
                ]
                return ir.Match(self.expr(expr.data), tuple(clauses))
        raise NotCoveredError(f"pocket has no {type(expr).__name__}")

    def call(self, call):
        attrs = dict(call.attrs.changed()) if call.attrs else {}
        new = ir.Call(self.expr(call.op), self.exprs(call.args), attrs)
        if isinstance(call.op, Constructor) and call.type_args:
            # `Nil[int32]`: pocket's calls have no types, so a variable has
            header = call.op.belong_to
            var = ir.Var(
                "typed", self.type(TypeCall(header, call.type_args))
            )
            return ir.Let(var, new, var)
        return new

    def constructor(self, constructor):
        if constructor not in self.memo:
            self.memo[constructor] = ir.Constructor(
                constructor.name_hint,
                tuple(map(self.type, constructor.inputs)),
                *self.declared[constructor.belong_to],
            )
            ORIGIN[self.memo[constructor]] = constructor
        return self.memo[constructor]

    def pattern(self, pattern):
        match pattern:
            case PatternVar():
                return self.expr(pattern.var)
            case PatternConstructor():
                constructor = self.constructor(pattern.constructor)
                parts = tuple(map(self.pattern, pattern.patterns))
                return ir.Call(constructor, parts)
            case PatternWildcard():
                return ir.Var("_")
        raise NotCoveredError(f"pocket has no {type(pattern).__name__}")

    def type(self, type_):
        if types is None or type_ is None:
            return type_
        match type_:
            case TensorType():
                if not all(isinstance(d, int) for d in type_.shape):
                    raise NotCoveredError("pocket's shapes are numbers")
                shape = tuple(map(int, type_.shape))
                return types.TensorType(shape, type_.dtype)
            case TupleType():
                return types.TupleType(tuple(map(self.type, type_.fields)))
            case FuncType():
                params = tuple(map(self.type, type_.arg_types))
                return types.FuncType((*params, self.type(type_.ret_type)))
            case TypeCall():
                args = tuple(map(self.type, type_.args))
                return types.DataType(type_.func.name_hint, args)
            case GlobalTypeVar():
                return types.DataType(type_.name_hint, ())
            case TypeVar():
                if type_ not in self.memo:
                    variable = types.TypeVariable(type_.name_hint)
                    self.memo[type_] = variable
                return self.memo[type_]
        raise NotCoveredError(f"pocket has no {type(type_).__name__}")


class ToRelay:
    """Convert pocket's expressions, each once."""

    def __init__(self):
        self.memo = {}
        self.headers = {}

    def module(self, module):
        new = relay.IRModule()
        for constructors in module.datatypes.values():
            datatype = self.type(constructors[0].datatype)
            params = list(map(self.type, constructors[0].type_params))
            parts = list(map(self.expr, constructors))
            header = getattr(datatype, "func", datatype)
            new.add_type(header, TypeData(header, params, parts))
        for name, function in module.functions.items():
            new[relay.GlobalVar(name)] = self.expr(function)
        return new

    def expr(self, expr):
        if isinstance(expr, ir.GlobalVar):
            return relay.GlobalVar(expr.name)
        if expr not in self.memo:
            self.memo[expr] = self.convert(expr)
        return self.memo[expr]

    def exprs(self, exprs):
        return [self.expr(expr) for expr in exprs]

    def convert(self, expr):
        match expr:
            case ir.Var(name, type_):
                return relay.Var(name, self.type(type_))
            case ir.Constant(value):
                return relay.const(value, str(value.dtype))
            case ir.Op(name):
                return Op.get(name)
            case ir.Constructor(name, fields, datatype, _):
                datatype = self.type(datatype)
                header = getattr(datatype, "func", datatype)
                inputs = list(map(self.type, fields))
                return Constructor(name, inputs, header)
            case ir.Call(callee, args, attrs):
                callee, settings = self.expr(callee), None
                if (
                    isinstance(callee, Op)
                    and callee.attrs_class is not None
                ):
                    settings = callee.attrs_class(**attrs)
                return relay.Call(callee, self.exprs(args), settings)
            case ir.Tuple(fields):
                return relay.Tuple(self.exprs(fields))
            case ir.TupleGetItem(operand, index):
                return relay.TupleGetItem(self.expr(operand), index)
            case ir.Function(params, body, result, type_params, primitive):
                return relay.Function(
                    self.exprs(params),
                    self.expr(body),
                    self.type(result),
                    list(map(self.type, type_params)),
                    DictAttrs({"Primitive": 1}) if primitive else None,
                )
            case ir.Let(var, value, body):
                return relay.Let(*self.exprs((var, value, body)))
            case ir.If(condition, then_branch, else_branch):
                parts = condition, then_branch, else_branch
                return relay.If(*self.exprs(parts))
            case ir.Match(data, clauses):
                new = [
                    Clause(self.pattern(c.pattern), self.expr(c.body))
                    for c in clauses
                ]
                return Match(self.expr(data), new)
        raise TypeError(f"{expr!r} is not an expression")

    def pattern(self, pattern):
        match pattern:
            case ir.Var():
                return PatternVar(self.expr(pattern))
            case ir.Call(constructor, patterns):
                parts = list(map(self.pattern, patterns))
                return PatternConstructor(self.expr(constructor), parts)
        raise TypeError(f"{pattern!r} is not a pattern")

    def type(self, type_):
        if types is None or type_ is None:
            return type_
        match type_:
            case types.TensorType(shape, dtype):
                return TensorType(shape, dtype)
            case types.FuncType((*params, result)):
                return FuncType(
                    list(map(self.type, params)), self.type(result)
                )
            case types.TupleType(fields):
                return TupleType(list(map(self.type, fields)))
            case types.DataType(name, args):
                header = self.headers.setdefault(name, GlobalTypeVar(name))
                return TypeCall(header, list(map(self.type, args)))
            case types.TypeVariable():
                if type_ not in self.memo:
                    self.memo[type_] = TypeVar(type_.name)
                return self.memo[type_]
        raise TypeError(f"{type_!r} is not a type")


def from_relay(program):
    """Convert a module or an expression of the package."""
    if isinstance(program, relay.IRModule):
        return FromRelay().module(program)
    return FromRelay().expr(program)


def to_relay(program):
    """Convert a module or an expression of pocket."""
    if isinstance(program, ir.Module):
        return ToRelay().module(program)
    return ToRelay().expr(program)


def from_value(value, program):
    """Convert a value of the package: arguments of a pocket program."""
    if hasattr(value, "constructor"):
        datatype = value.constructor.belong_to.name_hint
        for constructor in program.datatypes[datatype]:
            if constructor.name == value.constructor.name_hint:
                fields = [
                    from_value(field, program) for field in value.fields
                ]
                return ir.Call(constructor, tuple(fields))
    if isinstance(value, (tuple, list)):
        return tuple(from_value(field, program) for field in value)
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)
