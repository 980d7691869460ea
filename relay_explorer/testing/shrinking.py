"""Shrink a failing program until it is small enough to read.

    small = shrink(module, lambda m: breaks(my_pass, m))

A greedy search: replace an expression by a part of it that has the same type, or by a value without parts, or
remove it; keep the smaller program if it still fails, until no smaller program fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..ir.errors import RelayError
from ..ir.expr import Call, Constant, Expr, Function, GlobalVar, Let, Tuple, Var, const
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.types import FuncType, TensorType, TupleType, Type
from ..ir.walk import children, post_order, rebuild

MAX_TRIES = 3_000
MAX_PARTS = 12  # parts of one expression that are tried as its replacement


def size(module: IRModule) -> int:
    """Count the expressions and declared types of a module."""
    return len(module.type_definitions) + sum(
        len(post_order(function)) for function in module.functions.values()
    )


def shrink(module: IRModule, still_fails: Callable[[IRModule], bool], tries: int = MAX_TRIES) -> IRModule:
    """Return a small module for which `still_fails` is true, as it is for `module`; try at most `tries`
    modules.

    `module` must be well typed, and `still_fails` is called with well-typed modules only. Its exceptions are
    passed on. A smaller module may run forever where `module` does not, because a step may remove the counter
    of a recursion: if the predicate runs modules, it should do so within `budget.limited`. No module is
    changed.
    """
    from ..typing import infer_types

    current, smallest, left = module, size(module), tries
    while True:
        for candidate in _smaller(current):
            if left <= 0:
                return current
            if size(candidate) >= smallest:
                continue
            left -= 1
            try:
                infer_types(candidate)
            except RelayError:
                continue
            if still_fails(candidate):
                current, smallest = candidate, size(candidate)
                break
        else:
            return current


def _smaller(module: IRModule) -> Iterator[IRModule]:
    """Yield smaller modules, the largest reductions first."""
    for var in module.functions:
        if var.name_hint != "main" and len(module.functions) > 1:
            rest = {v: f for v, f in module.functions.items() if v is not var}
            yield IRModule(rest, module.type_definitions, module.attrs)
            # Try it as `main` too, because `main` may not be the function that fails.
            promoted = {v: module.functions[var] if v.name_hint == "main" else f for v, f in rest.items()}
            yield IRModule(promoted, module.type_definitions, module.attrs)
    for name in module.type_definitions:
        declared = {v: d for v, d in module.type_definitions.items() if v is not name}
        yield IRModule(module.functions, declared, module.attrs)
    types = _types(module)
    called = {
        n.name_hint for f in module.functions.values() for n in post_order(f) if isinstance(n, GlobalVar)
    }
    for var, function in module.functions.items():
        for changed in _changed(function, types, var.name_hint not in called):
            yield IRModule({**module.functions, var: changed}, module.type_definitions, module.attrs)


def _types(module: IRModule) -> dict[Expr, Type]:
    """Return the type of every expression, by inference of the whole module."""
    from ..typing import infer_types

    typed = infer_types(module)
    types: dict[Expr, Type] = {}
    for var, function in module.functions.items():
        for old, new in zip(
            post_order(function), post_order(typed.functions[typed.get_global_var(var.name_hint)])
        ):
            if new._checked_type is not None:
                types[old] = new.checked_type
    return types


def _changed(function: Function, types: dict[Expr, Type], free: bool) -> Iterator[Function]:
    """Yield the function with one expression simplified, from the outside in; then without a parameter.
    `free`: the function has no callers, so its result type may change.
    """
    if free:
        for part in post_order(function.body)[:-1]:
            if part in types and not isinstance(part, (Var, Op)):
                yield Function(function.params, part, None, function.type_params, function.attrs)
    for node in reversed(post_order(function.body)):
        if isinstance(node, (Var, Constant, Op)) or node not in types:
            continue
        for simpler in _simpler(node, types):
            yield _replaced(function, node, simpler)
    for param in function.params:
        params = [p for p in function.params if p is not param]
        yield Function(params, function.body, function.ret_type, function.type_params, function.attrs)


def _simpler(node: Expr, types: dict[Expr, Type]) -> Iterator[Expr]:
    """Yield simpler replacements of an expression: a plain value, a part of its type, its `let` inlined."""
    type_ = types[node]
    plain = _plain(type_)
    if plain is not None:
        yield plain
    count = 0
    for part in post_order(node)[:-1]:
        if types.get(part) == type_:
            yield part
            count += 1
            if count == MAX_PARTS:
                break
    if isinstance(node, Let):
        yield _put(node.body, node.var, node.value)
    if isinstance(node, Call) and isinstance(node.op, Function) and len(node.op.params) == len(node.args):
        body = node.op.body
        for param, arg in zip(node.op.params, node.args):
            body = _put(body, param, arg)
        yield body


def _plain(type_: Type) -> Expr | None:
    """Return a simple value of a type, with hardly any parts; None where there is none."""
    if isinstance(type_, TensorType) and type_.is_static:
        if not type_.shape:
            return const(False if type_.dtype == "bool" else 0, type_.dtype)
        zeros = Op.get("zeros")
        assert zeros.attrs_class is not None
        return Call(zeros, [], zeros.attrs_class(shape=type_.concrete_shape, dtype=type_.dtype))
    if isinstance(type_, TupleType):
        fields = [_plain(f) for f in type_.fields]
        return None if None in fields else Tuple([f for f in fields if f is not None])
    if isinstance(type_, FuncType) and not type_.type_params:
        body = _plain(type_.ret_type)
        return None if body is None else Function([Var("_", t) for t in type_.arg_types], body)
    return None


def _replaced(function: Function, node: Expr, simpler: Expr) -> Function:
    body = _put(function.body, node, simpler)
    return Function(function.params, body, function.ret_type, function.type_params, function.attrs)


def _put(expr: Expr, node: Expr, value: Expr) -> Expr:
    """Replace `node` by `value` wherever it occurs in `expr`."""
    if expr is node:
        return value
    memo: dict[Expr, Expr] = {node: value}
    for part in post_order(expr):
        if part is node:
            continue
        new = [memo[c] for c in children(part)]
        if isinstance(part, (Function, Let)) and any(
            isinstance(c, Var) and not isinstance(n, Var) for c, n in zip(children(part), new[:-1])
        ):
            # The node binds the variable itself, and inlining does not change binders.
            new = [
                n if not isinstance(c, Var) or isinstance(n, Var) else c for c, n in zip(children(part), new)
            ]
        memo[part] = rebuild(part, new)
    return memo[expr]
