"""Converters of pooling and of normalization over channels."""

from __future__ import annotations

from typing import Any

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
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


@converter("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")
def _resize(op: Operation) -> Expr:
    size = op.ints(1, "the size")
    corners, centers = bool(op.attr("align_corners", False)), bool(op.attr("half_pixel_centers", False))
    nearest = op.name == "RESIZE_NEAREST_NEIGHBOR"
    mode = "align_corners" if corners else "half_pixel" if centers else "asymmetric"
    rounding = "" if not nearest else "round" if corners else "floor"
    x = op[0]
    if nearest and centers and not corners:
        return _nearest_by_centers(op, x, size)
    return relay.image.resize2d(
        x, size, layout="NHWC", method="nearest_neighbor" if nearest else "linear",
        coordinate_transformation_mode=mode, rounding_method=rounding,
    )  # fmt: skip


def _nearest_by_centers(op: Operation, x: Expr, size: tuple[int, ...]) -> Expr:
    """Take the elements ⌊(i + 0.5) · scale⌋, computed in float32 as TensorFlow Lite does."""
    import numpy as np

    for axis, extent, wanted in zip((1, 2), op.extents(0, (1, 2)), size):
        scale = np.float32(extent / max(wanted, 1))
        if wanted > 1 << 24:
            raise RelayError(f"the resized extents must be at most {1 << 24:,}, not {wanted:,}")
        index = np.floor((np.arange(wanted, dtype=np.float32) + np.float32(0.5)) * scale)
        x = relay.take(x, const(np.clip(index, 0, extent - 1).astype(np.int32)), axis)
    return x
