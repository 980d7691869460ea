"""Reductions: operators that fold whole axes of a tensor into one number each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any as Anything

from ..ir.attrs import Attrs, Ints, attr
from ..ir.expr import Call, Expr, Tuple
from ..ir.op import Compute, Flops, Op, OpPattern, Relation, RelationError, flops_per_input, size_of
from ..ir.tuple_wrapper import TupleWrapper
from ..ir.types import Shape, TensorType, Type
from .arguments import axes_of, expr
from .binary import add, subtract
from .declare import declare
from .numeric import Array, np, per
from .relation import count, forward, normal_axes, same_dim, tensor
from .transform import squeeze
from .unary.exponential import exp, log, sqrt

__all__ = [
    "all", "any", "argmax", "argmin", "logsumexp", "max", "mean", "mean_std", "mean_variance", "min",
    "prod", "std", "sum", "variance",
]  # fmt: skip

Axes = int | Sequence[int] | None


class ReduceAttrs(Attrs, key="relay.attrs.ReduceAttrs"):
    axis: Ints | None = attr(None, "The axes that are folded; None or an empty list is all of them.")
    keepdims: bool = attr(False, "Whether folded axes stay in the shape, as 1.")
    exclude: bool = attr(False, "Whether `axis` names the axes that stay instead.")


class ArgReduceAttrs(Attrs, key="relay.attrs.ArgReduceAttrs"):
    axis: Ints | None = attr(None, "The axes that are searched; None or an empty list is all of them.")
    keepdims: bool = attr(False, "Whether searched axes stay in the shape, as 1.")
    select_last_index: bool = attr(
        False, "Whether the last of equal elements is chosen, rather than the first."
    )
    exclude: bool = attr(False, "Whether `axis` names the axes that stay instead.")


class VarianceAttrs(Attrs, key="relay.attrs.VarianceAttrs"):
    axis: Ints | None = attr(None, "The axes that are folded; None or an empty list is all of them.")
    keepdims: bool = attr(False, "Whether folded axes stay in the shape, as 1.")
    exclude: bool = attr(False, "Whether `axis` names the axes that stay instead.")
    unbiased: bool = attr(False, "Whether to divide by the number of elements less one.")


def _reduced_axes(attrs: Anything, rank: int) -> set[int]:
    """The axes that `attrs` (axis, exclude) folds in a tensor of that rank, counted from the front."""
    if not attrs.axis:
        return set(range(rank))
    named = set(normal_axes(attrs.axis, rank, "it"))
    return set(range(rank)) - named if attrs.exclude else named


def _reduced_shape(shape: Shape, axes: set[int], keepdims: bool) -> Shape:
    """`shape` with `axes` left out, or 1 where `keepdims`."""
    if keepdims:
        return tuple([1 if axis in axes else dim for axis, dim in enumerate(shape)])
    return tuple([dim for axis, dim in enumerate(shape) if axis not in axes])


def _reduce(attrs: ReduceAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    return TensorType.of(_reduced_shape(x.shape, _reduced_axes(attrs, len(x.shape)), attrs.keepdims), x.dtype)


def _reduce_truth(attrs: ReduceAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    if x.dtype != "bool":
        raise RelationError(
            f"all and any fold booleans, but the elements are {x.dtype}",
            'compare first (relay.not_equal(x, zero)), or convert: relay.cast(x, "bool")',
            culprits=(0,),
        )
    return _reduce(attrs, data)


def _arg_reduce(attrs: ArgReduceAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    if not x.shape:
        raise RelationError(
            "a single number has no positions to choose from",
            "give a tensor of at least one axis",
            culprits=(0,),
        )
    axes = _reduced_axes(attrs, len(x.shape))
    positions = count(tuple([x.shape[axis] for axis in axes]))
    if positions is not None and positions >= 2**31:
        raise RelationError(
            f"there are {positions} positions, more than the result's int32 can number", culprits=(0,)
        )
    return TensorType.of(_reduced_shape(x.shape, axes, attrs.keepdims), "int32")


def _variance(attrs: VarianceAttrs, data: Type, mean: Type) -> Type:
    x, m = tensor(data, 0, "data"), tensor(mean, 1, "mean")
    if not x.shape:
        raise RelationError("a single number has no axes to fold", culprits=(0,))
    axes = _reduced_axes(attrs, len(x.shape))
    expected = _reduced_shape(x.shape, axes, keepdims=True)
    fits = len(m.shape) == len(expected) and not [
        axis for axis, want in enumerate(expected) if not same_dim(want, m.shape[axis])
    ]
    if not fits or m.dtype != x.dtype:
        raise RelationError(
            f"the mean of {x} over these axes is {TensorType.of(expected, x.dtype)}, not {m}",
            "compute it with the same axes and keepdims=True: relay.mean(data, axis, keepdims=True)",
            culprits=(0, 1),
        )
    return TensorType.of(_reduced_shape(x.shape, axes, attrs.keepdims), x.dtype)


def _variance_flops(attrs: VarianceAttrs, inputs: Sequence[Type], output: Type) -> int:
    return 3 * size_of(inputs[0])  # subtract the mean, square, add


_REDUCE = forward("Reduce", "{out} = {0} without `axis`", _reduce)
_TRUTH = forward("ReduceTruth", "{out} = {0} without `axis`, of booleans", _reduce_truth)
_ARG_REDUCE = forward("ArgReduce", "{out} = int32 of {0} without `axis`", _arg_reduce)


def _reduction(
    name: str,
    description: str,
    formula: str,
    relation: Relation = _REDUCE,
    attrs: type[Attrs] = ReduceAttrs,
    inputs: tuple[str, ...] = ("data",),
    flops: Flops = flops_per_input,
    *,
    compute: Compute,
    lenient_in_tvm: str = "",
    gradient: str = "",
) -> Op:
    return declare(
        name, description, formula=formula, relation=relation, inputs=inputs, attrs=attrs,
        pattern=OpPattern.COMM_REDUCE, flops=flops, compute=compute, family="reduction", level=4,
        lenient_in_tvm=lenient_in_tvm, gradient=gradient, lowering=f"reduce.{name}",
    )  # fmt: skip


def _over(attrs: Anything, x: Array) -> dict[str, Anything]:
    """NumPy's words for the axes that `attrs` folds."""
    return {"axis": tuple(sorted(_reduced_axes(attrs, x.ndim))), "keepdims": attrs.keepdims}


