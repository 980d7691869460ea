"""Converters of operators on images."""

from __future__ import annotations

from ....ir.expr import Expr
from ....ops import namespaces as relay
from ...base.context import Results
from ...base.source import Node
from ..importer import Importer
from ..registry import converts


@converts("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic")
def _resize(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    data, size = inputs
    corners, centers = bool(node.attrs.get("align_corners")), bool(node.attrs.get("half_pixel_centers"))
    method = {"B": "linear", "N": "nearest_neighbor", "C": "cubic"}[
        "C" if node.op == "ResizeBicubic" else node.op[6]
    ]
    mode = "align_corners" if corners else "half_pixel" if centers else "asymmetric"
    rounding = ""
    if method == "nearest_neighbor":
        rounding = "floor" if mode == "asymmetric" else "round_prefer_ceil"
    known = tf.value(size)
    extents: Expr | list[int] = [int(extent) for extent in known] if known is not None else size
    partly = tf.context.known(size)
    if partly is not None and all(isinstance(extent, int) for extent in partly):
        extents = [extent for extent in partly if isinstance(extent, int)]
    if method != "nearest_neighbor" and tf.context.dtype(data) != "float32":
        data = relay.cast(data, "float32")  # the result is float32 too
    channels_first = tf.layout == "NCHW"
    data = relay.transpose(data, [0, 3, 1, 2]) if channels_first else data
    result = relay.image.resize2d(
        data,
        extents,
        layout="NCHW" if channels_first else "NHWC",
        method=method,
        coordinate_transformation_mode=mode,
        rounding_method=rounding,
        cubic_alpha=-0.5 if centers else -0.75,
        cubic_exclude=1 if centers and method == "cubic" else 0,
    )
    return relay.transpose(result, [0, 2, 3, 1]) if channels_first else result


@converts("CropAndResize")
def _crop_and_resize(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    data, boxes, numbers, size = inputs
    method = "bilinear" if str(node.attrs.get("method", "bilinear")) == "bilinear" else "nearest_neighbor"
    return relay.image.crop_and_resize(
        data,
        boxes,
        numbers,
        tf.ints(size, "the size"),
        "NHWC",
        method,
        float(node.attrs.get("extrapolation_value", 0.0)),
    )
