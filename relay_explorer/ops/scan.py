"""Operators that compute cumulative sums and products along an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from ..ir.attrs import Attrs, DType, attr
from ..ir.declaration import Gradient, GradientRule, Precision
from ..ir.expr import Call, Expr
from ..ir.op import OpPattern, Reference, flops_per_output
from ..ir.typed import tensor_type
from ..ir.types import Dim, TensorType, Type
from .arguments import Operand
from .calls import relay
from .examples import X
from .layouts.layout import NO_LAYOUT_RULE
from .numeric import Array, element_type, np
from .operator import Example, operator
from .relation import forward, normal_axis, tensor, times
from .te.imperative import Buffers, each, local, loops, together
from .te.lowered import Lowered, Lowering
from .te.tensors import Tensor, cast, dims, dtype_of, number, product, sum_type, unravel

__all__ = ["cumprod", "cumsum"]

P = ParamSpec("P")
R = TypeVar("R")


class ScanopAttrs(Attrs, key="relay.attrs.ScanopAttrs"):
    axis: int | None = attr(None, "The axis of the cumulative sum or product; None is the flattened tensor.")
    dtype: DType | None = attr(None, "The element type of the result; None is the data's.")
    exclusive: bool = attr(False, "Whether each result excludes its own element.", normal=bool)


def _scan(attrs: ScanopAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    dtype = attrs.dtype or x.dtype
    if attrs.axis is not None:
        normal_axis(attrs.axis, len(x.shape), "it")
        return TensorType.of(x.shape, dtype)
    total: Dim = 1
    for dim in x.shape:
        total = times(total, dim)
    return TensorType.of((total,), dtype)


def _running(name: str) -> Reference:
    """Make a reference implementation by NumPy's function `name`. An exclusive scan is shifted by one
    element and begins with 0 or 1.
    """

    def compute(attrs: ScanopAttrs, x: Array) -> Array:
        axis, row = (0, x.reshape(-1)) if attrs.axis is None else (attrs.axis, x)
        y = getattr(np, name)(row, axis, dtype=element_type(attrs.dtype or x.dtype))
        if not attrs.exclusive or not y.size:
            return y
        y = np.roll(y, 1, axis)
        y[(*[slice(None)] * (axis % y.ndim), 0)] = int(name == "cumprod")
        return y

    return compute


def _scanned(rule: Callable[[Call, Expr, Expr, int], Expr]) -> GradientRule:
    """Wrap a gradient rule to handle `axis=None`, where the data is flattened, and the element type."""

    def gradient(call: Call, grad: Expr) -> list[Expr]:
        (x,) = call.args
        assert call.attrs is not None
        axis, dtype = call.attrs["axis"], tensor_type(x).dtype
        grad = relay.cast(grad, dtype) if call.attrs["dtype"] not in (None, "", dtype) else grad
        row = relay.reshape(x, (-1,)) if axis is None else x
        derivative = rule(call, row, grad, 0 if axis is None else axis)
        return [relay.reshape_like(derivative, x) if axis is None else derivative]

    return gradient


def _from_the_end(grad: Expr, axis: int, exclusive: bool) -> Expr:
    """Compute the cumulative sum from the end: for each index, sum the elements from there on."""
    return relay.reverse(relay.cumsum(relay.reverse(grad, axis), axis, exclusive=exclusive), axis)


def _sums(call: Call, x: Expr, grad: Expr, axis: int) -> Expr:
    assert call.attrs is not None
    return _from_the_end(grad, axis, call.attrs["exclusive"])


def _products(call: Call, x: Expr, grad: Expr, axis: int) -> Expr:
    """Differentiate a cumulative product: each result's derivative by a factor is the result divided by the
    factor, if no element is 0.
    """
    assert call.attrs is not None
    exclusive = call.attrs["exclusive"]
    dtype = tensor_type(call.args[0]).dtype
    return _from_the_end(grad * relay.cumprod(x, axis, dtype, exclusive), axis, exclusive) / x


def _running_te(times: bool) -> Lowering:
    """Make the lowering of a cumulative sum, or product, along an axis or over the flattened tensor.
    Half-precision numbers are accumulated in float32, booleans are counted.
    """

    def lower(call: Lowered) -> list[Tensor]:
        x, attrs = call.inputs[0], call.attrs
        dtype = attrs.dtype or dtype_of(x)
        shape = dims(x) if attrs.axis is not None else (product(dims(x)),)
        axis = 0 if attrs.axis is None else attrs.axis % len(shape)
        wide = sum_type(dtype)

        def body(ins: Buffers, outs: Buffers) -> None:
            (data,), (result,) = ins, outs
            others = (*shape[:axis], *shape[axis + 1 :])
            with together(product(others)) as row:
                rest = unravel(row, others)
                total = local(1, wide)
                total[0] = number(1 if times else 0, wide)
                with each(shape[axis]) as i:
                    index = (*rest[:axis], i, *rest[axis:])
                    source = index if attrs.axis is not None else unravel(i, dims(x))
                    if attrs.exclusive:
                        result[index] = cast(total[0], dtype)
                    here = cast(cast(data[tuple(source)], dtype), wide)
                    total[0] = total[0] * here if times else total[0] + here
                    if not attrs.exclusive:
                        result[index] = cast(total[0], dtype)

        return loops([(shape, dtype)], [x], body, call.name)

    return lower


def _scan_operator(
    name: str,
    *,
    description: str,
    formula: str,
    gradient: Gradient,
    lowering: Lowering,
    example: Example,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare a scan, whose reference implementation is NumPy's of the same name."""
    return operator(
        name,
        description=description,
        formula=formula,
        family="reduction",
        level=3,
        relation=forward("Scanop", "{out} = {0}, flattened unless `axis` is given", _scan),
        attrs=ScanopAttrs,
        pattern=OpPattern.OPAQUE,
        flops=flops_per_output,
        reference=_running(name),
        gradient=gradient,
        lowering=lowering,
        layout=NO_LAYOUT_RULE,
        precision=Precision.UNLISTED,
        example=example,
        lenient_in_tvm="It did not check that the tensor has the axis.",
    )


@_scan_operator(
    "cumsum",
    description="Computes the cumulative sum along an axis.",
    formula=r"y_i = \sum_{j \le i} x_j",
    gradient=Gradient("dx[i] = Σ dy[j] over all j ≥ i (j > i where exclusive)", _scanned(_sums)),
    lowering=_running_te(times=False),
    example=lambda build: build(X, 1, "float64", True),
)
def cumsum(
    data: Operand, axis: int | None = None, dtype: object = None, exclusive: bool | None = None
) -> Call:
    """Compute the cumulative sum of `data` along `axis`, or of the flattened data where it is None."""


@_scan_operator(
    "cumprod",
    description="Computes the cumulative product along an axis.",
    formula=r"y_i = \prod_{j \le i} x_j",
    gradient=Gradient(
        "dx[i] = Σ dy[j] · y[j] / x[i] over all j ≥ i (j > i where exclusive), if no element is 0",
        _scanned(_products),
    ),
    lowering=_running_te(times=True),
    example=lambda build: build(X),
)
def cumprod(
    data: Operand, axis: int | None = None, dtype: object = None, exclusive: bool | None = None
) -> Call:
    """Compute the cumulative product of `data` along `axis`, or of the flattened data where it is None."""