def _folded(name: str) -> Compute:
    """NumPy's reduction of that name; sums and products stay in the data's element type."""

    def compute(attrs: ReduceAttrs, x: Array) -> Array:
        kept = {"dtype": x.dtype} if name in ("sum", "prod") else {}
        return getattr(np, name)(x, **_over(attrs, x), **kept)

    return compute


def _wide(x: Array) -> Array:
    """`x` in a type that holds sums of many: half precision reaches its greatest number, 65504, too soon."""
    return x.astype("float32") if x.dtype == "float16" else x


def _mean(attrs: ReduceAttrs, x: Array) -> Array:
    total = np.sum(_wide(x), **_over(attrs, x), dtype=_wide(x).dtype)
    return _per_element(total, attrs, x).astype(x.dtype)


def _spread(attrs: VarianceAttrs, x: Array, mean: Array) -> Array:
    squares = (_wide(x) - _wide(mean)) ** 2
    total = np.sum(squares, **_over(attrs, x), dtype=squares.dtype)
    return _per_element(total, attrs, x, less=int(attrs.unbiased)).astype(x.dtype)


def _per_element(total: Array, attrs: Anything, x: Array, less: int = 0) -> Array:
    """`total` divided by the number of elements that were folded; of integers the whole part."""
    elements = math.prod([x.shape[axis] for axis in _reduced_axes(attrs, x.ndim)])
    return per(np.asarray(total), elements - less)


def _position(name: str) -> Compute:
    """Where NumPy's search of that name first finds it, in row-major order of the searched axes."""

    def compute(attrs: ArgReduceAttrs, x: Array) -> Array:
        axes = sorted(_reduced_axes(attrs, x.ndim))
        rest = [extent for axis, extent in enumerate(x.shape) if axis not in axes]
        places = math.prod([x.shape[axis] for axis in axes])
        rows = np.moveaxis(x, axes, range(-len(axes), 0)).reshape(*rest, places)
        search = getattr(np, name)
        found = places - 1 - search(rows[..., ::-1], -1) if attrs.select_last_index else search(rows, -1)
        return np.asarray(found, "int32").reshape(_reduced_shape(x.shape, set(axes), attrs.keepdims))

    return compute


