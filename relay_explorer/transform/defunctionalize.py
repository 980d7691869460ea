"""Defunctionalization: represent function values as data (Reynolds, Definitional Interpreters for
Higher-Order Programming Languages, 1972).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..ir.adt import Clause, Constructor, Match, PatternConstructor, PatternVar, TypeData, pattern_vars
from ..ir.annotate import set_origin
from ..ir.errors import RelayError
from ..ir.expr import Call, Expr, Function, GlobalVar, Let, Tuple, Var
from ..ir.lazy_dataclass import dataclass
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.substitute import substitute_type
from ..ir.type_visitor import TypeMutator
from ..ir.types import FuncType, GlobalTypeVar, Type, TypeCall, TypeVar
from ..ir.walk import children, post_order, rebuild, type_children
from ..typing import infer_types
from .eta_expand import EtaExpand
from .infrastructure import Contract, Pass, PassContext
from .infrastructure.function_passes import rewritten
from .lambda_lift import LambdaLift, code_of_closure, stays
from .partial_evaluate.steps import renamed
from .tools.expected_types import expected_type, matched

Types = tuple[Type, ...]
# Bound on the type arguments of a copy, in type nodes. Only a function that calls itself at ever larger types
# exceeds it.
LARGEST_TYPES = 500


@dataclass(frozen=True)
class Defunctionalize(Pass):
    """Represent every function value that `@main` needs as data.

    A function that is used as a value becomes a constructor whose fields are the function's free variables;
    there is one data type per function type. A call of such a value becomes a call of `@apply…`, which
    matches on the constructor and runs the function's body. Generic functions are specialized for the types
    that they are used with, since an `@apply…` handles one type.

    `@main` itself must not be generic, take functions or return them, and data types must not hold functions
    except as type arguments (`List[fn (A) -> B]`). A function that takes a generic function and uses it at
    several types is refused.
    """

    name = "Defunctionalization"
    opt_level = 1
    contract = Contract(gives="first-order")

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        entry = infer_types(mod)["main"]
        if entry.type_params or has_function(entry.checked_type, inside=True):
            raise RelayError(
                f"`@main` has the type `{entry.checked_type}`, but its parameters and result must be data",
                entry.span,
            )
        expanded = infer_types(EtaExpand(True, False)(mod))
        for var, function in expanded.functions.items():
            if isinstance(function, Function) and not stays(function):
                expanded[var] = _with_wrapped_kernels(function)
        lifted = infer_types(LambdaLift()(expanded))
        return _Program(lifted).result()


def Defunctionalization(func: Function, mod: IRModule) -> Function:  # noqa: N802 - TVM's name
    """Defunctionalize `func`; the functions that it calls, and the data types, are added to `mod`."""
    start = mod.copy()
    start["main"] = func
    module = Defunctionalize()(start)
    main = module["main"]
    for type_var, data in module.type_definitions.items():
        mod[type_var] = data
    for var, function in module.functions.items():
        if var.name_hint != "main":
            mod[var] = function
    return main


def _with_wrapped_kernels(root: Function) -> Function:
    """Wrap kernels that are used as values, and not only called, in functions that call them, which can be
    lifted.
    """
    order = post_order(root)
    kernels = [node for node in order if isinstance(node, Function) and stays(node)]
    inside = {inner for kernel in kernels for inner in post_order(kernel)}
    memo: dict[Expr, Expr] = {node: node for node in inside}
    wrappers: dict[Expr, Expr] = {}
    for kernel in kernels:
        params = [Var(param.name_hint, param.checked_type) for param in kernel.params]
        wrappers[kernel] = Function(params, Call(kernel, params), kernel.ret_type, kernel.type_params)
        set_origin(wrappers[kernel], (kernel,))
    for node in order:
        if node not in inside:
            called = node.op if isinstance(node, Call) else None
            parts = [memo[p] if p is called else wrappers.get(p, memo[p]) for p in children(node)]
            memo[node] = rebuild(node, parts)
    return rewritten(root, memo[root])


def has_function(type_: Type, inside: bool = False) -> bool:
    """Whether a type is, or contains, a function type; with `inside`, only its parts are considered."""
    pending = list(type_children(type_)) if inside else [type_]
    while pending:
        current = pending.pop()
        if isinstance(current, FuncType):
            return True
        pending += type_children(current)
    return False


class _Choice(NamedTuple):
    """A function that is used as a value: the constructor that represents it, and the function of the module
    that it calls, which takes the constructor's fields before its arguments.
    """

    constructor: Constructor
    target: GlobalVar


class _Kind:
    """A function type represented as a data type, with the function that applies its values."""

    def __init__(self, type_: FuncType, header: GlobalTypeVar, apply: GlobalVar) -> None:
        self.type = type_
        self.header = header
        self.apply = apply
        self.choices: list[_Choice] = []


class _Encoded(TypeMutator):
    """Converts types to those of the new program, in which data types represent function types."""

    def __init__(self, program: _Program) -> None:
        self.program = program

    def visit_func_type(self, ft: FuncType) -> Type:
        return TypeCall(self.program.kind(ft).header, ())


class _Program:
    """The new program: copies of the functions of `mod`, created when they are first needed."""

    def __init__(self, mod: IRModule) -> None:
        self.mod = mod
        self.kinds: dict[FuncType, _Kind] = {}
        self.copies: dict[tuple[str, Types], GlobalVar] = {}
        self.choices: dict[tuple[str, Types], _Choice] = {}
        self.pending: list[tuple[str, Types]] = []
        self.functions: dict[GlobalVar, Function] = {}
        self.taken = {var.name_hint for var in mod.functions}
        self.taken |= {var.name_hint for var in mod.type_definitions}
        self.taken |= {constructor.name_hint for constructor in mod.constructors()}
        self.types = _Encoded(self)

    def result(self) -> IRModule:
        self.copy("main", ())
        while self.pending:
            name, types = self.pending.pop()
            self.functions[self.copies[name, types]] = _Copy(self, self.mod[name], types).function()
        definitions = dict(self.mod.type_definitions.items())
        for data in definitions.values():
            for constructor in data.constructors:
                if any(has_function(t) for t in constructor.inputs):
                    raise RelayError(
                        f"`{constructor.name_hint}` holds a function: its type would have to change",
                        data.span,
                        help=["make the function's type a parameter of the data type"],
                    )
        for kind in self.kinds.values():
            if not kind.choices:  # no value of this type exists, so it is never applied
                none = Constructor(self.fresh(f"No{kind.header.name_hint}"), [], kind.header)
                kind.choices.append(_Choice(none, kind.apply))
            definitions[kind.header] = TypeData(kind.header, [], [c.constructor for c in kind.choices])
            self.functions[kind.apply] = self._apply(kind)
        return infer_types(IRModule(self.functions, definitions, self.mod.attrs))

    def fresh(self, name: str) -> str:
        number, candidate = 0, name
        while candidate in self.taken:
            number += 1
            candidate = f"{name}_{number}"
        self.taken.add(candidate)
        return candidate

    def encoded(self, type_: Type) -> Type:
        new: Type = self.types.visit(type_)
        return new

    def kind(self, type_: FuncType) -> _Kind:
        """Return the data type that represents functions of a type."""
        if type_.type_params:
            raise RelayError(
                f"a value of the generic type `{type_}` is passed on, so it would have to be copied "
                "for each type",
                help=["give the parameter a type without type parameters"],
            )
        if type_ not in self.kinds:
            header = GlobalTypeVar(self.fresh(f"Fn{len(self.kinds)}"))
            self.kinds[type_] = _Kind(type_, header, GlobalVar(self.fresh(f"apply{len(self.kinds)}")))
        return self.kinds[type_]

    def copy(self, name: str, types: Types) -> GlobalVar:
        """Return the function called `name`, specialized to these type arguments, in the new program."""
        self._refuse_large(name, types)
        key = (name, types)
        if key not in self.copies:
            function = self.mod[name]
            same = not types and not has_function(function.checked_type, inside=True)
            self.copies[key] = GlobalVar(name if same else self.fresh(f"{name}_{len(self.copies)}"))
            set_origin(self.copies[key], (function,))
            self.pending.append(key)
        return self.copies[key]

    def _refuse_large(self, name: str, types: Types) -> None:
        pending, size = list(types), 0
        while pending:
            pending += type_children(pending.pop())
            size += 1
            if size > LARGEST_TYPES:
                raise RelayError(
                    f"`@{name}` would need infinitely many copies, for ever larger types", self.mod[name].span
                )

    def choice(self, name: str, types: Types, type_: FuncType, fields: Sequence[Type]) -> _Choice:
        """Return the constructor that represents the function called `name` as a value of a type, with its
        captured values as fields.
        """
        key = (name, types)
        if key not in self.choices:
            kind = self.kind(type_)
            title = self.fresh("".join(part.capitalize() for part in name.split("_")))
            constructor = Constructor(title, [self.encoded(t) for t in fields], kind.header)
            self.choices[key] = _Choice(constructor, self.copy(name, types))
            kind.choices.append(self.choices[key])
        return self.choices[key]

    def _apply(self, kind: _Kind) -> Function:
        f = Var("f", TypeCall(kind.header, ()))
        params = [Var(f"x{number}", self.encoded(t)) for number, t in enumerate(kind.type.arg_types)]
        clauses = []
        for constructor, target in kind.choices:
            fields = [Var(f"c{number}", t) for number, t in enumerate(constructor.inputs)]
            pattern = PatternConstructor(constructor, [PatternVar(var) for var in fields])
            args = [f, *params] if target is kind.apply else [*fields, *params]
            clauses.append(Clause(pattern, Call(target, args)))
        return Function([f, *params], Match(f, clauses), self.encoded(kind.type.ret_type))


class _Copy:
    """Copies a function of the old program into the new one, specialized to type arguments."""

    def __init__(self, program: _Program, old: Function, types: Types) -> None:
        self.program = program
        self.mod = program.mod
        self.old = old
        self.code = old  # for a closure, its inner function, which also uses the captured values
        self.captured: tuple[Var, ...] = ()
        code = code_of_closure(old)
        if code is not None:
            self.code, self.captured = code, old.params
        self.types: dict[TypeVar, Type] = dict(zip(old.type_params, types))
        self.vars: dict[Var, Var] = {}
        self.names: dict[Var, GlobalVar] = {}  # variables bound to names of functions

    def function(self) -> Function:
        """Build the specialized copy; the code of a closure takes the captured values before its
        arguments.
        """
        params, body = (*self.captured, *self.code.params), self.code.body
        replacement = self._body(body)
        attrs = {name: value for name, value in self.old.attrs.items() if name != "Closure"}
        assert self.code.ret_type is not None
        type_ = self.program.encoded(self.concrete(self.code.ret_type))
        new = Function([self.var(p) for p in params], replacement, type_, None, attrs, self.old.span)
        set_origin(new, (self.old,))
        return new

    def concrete(self, type_: Type) -> Type:
        return substitute_type(type_, self.types)

    def var(self, var: Var) -> Var:
        if var not in self.vars:
            type_ = self.program.encoded(self.concrete(var.checked_type))
            self.vars[var] = Var(var.name_hint, type_, var.span)
            set_origin(self.vars[var], (var,))
        return self.vars[var]

    def _body(self, root: Expr) -> Expr:
        order = post_order(root)
        kernels = {inner for n in order if isinstance(n, Function) for inner in post_order(n)}
        for node in reversed(order):  # from outer to inner `let`s, so that aliases of aliases resolve
            if isinstance(node, Let) and isinstance(self._name(node.value), GlobalVar):
                self.names[node.var] = self._name(node.value)  # type: ignore[assignment]  # as just seen
        memo: dict[Expr, Expr] = {}
        for node in order:
            if node in kernels:
                memo[node] = node
            elif isinstance(node, Call):
                memo[node] = self._call(node, memo)
            elif isinstance(node, Let) and node.var in self.names:
                memo[node] = self._value(node, node.body, 2, memo)
            else:
                memo[node] = self._other(node, memo)
        return self._value(None, root, 0, memo)

    def _name(self, expr: Expr) -> Expr:
        """Resolve an expression that names a function of the module; return any other expression as it is."""
        return self.names.get(expr, expr) if isinstance(expr, Var) else expr

    def _value(self, parent: Expr | None, part: Expr, place: int, memo: dict[Expr, Expr]) -> Expr:
        """Return the replacement of a part of an expression; a function's name becomes a constructor."""
        name = self._name(part)
        if not isinstance(name, GlobalVar):
            return memo[part]
        function = self.mod[name]
        own = function.checked_type
        assert isinstance(own, FuncType)
        types: Types = ()
        if own.type_params:
            expected = self.code.ret_type if parent is None else expected_type(parent, place, self.mod)
            arguments = None if expected is None else matched(own, self.concrete(expected))
            if arguments is None:
                raise RelayError(
                    f"`@{name.name_hint}` is generic, but the types of this use are not known",
                    part.span or (parent.span if parent is not None else None),
                    help=["annotate this use with a type"],
                )
            types = arguments
        type_ = substitute_type(FuncType(own.arg_types, own.ret_type), dict(zip(own.type_params, types)))
        assert isinstance(type_, FuncType)
        return Call(self.program.choice(name.name_hint, types, type_, ()).constructor, [])

    def _values(self, node: Expr, memo: dict[Expr, Expr]) -> list[Expr]:
        return [self._value(node, part, place, memo) for place, part in enumerate(children(node))]

    def _call(self, node: Call, memo: dict[Expr, Expr]) -> Expr:
        args = [self._value(node, arg, place, memo) for place, arg in enumerate(node.args, 1)]
        types = tuple(self.concrete(t) for t in node.type_args)
        callee = self._name(node.op)
        new: Call
        if isinstance(callee, (Op, Constructor, Function)):
            encoded = [self.program.encoded(t) for t in types]
            new = Call(callee, args, node.attrs, encoded, node.span)
        elif isinstance(callee, GlobalVar):
            function = self.mod[callee]
            if len(types) != len(function.type_params):
                raise RelayError(
                    f"the types that `@{callee.name_hint}` is called with are not known", node.span
                )
            if code_of_closure(function) is not None:
                own = function.checked_type
                assert isinstance(own, FuncType)
                substitution = dict(zip(function.type_params, types))
                type_ = substitute_type(own.ret_type, substitution)
                assert isinstance(type_, FuncType)
                fields = [substitute_type(t, substitution) for t in own.arg_types]
                new = Call(self.program.choice(callee.name_hint, types, type_, fields).constructor, args)
            else:
                new = Call(self.program.copy(callee.name_hint, types), args, node.attrs, None, node.span)
        else:
            type_ = self.concrete(callee.checked_type)
            assert isinstance(type_, FuncType)
            new = Call(self.program.kind(type_).apply, [memo[callee], *args], None, None, node.span)
        set_origin(new, (node,))
        return new

    def _other(self, node: Expr, memo: dict[Expr, Expr]) -> Expr:
        match node:
            case Var():
                return node if node in self.names else self.var(node)
            case Match():
                data, *bodies = self._values(node, memo)
                clauses = []
                for clause, rhs in zip(node.clauses, bodies):
                    names = {var: self.var(var) for var in pattern_vars(clause.lhs)}
                    clauses.append(Clause(renamed(clause.lhs, names), rhs, clause.span))
                new: Expr = Match(data, clauses, node.complete, node.span)
            case Tuple():
                new = Tuple(self._values(node, memo), node.span)
            case GlobalVar():
                return node
            case _:
                return rebuild(node, self._values(node, memo))
        set_origin(new, (node,))
        return new
