"""Reductions: sum, product, mean, maximum and minimum, and logical `all` and `any`."""

from __future__ import annotations

from ...ir.declaration import Gradient, Precision, Trait
from ...ir.expr import Call, Expr
from ...ir.op import Reference, RelationError
from ...ir.typed import tensor_type
from ...ir.types import Type
from ..arguments import Operand
from ..calls import relay
from ..examples import X, bools
from ..gradient_tools import ZERO, number
from ..numeric import Array, np
from ..relation import forward, tensor
from ..te.lowered import Lowered
from ..te.reduce import Folded, fold_lowering, fold_value, sum_stage, wide_type
from ..te.reduce import per as te_per
from ..te.tensors import NARROW, Tensor, cast, dtype_of, stage
from .declaring import (
    Axes,
    ReduceAttrs,
    folded_axes,
    folded_count,
    over,
    per_element,
    reduce_type,
    reduction,
    unfolded,
    wide,
)

__all__ = ["all", "any", "max", "mean", "min", "prod", "sum"]


def numpy_fold(name: str) -> Reference:
    """Make a reference implementation by NumPy's function `name`; sums and products keep the element type."""

    def compute(attrs: ReduceAttrs, x: Array) -> Array:
        options = {"dtype": x.dtype} if name in ("sum", "prod") else {}
        return getattr(np, name)(x, **over(attrs, x), **options)

    return compute


def _mean(attrs: ReduceAttrs, x: Array) -> Array:
    total = np.sum(wide(x), **over(attrs, x), dtype=wide(x).dtype)
    return per_element(total, attrs, x).astype(x.dtype)


