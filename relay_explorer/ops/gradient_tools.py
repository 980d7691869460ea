"""Helpers for gradient rules; `calls.relay` has the builders of all operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from ..ir.annotate import set_checked_type
from ..ir.declaration import Gradient, GradientRule
from ..ir.errors import RelayError
from ..ir.expr import Call, Constant, Expr, Tuple, TupleGetItem, const
from ..ir.typed import tensor_type
from ..ir.types import TensorType, TupleType, Type
from .calls import relay


def number(value: float, like: Expr) -> Constant:
    """Build a constant of the element type of `like`, a typed expression."""
    return const(value, tensor_type(like).dtype)


def axis_count(expr: Expr) -> int:
    return len(tensor_type(expr).shape)


def extents(expr: Expr, what: str = "the gradient of an operator") -> tuple[int, ...]:
    """Return the shape of a tensor; raise a RelayError where it is dynamic."""
    shape = tensor_type(expr).shape
    if not all(isinstance(dim, int) for dim in shape):
        raise RelayError(
            f"{what} needs static shapes, but its data is {tensor_type(expr)}",
            expr.span,
            help=["give the program's parameters shapes without `?`, or run DynamicToStatic first"],
        )
    return tensor_type(expr).concrete_shape


def extent(expr: Expr, axis: int, what: str) -> int:
    """Return the extent of an axis; raise a RelayError where it is dynamic."""
    dim = tensor_type(expr).shape[axis]
    return dim if isinstance(dim, int) else extents(expr, what)[axis]  # which raises the error


def is_static(type_: TensorType) -> bool:
    return all(isinstance(dim, int) for dim in type_.shape)


def zeros_of(expr: Expr, type_: Type | None = None) -> Expr:
    """Build zeros of the type of `expr`, a tensor or a tuple, or of `type_` where the expression has no type
    yet.

    Where the shape is static, the zeros do not use `expr`, so its value need not stay alive.
    """
    return _filled(expr, expr.checked_type if type_ is None else type_, one=False)


def ones_of(expr: Expr, type_: Type | None = None) -> Expr:
    """Build ones of the type of `expr`, as `zeros_of` builds zeros."""
    return _filled(expr, expr.checked_type if type_ is None else type_, one=True)


def _filled(expr: Expr, type_: Type, one: bool) -> Expr:
    if isinstance(type_, TupleType):
        return Tuple([_filled(field_of(expr, k), t, one) for k, t in enumerate(type_.fields)])
    if not isinstance(type_, TensorType):
        raise RelayError(f"a value of type {type_} has no gradient; only tensors and tuples of them do")
    if is_static(type_):
        return (relay.ones if one else relay.zeros)(type_.concrete_shape, type_.dtype)
    return (relay.ones_like if one else relay.zeros_like)(expr)


def field_of(value: Expr, index: int) -> Expr:
    """Return a field of a tuple: the field's expression if `value` is a `Tuple`, else a projection."""
    return value.fields[index] if isinstance(value, Tuple) else TupleGetItem(value, index)


def gathered(call: Call, grad: Expr, data: Expr, numbered: Expr, spare: bool = False) -> Expr:
    """Build the gradient, with respect to `data`, of an operator that moves elements.

    `numbered` is the operator's result for data whose elements are their own flat indices, from `numbers_of`.
    It holds the source of each element of the result, to which the element's gradient is added. With `spare`,
    the index after the last one marks elements that have no source.
    """
    type_ = tensor_type(data)
    count = prod(extents(data, f"the gradient of `{call.op}`"))
    sums = relay.scatter_elements(
        relay.zeros((count + spare,), type_.dtype),
        relay.reshape(numbered, (-1,)),
        relay.reshape(grad, (-1,)),
        0,
        "add",
    )
    if spare:
        sums = relay.strided_slice(sums, [0], [count])
    return relay.reshape(sums, type_.concrete_shape)


def numbers_of(data: Expr, call: Call) -> Expr:
    """Build a tensor of the shape of `data`, an argument of `call`, whose elements are their flat indices 0,
    1, 2, …
    """
    shape = extents(data, f"the gradient of `{call.op}`")
    row = relay.arange(const(0, "int32"), const(prod(shape), "int32"), const(1, "int32"), "int32")
    return relay.reshape(row, shape) if len(shape) != 1 else row


