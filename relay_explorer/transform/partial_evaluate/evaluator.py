"""The partial evaluator: evaluate one function of a module, and build its residual program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any as Anything

from ...ir.adt import Clause, Constructor, Match, pattern_vars
from ...ir.annotate import set_origin, set_span
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
from ...ir.ndarray import NDArray
from ...ir.op import Op
from ...ir.recorder import active
from ...ir.substitute import substitute_type
from ...ir.trampoline import Steps, run
from ..fold_constant import compute, is_pure, is_static
from .record import PartialEvaluationEvent, Trace
from .steps import array, atoms, call_of, copied, fits, renamed
from .values import (
    Block,
    Env,
    Known,
    Static,
    StaticCallee,
    StaticData,
    StaticFunction,
    StaticRef,
    StaticTensor,
    StaticTuple,
    Store,
    measure,
    progress,
)

MAX_BINDINGS = 200_000
MAX_DEPTH = 10_000  # the depth of nested inlining


def is_kernel(function: Function) -> bool:
    return "Primitive" in function.attrs or "Compiler" in function.attrs


class Evaluator:
    """Evaluates one function of a module. The visiting methods return what is known about a value statically,
    and add computations that remain for run time to the block. Each step is emitted as an event.
    """

    def __init__(self, mod: IRModule, limit: int) -> None:
        self.mod = mod
        self.limit = limit
        self.store = Store()
        recorder = active(PartialEvaluationEvent)
        self.trace = None if recorder is None else Trace(recorder, self.store)
        # By the id of a function that is being inlined: the measures of its arguments.
        self.fuel: dict[int, Anything] = {}
        self.clock = 0
        self.bindings = 0
        self.depth = 0
        self.demanded: set[Var] = set()

    def residual(self, name: GlobalVar, function: Function) -> Function:
        """Return the residual function of a function of the module."""
        static = StaticFunction(function, Env(), 0)  # created first, like all functions of the module
        result = run(self._reified(static, Known(name, static), list(function.params), {}))
        assert isinstance(result, Function)
        if self.trace is not None:
            self.trace.finished(result)
        return result

    def _tick(self) -> int:
        self.clock += 1
        return self.clock

    # -- blocks

    def _push(self, block: Block, value: Expr, origin: Expr, name: str = "x") -> Expr:
        self.bindings += 1
        set_origin(value, value.origin or (origin,))
        if value.span is None:
            set_span(value, origin.span)
        for part in atoms(value):
            self._demand(part)
        var = block.push(value, name, (origin,))
        if self.trace is not None:
            self.trace.pushed(var)
        return var

    def _keep(self, new: Expr, expr: Expr, args: Sequence[Known], block: Block, name: str, why: str) -> Known:
        """Leave an expression in the residual program."""
        residual_value = Known(self._push(block, new, expr, name))
        if self.trace is not None:
            self.trace.kept(expr, residual_value, args, why)
        return residual_value

    def _demand(self, atom: Expr) -> Expr:
        if isinstance(atom, Var):
            self.demanded.add(atom)
        return atom

    def _in_block(self, evaluate: Callable[[Block], Steps[Known]]) -> Steps[Expr]:
        """Evaluate into a block of its own, and return the residual expression."""
        block = Block()
        result: Known = yield evaluate(block)
        new: Expr = yield self._closed(block, self._demand(result.dynamic))
        return new

    def _closed(self, block: Block, result: Expr) -> Steps[Expr]:
        """Wrap the block around its result. The functions that are needed are generated now, the last ones
        first, because they may need those before them.
        """
        values: list[tuple[Var, Expr]] = []
        for var, value in reversed(block.bindings):
            if isinstance(value, Expr):
                values.append((var, value))
            elif var in self.demanded:
                values.append((var, (yield value())))
        return block.around(result, values[::-1])

    def _apart(self, evaluate: Callable[[Block], Steps[Known]]) -> Steps[Expr]:
        """Evaluate a branch; what it learns about cells holds only inside it."""
        before = self.store.saved()
        result: Expr = yield self._in_block(evaluate)
        self.store.restore(before)
        return result

    # -- expressions

    def _visit(self, expr: Expr, env: Env, block: Block, name: str = "x") -> Steps[Known]:
        match expr:
            case Let():
                value: Known = yield self._let(expr, env, block)
                return value
            case Var():
                return env.lookup(expr) or Known(expr)
            case Constant():
                return Known(self._push(block, expr, expr, name), StaticTensor(expr.data.numpy()))
            case GlobalVar():
                return self._global(expr)
            case Op() | Constructor():
                return Known(expr, StaticCallee(expr))
            case Tuple():
                fields = yield self._all(expr.fields, env, block)
                result = Tuple([f.dynamic for f in fields])
                return self._built(expr, self._push(block, result, expr, name), StaticTuple(tuple(fields)))
            case TupleGetItem():
                data: Known = yield self._visit(expr.tuple_value, env, block)
                if isinstance(data.static, StaticTuple):
                    field = data.static.fields[expr.index]
                    if self.trace is not None:
                        self.trace.taken(expr, field, data)
                    return field
                return self._keep(TupleGetItem(data.dynamic, expr.index), expr, [data], block, name, "field")
            case Function():
                return self._function(expr, env, block, name)
            case Call():
                value = yield self._call(expr, env, block, name)
                return value
            case If():
                value = yield self._if(expr, env, block, name)
                return value
            case Match():
                value = yield self._match(expr, env, block, name)
                return value
        value = yield self._reference(expr, env, block, name)
        return value

    def _built(self, expr: Expr, dynamic: Expr, static: Static) -> Known:
        value = Known(dynamic, static)
        if self.trace is not None:
            self.trace.built(expr, value)
        return value

    def _all(self, exprs: tuple[Expr, ...], env: Env, block: Block) -> Steps[list[Known]]:
        values = []
        for expr in exprs:
            values.append((yield self._visit(expr, env, block)))
        return values

    def _let(self, expr: Expr, env: Env, block: Block) -> Steps[Known]:
        """Evaluate a chain of `let`s without recursion."""
        scope = Env(env)
        while isinstance(expr, Let):
            name = expr.var.name_hint
            if isinstance(expr.value, Function):
                scope.values[expr.var] = self._function(expr.value, scope, block, name, expr.var)
            else:
                scope.values[expr.var] = yield self._visit(expr.value, scope, block, name)
            expr = expr.body
        value: Known = yield self._visit(expr, scope, block)
        return value

    def _global(self, var: GlobalVar) -> Known:
        function = self.mod.functions.get(var)
        if isinstance(function, Function) and not is_kernel(function):
            return Known(var, StaticFunction(function, Env(), 0))
        return Known(var)

    def _reference(self, expr: Expr, env: Env, block: Block, name: str) -> Steps[Known]:
        match expr:
            case RefCreate():
                value: Known = yield self._visit(expr.value, env, block)
                cell = StaticRef(self._tick())
                self.store.write(cell, value)
                result = Known(self._push(block, RefCreate(value.dynamic), expr, name), cell)
                if self.trace is not None:
                    self.trace.kept(expr, result, [value], "cell")
                return result
            case RefWrite():
                target: Known = yield self._visit(expr.ref, env, block)
                value = yield self._visit(expr.value, env, block)
                if isinstance(target.static, StaticRef):
                    self.store.write(target.static, value)
                else:  # it may be any cell
                    self.store.forget()
                write = RefWrite(target.dynamic, value.dynamic)
                result = Known(self._push(block, write, expr, name), StaticTuple(()))
                if self.trace is not None:
                    self.trace.kept(expr, result, [target, value], "write")
                return result
            case RefRead():
                source: Known = yield self._visit(expr.ref, env, block)
                if isinstance(source.static, StaticRef):
                    held = self.store.read(source.static)
                    if held is not None:
                        if self.trace is not None:
                            self.trace.taken(expr, held, source)
                        return held
                read = self._keep(RefRead(source.dynamic), expr, [source], block, name, "read")
                if isinstance(source.static, StaticRef):
                    self.store.write(source.static, read)
                return read
        raise TypeError(f"a {type(expr).__name__} is not an expression that can be evaluated")

    # -- branches

    def _if(self, expr: If, env: Env, block: Block, name: str) -> Steps[Known]:
        condition: Known = yield self._visit(expr.cond, env, block)
        if isinstance(condition.static, StaticTensor):
            holds = bool(condition.static.array)
            if self.trace is not None:
                self.trace.decided(expr, condition, 0 if holds else 1, {})
            branch = expr.true_branch if holds else expr.false_branch
            value: Known = yield self._visit(branch, env, block, name)
            return value
        if self.trace is not None:
            self.trace.undecided(expr, condition, (0, 1))
        if self.trace is not None:
            self.trace.branch(expr, 0, {})
        yes = yield self._apart(lambda inner: self._visit(expr.true_branch, env, inner))
        if self.trace is not None:
            self.trace.branch(expr, 1, {})
        no = yield self._apart(lambda inner: self._visit(expr.false_branch, env, inner))
        self.store.forget()
        return self._keep(If(condition.dynamic, yes, no), expr, [condition], block, name, "branches")

    def _match(self, expr: Match, env: Env, block: Block, name: str) -> Steps[Known]:
        data: Known = yield self._visit(expr.data, env, block)
        remaining: list[tuple[int, Clause]] = []  # clauses that may fit
        for number, clause in enumerate(expr.clauses):
            scope = Env(env)
            sure = fits(clause.lhs, data, scope)
            if sure and not remaining:
                if self.trace is not None:
                    self.trace.decided(expr, data, number, scope.values)
                value: Known = yield self._visit(clause.rhs, scope, block, name)
                return value
            if sure is not False:
                remaining.append((number, clause))
        if self.trace is not None:
            self.trace.undecided(expr, data, [number for number, _ in remaining])
        clauses = []
        for number, clause in remaining:
            clauses.append((yield self._clause(expr, number, clause, env)))
        self.store.forget()
        # a clause may be impossible by the data but not by its type, so the others may be incomplete
        complete = expr.complete and len(remaining) == len(expr.clauses)
        return self._keep(Match(data.dynamic, clauses, complete), expr, [data], block, name, "branches")

    def _clause(self, match: Match, number: int, clause: Clause, env: Env) -> Steps[Clause]:
        """Build a clause of the residual program, with fresh variables."""
        scope = Env(env)
        new = {var: copied(var, env) for var in pattern_vars(clause.lhs)}
        scope.values.update({var: Known(copy) for var, copy in new.items()})
        if self.trace is not None:
            self.trace.branch(match, number, scope.values)
        body = yield self._apart(lambda inner: self._visit(clause.rhs, scope, inner))
        return Clause(renamed(clause.lhs, new), body, clause.span)

    # -- functions

    def _function(
        self, function: Function, env: Env, block: Block, name: str, itself: Var | None = None
    ) -> Known:
        """Evaluate a function to a value. Its code enters the residual program only if something there needs
        it. `itself` is the variable by which it may call itself.
        """
        if is_kernel(function):
            return self._keep(function, function, [], block, name, "kernel")
        var = Var(name)
        set_origin(var, (function,))
        scope = Env(env)
        static = StaticFunction(function, scope, self._tick())
        value = Known(var, static)
        if itself is not None:
            scope.values[itself] = value
        params = [copied(p, env) for p in function.params]
        active = dict(self.fuel)
        block.push_lazy(var, lambda: self._reified(static, value, params, active))
        if self.trace is not None:
            self.trace.built(function, value)
        return value

    def _reified(
        self, static: StaticFunction, itself: Known, params: list[Var], active: Mapping[int, Anything]
    ) -> Steps[Expr]:
        """Generate the function's code in the residual program. When it will be called is dynamic, so nothing
        is known about cells inside it. The calls that were `active` when the function was created remain
        active in its body, so that a function that creates functions which call it is not unrolled without
        end.
        """
        function = static.function
        fuel = self.fuel
        self.fuel = {**active, **fuel}
        before = self.store.saved()
        self.store.forget()
        args = [Known(p) for p in params]
        body = yield self._in_block(lambda inner: self._applied(static, itself, args, None, inner, "x"))
        self.store.restore(before)
        self.fuel = fuel
        ret_type = None if function.ret_type is None else substitute_type(function.ret_type, static.env.types)
        result = Function(params, body, ret_type, function.type_params, function.attrs, function.span)
        set_origin(result, (function,))
        return result

    def _call(self, call: Call, env: Env, block: Block, name: str) -> Steps[Known]:
        callee: Known = yield self._visit(call.op, env, block)
        args: list[Known] = yield self._all(call.args, env, block)
        if env.types and call.type_args:
            types = [substitute_type(t, env.types) for t in call.type_args]
            call = Call(call.op, call.args, call.attrs, types, call.span)
        match callee.static:
            case StaticFunction() as function:
                result: Known = yield self._applied(function, callee, args, call, block, name)
                return result
            case StaticCallee(callee=Constructor() as constructor):
                new = self._push(block, call_of(constructor, args, call), call, name)
                return self._built(call, new, StaticData(constructor, tuple(args), self._tick()))
            case StaticCallee(callee=Op() as op):
                return self._operator(op, call, args, block, name)
        return self._unknown(callee, args, call, block, name, "function")

    def _unknown(
        self, callee: Known, args: list[Known], call: Call, block: Block, name: str, why: str
    ) -> Known:
        """Leave a call in the residual program: it may write any cell."""
        self.store.forget()
        return self._keep(call_of(callee.dynamic, args, call), call, args, block, name, why)

    def _operator(self, op: Op, call: Call, args: list[Known], block: Block, name: str) -> Known:
        arrays = list(map(array, args))
        if is_pure(op) and all(array is not None for array in arrays) and is_static(call):
            value = compute(op, call, arrays)
            if value is not None:
                result = self._constant(value, call, block, name)
                if self.trace is not None:
                    self.trace.computed(call, result, args)
                return result
        return self._keep(call_of(op, args, call), call, args, block, name, "operator")

    def _constant(self, value: Anything, origin: Expr, block: Block, name: str) -> Known:
        """Bind a computed value, and the constants that it consists of, in the residual program."""
        if isinstance(value, tuple):
            fields = [self._constant(part, origin, block, "x") for part in value]
            result: Expr = Tuple([f.dynamic for f in fields])
            return Known(self._push(block, result, origin, name), StaticTuple(tuple(fields)))
        result = Constant(NDArray.from_numpy(value))
        return Known(self._push(block, result, origin, name), StaticTensor(value))

    def _applied(
        self,
        static: StaticFunction,
        itself: Known,
        args: list[Known],
        call: Call | None,
        block: Block,
        name: str,
    ) -> Steps[Known]:
        """Evaluate the body of a function on its arguments in place, or leave a call where the evaluation
        might not end.
        """
        function = static.function
        key = id(function)
        now = ("fields", ("made", static.made), *map(measure, args))
        outer = self.fuel.get(key)
        fuel, fell = (now, True) if outer is None else progress(outer, now)
        if call is not None and (not fell or self.bindings > self.limit or self.depth > MAX_DEPTH):
            return self._unknown(itself, args, call, block, name, "endless" if not fell else "size")
        if self.trace is not None:
            self.trace.entered(static, itself, args, call, outer, now)
        types = dict(zip(function.type_params, call.type_args)) if call is not None else None
        scope = Env(static.env, types)
        scope.values.update(zip(function.params, args))
        self.fuel[key] = fuel
        self.depth += 1
        result: Known = yield self._visit(function.body, scope, block, name)
        self.depth -= 1
        if outer is None:
            del self.fuel[key]
        else:
            self.fuel[key] = outer
        if self.trace is not None:
            self.trace.returned(result)
        return result
