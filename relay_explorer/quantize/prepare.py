"""What happens to a program before it is quantized: parameters become constants, also inside functions."""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.bind import bind_params_by_name
from ..ir.errors import RelayError
from ..ir.expr import Call, Constant, Expr, Function, GlobalVar, Var
from ..ir.module import IRModule
from ..ir.ndarray import NDArray
from ..ir.types import TensorType
from ..ir.walk import children, post_order, rewrite_nodes
from ..ops.numeric import element_type, np
from ..transform import (
    CanonicalizeOps,
    FoldConstant,
    FoldScaleAxis,
    Sequential,
    SimplifyInference,
)
from .observation import detached


def prerequisite_optimize(mod: IRModule, params: Mapping[str, object] | None = None) -> IRModule:
    """Bind the parameters of `@main`, and fold what is constant, so that weights are constants.

    Runs SimplifyInference, FoldConstant, FoldScaleAxis, CanonicalizeOps and FoldConstant, each where the
    current PassContext enables it.
    """
    if params:
        mod = mod.copy()
        main = mod["main"]
        assert isinstance(main, Function)
        mod["main"] = bind_params_by_name(main, params)
    passes = [SimplifyInference(), FoldConstant(), FoldScaleAxis(), CanonicalizeOps(), FoldConstant()]
    return Sequential(passes)(mod)


def with_constant_arguments(mod: IRModule) -> IRModule:
    """Move constants that are passed to global functions into these functions.

    A parameter of a global function that receives the same constant in every call of the module is replaced
    by the constant, and the argument is dropped. A recursive call that passes the parameter on counts as the
    same constant. `@main` keeps its parameters, and so does a function that is used other than by calling it.
    """
    calls: dict[str, list[tuple[str, Call]]] = {}
    closed = {
        var.name_hint
        for var, function in mod.functions.items()
        if isinstance(function, Function) and "Compiler" not in function.attrs
    }
    closed.discard("main")
    for var, function in mod.functions.items():
        for node in post_order(function):
            if isinstance(node, Call) and isinstance(node.op, GlobalVar):
                calls.setdefault(node.op.name_hint, []).append((var.name_hint, node))
            called = node.op if isinstance(node, Call) else None
            for part in children(node):
                if isinstance(part, GlobalVar) and part is not called:
                    closed.discard(part.name_hint)
    values = _solved(mod, closed, calls)
    if not values:
        return mod
    new = mod.copy()
    for var, function in mod.functions.items():
        if isinstance(function, Function):
            new[var] = _specialized(function, mod, values)
    return new


Place = tuple[str, int]  # a global function, and the number of its parameter
MANY = object()  # different values, or one that is no constant


def _solved(
    mod: IRModule, closed: set[str], calls: Mapping[str, list[tuple[str, Call]]]
) -> dict[Place, Constant]:
    """Find the constants that parameters always receive, optimistically: repeat until nothing changes."""
    owner: dict[Var, Place] = {}
    for var, function in mod.functions.items():
        if isinstance(function, Function) and var.name_hint in closed:
            owner |= {param: (var.name_hint, place) for place, param in enumerate(function.params)}
    known: dict[Place, object] = {}
    changed = True
    while changed:
        changed = False
        for name in sorted(closed & set(calls)):
            for _, call in calls[name]:
                for place, argument in enumerate(call.args):
                    value: object = argument if isinstance(argument, Constant) else MANY
                    if isinstance(argument, Var) and argument in owner:
                        value = known.get(owner[argument])
                    before = known.get((name, place))
                    after = value if before is None else before if value is None or value is before else MANY
                    if after is not before:
                        known[name, place] = after
                        changed = True
    return {place: value for place, value in known.items() if isinstance(value, Constant)}


def _specialized(function: Function, mod: IRModule, values: Mapping[Place, Constant]) -> Function:
    """Replace the parameters of a function, and drop the arguments of its calls."""
    name = next(var.name_hint for var, other in mod.functions.items() if other is function)
    replaced = {p: values[name, k] for k, p in enumerate(function.params) if (name, k) in values}

    def rule(node: Expr, rebuilt: Expr) -> Expr | None:
        if isinstance(node, Var):
            return replaced.get(node)
        if isinstance(rebuilt, Call) and isinstance(rebuilt.op, GlobalVar):
            callee = rebuilt.op.name_hint
            args = [argument for k, argument in enumerate(rebuilt.args) if (callee, k) not in values]
            if len(args) < len(rebuilt.args):
                return Call.of(rebuilt.op, tuple(args), None, rebuilt.type_args, rebuilt.span, (node,))
        return None

    body = rewrite_nodes(function.body, rule)
    params = [param for param in function.params if param not in replaced]
    return Function(params, body, function.ret_type, function.type_params, function.attrs, function.span)


def checked_params(mod: IRModule, params: Mapping[str, object] | None) -> dict[str, object]:
    """Return the constants for parameters of `@main`, by name, in the parameters' element types.

    Names that match no parameter are left out. Raise a RelayError for a module without `@main`, for `params`
    that are no mapping, and for an array that does not fit the type of its parameter.
    """
    if not isinstance(mod, IRModule):
        raise RelayError(
            f"a program to quantize is a module, not a value of type {type(mod).__name__}",
            help=["a function becomes a module by IRModule.from_expr(function)"],
        )
    if "main" not in mod:
        raise RelayError("the module has no function @main, where quantization begins")
    if params is not None and not isinstance(params, Mapping):
        raise RelayError(
            f"`params` maps names of parameters to arrays, but it is of type {type(params).__name__}",
            help=["the order of arguments is quantize(mod, params, dataset, scheme)"],
        )
    main = mod["main"]
    assert isinstance(main, Function)
    values = {str(name): value for name, value in (params or {}).items()}
    return {
        param.name_hint: _fitting(param, values[param.name_hint])
        for param in main.params
        if param.name_hint in values
    }


def _fitting(param: Var, value: object) -> object:
    """Return a constant for a parameter, as an array of the parameter's element type if one is annotated."""
    type_ = param.type_annotation
    if not isinstance(type_, TensorType) or isinstance(value, Constant):
        return value
    array = np.asarray(value.numpy() if isinstance(value, NDArray) else detached(value))
    shape = tuple([dim if isinstance(dim, int) else None for dim in type_.shape])
    fits = len(shape) == array.ndim and all(
        extent is None or extent == length for extent, length in zip(shape, array.shape)
    )
    if not fits or array.dtype.kind not in "biuf" or (array.dtype.kind == "f" and "int" in type_.dtype):
        raise RelayError(
            f"the value of the parameter `%{param.name_hint}` has the shape {array.shape} and the type "
            f"{array.dtype}, but the parameter is a {type_}",
            param.span,
            help=["look whether `params` belongs to this program"],
        )
    if isinstance(value, NDArray) and value.dtype == type_.dtype:
        return value
    return array.astype(element_type(type_.dtype))
