"""FoldConstant: evaluate constant expressions at compile time."""

from __future__ import annotations

import math
from functools import cache
from typing import Any as Anything

from ..analysis.effects import effects
from ..ir.annotate import set_origin
from ..ir.declaration import Trait
from ..ir.errors import RelayError
from ..ir.expr import Call, Constant, Expr, Function, If, Let, Tuple, TupleGetItem, Var, const
from ..ir.lazy_dataclass import dataclass
from ..ir.module import IRModule
from ..ir.ndarray import NDArray
from ..ir.op import Op
from ..ir.rewrites import emit_rewrite
from ..ir.types import TensorType, TupleType
from ..ir.walk import children, post_order, rebuild
from .infrastructure import PassContext
from .infrastructure.function_passes import TypedPass, rewritten
from .tools.on_device import annotated

# A dropout behaves differently in training: only SimplifyInference removes it.
_STAYS = (Trait.DIFFERS_IN_TRAINING, Trait.SHAPE_QUERY)


@dataclass(frozen=True)
class FoldConstant(TypedPass):
    """Evaluate operator calls whose arguments are all constants.

    A `let` of a constant is inlined, a projection of an explicit tuple is replaced by the field unless
    evaluating the tuple has side effects, an `if` with a constant condition is replaced by its branch, and
    `shape_of` a tensor of static shape by that shape. A call without arguments, such as `zeros`, stays,
    because it is smaller than its result. So does a call whose type has a `?`, because its type would change,
    and, without `fold_qnn`, one of an operator that has a canonical form, as quantized operators have: passes
    still match them. A mark between kernels, such as `annotation.stop_fusion`, is removed from a constant;
    other marks stay. Kernels (functions with `Primitive`) stay as they are.
    """

    name = "FoldConstant"
    opt_level = 2

    fold_qnn: bool = False

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        return rewritten(function, fold(function, mod, self.fold_qnn))


def fold(expr: Expr, mod: IRModule, fold_qnn: bool = False) -> Expr:
    """Fold the constants in `expr`, a typed function of `mod`; with `fold_qnn`, quantized ones, too."""
    order = post_order(expr)

    @cache
    def effectful() -> set[Expr]:
        return effects(mod)

    values = {id(node.var): node.value for node in order if isinstance(node, Let)}
    memo: dict[Expr, Expr] = {}

    def folded_part(part: Expr) -> Expr:
        """Return the replacement of a part; for a variable that is bound to a constant, that constant."""
        value: Expr = part
        while isinstance(value, Var) and id(value) in values:
            value = values[id(value)]
        folded = memo.get(value, value)
        return folded if value is part or isinstance(annotated(folded), Constant) else part

    for node in order:
        if isinstance(node, Function):
            kernel = "Primitive" in node.attrs
            memo[node] = node if kernel else rebuild(node, [*node.params, folded_part(node.body)])
        elif isinstance(node, Let):
            value, body = folded_part(node.value), folded_part(node.body)
            inlined = isinstance(annotated(value), Constant)
            memo[node] = body if inlined else rebuild(node, [node.var, value, body])
            if inlined:
                emit_rewrite(
                    fold,
                    node.var,
                    value,
                    sentence="A variable bound to a constant is replaced by the constant.",
                )
        else:
            new = rebuild(node, [folded_part(part) for part in children(node)])
            match node, new:
                case TupleGetItem(tuple_value=tuple_), TupleGetItem(tuple_value=folded_tuple):
                    fields = annotated(folded_tuple)
                    if isinstance(fields, Tuple) and tuple_ not in effectful():
                        folded = _field(node, new, fields)
                    else:
                        folded = new
                case _, Call(op=Op() as op) if op.canonical is not None and not fold_qnn:
                    folded = new
                case _:
                    folded = _folded(node, new)
            if folded is not new and not folded.origin:
                set_origin(folded, (node,))
            memo[node] = folded
    return memo[expr]