def _reduce_truth(attrs: ReduceAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    if x.dtype != "bool":
        raise RelationError(
            f"all and any reduce booleans, but the elements are {x.dtype}",
            'compare first (relay.not_equal(x, zero)), or convert: relay.cast(x, "bool")',
            culprits=(0,),
        )
    return reduce_type(attrs, data)


_TRUTH = forward("ReduceTruth", "{out} = {0} without `axis`, of booleans", _reduce_truth)
_LENIENT_TRUTH = "It accepted elements of every type."


def _sum_te(call: Lowered) -> list[Tensor]:
    return [sum_stage(call, Folded(call), dtype_of(call.inputs[0]), call.name)]


def _prod_te(call: Lowered) -> list[Tensor]:
    """Multiply the elements; half precision is accumulated in float32."""
    x, fold = call.inputs[0], Folded(call)
    dtype = dtype_of(x)
    if dtype == "bool" or dtype not in NARROW or not fold.axes:
        return list(fold_lowering("prod", "all")(call))
    wide = stage(
        fold.shape,
        lambda *i: fold_value("prod", x(*fold.index(i)).astype("float32"), fold.over()),
        f"{call.name}_wide",
    )
    return [stage(fold.shape, lambda *i: wide(*i).astype(dtype), call.name)]


def _mean_te(call: Lowered) -> list[Tensor]:
    fold, dtype = Folded(call), dtype_of(call.inputs[0])
    total = sum_stage(call, fold, wide_type(dtype), f"{call.name}_sum")
    return [stage(fold.shape, lambda *i: cast(te_per(total(*i), fold.count), dtype), call.name)]


def _sum_gradient(call: Call, grad: Expr) -> list[Expr]:
    return [relay.broadcast_to_like(unfolded(grad, call), call.args[0])]


def _mean_gradient(call: Call, grad: Expr) -> list[Expr]:
    (x,) = call.args
    return [relay.broadcast_to_like(unfolded(grad, call) / folded_count(call), x)]


def _extreme_gradient(call: Call, grad: Expr) -> list[Expr]:
    """Differentiate max or min: equal extremes share the gradient evenly, as in the reference."""
    (x,) = call.args
    chosen = relay.cast(relay.equal(x, unfolded(call, call)), tensor_type(x).dtype)
    return [unfolded(grad, call) * chosen / relay.sum(chosen, folded_axes(call), keepdims=True)]


def _prod_gradient(call: Call, grad: Expr) -> list[Expr]:
    """Multiply the gradient by the product of all other elements: where one element is 0, only its own
    derivative may be nonzero.
    """
    (x,) = call.args
    axes = folded_axes(call)
    zero = relay.equal(x, number(0, x))
    zeros = relay.sum(relay.cast(zero, tensor_type(x).dtype), axes, keepdims=True)
    others = relay.where(zero, relay.ones_like(x), x)
    whole = relay.prod(others, axes, keepdims=True)
    without_zero = relay.where(relay.equal(zeros, number(0, x)), whole, relay.zeros_like(whole))
    one_zero = relay.where(relay.equal(zeros, number(1, x)), whole, relay.zeros_like(whole))
    return [
        unfolded(grad, call) * relay.where(zero, relay.broadcast_to_like(one_zero, x), without_zero / others)
    ]


@reduction(
    "sum",
    description="Computes the sum over the given axes.",
    formula=r"y = \sum_{i \in \mathit{axis}} x_i",
    reference=numpy_fold("sum"),
    gradient=Gradient("dx = dy, broadcast over the summed axes", _sum_gradient),
    lowering=_sum_te,
    precision=Precision.NEVER,
    example=lambda build: build(X, 1),
)
def sum(data: Operand, axis: Axes = None, keepdims: bool = False, exclude: bool = False) -> Call:
    """Compute the sum of `data` over `axis`, or over all axes where it is None."""


@reduction(
    "prod",
    description="Computes the product over the given axes.",
    formula=r"y = \prod_{i \in \mathit{axis}} x_i",
    reference=numpy_fold("prod"),
    gradient=Gradient("dx = dy · y / x; where x is 0, dy times the product of the others", _prod_gradient),
    lowering=_prod_te,
    example=lambda build: build(X, 1),
)
def prod(data: Operand, axis: Axes = None, keepdims: bool = False, exclude: bool = False) -> Call:
    """Compute the product of `data` over `axis`, or over all axes where it is None."""


@reduction(
    "mean",
    description="Computes the arithmetic mean over the given axes.",
    formula=r"y = \frac{1}{n} \sum_{i \in \mathit{axis}} x_i",
    reference=_mean,
    gradient=Gradient("dx = dy / n, for each of the n elements", _mean_gradient),
    lowering=_mean_te,
    precision=Precision.NEVER,
    example=lambda build: build(X, 1),
)
def mean(data: Operand, axis: Axes = None, keepdims: bool = False, exclude: bool = False) -> Call:
    """Compute the arithmetic mean of `data` over `axis`, or over all axes where it is None."""


@reduction(
    "max",
    description="Computes the maximum over the given axes.",
    formula=r"y = \max_{i \in \mathit{axis}} x_i",
    reference=numpy_fold("max"),
    gradient=Gradient("dy goes to the extreme element; equal ones share it evenly", _extreme_gradient),
    lowering=fold_lowering("max", "any"),
    precision=Precision.FOLLOW,
    traits={Trait.SELECTION},
    example=lambda build: build(X, 1),
)
def max(data: Operand, axis: Axes = None, keepdims: bool = False, exclude: bool = False) -> Call:
    """Compute the greatest element of `data` over `axis`, or over all axes where it is None."""


@reduction(
    "min",
    description="Computes the minimum over the given axes.",
    formula=r"y = \min_{i \in \mathit{axis}} x_i",
    reference=numpy_fold("min"),
    gradient=Gradient("dy goes to the extreme element; equal ones share it evenly", _extreme_gradient),
    lowering=fold_lowering("min", "all"),
    precision=Precision.FOLLOW,
    traits={Trait.SELECTION},
    example=lambda build: build(X, 1),
)
def min(data: Operand, axis: Axes = None, keepdims: bool = False, exclude: bool = False) -> Call:
    """Compute the least element of `data` over `axis`, or over all axes where it is None."""


@reduction(
    "all",
    description="Tests whether all elements over the given axes are true.",
    formula=r"y = \bigwedge_{i \in \mathit{axis}} x_i",
    relation=_TRUTH,
    reference=numpy_fold("all"),
    lenient_in_tvm=_LENIENT_TRUTH,
    gradient=ZERO,
    lowering=fold_lowering("all", "all"),
    example=lambda build: build(bools(2, 6), [0], keepdims=True),
)
def all(data: Operand, axis: Axes = None, keepdims: bool = False, exclude: bool = False) -> Call:
    """Test whether all elements of `data`, booleans, are true over `axis`."""


@reduction(
    "any",
    description="Tests whether any element over the given axes is true.",
    formula=r"y = \bigvee_{i \in \mathit{axis}} x_i",
    relation=_TRUTH,
    reference=numpy_fold("any"),
    lenient_in_tvm=_LENIENT_TRUTH,
    gradient=ZERO,
    lowering=fold_lowering("any", "any"),
    example=lambda build: build(bools(2, 6), [0], keepdims=True),
)
def any(data: Operand, axis: Axes = None, keepdims: bool = False, exclude: bool = False) -> Call:
    """Test whether any element of `data`, booleans, is true over `axis`."""
