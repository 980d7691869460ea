"""Converters of pooling and of normalization over channels."""

from __future__ import annotations

from typing import Any

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from ..base.padding import same_padding
from .operation import Operation, converter
from .quantization import bounds, limited, rounded_away

_SAME = 0


def _window(op: Operation) -> dict[str, Any]:
    kernel = int(op.attr("filter_height")), int(op.attr("filter_width"))
    strides = int(op.attr("stride_h")), int(op.attr("stride_w"))
    if min(*kernel, *strides) < 1:
        raise RelayError(f"the window {kernel} and the strides {strides} must be positive")
    padding = (0, 0, 0, 0)
    if int(op.attr("padding")) == _SAME:
        padding = same_padding(op.shape(0)[1:3], kernel, strides, (1, 1))  # type: ignore[assignment]
    return {"pool_size": kernel, "strides": strides, "padding": padding, "layout": "NHWC"}


@converter("MAX_POOL_2D", mode="stored")
def _max_pool_2d(op: Operation) -> Expr:
    if op.attr("fused_activation_function"):
        op.mode = "real"
    return op.activated(relay.nn.max_pool2d(op[0], **_window(op)))


@converter("AVERAGE_POOL_2D", mode="own")
def _average_pool_2d(op: Operation) -> Expr:
    """Average real values or, if data and result are quantized alike, integers: their mean, which float32
    represents well enough, is rounded half away from zero.
    """
    before, after, dtype = op.tensor(0).quantization, op.result().quantization, op.result().dtype
    if before is None or before != after or op.dtype(0) != dtype or before.per_channel:
        op.mode = "real"
        return op.activated(relay.nn.avg_pool2d(op[0], **_window(op)))
    mean = relay.nn.avg_pool2d(relay.cast(op[0], "float32"), **_window(op))
    limits = bounds(before, dtype, int(op.attr("fused_activation_function")))
    if limits is None:
        raise RelayError("the fused activation function of a quantized pool cannot be imported")
    return limited(relay.cast(rounded_away(mean), dtype), dtype, limits)


@converter("L2_POOL_2D")
def _l2_pool_2d(op: Operation) -> Expr:
    x = op[0]
    return op.activated(relay.sqrt(relay.nn.avg_pool2d(relay.multiply(x, x), **_window(op))))


@converter("LOCAL_RESPONSE_NORMALIZATION")
def _lrn(op: Operation) -> Expr:
    size = 2 * int(op.attr("radius")) + 1
    return relay.nn.lrn(
        op[0], size=size, axis=3, bias=float(op.attr("bias", 0.0)),
        alpha=float(op.attr("alpha", 0.0)) * size, beta=float(op.attr("beta", 0.0)),
    )  # fmt: skip


@converter("L2_NORMALIZATION")
def _l2_normalization(op: Operation) -> Expr:
    """Divide by the norm, which TensorFlow Lite bounds by 1e-6 from below."""
    normal = relay.nn.l2_normalize(op[0], eps=1e-12, axis=[op.rank(0) - 1])
    return op.activated(normal)
