"""Split a quantized program into three functions: its input's quantization, its integer core, and its
output's dequantization.

A device that computes with integers only runs the core; `@main` composes the three.
"""

from __future__ import annotations

from collections.abc import Collection

from ..ir.errors import RelayError
from ..ir.expr import Call, Constant, Expr, Function, GlobalVar, Let, Tuple, TupleGetItem, Var
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.types import TensorType, TupleType, Type
from ..ir.walk import children, free_vars, post_order, rewrite_nodes
from ..typing import infer_types

# The operators by which values enter integers and leave them.
_CONVERSIONS = ("add", "multiply", "right_shift", "clip", "round", "cast")


def partition_conversions(
    mod: IRModule, quantized_dtypes: Collection[str], ensure_fully_integral: bool
) -> IRModule:
    """Split `@main`, the only function of a quantized module, into `@quantize_inputs`, `@quantized_main` and
    `@dequantize_outputs`, which a new `@main` calls in this order.

    With `ensure_fully_integral`, raise an AssertionError where the core has other element types than
    `quantized_dtypes`, or one of the other two does more than convert.
    """
    if len(mod.functions) != 1:
        raise RelayError(
            f"`partition_conversions` needs a module with one function, not {len(mod.functions)}",
            help=["use partition_conversions='disabled'"],
        )
    mod = infer_types(mod)
    main = mod["main"]
    assert isinstance(main, Function)
    prefix, rest = _without_prefix(main)
    core, suffix = _without_suffix(rest, set(quantized_dtypes))
    if ensure_fully_integral:
        _check_integral(prefix, core, suffix, set(quantized_dtypes))
    return _composed(main, prefix, core, suffix)


def has_only_conversion_ops(function: Function) -> bool:
    """Whether a function calls only operators that convert between real numbers and integers."""
    return all(_is_conversion(node) for node in post_order(function) if isinstance(node, Call))


def _is_conversion(call: Call) -> bool:
    return isinstance(call.op, Op) and call.op.name in _CONVERSIONS


def _typed(function: Function) -> Function:
    typed = infer_types(IRModule({GlobalVar("main"): function}))["main"]
    assert isinstance(typed, Function)
    return typed


def _without_prefix(main: Function) -> tuple[Function, Function]:
    """Split off the chains of conversions that begin at a parameter: one that ends before any other operator
    is cut there.
    """
    chain: dict[Expr, Var] = {param: param for param in main.params}  # conversions, and their parameter
    for node in post_order(main.body):
        if isinstance(node, Call) and _is_conversion(node):
            sources = {chain[arg] for arg in node.args if arg in chain}
            computed = [arg for arg in node.args if arg not in chain and free_vars(arg)]
            if len(sources) == 1 and not computed:
                chain[node] = sources.pop()
    cut: dict[Expr, Var] = {}  # the ends of the chains, and the parameters of the rest that replace them
    ends: list[tuple[Var, Expr]] = []  # the variables that the prefix binds to them
    for node in post_order(main.body):
        if isinstance(node, Call) and not _is_conversion(node):
            for arg in node.args:
                if arg in chain and arg not in cut:
                    name = chain[arg].name_hint
                    cut[arg] = Var(name, arg.checked_type)
                    ends.append((Var(name), arg))
    body = rewrite_nodes(main.body, lambda node, rebuilt: cut.get(node))
    params = free_vars(body)
    bound = {cut[end]: var for var, end in ends}
    prefix: Expr = Tuple([bound.get(param, param) for param in params])
    for var, end in reversed(ends):
        prefix = Let(var, end, prefix)
    return _typed(Function(list(main.params), prefix)), _typed(Function(params, body))


def _without_suffix(function: Function, dtypes: set[str]) -> tuple[Function, Function]:
    """Split off what is computed from the last integers on the way to the result."""
    core = _last_integers(function.body, dtypes)
    if core is None:  # there is no border: the whole function is the core
        result = Var("input", function.body.checked_type)
        return function, _typed(Function([result], result))
    entry = Var("input", core.checked_type)
    suffix = rewrite_nodes(function.body, lambda node, rebuilt: entry if node is core else None)
    return _typed(Function(list(function.params), core)), _typed(Function([entry], suffix))


def _last_integers(body: Expr, dtypes: set[str]) -> Expr | None:
    """Return the value of one of the types from which alone the result is computed; None where it depends on
    several, or on an input that is not quantized.
    """
    last: set[Expr] = set()
    pending, seen = [body], {body}
    while pending:
        node = pending.pop()
        if isinstance(node, (Op, Constant)):
            continue
        if isinstance(node, Call) and isinstance(node.checked_type, TensorType):
            if node.checked_type.dtype in dtypes:
                last.add(node)
                continue
        elif not isinstance(node, (Call, Tuple, TupleGetItem)):
            return None
        new = [part for part in children(node) if part not in seen]
        seen.update(new)
        pending += new
    return last.pop() if len(last) == 1 else None


def _check_integral(prefix: Function, core: Function, suffix: Function, dtypes: set[str]) -> None:
    dtypes_of_core = {
        type_.dtype
        for node in post_order(core)
        if isinstance(node, (Call, Var))
        for type_ in _tensors(node.checked_type)
    }
    if not dtypes_of_core <= dtypes:
        raise AssertionError(
            f"the core computes with {', '.join(sorted(dtypes_of_core - dtypes))}: "
            "some operators were not quantized"
        )
    for name, function in (("quantize_inputs", prefix), ("dequantize_outputs", suffix)):
        if not has_only_conversion_ops(function):
            raise AssertionError(f"@{name} does more than convert: some operators were not quantized")


def _tensors(type_: Type) -> list[TensorType]:
    if isinstance(type_, TupleType):
        return [tensor for field in type_.fields for tensor in _tensors(field)]
    return [type_] if isinstance(type_, TensorType) else []


def _composed(main: Function, prefix: Function, core: Function, suffix: Function) -> IRModule:
    """Build the module of the three functions, and `@main`."""
    names = [GlobalVar(name) for name in ("quantize_inputs", "quantized_main", "dequantize_outputs")]
    mod = IRModule(dict(zip(names, (prefix, core, suffix))))
    params = [Var(param.name_hint, param.checked_type) for param in main.params]
    inputs, outputs, results = map(Var, ("quantized_inputs", "quantized_outputs", "dequantized_outputs"))
    fields = [TupleGetItem(inputs, index) for index in range(len(core.params))]
    body: Expr = Let(results, Call(names[2], [outputs]), results)
    body = Let(outputs, Call(names[1], fields), body)
    mod["main"] = Function(params, Let(inputs, Call(names[0], params), body))
    return infer_types(mod)
