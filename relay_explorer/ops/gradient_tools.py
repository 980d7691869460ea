"""What gradients are built with."""

from __future__ import annotations

from math import prod

from ..ir.errors import RelayError
from ..ir.expr import Call, Constant, Expr, Tuple, TupleGetItem, const
from ..ir.typed import tensor_type
from ..ir.types import TensorType, TupleType, Type
from .create import arange, ones, ones_like, zeros, zeros_like
from .index import scatter_elements
from .reshape import reshape


def number(value: float, like: Expr) -> Constant:
    """A number of the element type of `like`, an expression that has its type."""
    return const(value, tensor_type(like).dtype)


def axis_count(expr: Expr) -> int:
    return len(tensor_type(expr).shape)


def extents(expr: Expr, what: str = "the gradient of an operator") -> tuple[int, ...]:
    """The shape of a tensor; a RelayError where it is not known before the program runs."""
    shape = tensor_type(expr).shape
    if not all(isinstance(dim, int) for dim in shape):
        raise RelayError(
            f"{what} needs to know the shape of its data, which is {tensor_type(expr)}",
            expr.span,
            help=["give the program's parameters shapes without `?`, or run DynamicToStatic first"],
        )
    return tensor_type(expr).concrete_shape


def extent(expr: Expr, axis: int, what: str) -> int:
    """How long an axis is; a RelayError where that is not known before the program runs."""
    found = tensor_type(expr).shape[axis]
    return found if isinstance(found, int) else extents(expr, what)[axis]  # which says what is not known


def is_static(type_: TensorType) -> bool:
    return all(isinstance(dim, int) for dim in type_.shape)


def zeros_of(expr: Expr, type_: Type | None = None) -> Expr:
    """Zeros of the type of `expr`, a tensor or a tuple of them: `type_`, where the expression has none yet.

    Where the shape is known nothing of `expr` is kept alive for it.
    """
    return _filled(expr, expr.checked_type if type_ is None else type_, one=False)


def ones_of(expr: Expr, type_: Type | None = None) -> Expr:
    """Ones of the type of `expr`, as `zeros_of`."""
    return _filled(expr, expr.checked_type if type_ is None else type_, one=True)


def _filled(expr: Expr, type_: Type, one: bool) -> Expr:
    if isinstance(type_, TupleType):
        return Tuple([_filled(field_of(expr, k), t, one) for k, t in enumerate(type_.fields)])
    if not isinstance(type_, TensorType):
        raise RelayError(f"a value of type {type_} has no gradient: only tensors and tuples of them have")
    if is_static(type_):
        return (ones if one else zeros)(type_.concrete_shape, type_.dtype)
    return (ones_like if one else zeros_like)(expr)


def field_of(value: Expr, index: int) -> Expr:
    """A field of a tuple; taken out of it where it is written down."""
    return value.fields[index] if isinstance(value, Tuple) else TupleGetItem(value, index)


def gathered(call: Call, grad: Expr, data: Expr, numbered: Expr, spare: bool = False) -> Expr:
    """The gradient of an operator that moves elements, by its `data`.

    `numbered` is the operator's result where each element of `data` is its own number, from `numbers_of`: it
    says where each element of the result came from, and there the gradients are added up. With `spare`, the
    number after the last stands for what came from nowhere.
    """
    type_ = tensor_type(data)
    count = prod(extents(data, f"the gradient of `{call.op}`"))
    sums = scatter_elements(
        zeros((count + spare,), type_.dtype), reshape(numbered, (-1,)), reshape(grad, (-1,)), 0, "add"
    )
    if spare:
        from .slice import strided_slice

        sums = strided_slice(sums, [0], [count])
    return reshape(sums, type_.concrete_shape)


def numbers_of(data: Expr, call: Call) -> Expr:
    """A tensor of the shape of `data`, an argument of `call`, whose elements are 0, 1, 2, …"""
    shape = extents(data, f"the gradient of `{call.op}`")
    row = arange(const(0, "int32"), const(prod(shape), "int32"), const(1, "int32"), "int32")
    return reshape(row, shape) if len(shape) != 1 else row


def along(vector: Expr, rank: int, axis: int) -> Expr:
    """A vector, shaped so that it broadcasts along `axis` of a tensor of `rank` axes."""
    from .transform import expand_dims

    after = rank - axis % rank - 1
    return expand_dims(vector, 1, after) if after else vector
