"""The gradients of matrix products."""

from __future__ import annotations

from collections.abc import Callable

from ...ir.expr import Call, Expr
from ...ir.typed import tensor_type
from ..broadcast import collapse_sum_like
from ..gradient_tools import axis_count, extents
from ..nn import dense as products
from ..reshape import reshape
from ..transform import cast_like
from ..transform import transpose as transposed


def _as_argument(by: Expr, call: Call, number: int) -> Expr:
    """In the element type of an argument: a product may be of a wider one."""
    argument = call.args[number]
    return by if tensor_type(argument).dtype == tensor_type(call).dtype else cast_like(by, argument)


def _widened(argument: Expr, call: Call) -> Expr:
    return argument if tensor_type(argument).dtype == tensor_type(call).dtype else cast_like(argument, call)


def dense(call: Call, grad: Expr) -> list[Expr]:
    """y = x wᵀ, so that dx = dy w and dw = dyᵀ x; leading axes of the data are one batch."""
    data, weight = call.args
    x, w = _widened(data, call), _widened(weight, call)
    by_data = products.dense(grad, transposed(w))
    if axis_count(data) > 2:
        units, inner = extents(weight)
        x, grad = reshape(x, (-1, inner)), reshape(grad, (-1, units))
    by_weight = products.dense(transposed(grad), transposed(x))
    return [_as_argument(by_data, call, 0), _as_argument(by_weight, call, 1)]


def _turned(
    product: Callable[..., Expr], a: Expr, b: Expr, grad: Expr, turn_a: bool, turn_b: bool
) -> tuple[Expr, Expr]:
    """The derivatives of the product of `a` and `b`, each of which may be given transposed."""
    if turn_a:
        by_a = product(b, grad, transpose_a=turn_b, transpose_b=True)
    else:
        by_a = product(grad, b, transpose_a=False, transpose_b=not turn_b)
    if turn_b:
        by_b = product(grad, a, transpose_a=True, transpose_b=turn_a)
    else:
        by_b = product(a, grad, transpose_a=not turn_a, transpose_b=False)
    return by_a, by_b


def matmul(call: Call, grad: Expr) -> list[Expr]:
    assert call.attrs is not None
    (a, b), (turn_a, turn_b) = call.args, (call.attrs["transpose_a"], call.attrs["transpose_b"])
    x, y = _widened(a, call), _widened(b, call)
    if axis_count(a) == 2:
        by_a, by_b = _turned(products.matmul, x, y, grad, turn_a, turn_b)
        return [_as_argument(by_a, call, 0), _as_argument(by_b, call, 1)]
    # several matrices times one: that one's derivative is the sum over all of them
    if turn_a:
        last = axis_count(a) - 1
        order = [*range(last - 1), last, last - 1]
        by_a = transposed(products.matmul(grad, y, transpose_b=not turn_b), order)
        x = transposed(x, order)
    else:
        by_a = products.matmul(grad, y, transpose_b=not turn_b)
    rows = reshape(x, (-1, extents(b)[1 if turn_b else 0]))
    columns = reshape(grad, (-1, extents(b)[0 if turn_b else 1]))
    first, second = (columns, rows) if turn_b else (rows, columns)
    by_b = products.matmul(first, second, transpose_a=True)
    return [_as_argument(by_a, call, 0), _as_argument(by_b, call, 1)]


def _batch(a: Expr, b: Expr, transpose_a: bool, transpose_b: bool) -> Expr:
    return products.batch_matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)


def batch_matmul(call: Call, grad: Expr) -> list[Expr]:
    """A batch of 1 is used for every matrix of the other, and gets the sum."""
    assert call.attrs is not None
    a, b = call.args
    turn_a, turn_b = call.attrs["transpose_a"], call.attrs["transpose_b"]
    found = _turned(_batch, _widened(a, call), _widened(b, call), grad, turn_a, turn_b)
    result = []
    for number, (argument, by) in enumerate(zip(call.args, found, strict=True)):
        whole = _as_argument(by, call, number)
        same = tensor_type(argument).shape[0] == tensor_type(call).shape[0]
        result.append(whole if same else collapse_sum_like(whole, argument))
    return result
