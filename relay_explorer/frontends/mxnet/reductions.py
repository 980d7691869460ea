"""Sums, maxima and the like along axes; sorting; and products of matrices."""

from __future__ import annotations

from collections.abc import Callable

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.context import Results
from ..base.errors import DynamicShapeError
from ..base.products import matmul
from .elementwise import number
from .registry import Converter, Operation, converts
from .tensors import to_shape


def _axes(op: Operation) -> list[int] | None:
    """Return the axes that are reduced; None stands for all."""
    axes = op.attrs.ints("axis", ())
    if op.attrs.bool("exclude", False):
        chosen = {op.axis(axis) for axis in axes}
        return [axis for axis in range(op.rank()) if axis not in chosen]
    return [op.axis(axis) for axis in axes] or None


def _finish(op: Operation, result: Expr, axes: list[int] | None) -> Expr:
    """Outside NumPy's operators, a reduction of all axes has the shape (1,)."""
    whole = axes is None and not op.attrs.bool("keepdims", False) and not op.node.op.startswith("_np")
    return relay.reshape(result, (1,)) if whole else result


def _reduction(function: Callable[..., Expr]) -> Converter:
    def convert(op: Operation) -> Results:
        axes = _axes(op)
        if axes == []:
            return op[0]
        x = op[0]
        if op.attrs.has("dtype"):
            x = relay.cast(x, op.attrs.dtype())
        return _finish(op, function(x, axes, op.attrs.bool("keepdims", False)), axes)

    return convert


def _nan_as(value: float, function: Callable[..., Expr]) -> Callable[..., Expr]:
    def reduce(x: Expr, axes: list[int] | None, keepdims: bool) -> Expr:
        neutral = relay.full_like(x, const(value, "float32"))
        return function(relay.where(relay.isnan(x), neutral, x), axes, keepdims)

    return reduce


converts("sum", "sum_axis", "_np_sum")(_reduction(relay.sum))
converts("mean", "_npi_mean")(_reduction(relay.mean))
converts("max", "max_axis", "_np_max")(_reduction(relay.max))
converts("min", "min_axis", "_np_min")(_reduction(relay.min))
converts("prod", "_np_prod")(_reduction(relay.prod))
converts("nansum")(_reduction(_nan_as(0.0, relay.sum)))
converts("nanprod")(_reduction(_nan_as(1.0, relay.prod)))


@converts("norm")
def norm(op: Operation) -> Results:
    order, axes, keep = op.attrs.int("ord", 2), _axes(op), op.attrs.bool("keepdims", False)
    if order == 1:
        return _finish(op, relay.sum(relay.abs(op[0]), axes, keep), axes)
    if order != 2:
        raise RelayError(f"norm is supported only with ord=1 and ord=2, not {order}")
    return _finish(op, relay.sqrt(relay.sum(relay.multiply(op[0], op[0]), axes, keep)), axes)


@converts("moments")
def moments(op: Operation) -> Results:
    axes, keep = (
        [op.axis(axis) for axis in op.attrs.ints("axes", ())] or None,
        op.attrs.bool("keepdims", False),
    )
    results = [relay.mean(op[0], axes, keep), relay.variance(op[0], axes, keep)]
    return [_finish(op, result, axes) for result in results]


def _arg(function: Callable[..., Expr]) -> Converter:
    def convert(op: Operation) -> Results:
        # The result of the classic operators is a float, like the data.
        axis = op.attrs.optional_int("axis")
        keep = op.attrs.bool("keepdims", False)
        result = function(op[0], None if axis is None else [op.axis(axis)], keep)
        if op.node.op.startswith("_np"):
            return relay.cast(result, "int64")
        return _finish(op, relay.cast(result, "float32"), None if axis is None else [axis])

    return convert


converts("argmax", "_npi_argmax")(_arg(relay.argmax))
converts("argmin", "_npi_argmin")(_arg(relay.argmin))


@converts("argmax_channel")
def argmax_channel(op: Operation) -> Results:
    return relay.cast(relay.argmax(op[0], [1]), "float32")


def _sorted_axis(op: Operation) -> tuple[Expr, int]:
    """Return the tensor, flattened where the axis is None, and the axis that is sorted."""
    if op.attrs.get("axis") == "None":
        return relay.reshape(op[0], (-1,)), 0
    return op[0], op.axis(op.attrs.int("axis", -1))


