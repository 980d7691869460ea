"""Infer the types of a whole module: callees before callers, mutually recursive functions together."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from ..ir.errors import RelayError, TypeInferenceError
from ..ir.expr import Expr, Function, GlobalVar, Var
from ..ir.module import IRModule
from ..ir.recorder import Recorder
from ..ir.show import show_type
from ..ir.substitute import TypeTooLargeError
from ..ir.types import TensorType, Type
from ..ir.walk import free_vars, post_order
from .annotate import Annotator
from .constraints import Generator
from .events import Annotated, FunctionEntered, InferenceEvent, Refused
from .patterns import check_matches
from .solver import RefusalError, Solver
from .variables import resolve, variables_in


class Inference:
    """The result of inference and, if it was recorded, the events that led to it.

    `module` is the typed copy, or None where inference failed; `error` then explains why. `source` is the
    input module. `events` is empty unless recorded.
    """

    def __init__(
        self,
        source: IRModule,
        module: IRModule | None,
        error: RelayError | None,
        events: list[InferenceEvent],
    ) -> None:
        self.source = source
        self.module = module
        self.error = error
        self.events = events

    @property
    def succeeded(self) -> bool:
        return self.module is not None

    def __repr__(self) -> str:
        result = "well typed" if self.succeeded else "refused"
        return f"<Inference: {result}, {len(self.events)} events>"


def infer_types(module: IRModule) -> IRModule:
    """Infer the type of every expression; return a typed copy of the module. Raise a TypeInferenceError where
    there is no typing, or more than one.
    """
    return _typed(module, complete=True)


def check_types(module: IRModule) -> None:
    """Raise a TypeInferenceError where the types in `module` disagree. A type that nothing else depends on,
    such as that of an empty list's elements, may stay unsolved: running the program does not need it.
    """
    _typed(module, complete=False)


def record(module: IRModule) -> Inference:
    """Infer the types of a module and record every event, including those of an inference that fails."""
    return _recorded(module, complete=True)


def _typed(module: IRModule, complete: bool) -> IRModule:
    """Infer types. Unless they must be `complete`, type variables that no relation reads may stay
    unsolved.
    """
    try:
        with _without_collection():
            return _infer(module, complete)
    except TypeTooLargeError as problem:
        raise TypeInferenceError(str(problem)) from None
    except RefusalError:
        pass
    # The explanation names the steps that led to the failure, so inference is repeated with a recorder.
    error = _recorded(module, complete).error
    assert error is not None
    raise error


def _recorded(module: IRModule, complete: bool) -> Inference:
    from .explain import explain

    with _without_collection(), Recorder(InferenceEvent) as recorder:
        try:
            return Inference(module, _infer(module, complete), None, recorder.events)
        except RefusalError as refusal:
            error: RelayError = explain(refusal.event, recorder.events)
        except TypeTooLargeError as problem:
            error = TypeInferenceError(str(problem))
    return Inference(module, None, error, recorder.events)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Pause Python's cyclic garbage collector.

    Inference creates many objects, all of which stay alive. The collector would traverse them again and again
    and free nothing, so the time per call would grow with the size of the program.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _infer(module: IRModule, complete: bool) -> IRModule:
    solver = Solver()
    generator = Generator(module, solver)
    annotator = Annotator(generator)
    typed = IRModule({}, module.type_definitions, module.attrs, module.source)
    copies: dict[GlobalVar, Function] = {}
    for group in _groups(module):
        _infer_group(group, module, generator, annotator, copies, complete)
    for var in module.functions:
        typed.add_function(var, copies[var])
    return typed


def _infer_group(
    group: list[GlobalVar],
    module: IRModule,
    generator: Generator,
    annotator: Annotator,
    copies: dict[GlobalVar, Function],
    complete: bool,
) -> None:
    """Infer the types of one strongly connected component of the call graph, usually a single function."""
    solver = generator.solver
    first_constraint, first_expr = len(solver.constraints), len(generator.types)
    for var in group:
        if solver.recorder is not None:
            solver.recorder.emit(FunctionEntered(var.name_hint, module.functions[var]))
        generator.declare(var.name_hint, module.functions[var])
    for var in group:
        generator.define(var.name_hint, module.functions[var])
        _check_scope(module.functions[var], generator)
    solver.solve()
    _check_relations(generator, first_constraint)
    if complete:
        _check_known(generator, first_expr)
    check_matches(generator)
    for var in group:
        function = module.functions[var]
        annotator.copy(function.body)
        copies[var] = annotator.function(function)
        generator.signatures[var.name_hint] = copies[var].checked_type
    if solver.recorder is not None:
        solver.recorder.emit(Annotated(tuple(v.name_hint for v in group)))


def _check_scope(function: Function, generator: Generator) -> None:
    """Raise where the body uses a variable that is not in scope."""
    if generator.used.keys() <= generator.introduced:
        return
    for var in free_vars(function):
        raise generator.refuse(
            var, f"`%{var.name_hint}` is used, but nothing introduces it",
            "make it a parameter of the function, or bind it with `let`",
        )  # fmt: skip


def _check_relations(generator: Generator, first_constraint: int) -> None:
    """Raise where a relation is still waiting: the program's types are ambiguous."""
    solver = generator.solver
    waiting = [c for c in solver.constraints[first_constraint:] if not c.done]
    if waiting:
        constraint = waiting[0]
        operands = [a for a in constraint.args[: constraint.num_inputs] if variables_in(a)]
        name = getattr(getattr(constraint.call, "op", None), "name", None) or constraint.relation.name
        unknown = f"{len(operands)} of its argument types {'is' if len(operands) == 1 else 'are'} not known"
        message = f"the program does not say enough: `{name}` cannot be typed, since {unknown}"
        left_expr = _first_unknown(generator, constraint.call)
        raise solver.refuse(
            Refused(
                message,
                (_how_to_annotate(left_expr),),
                constraint.call,
                None,
                None,
                left_expr,
                None,
                constraint,
                None,
            )
        )