def along(vector: Expr, rank: int, axis: int) -> Expr:
    """Reshape a vector so that it broadcasts along `axis` of a tensor of `rank` axes."""
    after = rank - axis % rank - 1
    return relay.expand_dims(vector, 1, after) if after else vector


def masked(condition: Expr, grad: Expr) -> Expr:
    """Keep `grad` where the condition holds, and zero elsewhere."""
    return relay.where(condition, grad, relay.zeros_like(grad))


def summed_to_operand(grad: Expr, call: Call, operand: int) -> Expr:
    """Sum `grad`, of the shape of the result, to the shape of an operand that was broadcast."""
    argument = call.args[operand]
    if tensor_type(argument).shape == tensor_type(call).shape:
        return grad
    return relay.collapse_sum_like(grad, argument)


def slope(formula: str, derivative: Callable[[Expr, Expr], Expr]) -> Gradient:
    """Make the gradient of an element-wise function from its derivative, which is built from the data and the
    result.
    """
    return Gradient(formula, lambda call, grad: [grad * derivative(call.args[0], call)])


def _none(call: Call, grad: Expr) -> list[Expr | None]:
    """Return no gradients: the function is piecewise constant, or has no derivative, as with integers and
    bits.
    """
    return [None] * len(call.args)


ZERO = Gradient("all derivatives are zero or do not exist, so no gradient is passed on", _none)
SAME = Gradient("dx = dy", lambda call, grad: [grad])

Differentiate = Callable[[Sequence[Expr], Callable[..., Expr], Expr], "Sequence[Expr | None]"]
_differentiate: list[Differentiate] = []


def differentiate_by(function: Differentiate) -> Differentiate:
    """Register the function that differentiates compositions: the pass for reverse mode, above this layer."""
    _differentiate[:] = [function]
    return function


def composed(build: Callable[..., Expr]) -> GradientRule:
    """Make the gradient rule of an operator whose value is `build(attrs, *operands)`, composed of operators
    that have gradients. `build` receives typed variables as operands.
    """

    def rule(call: Call, grad: Expr) -> Sequence[Expr | None]:
        (differentiate,) = _differentiate
        return differentiate(call.args, lambda *operands: build(call.attrs, *operands), grad)

    return rule


# -- operators that move elements


def moved(call: Call, grad: Expr) -> list[Expr | None]:
    """Differentiate an operator that moves the elements of its first operand as the others determine.

    Applied to the elements' flat indices, the operator itself yields the source of each element of its
    result.
    """
    data, *others = call.args
    numbered = Call(call.op, [numbers_of(data, call), *others], call.attrs)
    return [gathered(call, grad, data, numbered), *[None] * len(others)]


def moved_field(call: Call, grad: Expr) -> list[Expr]:
    """Differentiate, as `moved` does, an operator of one tuple whose first field is the data."""
    (tuple_,) = call.args
    assert isinstance(tuple_.checked_type, TupleType)
    data, *others = [typed_field(tuple_, k) for k in range(len(tuple_.checked_type.fields))]
    numbered = Call(call.op, [Tuple([numbers_of(data, call), *others])], call.attrs)
    return [Tuple([gathered(call, grad, data, numbered), *[zeros_of(other) for other in others]])]


def typed_field(tuple_: Expr, index: int) -> Expr:
    """Return a field of a tuple, with its type."""
    assert isinstance(tuple_.checked_type, TupleType)
    field = field_of(tuple_, index)
    if field._checked_type is None:
        set_checked_type(field, tuple_.checked_type.fields[index])
    return field


_MOVED = "each element of dy is added to dx at the index from which y took its element"
MOVED = Gradient(_MOVED, moved)
MOVED_FIELD = Gradient(_MOVED, moved_field)


def reshaped(call: Call, grad: Expr) -> list[Expr | None]:
    """Differentiate an operator that keeps the elements in their order; other operands only give a shape."""
    return [relay.reshape_like(grad, call.args[0]), *[None] * (len(call.args) - 1)]


RESHAPED = Gradient("dx = dy, in the shape of x", reshaped)


def summed(call: Call, grad: Expr) -> list[Expr | None]:
    """Differentiate an operator that broadcasts its first operand; other operands only give a shape."""
    return [relay.collapse_sum_like(grad, call.args[0]), *[None] * (len(call.args) - 1)]


SUMMED = Gradient("dx = dy, summed over the axes along which x was broadcast", summed)