_LAXER_TRUTH = "It accepted elements of every type."
_SUM = _reduction(
    "sum",
    "The sum over axes.",
    r"y = \sum_{i \in \mathit{axis}} x_i",
    compute=_folded("sum"),
    gradient="reduce.sum",
)
_PROD = _reduction(
    "prod",
    "The product over axes.",
    r"y = \prod_{i \in \mathit{axis}} x_i",
    compute=_folded("prod"),
    gradient="reduce.prod",
)
_MEAN = _reduction(
    "mean",
    "The arithmetic mean over axes.",
    r"y = \frac{1}{n} \sum_{i \in \mathit{axis}} x_i",
    compute=_mean,
    gradient="reduce.mean",
)
_MAX = _reduction(
    "max",
    "The greatest element over axes.",
    r"y = \max_{i \in \mathit{axis}} x_i",
    compute=_folded("max"),
    gradient="reduce.extreme",
)
_MIN = _reduction(
    "min",
    "The least element over axes.",
    r"y = \min_{i \in \mathit{axis}} x_i",
    compute=_folded("min"),
    gradient="reduce.extreme",
)
_ALL = _reduction(
    "all", "Whether all elements over axes are true.", r"y = \bigwedge_{i \in \mathit{axis}} x_i", _TRUTH,
    lenient_in_tvm=_LAXER_TRUTH, compute=_folded("all"), gradient="elementwise.none",
)  # fmt: skip
_ANY = _reduction(
    "any", "Whether some element over axes is true.", r"y = \bigvee_{i \in \mathit{axis}} x_i", _TRUTH,
    lenient_in_tvm=_LAXER_TRUTH, compute=_folded("any"), gradient="elementwise.none",
)  # fmt: skip
_ARGMAX = _reduction(
    "argmax",
    "The position of the greatest element over axes.",
    r"y = \operatorname{arg\,max}_{i \in \mathit{axis}} x_i",
    _ARG_REDUCE,
    ArgReduceAttrs,
    compute=_position("argmax"),
    gradient="elementwise.none",
)
_ARGMIN = _reduction(
    "argmin",
    "The position of the least element over axes.",
    r"y = \operatorname{arg\,min}_{i \in \mathit{axis}} x_i",
    _ARG_REDUCE,
    ArgReduceAttrs,
    compute=_position("argmin"),
    gradient="elementwise.none",
)
_VARIANCE = _reduction(
    "variance",
    "The variance over axes, from a mean that is given.",
    r"y = \frac{1}{n} \sum_{i \in \mathit{axis}} (x_i - \mu)^2",
    forward("Variance", "{out} = {0} without `axis`, if {1} is its mean", _variance),
    VarianceAttrs,
    ("data", "mean"),
    _variance_flops,
    lenient_in_tvm="It compared only the ranks of data and mean, not their shapes and types.",
    compute=_spread,
    gradient="reduce.variance",
)


def _call(op: Op, data: Expr, axis: Axes, keepdims: bool, exclude: bool) -> Expr:
    return Call(op, [expr(data)], ReduceAttrs(axis=axes_of(axis), keepdims=keepdims, exclude=exclude))


def sum(data: Expr, axis: Axes = None, keepdims: bool = False, exclude: bool = False) -> Expr:
    """The sum of `data` over `axis`; all axes where None."""
    return _call(_SUM, data, axis, keepdims, exclude)


def prod(data: Expr, axis: Axes = None, keepdims: bool = False, exclude: bool = False) -> Expr:
    """The product of `data` over `axis`; all axes where None."""
    return _call(_PROD, data, axis, keepdims, exclude)


def mean(data: Expr, axis: Axes = None, keepdims: bool = False, exclude: bool = False) -> Expr:
    """The arithmetic mean of `data` over `axis`; all axes where None."""
    return _call(_MEAN, data, axis, keepdims, exclude)