def _folded(old: Expr, new: Expr) -> Expr:
    """Fold an expression whose parts have been folded."""
    match new:
        case Call(op=Op() as op) if new.args:
            result = _of_the_type(op, old) if isinstance(old, Call) else None
            if result is not None:
                emit_rewrite(_of_the_type, new, result, old)
            folds = is_pure(op) or op.has(Trait.KERNEL_BOUNDARY)
            if result is None and all(map(_is_constant, new.args)) and folds and is_static(old):
                result = evaluate(new, op)
                if result is not None:
                    emit_rewrite(
                        _folded,
                        new,
                        result,
                        old,
                        sentence="A call whose arguments are all constants is computed now.",
                    )
            return new if result is None else result
        case If(cond=Constant() as condition):
            branch = new.true_branch if condition.data.item() else new.false_branch
            emit_rewrite(
                _folded,
                new,
                branch,
                old,
                sentence="An `if` with a constant condition is replaced by the branch taken.",
            )
            return branch
    return new


def _field(old: Expr, new: TupleGetItem, fields: Tuple) -> Expr:
    """Replace the projection of an explicit tuple by the field, on the device of the tuple."""
    field, device = fields.fields[new.index], new.tuple_value
    if isinstance(device, Call):  # the `on_device` around the tuple
        field = Call(device.op, [field], device.attrs)
    emit_rewrite(
        _field, new, field, old, sentence="A projection of an explicit tuple is replaced by the field."
    )
    return field


def _of_the_type(op: Op, call: Call) -> Expr | None:
    """Evaluate a call that only queries its argument's type, if that is static."""
    if not op.has(Trait.SHAPE_QUERY):
        return None
    type_, result = call.args[0].checked_type, call.checked_type
    if not isinstance(type_, TensorType) or not type_.is_static or not isinstance(result, TensorType):
        return None
    return of_the_shape(op.name, type_.concrete_shape, result.dtype)


def of_the_shape(name: str, shape: tuple[int, ...], dtype: str) -> Constant:
    """Return the value of `shape_of` or `ndarray_size` for a tensor of that shape."""
    if name == "shape_of":
        return Constant(NDArray.from_list(list(shape), (len(shape),), dtype))
    return const(math.prod(shape), dtype)


def is_pure(op: Op) -> bool:
    """Whether calls of the operator can be computed at compile time: they always give the same value for the
    same arguments.
    """
    impure = op.get_attr("TOpIsStateful") or op.get_attr("TNonComputational")
    return op.reference is not None and not impure and not any(map(op.has, _STAYS))


def is_static(expr: Expr) -> bool:
    """Whether the shape of a value is known from its type. Otherwise a constant would have a more precise
    type than the expression, which need not fit where it is used.
    """
    types = [expr.checked_type]
    while types:
        match types.pop():
            case TensorType() as type_:
                # NumPy has no bfloat16: a value would come back as float32.
                if not type_.is_static or type_.dtype == "bfloat16":
                    return False
            case TupleType(fields=fields):
                types += fields
    return True


def _is_constant(expr: Expr) -> bool:
    """Whether an expression is a constant or a tuple of constants, on any device."""
    pending = [expr]
    while pending:
        part = annotated(pending.pop())
        if isinstance(part, Tuple):
            pending += part.fields
        elif not isinstance(part, Constant):
            return False
    return True


def evaluate(call: Call, op: Op) -> Expr | None:
    """Evaluate an operator's call on constants; None where it cannot be evaluated."""
    value = compute(op, call, list(map(_as_value, call.args)))
    return None if value is None else _as_expr(value)


def compute(op: Op, call: Call, arrays: list[Anything]) -> Anything:
    """Compute the value of a call from its arguments' arrays; None where that fails, so that the running
    program reports the error.
    """
    import numpy

    assert op.reference is not None
    try:
        with numpy.errstate(all="ignore"):
            return op.reference(call.attrs, *arrays)
    except (RelayError, ArithmeticError, ValueError, IndexError, TypeError):
        return None


def _as_value(expr: Expr) -> Anything:
    expr = annotated(expr)
    if isinstance(expr, Tuple):
        return tuple(map(_as_value, expr.fields))
    assert isinstance(expr, Constant)
    return expr.data.numpy()


def _as_expr(value: Anything) -> Expr:
    if isinstance(value, tuple):
        return Tuple(list(map(_as_expr, value)))
    return Constant(NDArray.from_numpy(value))
