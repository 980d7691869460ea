"""ToCPS: convert a program to continuation-passing style, in which functions call their continuation instead
of returning.

The translation is the one-pass one of Danvy and Filinski (Representing Control, 1992), written iteratively:
the context of an expression is not a function in the translator but a list of frames, which are wrapped
around the rest once that is translated.
"""

from __future__ import annotations

from collections.abc import Callable

from ...dataflow_pattern.typed import infer_expr
from ...ir.adt import Clause, Constructor, Match, pattern_vars
from ...ir.annotate import set_origin, set_span
from ...ir.errors import RelayError
from ...ir.expr import (
    Call,
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
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.trampoline import Steps, run
from ...ir.type_visitor import TypeMutator
from ...ir.types import FuncType, Type, TypeVar
from ...ir.walk import children, post_order, type_children
from ...typing import infer_types
from ..eta_expand import EtaExpand
from ..infrastructure import Contract, Pass, PassContext
from ..normal_forms.to_basic_block_normal_form import to_basic_block_normal_form
from ..partial_evaluate.steps import renamed

Frame = Callable[[Expr], Expr]  # prepends a step of the evaluation to the rest of a block


@dataclass(frozen=True)
class ToCPS(Pass):
    """Convert every function `fn (A) -> B` to continuation-passing style.

    It becomes `fn (A, fn (B) -> answer) -> answer`, where `answer` is a type parameter, and calls its second
    argument, the continuation, with its result. Every call is therefore a tail call, and what follows an `if`
    is a function that both branches call, which a partial evaluator can specialize for each branch.

    A function that others call exists twice: under its own name, as an entry point, and as `NAME_cps`.
    Operators, constructors and kernels are called as before. Data types must not hold functions.
    """

    name = "ToCPS"
    opt_level = 1
    contract = Contract(types=False, gives="CPS")

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        typed = infer_types(mod)
        new = typed.copy()
        names = _Names(new)
        for var, function in typed.functions.items():
            if isinstance(function, Function) and not _is_direct(function):
                new[var] = _with_answer(function, typed, names)
        names.convert_pending(typed)
        return new


def to_cps(func: Function, mod: IRModule | None = None) -> Function:
    """Convert a function to continuation-passing style. Functions of `mod` that it calls, directly or
    indirectly, are added to `mod` in that form, as `NAME_cps`.
    """
    module = mod if mod is not None else IRModule()
    names = _Names(module)
    result = _with_answer(func, module, names)
    names.convert_pending(module)
    return result


class _CPSTypes(TypeMutator):
    """Converts types to continuation-passing style, which changes those of functions."""

    def __init__(self, answer: TypeVar) -> None:
        self.answer = answer

    def visit_func_type(self, ft: FuncType) -> Type:
        args = [self.visit(a) for a in ft.arg_types]
        after = FuncType([self.visit(ft.ret_type)], self.answer)
        return FuncType([*args, after], self.answer, ft.type_params, ft.type_constraints, ft.span)


def _is_direct(function: Expr) -> bool:
    """Whether a function is called in direct style, as operators are: a kernel, or a function of an external
    compiler.
    """
    return isinstance(function, Function) and ("Primitive" in function.attrs or "Compiler" in function.attrs)


class _Names:
    """The functions of a module that are needed in continuation-passing style, by name."""

    def __init__(self, into: IRModule) -> None:
        self.into = into
        self.names: dict[str, GlobalVar] = {}
        self.pending: list[str] = []

    def of(self, var: GlobalVar) -> GlobalVar:
        name = var.name_hint
        if name not in self.names:
            fresh = f"{name}_cps"
            while fresh in self.into and not any(fresh == v.name_hint for v in self.names.values()):
                fresh += "_"
            self.names[name] = GlobalVar(fresh)
            self.pending.append(name)
        return self.names[name]

    def convert_pending(self, mod: IRModule) -> None:
        while self.pending:
            name = self.pending.pop()
            self.into[self.names[name]] = _with_answer(mod[name], mod, self)


def _with_answer(function: Function, mod: IRModule, names: _Names) -> Function:
    """Convert a function of the module, or one that stands alone, to continuation-passing style."""
    _refuse_functions_in_data(function, mod)
    plain = to_basic_block_normal_form(function)
    typed = infer_expr(plain, mod)
    if any(isinstance(part, Constructor) for node in post_order(typed) for part in _values(node)):
        typed = infer_expr(_expanded(typed, mod), mod)
    assert isinstance(typed, Function)
    answer = TypeVar("answer")
    new = run(_Converter(answer, mod, names).function(typed))
    result = Function(new.params, new.body, new.ret_type, [*new.type_params, answer], new.attrs, new.span)
    set_origin(result, (function,))
    return result


def _expanded(function: Expr, mod: IRModule) -> Expr:
    """Eta-expand the constructors that a function uses as values."""
    assert isinstance(function, Function)
    return EtaExpand(True, False).transform_function(function, mod, PassContext.current())


def _values(node: Expr) -> tuple[Expr, ...]:
    """Return the parts of an expression that are used as values."""
    return node.args if isinstance(node, Call) else children(node)


def _refuse_functions_in_data(function: Function, mod: IRModule) -> None:
    visited = set()
    for node in post_order(function):
        used = [node] if isinstance(node, Constructor) else []
        if isinstance(node, Match):
            used = [c for c in mod.constructors() if any(c is p for p in _constructors(node))]
        for constructor in used:
            if constructor in visited:
                continue
            visited.add(constructor)
            if any(_has_function(t) for t in constructor.inputs):
                raise RelayError(
                    f"`{constructor.name_hint}` holds a function, whose type changes in continuation-passing "
                    "style",
                    node.span,
                    help=["take the function out of the data type, or make its type a parameter of the type"],
                )


def _constructors(match: Match) -> list[Constructor]:
    result: list[Constructor] = []
    pending = [clause.lhs for clause in match.clauses]
    while pending:
        pattern = pending.pop()
        constructor = getattr(pattern, "constructor", None)
        if constructor is not None:
            result.append(constructor)
        pending += getattr(pattern, "patterns", ())
    return result


def _has_function(type_: Type) -> bool:
    pending = [type_]
    while pending:
        current = pending.pop()
        if isinstance(current, FuncType):
            return True
        pending += type_children(current)
    return False


class _Converter:
    """Converts one function of a module, and the functions inside it, which have the same answer type."""

    def __init__(self, answer: TypeVar, mod: IRModule, names: _Names) -> None:
        self.answer = answer
        self.mod = mod
        self.names = names
        self.types = _CPSTypes(answer)
        self.vars: dict[Var, Var] = {}

    def type(self, type_: Type) -> Type:
        result: Type = self.types.visit(type_)
        return result

    def var(self, var: Var) -> Var:
        """Return the variable that replaces a variable of the program."""
        if var not in self.vars:
            new = Var(var.name_hint, self.type(var.checked_type), var.span)
            set_origin(new, (var,))
            self.vars[var] = new
        return self.vars[var]

    def function(self, function: Function) -> Steps[Function]:
        type_ = function.checked_type
        assert isinstance(type_, FuncType)
        k = Var("k", FuncType([self.type(type_.ret_type)], self.answer))
        params = [*map(self.var, function.params), k]
        body = yield self.block(function.body, k)
        new = Function(params, body, self.answer, function.type_params, function.attrs, function.span)
        set_origin(new, (function,))
        return new

    def block(self, body: Expr, k: Var) -> Steps[Expr]:
        """Build the expression that evaluates `body` and passes its value to `k`."""
        frames: list[Frame] = []
        value = yield self.value(body, frames, {})
        rest: Expr = Call(k, [value])
        set_origin(rest, (body,))
        for frame in reversed(frames):
            rest = frame(rest)
        return rest

    def value(self, node: Expr, frames: list[Frame], atoms: dict[Expr, Expr]) -> Steps[Expr]:
        """Return the atom for an expression's value, valid inside `frames`, to which the bindings it needs
        are appended.
        """
        while isinstance(node, Let):
            bound = yield self.value(node.value, frames, atoms)
            frames.append(_let(self.var(node.var), bound, node))
            node = node.body
        if node not in atoms:
            atoms[node] = yield self._new_value(node, frames, atoms)
        return atoms[node]

    def _values(
        self, nodes: tuple[Expr, ...], frames: list[Frame], atoms: dict[Expr, Expr]
    ) -> Steps[list[Expr]]:
        values = []
        for node in nodes:
            values.append((yield self.value(node, frames, atoms)))
        return values

    def _new_value(self, node: Expr, frames: list[Frame], atoms: dict[Expr, Expr]) -> Steps[Expr]:
        match node:
            case Var():
                return self.var(node)
            case GlobalVar():
                return node if _is_direct(self.mod[node]) else self.names.of(node)
            case Function() if not _is_direct(node):
                function: Expr = yield self.function(node)
                return function
            case Tuple():
                return Tuple((yield self._values(node.fields, frames, atoms)), node.span)
            case TupleGetItem():
                return TupleGetItem(
                    (yield self.value(node.tuple_value, frames, atoms)), node.index, node.span
                )
            case Call():
                called: Expr = yield self._call(node, frames, atoms)
                return called
            case RefCreate():
                return self._bound(RefCreate((yield self.value(node.value, frames, atoms))), node, frames)
            case RefRead():
                return self._bound(RefRead((yield self.value(node.ref, frames, atoms))), node, frames)
            case RefWrite():
                ref, value = yield self._values((node.ref, node.value), frames, atoms)
                return self._bound(RefWrite(ref, value), node, frames)
            case If():
                chosen: Expr = yield self._if(node, frames, atoms)
                return chosen
            case Match():
                matched: Expr = yield self._match(node, frames, atoms)
                return matched
        return node

    def _bound(self, value: Expr, node: Expr, frames: list[Frame]) -> Var:
        """Bind a computed value to a new variable."""
        var = Var("x", self.type(node.checked_type), node.span)
        set_span(value, value.span or node.span)
        set_origin(value, (node,))
        set_origin(var, (node,))
        frames.append(_let(var, value, node))
        return var

    def _call(self, node: Call, frames: list[Frame], atoms: dict[Expr, Expr]) -> Steps[Expr]:
        types = [self.type(t) for t in node.type_args]
        callee = node.op
        direct = isinstance(callee, (Op, Constructor)) or _is_direct(
            self.mod[callee] if isinstance(callee, GlobalVar) else callee
        )
        op = callee if direct else (yield self.value(callee, frames, atoms))
        args = yield self._values(node.args, frames, atoms)
        if direct:
            return self._bound(Call(op, args, node.attrs, types, node.span), node, frames)
        if isinstance(callee, GlobalVar) and len(types) == len(self.mod[callee].type_params):
            types.append(self.answer)
        result = Var("arg", self.type(node.checked_type), node.span)
        set_origin(result, (node,))

        def frame(rest: Expr) -> Expr:
            new = Call(op, [*args, self._continuation(result, rest)], node.attrs, types, node.span)
            set_origin(new, (node,))
            return new

        frames.append(frame)
        return result

    def _continuation(self, result: Var, rest: Expr) -> Expr:
        """Build the continuation that evaluates `rest`, which uses the result; `fn (x) { k(x) }` is reduced
        to `k`.
        """
        match rest:
            case Call(op=Var() as k, args=(value,)) if value is result and k is not result:
                return k
        return Function([result], rest, self.answer)

    def _if(self, node: If, frames: list[Frame], atoms: dict[Expr, Expr]) -> Steps[Expr]:
        cond = yield self.value(node.cond, frames, atoms)
        join = self._join(node)
        yes = yield self.block(node.true_branch, join)
        no = yield self.block(node.false_branch, join)
        return self._joined(If(cond, yes, no, node.span), node, join, frames)

    def _match(self, node: Match, frames: list[Frame], atoms: dict[Expr, Expr]) -> Steps[Expr]:
        data = yield self.value(node.data, frames, atoms)
        join = self._join(node)
        clauses = []
        for clause in node.clauses:
            names = {var: self.var(var) for var in pattern_vars(clause.lhs)}
            rhs = yield self.block(clause.rhs, join)
            clauses.append(Clause(renamed(clause.lhs, names), rhs, clause.span))
        return self._joined(Match(data, clauses, node.complete, node.span), node, join, frames)

    def _join(self, node: Expr) -> Var:
        """Name the join point: the continuation that follows a branch."""
        return Var("k", FuncType([self.type(node.checked_type)], self.answer))

    def _joined(self, choice: Expr, node: Expr, join: Var, frames: list[Frame]) -> Var:
        result = Var("arg", self.type(node.checked_type), node.span)
        set_origin(choice, (node,))
        set_origin(result, (node,))

        def frame(rest: Expr) -> Expr:
            new = Let(join, self._continuation(result, rest), choice, node.span)
            set_origin(new, (node,))
            return new

        frames.append(frame)
        return result


def _let(var: Var, value: Expr, node: Expr) -> Frame:
    def frame(rest: Expr) -> Expr:
        new = Let(var, value, rest, node.span)
        set_origin(new, (node,))
        return new

    return frame
