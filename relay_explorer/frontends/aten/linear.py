"""Linear algebra: products of matrices and vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ...ir import const
from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from .arithmetic import add, mul
from .context import Aten
from .dense_groups import dense_groups
from .dtypes import is_float
from .joining import cat
from .registry import aten
from .values import Int, Number, Value


def _rows(ctx: Aten, x: Expr) -> Expr:
    """Return a tensor as a matrix of its rows."""
    return x if ctx.rank(x) == 2 else ctx.reshape(x, [-1, ctx.size(x, ctx.rank(x) - 1)])


def _leading(ctx: Aten, product: Expr, like: Expr, kept: int, *rest: Int) -> Expr:
    """Give a product the leading axes of `like`, all but the last `kept`, in place of its first axis; `rest`
    are the extents of the others.
    """
    count = ctx.rank(like) - kept
    if ctx.is_static(like):
        return ctx.reshape(product, [*ctx.sizes(like)[:count], *rest])
    return relay.reshape_like(product, like, lhs_begin=0, lhs_end=1, rhs_begin=0, rhs_end=count)


@aten("linear")
def linear(ctx: Aten, x: Expr, weight: Expr, bias: Expr | None = None) -> Value:
    """Return `x @ weight.T + bias`."""
    if ctx.rank(weight) == 1:
        product: Expr = relay.sum(relay.multiply(x, weight), axis=[-1])
    else:
        rows = relay.expand_dims(x, 0) if ctx.rank(x) == 1 else _rows(ctx, x)
        product = dense_groups(ctx, rows, weight) or relay.nn.dense(rows, weight)
        if ctx.rank(x) == 1:
            product = relay.squeeze(product, [0])
        elif ctx.rank(x) > 2:
            product = _leading(ctx, product, x, 1, ctx.size(weight, 0))
    if bias is None:
        return product
    if ctx.rank(bias) == 1 and ctx.rank(product) >= 1:
        return relay.nn.bias_add(product, bias, axis=-1)
    return relay.add(product, bias)


@aten("matmul", "__matmul__", "linalg_matmul")
def matmul(ctx: Aten, x: Expr, y: Expr) -> Value:
    """Multiply vectors, matrices, or batches of matrices whose batch axes are broadcast."""
    left, right = ctx.rank(x), ctx.rank(y)
    if not left or not right:
        raise RelayError("matmul requires tensors with at least one axis")
    if left == 1 and right == 1:
        return dot(ctx, x, y)
    if left == 1:
        return relay.squeeze(cast(Expr, matmul(ctx, relay.expand_dims(x, 0), y)), [right - 2])
    if right == 1:
        return relay.squeeze(cast(Expr, matmul(ctx, x, relay.expand_dims(y, 1))), [left - 1])
    if left == 2 and right == 2:
        return _product(ctx, x, y)
    if right == 2:
        product = _product(ctx, _rows(ctx, x), y)
        return _leading(ctx, product, x, 1, ctx.size(y, 1))
    return _batched(ctx, x, y)


def _product(ctx: Aten, x: Expr, y: Expr) -> Expr:
    """Multiply two matrices."""
    if ctx.dtype(x) == "bool":
        raise RelayError("matrix products are not defined for bool tensors")
    return relay.nn.dense(x, relay.transpose(y, (1, 0)))


def _batched(ctx: Aten, x: Expr, y: Expr) -> Expr:
    """Multiply batches of matrices."""
    x_batch, y_batch = ctx.sizes(x)[:-2], ctx.sizes(y)[:-2]
    shape = [*_common(ctx, x, y)]
    rows, inner, columns = (
        ctx.size(x, -2 + ctx.rank(x)),
        ctx.size(x, ctx.rank(x) - 1),
        ctx.size(y, ctx.rank(y) - 1),
    )
    left, right = x, y
    if len(shape) > 1 or not _alike(ctx, x_batch, shape):
        x = _one_batch_axis(ctx, x, x_batch, shape, [rows, inner])
    if len(shape) > 1 or not _alike(ctx, y_batch, shape):
        y = _one_batch_axis(ctx, y, y_batch, shape, [inner, columns])
    product = relay.nn.batch_matmul(x, y, transpose_b=False)
    if len(shape) == 1:
        return product
    for operand, batch in ((left, x_batch), (right, y_batch)):
        if _alike(ctx, batch, shape):
            return _leading(ctx, product, operand, 2, rows, columns)
    return ctx.reshape(product, [*shape, rows, columns])


def _one_batch_axis(
    ctx: Aten, x: Expr, batch: Sequence[Int], shape: Sequence[Int], matrix: Sequence[Int]
) -> Expr:
    """Return batches of matrices with a single batch axis, which is 1 if all of them use the same matrix."""
    if all(size == 1 for size in batch):
        return ctx.reshape(x, [1, *matrix])
    if not _alike(ctx, batch, shape):
        x = ctx.broadcast_to(x, [*shape, *matrix])
    return ctx.reshape(x, [-1, *matrix])


def _alike(ctx: Aten, a: Sequence[Int], b: Sequence[Int]) -> bool:
    return len(a) == len(b) and all(ctx.dim(x) == ctx.dim(y) for x, y in zip(a, b))


def _common(ctx: Aten, x: Expr, y: Expr) -> list[Int]:
    """Return the extents of the batch axes to which both operands are broadcast."""
    sizes = [ctx.sizes(x)[:-2], ctx.sizes(y)[:-2]]
    count = max(map(len, sizes))
    first, second = [[*[1] * (count - len(part)), *part] for part in sizes]
    return [b if a == 1 or (isinstance(b, int) and b != 1) else a for a, b in zip(first, second)]


@aten("mm")
def mm(ctx: Aten, x: Expr, y: Expr) -> Value:
    return _product(ctx, x, y)


@aten("bmm")
def bmm(ctx: Aten, x: Expr, y: Expr) -> Value:
    return relay.nn.batch_matmul(x, y, transpose_b=False)


@aten("mv")
def mv(ctx: Aten, x: Expr, y: Expr) -> Value:
    return matmul(ctx, x, y)


@aten("dot", "vdot")
def dot(ctx: Aten, x: Expr, y: Expr) -> Value:
    if is_float(ctx.dtype(x)):
        return relay.reshape(relay.nn.dense(relay.expand_dims(x, 0), relay.expand_dims(y, 0)), ())
    return relay.sum(relay.multiply(x, y))


@aten("linalg_vecdot")
def vecdot(ctx: Aten, x: Expr, y: Expr, dim: int = -1) -> Value:
    product = cast(Expr, mul(ctx, x, y))
    return relay.sum(product, axis=[ctx.axis(dim, ctx.rank(product))])


@aten("inner")
def inner(ctx: Aten, x: Expr, y: Expr) -> Value:
    if not ctx.rank(x) or not ctx.rank(y):
        return mul(ctx, x, y)
    return linear(ctx, x, y) if ctx.rank(y) <= 2 else tensordot(ctx, x, y, [-1], [-1])


@aten("outer", "ger")
def outer(ctx: Aten, x: Expr, y: Expr) -> Value:
    return mul(ctx, relay.expand_dims(x, 1), relay.expand_dims(y, 0))


@aten("kron")
def kron(ctx: Aten, x: Expr, y: Expr) -> Value:
    """Return the Kronecker product: each element of `x` times the whole of `y`."""
    rank = max(ctx.rank(x), ctx.rank(y))
    a, b = [[*[1] * (rank - ctx.rank(part)), *ctx.static_shape(part)] for part in (x, y)]
    left = relay.reshape(x, [extent for size in a for extent in (size, 1)])
    right = relay.reshape(y, [extent for size in b for extent in (1, size)])
    product = cast(Expr, mul(ctx, left, right))
    return relay.reshape(product, [p * q for p, q in zip(a, b)])


def _added(ctx: Aten, x: Expr, product: Value, beta: Number, alpha: Number) -> Value:
    """Return `beta * x + alpha * product`."""
    if is_zero(beta):
        return mul(ctx, product, alpha) if alpha != 1 else product
    scaled = mul(ctx, x, beta) if beta != 1 else x
    return add(ctx, scaled, product, alpha)


def is_zero(value: Number) -> bool:
    """Whether a number is known to be 0."""
    return isinstance(value, (int, float)) and value == 0


@aten("addmm")
def addmm(ctx: Aten, x: Expr, a: Expr, b: Expr, beta: Number = 1, alpha: Number = 1) -> Value:
    product = _product(ctx, a, b)
    plain = alpha == 1 and beta == 1 and ctx.rank(x) == 1 and is_float(ctx.dtype(x))
    if plain and ctx.shape(x)[0] == ctx.shape(product)[1]:
        return relay.nn.bias_add(product, x, axis=-1)
    return _added(ctx, x, product, beta, alpha)


@aten("addbmm")
def addbmm(ctx: Aten, x: Expr, a: Expr, b: Expr, beta: Number = 1, alpha: Number = 1) -> Value:
    return _added(ctx, x, relay.sum(cast(Expr, bmm(ctx, a, b)), axis=[0]), beta, alpha)


@aten("baddbmm")
def baddbmm(ctx: Aten, x: Expr, a: Expr, b: Expr, beta: Number = 1, alpha: Number = 1) -> Value:
    return _added(ctx, x, bmm(ctx, a, b), beta, alpha)


@aten("addmv")
def addmv(ctx: Aten, x: Expr, a: Expr, b: Expr, beta: Number = 1, alpha: Number = 1) -> Value:
    return _added(ctx, x, mv(ctx, a, b), beta, alpha)


@aten("addr")
def addr(ctx: Aten, x: Expr, a: Expr, b: Expr, beta: Number = 1, alpha: Number = 1) -> Value:
    return _added(ctx, x, outer(ctx, a, b), beta, alpha)


@aten("chain_matmul", "linalg_multi_dot")
def chain_matmul(ctx: Aten, tensors: Sequence[Expr]) -> Value:
    result = tensors[0]
    for tensor in tensors[1:]:
        result = cast(Expr, matmul(ctx, result, tensor))
    return result


@aten("einsum")
def einsum(ctx: Aten, equation: str, tensors: Sequence[Expr], path: object = None) -> Value:
    parts = ctx.operands(*tensors, dtype=ctx.result_type(*tensors))
    return relay.einsum(list(parts), equation.replace(" ", ""))


@aten("tensordot")
def tensordot(ctx: Aten, x: Expr, y: Expr, dims_x: Sequence[int], dims_y: Sequence[int]) -> Value:
    """Sum products over pairs of axes."""
    left = [ctx.axis(dim, ctx.rank(x)) for dim in dims_x]
    right = [ctx.axis(dim, ctx.rank(y)) for dim in dims_y]
    x_rest = [axis for axis in range(ctx.rank(x)) if axis not in left]
    y_rest = [axis for axis in range(ctx.rank(y)) if axis not in right]
    inner_size = ctx.reshape(relay.transpose(x, [*x_rest, *left]), [-1, *_merged(ctx, x, left)])
    other = ctx.reshape(relay.transpose(y, [*y_rest, *right]), [-1, *_merged(ctx, y, right)])
    shape = [*[ctx.size(x, axis) for axis in x_rest], *[ctx.size(y, axis) for axis in y_rest]]
    return ctx.reshape(relay.nn.dense(inner_size, other), shape)


def _merged(ctx: Aten, x: Expr, axes: Sequence[int]) -> list[Int]:
    """Return the product of the extents of axes, which must be known at compile time."""
    product = 1
    for axis in axes:
        product *= ctx.integer(ctx.size(x, axis), "the extent of a contracted axis")
    return [product]


@aten("block_diag")
def block_diag(ctx: Aten, tensors: Sequence[Expr]) -> Value:
    """Return a matrix with matrices along its diagonal and zeros elsewhere."""
    matrices = [relay.reshape(x, (1, -1)) if ctx.rank(x) < 2 else x for x in tensors]
    width = sum(ctx.static_shape(x)[1] for x in matrices)
    rows: list[Expr] = []
    left = 0
    for x in matrices:
        own = ctx.static_shape(x)[1]
        rows.append(relay.nn.pad(x, [(0, 0), (left, width - left - own)]))
        left += own
    return cat(ctx, rows, 0)


@aten("linalg_cross", "cross")
def cross(ctx: Aten, x: Expr, y: Expr, dim: int | None = None) -> Value:
    """Return the vector product along an axis of extent 3."""
    a, b = ctx.operands(x, y)
    shape = ctx.shape(a)
    axis = shape.index(3) if dim is None and 3 in shape else ctx.axis(-1 if dim is None else dim, ctx.rank(a))
    order_1, order_2 = const([1, 2, 0], "int64"), const([2, 0, 1], "int64")
    first = relay.multiply(relay.take(a, order_1, axis=axis), relay.take(b, order_2, axis=axis))
    second = relay.multiply(relay.take(a, order_2, axis=axis), relay.take(b, order_1, axis=axis))
    return relay.subtract(first, second)


@aten("cosine_similarity")
def cosine_similarity(ctx: Aten, x: Expr, y: Expr, dim: int = 1, eps: float = 1e-8) -> Value:
    a, b = ctx.operands(x, y)
    dtype = ctx.dtype(a)
    axis = [ctx.axis(dim, ctx.rank(a))]
    bound = const(eps, dtype)

    def length(v: Expr) -> Expr:
        norm = relay.sqrt(relay.sum(relay.multiply(v, v), axis=axis, keepdims=True))
        return relay.divide(v, relay.maximum(norm, bound))

    return relay.sum(relay.multiply(length(a), length(b)), axis=axis)
