"""Generate constraints: give every expression a type, and collect the relations and equations between types.

The walk uses its own stack, because programs may be 100,000 levels deep. Each kind of expression has an
`open_…` method, which schedules its operands, and often a `close_…` method, which runs when they have types.
"""

from __future__ import annotations

from collections.abc import Callable

from ..ir.adt import Constructor, Match
from ..ir.errors import TypeInferenceError
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
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.show import counted
from ..ir.substitute import MAX_TYPE_DEPTH, MAX_TYPE_PARTS, parts_of, substitute_type, with_parts
from ..ir.types import FuncType, IncompleteType, RefType, TensorType, TupleType, Type, TypeCall, is_complete
from .events import Named, Reason, Refused
from .kinds import check_kinds
from .narrate import callee_name
from .patterns import bind_pattern
from .projection import projection
from .solver import RefusalError, Solver
from .variables import InferenceVariable, prune

BOOL = TensorType.of((), "bool")
UNIT = TupleType(())
Task = tuple[Callable[..., None], Expr]


class Generator:
    """Generates the constraints of one module's functions. `types` maps each expression to its type."""

    def __init__(self, module: IRModule, solver: Solver) -> None:
        self.module = module
        self.solver = solver
        self.types: dict[Expr, Type] = {}
        self.type_args: dict[Call, tuple[Type, ...]] = {}
        self.signatures: dict[str, Type] = {}
        self.called: set[str] = set()  # global functions whose signature has been used
        self.introduced: set[Var] = set()
        self.used: dict[Var, None] = {}
        self.names: dict[
            Expr, Var
        ] = {}  # maps a value to the variable that a `let` without annotation binds to it
        self.extents: dict[
            int, tuple[int, int]
        ] = {}  # maps the id of a type built here to its depth and number of parts
        self.holes: dict[IncompleteType, InferenceVariable] = {}
        self.tasks: list[Task] = []
        self.scrutinised: list[Match] = []
        self._open: dict[type, Callable[..., None]] = {
            Call: self.open_call,
            Var: self.open_var,
            Constant: self.open_constant,
            Op: self.open_op,
            Tuple: self.open_tuple,
            TupleGetItem: self.open_projection,
            Function: self.open_function,
            Let: self.open_let,
            If: self.open_if,
            Match: self.open_match,
            RefCreate: self.open_ref_create,
            RefRead: self.open_ref_read,
            RefWrite: self.open_ref_write,
            GlobalVar: self.open_global,
            Constructor: self.open_constructor,
        }

    # -- driving

    def declare(self, name: str, function: Function) -> None:
        """Give a global function its signature before any body is visited, so that functions may call one
        another.
        """
        for param in function.params:
            self.introduce(param)
        args = [self.types[p] for p in function.params]
        self.signatures[name] = FuncType(
            args, self.annotation(function.ret_type, function), function.type_params
        )

    def define(self, name: str, function: Function) -> None:
        """Generate the constraints of a declared function's body."""
        signature = self.signatures[name]
        assert isinstance(signature, FuncType)
        self.walk(function.body)
        body = self.types[function.body]
        if function.ret_type is None and name not in self.called:
            signature = FuncType(signature.arg_types, body, signature.type_params)
            self.signatures[name] = signature
        else:
            self.solver.unify(
                signature.ret_type, body, Reason("return", function, left=function, right=function.body)
            )
        self.types[function] = signature

    def walk(self, root: Expr) -> None:
        """Give `root` and every expression below it a type."""
        tasks = self.tasks
        tasks.append((self.visit, root))
        while tasks:
            task, expr = tasks.pop()
            task(expr)

    def visit(self, expr: Expr) -> None:
        if expr in self.types and expr.__class__ is not Var:
            return
        opener = self._open.get(expr.__class__)
        if opener is None:
            raise TypeInferenceError(
                f"a {type(expr).__name__} is not a Relay expression",
                expr.span if isinstance(expr, Expr) else None,
            )
        opener(expr)

    def schedule(self, close: Callable[..., None], expr: Expr, *parts: Expr) -> None:
        """Schedule `close(expr)` to run once all `parts` have types; the parts are visited from left to
        right.
        """
        tasks = self.tasks
        tasks.append((close, expr))
        types = self.types
        for part in reversed(parts):
            if part not in types:
                tasks.append((self.visit, part))
            elif part.__class__ is Var:
                self.used[part] = None

    def give(self, expr: Expr, type_: Type) -> None:
        self.types[expr] = self.solver.typed(expr, type_)

    def build(self, expr: Expr, type_: Type) -> None:
        """Give `expr` a type built from other expressions' types. Reject a type that exceeds the size limits
        here, because every later traversal costs time proportional to its size.
        """
        depth, size = 0, 1
        for part in parts_of(type_):
            part_depth, part_size = self.extents.get(id(prune(part)), (0, 1))
            depth, size = max(depth, part_depth), size + part_size
        if depth >= MAX_TYPE_DEPTH or size > MAX_TYPE_PARTS:
            limit = (
                f"is nested deeper than {MAX_TYPE_DEPTH} levels"
                if depth >= MAX_TYPE_DEPTH
                else f"has more than {MAX_TYPE_PARTS:,} parts"
            )
            raise self.refuse(expr, f"the type of this {type(expr).__name__.lower()} {limit}")
        self.extents[id(type_)] = (
            depth + 1,
            size,
        )  # `types` keeps the type alive, so its id is not reused
        self.give(expr, type_)

    def refuse(self, at: Expr, message: str, *help: str) -> RefusalError:
        return self.solver.refuse(Refused(message, help, at, None, None, None, None, None, None))

    def annotation(self, annotation: Type | None, at: Expr) -> Type:
        """Return an annotation with a fresh type variable for every hole in it, or a fresh variable where
        there is no annotation.
        """
        if annotation is None:
            return self.solver.fresh()
        if annotation.__class__ is TensorType:
            return annotation
        problem = check_kinds(annotation, self.module)
        if problem is not None:
            raise self.refuse(at, problem)
        return annotation if is_complete(annotation) else self._fill(annotation)

    def _fill(self, type_: Type) -> Type:
        if isinstance(type_, IncompleteType):
            if type_ not in self.holes:
                self.holes[type_] = self.solver.fresh()
            return self.holes[type_]
        parts = parts_of(type_)
        return with_parts(type_, [self._fill(p) for p in parts]) if parts else type_

    # -- leaves

    def introduce(self, var: Var) -> None:
        """Bring a variable into scope, with its annotation or a fresh type variable as its type."""
        self.introduced.add(var)
        if var not in self.types:
            self.give(var, self.annotation(var.type_annotation, var))

    def open_var(self, var: Var) -> None:
        self.used[var] = None
        if var not in self.types:
            self.give(var, self.annotation(var.type_annotation, var))

    def open_constant(self, constant: Constant) -> None:
        self.types[constant] = TensorType.of(constant.data.shape, constant.data.dtype)

    def open_global(self, var: GlobalVar) -> None:
        signature = self.signatures.get(var.name_hint)
        if signature is None:
            functions = ", ".join(f"`@{v.name_hint}`" for v in list(self.module.functions)[:8])
            raise self.refuse(
                var,
                f"there is no function `@{var.name_hint}`",
                f"the module has {functions}" if functions else "the module has no functions",
            )
        self.called.add(var.name_hint)
        self.types[var] = signature

    def open_op(self, op: Op) -> None:
        """Type an operator that is used as a value: as a function of fresh type variables, with the
        operator's relation between them.
        """
        if op.inputs is None:
            raise self.refuse(
                op,
                f"`{op.name}` takes any number of arguments, so it cannot be passed as a function",
                "wrap it: fn (%x) { … }",
            )
        inputs = [self.solver.fresh() for _ in op.inputs]
        output = self.solver.fresh()
        attrs = op.attrs_class() if op.attrs_class is not None else None
        self.solver.relate(op.relation, [*inputs, output], attrs, op)
        self.types[op] = FuncType(inputs, output)

    def open_constructor(self, constructor: Constructor) -> None:
        self.types[constructor] = self.constructor_type(constructor, constructor)

    def constructor_type(self, constructor: Constructor, at: Expr) -> FuncType:
        data = self.module.type_definitions.get(constructor.belong_to)
        if data is None:
            raise self.refuse(
                at,
                f"the type `{constructor.belong_to.name_hint}` of `{constructor.name_hint}` is not declared",
            )
        result = TypeCall(data.header, data.type_vars) if data.type_vars else TypeCall(data.header, ())
        return FuncType(constructor.inputs, result, data.type_vars)

    # -- calls

    def open_call(self, call: Call) -> None:
        if call.op.__class__ is Op:
            self.schedule(self.close_operator_call, call, *call.args)
        else:
            self.schedule(self.close_call, call, call.op, *call.args)

    def close_operator_call(self, call: Call) -> None:
        op: Op = call.op  # type: ignore[assignment]  # open_call checked its class
        inputs = op.inputs
        count = len(call.args)
        if inputs is not None and count != len(inputs):
            takes = ", ".join(f"`{name}`" for name in inputs) or "nothing"
            raise self.refuse(
                call,
                f"`{op.name}` expects {counted(len(inputs), 'argument')} ({takes}), got {count}",
            )
        types = self.types
        output = self.solver.fresh()
        self.give(call, output)
        attrs = call.attrs
        if attrs is None and op._schema is not None and op.attrs_class is not None:
            attrs = op.attrs_class()
        self.solver.relate(op.relation, (*[types[a] for a in call.args], output), attrs, call)

    def close_call(self, call: Call) -> None:
        callee = prune(self.types[call.op])
        if not isinstance(callee, FuncType):
            self._call_unknown(call, callee)
            return
        if callee.type_params:
            callee = self._instantiate(call, callee)
        elif call.type_args:
            raise self.refuse(call, "this function has no type parameters, but is called with type arguments")
        if len(callee.arg_types) != len(call.args):
            name = callee_name(call.op)
            raise self.refuse(
                call,
                f"{name} expects {counted(len(callee.arg_types), 'argument')}, got {len(call.args)}",
                f"its type is {callee}",
            )
        unify = self.solver.unify
        for index, (arg, expected) in enumerate(zip(call.args, callee.arg_types)):
            unify(expected, self.types[arg], Reason("argument", call, index, call.op, arg))
        self.give(call, callee.ret_type)

    def _call_unknown(self, call: Call, callee: Type) -> None:
        """Type a call whose callee's type is a type variable: unify it with a function type."""
        if not isinstance(callee, InferenceVariable):
            raise self.refuse(
                call, f"{callee_name(call.op)} is called, but it is not a function: its type is {callee}"
            )
        result = self.solver.fresh()
        expected = FuncType([self.types[a] for a in call.args], result)
        self.solver.unify(callee, expected, Reason("callee", call, left=call.op, right=call))
        self.give(call, result)

    def _instantiate(self, call: Call, callee: FuncType) -> FuncType:
        """Instantiate a generic function: replace its type parameters by the call's type arguments, or by
        fresh variables.
        """
        if len(call.type_args) > len(callee.type_params):
            raise self.refuse(
                call,
                f"{counted(len(call.type_args), 'type argument')} given to a function with "
                f"{counted(len(callee.type_params), 'type parameter')}",
            )
        args: list[Type] = [self.annotation(t, call) for t in call.type_args]
        args += [self.solver.fresh() for _ in callee.type_params[len(args) :]]
        self.type_args[call] = tuple(args)
        opened = substitute_type(
            FuncType(callee.arg_types, callee.ret_type), dict(zip(callee.type_params, args))
        )
        assert isinstance(opened, FuncType)
        return opened

    # -- tuples and references

    def open_tuple(self, tup: Tuple) -> None:
        self.schedule(self.close_tuple, tup, *tup.fields)

    def close_tuple(self, tup: Tuple) -> None:
        self.build(tup, TupleType([self.types[f] for f in tup.fields]))

    def open_projection(self, get: TupleGetItem) -> None:
        self.schedule(self.close_projection, get, get.tuple_value)

    def close_projection(self, get: TupleGetItem) -> None:
        whole = prune(self.types[get.tuple_value])
        if isinstance(whole, TupleType) and 0 <= get.index < len(whole.fields):
            self.give(get, whole.fields[get.index])
            return
        output = self.solver.fresh()
        self.give(get, output)
        self.solver.relate(projection(get.index), (self.types[get.tuple_value], output), None, get)

    def open_ref_create(self, ref: RefCreate) -> None:
        self.schedule(self.close_ref_create, ref, ref.value)

    def close_ref_create(self, ref: RefCreate) -> None:
        self.build(ref, RefType(self.types[ref.value]))

    def open_ref_read(self, read: RefRead) -> None:
        self.schedule(self.close_ref_read, read, read.ref)

    def close_ref_read(self, read: RefRead) -> None:
        value = self.solver.fresh()
        self.give(read, value)
        self.solver.unify(self.types[read.ref], RefType(value), Reason("ref", read, left=read.ref))

    def open_ref_write(self, write: RefWrite) -> None:
        self.schedule(self.close_ref_write, write, write.ref, write.value)

    def close_ref_write(self, write: RefWrite) -> None:
        expected = RefType(self.types[write.value])
        self.solver.unify(
            self.types[write.ref], expected, Reason("ref", write, left=write.ref, right=write.value)
        )
        self.give(write, UNIT)

    # -- binders and branches

    def open_function(self, function: Function) -> None:
        for param in function.params:
            self.introduce(param)
        self.schedule(self.close_function, function, function.body)

    def close_function(self, function: Function) -> None:
        body = self.types[function.body]
        if function.ret_type is not None:
            result = self.annotation(function.ret_type, function)
            self.solver.unify(result, body, Reason("return", function, left=function, right=function.body))
            body = result
        self.build(function, FuncType([self.types[p] for p in function.params], body, function.type_params))

    def open_let(self, let: Let) -> None:
        if let.var.type_annotation is not None or isinstance(let.value, Function):
            self.introduce(let.var)  # before the value, because a function may call itself
        self.tasks += (
            (self.close_let, let),
            (self.visit, let.body),
            (self.bind_let, let),
            (self.visit, let.value),
        )

    def bind_let(self, let: Let) -> None:
        value = self.types[let.value]
        if let.var in self.types:
            self.introduced.add(let.var)
            self.solver.unify(self.types[let.var], value, Reason("let", let, left=let.var, right=let.value))
            return
        self.introduced.add(let.var)
        self.types[let.var] = value
        self.names[let.value] = let.var
        if self.solver.recorder is not None:
            self.solver.recorder.emit(Named(let.var, let.value))

    def close_let(self, let: Let) -> None:
        self.types[let] = self.types[let.body]

    def open_if(self, branch: If) -> None:
        self.tasks += (
            (self.close_if, branch), (self.visit, branch.false_branch), (self.visit, branch.true_branch),
            (self.check_condition, branch), (self.visit, branch.cond),
        )  # fmt: skip

    def check_condition(self, branch: If) -> None:
        self.solver.unify(BOOL, self.types[branch.cond], Reason("condition", branch, right=branch.cond))

    def close_if(self, branch: If) -> None:
        yes, no = branch.true_branch, branch.false_branch
        self.give(
            branch,
            self.solver.unify(
                self.types[yes], self.types[no], Reason("branches", branch, left=yes, right=no)
            ),
        )

    def open_match(self, match: Match) -> None:
        self.tasks += ((self.close_match, match),)
        for index in reversed(range(len(match.clauses))):
            self.tasks.append((self.visit, match.clauses[index].rhs))
        self.tasks += ((self.bind_patterns, match), (self.visit, match.data))

    def bind_patterns(self, match: Match) -> None:
        for index, clause in enumerate(match.clauses):
            bind_pattern(self, clause.lhs, self.types[match.data], match, index, match.data)

    def close_match(self, match: Match) -> None:
        result: Type = self.solver.fresh()
        first = match.clauses[0].rhs if match.clauses else None
        for index, clause in enumerate(match.clauses):
            result = self.solver.unify(
                result, self.types[clause.rhs], Reason("clause", match, index, first, clause.rhs)
            )
        self.give(match, result)
        if match.complete:
            self.scrutinised.append(match)
