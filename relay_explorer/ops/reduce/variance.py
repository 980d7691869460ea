"""The variance, and functions composed of reductions, such as the standard deviation."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.attrs import Attrs, Ints, attr
from ...ir.declaration import Gradient, Precision
from ...ir.expr import Call, Expr, Tuple
from ...ir.op import RelationError, size_of
from ...ir.tuple_wrapper import TupleWrapper
from ...ir.types import TensorType, Type
from ..arguments import Operand, axes_of
from ..binary.arithmetic import add, subtract
from ..calls import relay
from ..examples import X
from ..gradient_tools import number
from ..numeric import Array, np
from ..operator import call
from ..relation import forward, same_dim, tensor
from ..te.lowered import Lowered
from ..te.reduce import Folded, wide_type
from ..te.reduce import per as te_per
from ..te.tensors import Tensor, Value, cast, dtype_of, stage, summed
from ..unary.exponential import exp, log, sqrt
from .declaring import (
    Axes,
    folded_axes,
    folded_count,
    over,
    per_element,
    reduced_axes,
    reduced_shape,
    reduction,
    unfolded,
    wide,
)
from .folding import max, mean, sum

__all__ = ["logsumexp", "mean_std", "mean_variance", "std", "variance"]


class VarianceAttrs(Attrs, key="relay.attrs.VarianceAttrs"):
    axis: Ints | None = attr(None, "The axes that are reduced; None or an empty list means all of them.")
    keepdims: bool = attr(False, "Whether reduced axes stay in the shape, with extent 1.")
    exclude: bool = attr(False, "Whether `axis` names the axes that are kept instead.")
    unbiased: bool = attr(False, "Whether to divide by the number of elements less one.")


def _variance(attrs: VarianceAttrs, data: Type, mean: Type) -> Type:
    x, m = tensor(data, 0, "data"), tensor(mean, 1, "mean")
    if not x.shape:
        raise RelationError("a scalar has no axes to reduce", culprits=(0,))
    axes = reduced_axes(attrs, len(x.shape))
    expected = reduced_shape(x.shape, axes, keepdims=True)
    fits = len(m.shape) == len(expected) and not [
        axis for axis, extent in enumerate(expected) if not same_dim(extent, m.shape[axis])
    ]
    if not fits or m.dtype != x.dtype:
        raise RelationError(
            f"the mean of {x} over these axes is {TensorType.of(expected, x.dtype)}, not {m}",
            "compute it with the same axes and keepdims=True: relay.mean(data, axis, keepdims=True)",
            culprits=(0, 1),
        )
    return TensorType.of(reduced_shape(x.shape, axes, attrs.keepdims), x.dtype)


def _variance_flops(attrs: VarianceAttrs, inputs: Sequence[Type], output: Type) -> int:
    return 3 * size_of(inputs[0])  # subtract the mean, square, add


def _spread(attrs: VarianceAttrs, x: Array, mean: Array) -> Array:
    squares = (wide(x) - wide(mean)) ** 2
    total = np.sum(squares, **over(attrs, x), dtype=squares.dtype)
    return per_element(total, attrs, x, less=int(attrs.unbiased)).astype(x.dtype)


def _variance_te(call: Lowered) -> list[Tensor]:
    (x, middle), fold = call.inputs, Folded(call)
    dtype = dtype_of(x)
    wide = wide_type(dtype)

    def square(*i: Value) -> Value:
        deviation = cast(x(*fold.index(i)), wide) - cast(middle(*fold.kept(i)), wide)
        return deviation * deviation

    total = summed(fold.shape, square, fold.over(), wide, f"{call.name}_sum")
    count = fold.count - int(call.attrs.unbiased)
    return [stage(fold.shape, lambda *i: cast(te_per(total(*i), count), dtype), call.name)]


def _variance_gradient(call: Call, grad: Expr) -> list[Expr]:
    """Return the gradients of the mean of (x - m)² by x and by m, which is an operand of its own."""
    x, mean = call.args
    assert call.attrs is not None
    count = folded_count(call)
    if call.attrs["unbiased"]:
        count = count - number(1, x)
    share = number(2, x) / count
    by_data = unfolded(grad, call) * share * (x - mean)
    by_mean = relay.negative(relay.sum(by_data, folded_axes(call), keepdims=True))
    return [by_data, by_mean]


@reduction(
    "variance",
    description="Computes the variance over the given axes from a given mean.",
    formula=r"y = \frac{1}{n} \sum_{i \in \mathit{axis}} (x_i - \mu)^2",
    relation=forward("Variance", "{out} = {0} without `axis`, if {1} is its mean", _variance),
    attrs=VarianceAttrs,
    inputs=("data", "mean"),
    flops=_variance_flops,
    lenient_in_tvm="It compared only the ranks of data and mean, not their shapes and types.",
    reference=_spread,
    gradient=Gradient("dx = dy · 2 (x − m) / n, dm = −Σ dx", _variance_gradient),
    lowering=_variance_te,
    precision=Precision.NEVER,
    example=lambda build: build(X, 1, unbiased=True),
)
def variance(
    data: Operand,
    axis: Axes = None,
    keepdims: bool = False,
    exclude: bool = False,
    unbiased: bool = False,
    with_mean: Operand | None = None,
) -> Call:
    """Compute the variance of `data` over `axis`; `with_mean` is its mean with keepdims, if available."""
    if with_mean is None:
        with_mean = mean(data, axis, True, exclude)
    return call(
        "variance",
        [data, with_mean],
        axis=axes_of(axis),
        keepdims=keepdims,
        exclude=exclude,
        unbiased=unbiased,
    )


def std(
    data: Operand, axis: Axes = None, keepdims: bool = False, exclude: bool = False, unbiased: bool = False
) -> Expr:
    """Compute the standard deviation of `data` over `axis`: the square root of its variance."""
    return sqrt(variance(data, axis, keepdims, exclude, unbiased))


def mean_variance(
    data: Operand, axis: Axes = None, keepdims: bool = False, exclude: bool = False, unbiased: bool = False
) -> TupleWrapper:
    """Compute the mean and the variance of `data` over `axis`."""
    middle: Expr = mean(data, axis, True, exclude)
    spread = variance(data, axis, keepdims, exclude, unbiased, middle)
    if not keepdims:
        middle = mean(data, axis, False, exclude) if exclude else relay.squeeze(middle, axes_of(axis) or None)
    return TupleWrapper(Tuple([middle, spread]), 2)


def mean_std(
    data: Operand, axis: Axes = None, keepdims: bool = False, exclude: bool = False, unbiased: bool = False
) -> TupleWrapper:
    """Compute the mean and the standard deviation of `data` over `axis`."""
    middle: Expr = mean(data, axis, True, exclude)
    spread = sqrt(variance(data, axis, keepdims, exclude, unbiased, middle))
    if not keepdims:
        middle = mean(data, axis, False, exclude) if exclude else relay.squeeze(middle, axes_of(axis) or None)
    return TupleWrapper(Tuple([middle, spread]), 2)


def logsumexp(data: Operand, axis: Axes = None, keepdims: bool = False) -> Expr:
    """Compute the logarithm of the sum of exponentials of `data` over `axis`, without overflow."""
    highest = max(data, axis, True)
    total = add(log(sum(exp(subtract(data, highest)), axis, True)), highest)
    return total if keepdims else relay.squeeze(total, axes_of(axis) or None)
