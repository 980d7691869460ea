"""Rewrites transposed convolutions with a constant weight as convolutions, which have better schedules.

With a stride s, the output element y = s g + q uses only every s-th element of the kernel: those of its phase
q. Each phase is therefore a convolution of the data with its own part of the kernel, reversed. All phases
together are one convolution with s² times as many channels, whose outputs are then interleaved. If the weight
is not constant, `ops.nn.convolution.phases` does the same in one kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...ir.expr import Call, Expr, Function, const
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.types import TensorType
from ...ops.nn.sliding import sides
from ...transform.infrastructure import PassContext
from ...transform.infrastructure.function_passes import TypedPass, rewritten
from ...transform.tools.typed_rewrite import call, rewrite_calls
from .blocks import is_known
from .layouts import in_vectors, types_of


@dataclass(frozen=True)
class PlainTransposed(TypedPass):
    """Rewrite `nn.conv2d_transpose` as `nn.conv2d`, for the usual layouts, without groups and dilation."""

    name = "PlainTransposed"
    opt_level = 3

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        return rewritten(function, rewrite_calls(function, {"nn.conv2d_transpose": as_convolution}))


class _Axis(NamedTuple):
    """One spatial axis: the output has `size` elements, which begin at the offset `start` of the interleaved
    phases. Each phase uses `taps` elements of the kernel, and the data is padded by `before` and `after`
    zeros.
    """

    stride: int
    size: int
    taps: int
    start: int
    before: int
    after: int


def as_convolution(old: Call, new: Call) -> Expr | None:
    """Rewrite a transposed convolution as one convolution that computes all phases."""
    types = types_of(old)
    return phases(old, new, types, const(0.0, types[1].dtype), _convolved) if in_vectors(types) else None


def _convolved(new: Call, weight: Expr, count: int, **attrs: Any) -> Expr:
    """Convolve the data of a transposed convolution with the weight of its `count` phases."""
    return call("nn.conv2d", new.args[0], weight, **attrs)


def phases(
    old: Call, new: Call, types: Sequence[TensorType], zero: Expr, convolved: Callable[..., Expr]
) -> Expr | None:
    """Rewrite a transposed convolution whose data, weight and result are of static `types`; return None for
    layouts and attributes that this does not apply to. `zero` is the weight that stands for 0; `convolved`
    builds the convolution from the call, the weight of all phases, their number, and the attributes.
    """
    attrs: Any = old.attrs
    data, weight, out = types
    plain = attrs.data_layout == "NCHW" and attrs.kernel_layout == "IOHW" and attrs.out_layout in ("", "NCHW")
    if not plain or attrs.groups != 1 or max(attrs.dilation) > 1 or not is_known(new.args[1]):
        return None
    shapes = data.concrete_shape, weight.concrete_shape, out.concrete_shape
    axes = [
        _axis(
            shapes[0][k], shapes[1][k], shapes[2][k], attrs.strides[k - 2], sides(attrs.padding, 2)[k - 2][0]
        )
        for k in (2, 3)
    ]
    outputs = shapes[1][1]
    y, x = axes
    count = y.stride * x.stride
    result = convolved(
        new, _phase_weight(new.args[1], weight, axes, zero), count, channels=outputs * count,
        kernel_size=(y.taps, x.taps), padding=(y.before, x.before, y.after, x.after),
    )  # fmt: skip
    if y.stride == x.stride == 1:
        return result
    sizes = [shapes[0][k + 2] + a.before + a.after - a.taps + 1 for k, a in enumerate(axes)]
    apart = call("reshape", result, newshape=(shapes[0][0], y.stride, x.stride, outputs, *sizes))
    mixed = call("transpose", apart, axes=(0, 3, 4, 1, 5, 2))
    whole = call("reshape", mixed, newshape=(shapes[0][0], outputs, sizes[0] * y.stride, sizes[1] * x.stride))
    return call(
        "strided_slice", whole, begin=[y.start, x.start], end=[y.start + y.size, x.start + x.size],
        strides=[1, 1], axes=[2, 3],
    )  # fmt: skip


def _axis(dim: int, kernel: int, size: int, stride: int, padding: int) -> _Axis:
    """Compute the geometry of an axis. Without padding the output would have s (dim - 1) + k elements; with
    it, the output begins at the element `padding` of those.
    """
    taps = -(-kernel // stride)
    first = min(padding // stride, taps - 1)
    last = (padding + size - 1) // stride
    return _Axis(stride, size, taps, padding - stride * first, taps - 1 - first, max(0, last + 1 - dim))


def _phase_weight(weight: Expr, type_: TensorType, axes: list[_Axis], zero: Expr) -> Expr:
    """Rearrange the weight (inputs, outputs, k, k) to (phases × outputs, inputs, taps, taps), with the taps
    reversed.
    """
    inputs, outputs, *kernel = type_.concrete_shape
    y, x = axes
    more = [(0, a.taps * a.stride - size) for a, size in zip(axes, kernel)]
    whole = (
        call("nn.pad", weight, zero, pad_width=((0, 0), (0, 0), *more)) if any(m for _, m in more) else weight
    )
    split = call("reshape", whole, newshape=(inputs, outputs, y.taps, y.stride, x.taps, x.stride))
    flipped = call("reverse", call("reverse", split, axis=2), axis=4)
    ordered = call("transpose", flipped, axes=(3, 5, 1, 0, 2, 4))
    return call("reshape", ordered, newshape=(y.stride * x.stride * outputs, inputs, y.taps, x.taps))
