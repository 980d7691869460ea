"""The gradients of two-dimensional pools with respect to their data, as operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any as Anything
from typing import ParamSpec, TypeVar

from ...ir.attrs import Attrs
from ...ir.declaration import Gradient, NotApplicable, Precision
from ...ir.expr import Call, Expr
from ...ir.op import Op, OpPattern, Reference, Relation, RelationError, Reporter
from ...ir.show import show_shape
from ...ir.types import IncompleteType, Type
from ..arguments import Operand
from ..examples import IMAGE, t
from ..layouts.layout import NO_LAYOUT_RULE
from ..operator import operator
from ..relation import same_dim, tensor
from ..te.library import te
from ..te.lowered import Lowered, Lowering
from ..te.pool import Pool, share
from ..te.reduce import greatest, place_of
from ..te.tensors import (
    Tensor,
    Value,
    cast,
    dtype_of,
    least,
    narrowed,
    number,
    plain,
    reduce_axes,
    stage,
    sum_type,
)
from .pool import AvgPool2DAttrs, MaxPool2DAttrs, pool_flops
from .pool_shape import pooled
from .pool_values import maximum_grad, mean_grad
from .window import Sizes

__all__ = ["avg_pool2d_grad", "max_pool2d_grad"]

P = ParamSpec("P")
R = TypeVar("R")


def _relation(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Relate the types: inputs are the gradient, like the pool's output, and the data; the output is like the
    data.
    """
    grad, data, out = types
    if isinstance(grad, IncompleteType) or isinstance(data, IncompleteType):
        return False
    grad, data = tensor(grad, 0, "out_grad"), tensor(data, 1, "data")
    expected = pooled(data.shape, attrs, "HW")
    if len(grad.shape) != len(expected) or not all(map(same_dim, grad.shape, expected)):
        raise RelationError(
            f"the gradient has shape {show_shape(grad.shape)}, but the pool of the data has "
            f"{show_shape(expected)}",
            "give the pool's own pool_size, strides and padding",
            culprits=(0, 1),
        )
    reporter.assign(out, data)
    return True


def _flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """Count one operation for each element of the gradient and of its window."""
    return pool_flops(attrs, inputs, inputs[0])


def _mean_gradient(call: Call, grad: Expr) -> list[Expr | None]:
    """Return the gradient of average pooling's gradient: that distributes values evenly over windows, so its
    transpose is the mean.
    """
    return [Call(Op.get("nn.avg_pool2d"), [grad], call.attrs), None]


def _maximum_grad_te(call: Lowered) -> list[Tensor]:
    """Locate each window's largest element, the first of equal ones, in a separate stage."""
    grad, x = call.inputs
    pool, dtype = Pool(call, x), dtype_of(x)
    data = pool.surrounded(least(dtype))
    sizes = [size for size, _, _ in pool.windows]
    within = reduce_axes(sizes)

    def place(u: Sequence[Value]) -> Value:
        return (u[0] * sizes[1] + u[1]).astype("int32")

    best = stage(
        pool.shape(), lambda *i: greatest(plain(data(*pool.seen(i, within))), within), f"{call.name}_best"
    )
    again = reduce_axes(sizes, "m")

    def first(*i: Value) -> Value:
        here = plain(data(*pool.seen(i, again)))
        return place_of(here, best(*i), place(again), again, last=False)

    argmax = stage(pool.shape(), first, f"{call.name}_places")

    def visit(window: list[Value], u: Sequence[Value]) -> Value:
        value = cast(grad(*window), sum_type(dtype))
        return te.if_then_else(argmax(*window) == place(u), value, number(0, sum_type(dtype)))

    return [narrowed(stage(x.shape, lambda *q: pool.under(q, visit), call.name), dtype, call.name)]


def _mean_grad_te(call: Lowered) -> list[Tensor]:
    grad, x = call.inputs
    pool, dtype = Pool(call, x), dtype_of(x)

    def visit(window: list[Value], u: Sequence[Value]) -> Value:
        return share(cast(grad(*window), sum_type(dtype)), pool.elements(window), sum_type(dtype))

    return [narrowed(stage(x.shape, lambda *q: pool.under(q, visit), call.name), dtype, call.name)]


def _pool_gradient(
    kind: str,
    *,
    formula: str,
    reference: Reference,
    gradient: Gradient | NotApplicable,
    lowering: Lowering,
    attrs: type[Attrs],
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare the gradient of a pool of `kind` "max" or "avg"."""
    return operator(
        f"nn.{kind}_pool2d_grad",
        description=f"Computes the gradient of {kind}_pool2d with respect to its data.",
        formula=formula,
        family="training",
        level=2,
        relation=Relation(
            f"{kind.capitalize()}Pool2DGrad", _relation, "{out} = {1}, and {0} is like its pool"
        ),
        pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
        flops=_flops,
        reference=reference,
        gradient=gradient,
        lowering=lowering,
        layout=NO_LAYOUT_RULE,
        precision=Precision.UNLISTED,
        example=lambda build: build(t(1, 4, 4, 4, name="g"), IMAGE, (2, 2), (2, 2)),
        attrs=attrs,
        lenient_in_tvm="It did not compare the gradient's shape with the pool's output.",
    )


@_pool_gradient(
    "max",
    formula=(
        r"\frac{\partial L}{\partial x_{q}} = \sum_{i,j\,:\, \arg\max\ \text{of window}\ i,j\ \text{is}\ q} "
        r"\frac{\partial L}{\partial y_{i,j}}"
    ),
    reference=maximum_grad,
    gradient=NotApplicable("it is a derivative itself, and second derivatives of a maximum are not taken"),
    lowering=_maximum_grad_te,
    attrs=MaxPool2DAttrs,
)
def max_pool2d_grad(
    out_grad: Operand,
    data: Operand,
    pool_size: Sizes = (1, 1),
    strides: Sizes = (1, 1),
    padding: Sizes = (0, 0),
    layout: str = "NCHW",
    out_layout: str = "",
    ceil_mode: bool = False,
) -> Call:
    """Compute the gradient of `max_pool2d` with respect to `data` from that of its output."""


@_pool_gradient(
    "avg",
    formula=(
        r"\frac{\partial L}{\partial x_{q}} = \sum_{i,j\,:\, q\ \text{in window}\ i,j} \frac{1}{n}\, "
        r"\frac{\partial L}{\partial y_{i,j}}"
    ),
    reference=mean_grad,
    gradient=Gradient(
        "the derivative with respect to out_grad is the mean of dy over each window", _mean_gradient
    ),
    lowering=_mean_grad_te,
    attrs=AvgPool2DAttrs,
)
def avg_pool2d_grad(
    out_grad: Operand,
    data: Operand,
    pool_size: Sizes = (1, 1),
    strides: Sizes = (1, 1),
    padding: Sizes = (0, 0),
    layout: str = "NCHW",
    out_layout: str = "",
    ceil_mode: bool = False,
    count_include_pad: bool = False,
) -> Call:
    """Compute the gradient of `avg_pool2d` with respect to `data` from that of its output."""