def _check_known(generator: Generator, first_expr: int) -> None:
    """Raise where an expression still has no type: the program's types are ambiguous."""
    solver = generator.solver
    for expr in list(generator.types)[first_expr:] if first_expr else generator.types:
        type_ = generator.types[expr]
        if type_.__class__ is not TensorType and _open(solver, expr, type_):
            expr = generator.names.get(expr, expr)
            message = f"the program does not say enough: the type of {describe(expr)} cannot be found"
            raise solver.refuse(
                Refused(message, (_how_to_annotate(expr, type_),), expr, type_, None, expr, None, None, None)
            )


def _open(solver: Solver, expr: Expr, type_: Type) -> bool:
    """Whether the type of `expr` contains unsolved type variables."""
    try:
        return bool(variables_in(type_))
    except TypeTooLargeError as problem:
        raise solver.refuse(
            Refused(
                f"{describe(expr)} cannot be typed: {problem}", (), expr, None, None, None, None, None, None
            )
        ) from None


def _first_unknown(generator: Generator, call: Expr) -> Expr | None:
    """Return the first expression below `call` whose type is not solved: the origin of the missing
    information.
    """
    for node in post_order(call):
        type_ = generator.types.get(node)
        if type_ is not None and variables_in(type_):
            return node
    return None


def _how_to_annotate(expr: Expr | None, type_: Type | None = None) -> str:
    name = getattr(expr, "name_hint", None)
    if isinstance(expr, GlobalVar):
        return f"give `@{name}` a result type: `def @{name}(…) -> …`"
    if name is not None and isinstance(expr, Var):
        shape = "_" if type_ is None else show_type(resolve(type_))
        example = "Tensor[(…), float32]" if shape == "_" else shape.replace("_", "…")
        return f"give `%{name}` a type: `%{name}: {example}`"
    return "annotate a parameter or a `let` that it depends on"


def describe(expr: Expr | None) -> str:
    """Describe an expression in a few words, for messages."""
    from ..ir import adt
    from ..ir import expr as e
    from ..ir.op import Op

    match expr:
        case e.Var():
            return f"`%{expr.name_hint}`"
        case GlobalVar():
            return f"`@{expr.name_hint}`"
        case adt.Constructor():
            return f"`{expr.name_hint}`"
        case Op():
            return f"`{expr.name}`"
        case e.Call():
            return f"the call of {describe(expr.op)}"
        case e.TupleGetItem():
            return f"field {expr.index}"
        case e.Constant():
            return "a constant"
    words = {
        "Tuple": "the tuple",
        "Function": "the function",
        "Let": "the let",
        "If": "the if",
        "Match": "the match",
        "RefCreate": "the reference",
        "RefRead": "the read",
        "RefWrite": "the write",
    }
    return words.get(type(expr).__name__, "the expression")


def _groups(module: IRModule) -> Iterable[list[GlobalVar]]:
    """Yield the strongly connected components of the call graph, callees first (Tarjan's algorithm, without
    recursion).
    """
    names = {v.name_hint: v for v in module.functions}
    if len(names) == 1:
        yield list(module.functions)
        return
    calls = {v: [names[n] for n in _called(f) if n in names] for v, f in module.functions.items()}
    order: dict[GlobalVar, int] = {}
    low: dict[GlobalVar, int] = {}
    on_stack: dict[GlobalVar, None] = {}
    for root in module.functions:
        if root in order:
            continue
        work = [(root, iter(calls[root]))]
        order[root] = low[root] = len(order)
        on_stack[root] = None
        while work:
            var, rest = work[-1]
            for callee in rest:
                if callee not in order:
                    order[callee] = low[callee] = len(order)
                    on_stack[callee] = None
                    work.append((callee, iter(calls[callee])))
                    break
                if callee in on_stack:
                    low[var] = min(low[var], order[callee])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[var])
                if low[var] == order[var]:
                    group: list[GlobalVar] = []
                    while True:
                        member = on_stack.popitem()[0]
                        group.append(member)
                        if member is var:
                            break
                    yield list(reversed(group))


def _called(function: Function) -> list[str]:
    return [n.name_hint for n in post_order(function) if isinstance(n, GlobalVar)]
