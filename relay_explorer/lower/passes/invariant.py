"""Substitutes parameters that are the same constant in every call. A recursion over a tree, for example,
passes its weights on unchanged, and the compiler can pack weights only if they are constants.
"""

from __future__ import annotations

from ...ir.expr import Call, Constant, Expr, Function, GlobalVar, Var
from ...ir.module import IRModule
from ...ir.substitute import substitute
from ...ir.types import TensorType, Type
from ...ir.walk import children, post_order

_VARIES = object()  # the top of the lattice: differs between calls; None is the bottom: no call seen yet
Place = tuple[str, int]  # a function's parameter


def with_constants_in(module: IRModule) -> IRModule:
    """Substitute constants for parameters that have the same constant value in every call, and remove the
    arguments. `@main` keeps its parameters, and so do functions that are used as values.
    """
    functions = {var.name_hint: function for var, function in module.functions.items()}
    calls = _calls(functions)
    values = _values(functions, calls)
    if not any(isinstance(value, Constant) for value in values.values()):
        return module
    result = module.copy()
    for var, function in module.functions.items():
        name = var.name_hint
        replaced: dict[Expr, Expr] = {}
        params = []
        for number, param in enumerate(function.params):
            value = values[name, number]
            if isinstance(value, Constant):
                replaced[param] = value
            else:
                params.append(param)
        for caller, callee, call in calls:
            if caller == name:
                args = [a for k, a in enumerate(call.args) if not isinstance(values[callee, k], Constant)]
                if len(args) < len(call.args):
                    replaced[call] = Call(call.op, args, call.attrs, call.type_args, call.span)
        body = substitute(function.body, replaced)
        result[var] = Function(
            params, body, function.ret_type, function.type_params, function.attrs, function.span
        )
    return result


def _calls(functions: dict[str, Function]) -> list[tuple[str, str, Call]]:
    """Return the calls of global functions: the caller, the callee, and the call."""
    return [
        (name, node.op.name_hint, node)
        for name, function in functions.items()
        for node in post_order(function.body)
        if isinstance(node, Call) and isinstance(node.op, GlobalVar) and node.op.name_hint in functions
    ]


def _values(functions: dict[str, Function], calls: list[tuple[str, str, Call]]) -> dict[Place, object]:
    """Compute the value that each parameter has in every call, by iterating to a fixed point."""
    place = {p: (name, k) for name, f in functions.items() for k, p in enumerate(f.params)}
    values: dict[Place, object] = dict.fromkeys(place.values())
    for name in {"main", *_values_used(functions)} & set(functions):
        values.update({(name, k): _VARIES for k in range(len(functions[name].params))})
    # A parameter that is annotated with any type, or any size, would get a narrower type than its annotation.
    values.update({place[p]: _VARIES for p in place if not _is_plain(p.type_annotation)})
    changed = True
    while changed:
        changed = False
        for _, callee, call in calls:
            for number, arg in enumerate(call.args):
                value = values[place[arg]] if isinstance(arg, Var) and arg in place else arg
                now = values.get((callee, number), _VARIES)
                after = _joined(now, value)
                if after is not now:
                    values[callee, number] = after
                    changed = True
    return values


def _is_plain(type_: Type | None) -> bool:
    return type_ is None or (isinstance(type_, TensorType) and type_.is_static)


def _joined(now: object, argument: object) -> object:
    """Return the join of a parameter's value so far and of another argument for it."""
    if now is _VARIES or argument is None:
        return now
    if not isinstance(argument, Constant):
        return _VARIES
    if isinstance(now, Constant):
        return now if now is argument or now.data is argument.data else _VARIES
    return argument


def _values_used(functions: dict[str, Function]) -> set[str]:
    """Return the functions that are used as values, and not only called."""
    names: set[str] = set()
    for function in functions.values():
        for node in [function.body, *post_order(function.body)]:
            inner = children(node)
            if isinstance(node, Call):
                inner = tuple([part for part in inner if part is not node.op])
                inner += tuple([arg for arg in node.args if arg is node.op])
            names.update(part.name_hint for part in inner if isinstance(part, GlobalVar))
        if isinstance(function.body, GlobalVar):
            names.add(function.body.name_hint)
    return names
