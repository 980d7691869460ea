"""Convert ONNX's matrix products."""

from __future__ import annotations

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from ..base.source import Node
from .graph import Graph
from .registry import Inputs, converter
from .tools import extent_of, is_float, number, operands, optional, shape_vector


@converter("MatMul")
def _matmul(g: Graph, node: Node, inputs: Inputs) -> Expr:
    a, b = operands(node, inputs, 2)
    return matmul(g, a, b, g.context.dtype(a))


def matmul(g: Graph, a: Expr, b: Expr, out_dtype: str = "") -> Expr:
    """Multiply stacks of matrices, or vectors, as NumPy's `matmul` does."""
    rank_a, rank_b = g.context.rank(a), g.context.rank(b)
    if rank_a == 0 or rank_b == 0:
        raise RelayError("MatMul requires operands with at least one axis")
    if rank_a == 1:  # a row, which the result does not have
        row = relay.expand_dims(a, 0)
        return relay.squeeze(matmul(g, row, b, out_dtype), [rank_b - 2 if rank_b > 1 else 0])
    if rank_b == 1:
        return relay.squeeze(matmul(g, a, relay.expand_dims(b, 1), out_dtype), [rank_a - 1])
    leading = g.context.shape(b)[:-2]
    if rank_b <= rank_a and all(dim == 1 for dim in leading):  # one matrix for all rows: a dense layer
        matrix = relay.squeeze(b, list(range(rank_b - 2))) if leading else b
        return relay.nn.dense(a, relay.transpose(matrix, [1, 0]), out_dtype=out_dtype)
    return _batched(g, a, b, out_dtype)


def _batched(g: Graph, a: Expr, b: Expr, out_dtype: str) -> Expr:
    """Multiply stacks of matrices, whose leading axes are broadcast."""
    shape_a, shape_b = g.context.shape(a), g.context.shape(b)
    if len(shape_a) == len(shape_b) == 3 and (shape_a[0] == shape_b[0] or 1 in (shape_a[0], shape_b[0])):
        return _products(g, a, b, out_dtype)
    rank = max(len(shape_a), len(shape_b)) - 2
    left, right = _stacked(g, a, b, rank), _stacked(g, b, a, rank)
    result = _products(g, _merged(g, left), _merged(g, right), out_dtype)
    if rank == 1:
        return result
    stack = [dim for dim in g.context.shape(left)[:-2] if isinstance(dim, int)]
    if len(stack) == rank and g.context.tensor(result).is_static:
        return relay.reshape(result, [*stack, *g.context.static_shape(result)[1:]])
    return relay.reshape_like(result, left, 0, 1, 0, rank)


def _products(g: Graph, a: Expr, b: Expr, out_dtype: str) -> Expr:
    """Multiply two stacks of matrices. TVM's option `use_nt_batch_matmul` asks for the second one
    transposed.
    """
    if g.options.get("use_nt_batch_matmul"):
        return relay.nn.batch_matmul(a, relay.transpose(b, [0, 2, 1]), out_dtype=out_dtype, transpose_b=True)
    return relay.nn.batch_matmul(a, b, out_dtype=out_dtype, transpose_b=False)


def _stacked(g: Graph, x: Expr, other: Expr, rank: int) -> Expr:
    """Return `x` with its leading axes broadcast to those of both operands, `rank` of them."""
    shape, shape_other = g.context.shape(x), g.context.shape(other)
    if len(shape) - 2 < rank:
        x = relay.expand_dims(x, 0, rank + 2 - len(shape))
        shape = g.context.shape(x)
    lead = rank + 2 - len(shape_other)
    missing = [
        axis for axis in range(lead, rank) if shape[axis] != shape_other[axis - lead] and shape[axis] == 1
    ]
    if not missing:
        return x
    target: list[int | Expr] = []
    for axis, dim in enumerate(shape):
        wanted, source, place = (
            (shape_other[axis - lead], other, axis - lead) if axis in missing else (dim, x, axis)
        )
        target.append(wanted if isinstance(wanted, int) else extent_of(g, source, place))
    vector = shape_vector(g, target)
    numbers = [dim for dim in target if isinstance(dim, int)]
    return relay.broadcast_to(x, numbers if len(numbers) == len(target) else vector)


def _merged(g: Graph, x: Expr) -> Expr:
    """Return a stack of matrices with one leading axis."""
    shape = g.context.shape(x)
    while len(shape) > 3:
        x = relay.reshape(x, [-3, *[0] * (len(shape) - 2)])
        shape = g.context.shape(x)
    return x


@converter("Gemm")
def _gemm(g: Graph, node: Node, inputs: Inputs) -> Expr:
    a, b = operands(node, inputs, 2)
    alpha, beta = g.attr(node, "alpha", 1.0), g.attr(node, "beta", 1.0)
    if g.attr(node, "transA", 0):
        a = relay.transpose(a, [1, 0])
    if alpha != 1.0:
        a = relay.multiply(a, _factor(g, alpha, a))
    weight = b if g.attr(node, "transB", 0) else relay.transpose(b, [1, 0])
    result: Expr = relay.nn.dense(a, weight)
    bias = optional(inputs, 2)
    if bias is None or beta == 0.0:
        return result
    if beta != 1.0:
        bias = relay.multiply(bias, _factor(g, beta, bias))
    if g.context.rank(bias) == 1 and g.context.shape(bias) == g.context.shape(result)[1:]:
        return relay.nn.bias_add(result, bias, -1)
    return relay.add(result, bias)


def _factor(g: Graph, value: float, like: Expr) -> Expr:
    dtype = g.context.dtype(like)
    if not is_float(dtype) and value != int(value):
        raise RelayError(
            f"Gemm of {dtype} requires integer alpha and beta, not {value}: ONNX does not specify the "
            "rounding"
        )
    return number(g, value if is_float(dtype) else int(value), like)