def max(data: Expr, axis: Axes = None, keepdims: bool = False, exclude: bool = False) -> Expr:
    """The greatest element of `data` over `axis`; all axes where None."""
    return _call(_MAX, data, axis, keepdims, exclude)


def min(data: Expr, axis: Axes = None, keepdims: bool = False, exclude: bool = False) -> Expr:
    """The least element of `data` over `axis`; all axes where None."""
    return _call(_MIN, data, axis, keepdims, exclude)


def all(data: Expr, axis: Axes = None, keepdims: bool = False, exclude: bool = False) -> Expr:
    """Whether all elements of `data`, booleans, are true over `axis`."""
    return _call(_ALL, data, axis, keepdims, exclude)


def any(data: Expr, axis: Axes = None, keepdims: bool = False, exclude: bool = False) -> Expr:
    """Whether some element of `data`, booleans, is true over `axis`."""
    return _call(_ANY, data, axis, keepdims, exclude)


def argmax(
    data: Expr,
    axis: Axes = None,
    keepdims: bool = False,
    exclude: bool = False,
    select_last_index: bool = False,
) -> Expr:
    """The int32 position of the greatest element over `axis`; in the flattened tensor where None."""
    attrs = ArgReduceAttrs(
        axis=axes_of(axis), keepdims=keepdims, select_last_index=select_last_index, exclude=exclude
    )
    return Call(_ARGMAX, [expr(data)], attrs)


def argmin(
    data: Expr,
    axis: Axes = None,
    keepdims: bool = False,
    exclude: bool = False,
    select_last_index: bool = False,
) -> Expr:
    """The int32 position of the least element over `axis`; in the flattened tensor where None."""
    attrs = ArgReduceAttrs(
        axis=axes_of(axis), keepdims=keepdims, select_last_index=select_last_index, exclude=exclude
    )
    return Call(_ARGMIN, [expr(data)], attrs)


def variance(
    data: Expr,
    axis: Axes = None,
    keepdims: bool = False,
    exclude: bool = False,
    unbiased: bool = False,
    with_mean: Expr | None = None,
) -> Expr:
    """The variance of `data` over `axis`; `with_mean` is its mean with keepdims, if it is at hand."""
    if with_mean is None:
        with_mean = mean(data, axis, True, exclude)
    attrs = VarianceAttrs(axis=axes_of(axis), keepdims=keepdims, exclude=exclude, unbiased=unbiased)
    return Call(_VARIANCE, [expr(data), expr(with_mean)], attrs)


def std(
    data: Expr, axis: Axes = None, keepdims: bool = False, exclude: bool = False, unbiased: bool = False
) -> Expr:
    """The standard deviation of `data` over `axis`: the square root of its variance."""
    return sqrt(variance(data, axis, keepdims, exclude, unbiased))


def mean_variance(
    data: Expr, axis: Axes = None, keepdims: bool = False, exclude: bool = False, unbiased: bool = False
) -> TupleWrapper:
    """The mean and the variance of `data` over `axis`."""
    middle = mean(data, axis, True, exclude)
    spread = variance(data, axis, keepdims, exclude, unbiased, middle)
    if not keepdims:
        middle = mean(data, axis, False, exclude) if exclude else squeeze(middle, axes_of(axis) or None)
    return TupleWrapper(Tuple([middle, spread]), 2)


def mean_std(
    data: Expr, axis: Axes = None, keepdims: bool = False, exclude: bool = False, unbiased: bool = False
) -> TupleWrapper:
    """The mean and the standard deviation of `data` over `axis`."""
    middle = mean(data, axis, True, exclude)
    spread = sqrt(variance(data, axis, keepdims, exclude, unbiased, middle))
    if not keepdims:
        middle = mean(data, axis, False, exclude) if exclude else squeeze(middle, axes_of(axis) or None)
    return TupleWrapper(Tuple([middle, spread]), 2)


def logsumexp(data: Expr, axis: Axes = None, keepdims: bool = False) -> Expr:
    """The logarithm of the sum of exponentials of `data` over `axis`, computed without overflow."""
    highest = max(data, axis, True)
    total = add(log(sum(exp(subtract(data, highest)), axis, True)), highest)
    return total if keepdims else squeeze(total, axes_of(axis) or None)