@converts("topk", "_npx_topk")
def topk(op: Operation) -> Results:
    data, axis = _sorted_axis(op)
    count, dtype = op.attrs.int("k", 1), op.attrs.dtype(default="float32")
    kind, ascending = op.attrs.text("ret_typ", "indices"), op.attrs.bool("is_ascend", False)
    extent = op.context.shape(data)[axis]
    if count < 1 or (isinstance(extent, int) and count > extent):
        count = extent if isinstance(extent, int) else 0
    if kind in ("indices", "value", "both"):
        which = {"indices": "indices", "value": "values", "both": "both"}[kind]
        result = relay.topk(data, count, axis, which, ascending, dtype)
        return result if isinstance(result, Expr) else list(result)
    if kind != "mask":
        raise RelayError(f"topk with ret_typ={kind!r} is not supported")
    if not isinstance(extent, int):
        raise DynamicShapeError(
            "topk with ret_typ='mask' requires that the extent of the axis is known at compile time"
        )
    indices = relay.topk(data, count, axis, "indices", ascending, "int32")
    assert isinstance(indices, Expr)
    one, zero = const(1, op.dtype()), const(0, op.dtype())
    return relay.sum(relay.one_hot(indices, one, zero, extent, axis, op.dtype()), [axis + 1])


@converts("argsort")
def argsort(op: Operation) -> Results:
    data, axis = _sorted_axis(op)
    return relay.argsort(data, axis, op.attrs.bool("is_ascend", True), op.attrs.dtype(default="float32"))


@converts("sort")
def sort(op: Operation) -> Results:
    data, axis = _sorted_axis(op)
    extent = op.context.shape(data)[axis]
    count = extent if isinstance(extent, int) else 0
    result = relay.topk(data, count, axis, "values", op.attrs.bool("is_ascend", True))
    return result if isinstance(result, Expr) else list(result)


@converts("cumsum", "_np_cumsum")
def cumsum(op: Operation) -> Results:
    axis = op.attrs.optional_int("axis")
    x = op[0] if axis is not None else relay.reshape(op[0], (-1,))
    return relay.cumsum(x, axis or 0, op.attrs.dtype(default=op.dtype()))


@converts("dot", "_np_dot")
def dot(op: Operation) -> Results:
    """Multiply along the last axis of the first tensor and the first axis of the second."""
    a, b = op[0], op[1]
    if op.attrs.bool("transpose_a", False):
        a = relay.transpose(a, [*range(1, op.rank(0)), 0])
    if op.attrs.bool("transpose_b", False):
        b = relay.transpose(b, [op.rank(1) - 1, *range(op.rank(1) - 1)])
    left, right = op.context.shape(a), op.context.shape(b)
    if len(left) == len(right) == 1:
        product = relay.sum(relay.multiply(a, b))
        return product if op.node.op.startswith("_np") else relay.reshape(product, (1,))
    inner = right[0]
    rows = a if len(left) == 2 else to_shape(a, (-1, inner))
    columns = b if len(right) == 2 else to_shape(b, (inner, -1))
    product = relay.nn.matmul(rows, columns)
    return product if len(left) == len(right) == 2 else to_shape(product, [*left[:-1], *right[1:]])


@converts("batch_dot", "_npx_batch_dot")
def batch_dot(op: Operation) -> Results:
    return matmul(
        op.context, op[0], op[1], op.attrs.bool("transpose_a", False), op.attrs.bool("transpose_b", False)
    )


@converts("_npi_matmul")
def numpy_matmul(op: Operation) -> Results:
    return matmul(op.context, op[0], op[1])


@converts("_linalg_gemm2", "linalg_gemm2")
def gemm2(op: Operation) -> Results:
    if op.attrs.int("axis", -2) != -2:
        raise RelayError("linalg_gemm2 is supported only with axis=-2: the matrices in the last two axes")
    product = batch_dot(op)
    assert isinstance(product, Expr)
    alpha = op.attrs.float("alpha", 1.0)
    return product if alpha == 1 else relay.multiply(product, number(op, alpha))


@converts("_linalg_gemm", "linalg_gemm")
def gemm(op: Operation) -> Results:
    product = gemm2(op)
    assert isinstance(product, Expr)
    beta = op.attrs.float("beta", 1.0)
    return relay.add(product, op[2] if beta == 1 else relay.multiply(op[2], number(op, beta)))


@converts("L2Normalization")
def l2_normalization(op: Operation) -> Results:
    mode, rank = op.attrs.text("mode", "instance"), op.rank()
    kinds = {"instance": range(1, rank), "channel": range(1, 2), "spatial": range(2, rank)}
    if mode not in kinds:
        raise RelayError(f"L2Normalization with mode={mode!r} is not supported")
    total = relay.sum(relay.multiply(op[0], op[0]), list(kinds[mode]), True)
    return relay.divide(op[0], relay.sqrt(relay.add(total, number(op, op.attrs.float("eps", 1e-10)))))
