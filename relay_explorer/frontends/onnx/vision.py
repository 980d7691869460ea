"""Convert ONNX operators on regions and boxes of images, and sampling at computed positions."""

from __future__ import annotations

from typing import Any as Anything

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError
from ..base.source import Node
from .graph import Graph
from .registry import Inputs, converter
from .tools import as_int64, operands, optional, text

_SAMPLING = {
    "linear": "bilinear",
    "bilinear": "bilinear",
    "nearest": "nearest",
    "cubic": "bicubic",
    "bicubic": "bicubic",
}


@converter("GridSample", since=16)
def _grid_sample(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, grid = operands(node, inputs, 2)
    mode = text(g.attr(node, "mode"), "linear")
    rank = g.context.rank(x)
    if mode not in _SAMPLING or rank not in (4, 5):
        raise RelayError(f"GridSample in the mode {mode!r} of a tensor with {rank} axes cannot be imported")
    moved = relay.transpose(grid, [0, rank - 1, *range(1, rank - 1)])
    return relay.image.grid_sample(
        x,
        moved,
        method=_SAMPLING[mode],
        layout="NCHW" if rank == 4 else "NCDHW",
        padding_mode=text(g.attr(node, "padding_mode"), "zeros"),
        align_corners=bool(g.attr(node, "align_corners", 0)),
    )


@converter("NonMaxSuppression", since=10)
def _non_max_suppression(g: Graph, node: Node, inputs: Inputs) -> Expr:
    boxes, scores = operands(node, inputs, 2)
    most, limit, low = optional(inputs, 2), optional(inputs, 3), optional(inputs, 4)
    if most is None:
        return relay.zeros((0, 3), "int64")
    most = relay.reshape(as_int64(g, most), [])
    if g.attr(node, "center_point_box", 0):
        x, y, width, height = relay.split(boxes, 4, axis=2)
        half = const(0.5, g.context.dtype(boxes))
        width, height = relay.multiply(width, half), relay.multiply(height, half)
        boxes = relay.concatenate(
            [relay.subtract(y, height), relay.subtract(x, width), relay.add(y, height), relay.add(x, width)],
            2,
        )
    overlap: Expr = const(0.0, "float32") if limit is None else relay.reshape(limit, [])
    # ONNX suppresses boxes that overlap more than the limit, Relay those that do as much: take the next
    # number.
    overlap = relay.add(relay.multiply(overlap, const(1 + 2.0**-23, "float32")), const(1.2e-38, "float32"))
    least: Expr = const(-3.4e38, "float32") if low is None else relay.reshape(low, [])
    result = relay.vision.all_class_non_max_suppression(boxes, scores, most, overlap, least)
    rows, count = result[0], relay.reshape(result[1], [])
    none = const(0, "int64")
    count = relay.where(relay.greater(most, none), count, none)  # 0 means no limit to Relay's operator
    return relay.take(rows, relay.arange(none, count, const(1, "int64"), "int64"), axis=0)


@converter("MaxRoiPool")
def _max_roi_pool(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, rois = operands(node, inputs, 2)
    return relay.vision.roi_pool(
        x, rois, list(g.required(node, "pooled_shape")), g.attr(node, "spatial_scale", 1.0)
    )


@converter("RoiAlign", since=10)
def _roi_align(g: Graph, node: Node, inputs: Inputs) -> Expr:
    return _align(g, node, inputs, "output_half_pixel")


@converter("RoiAlign", since=16)
def _roi_align_16(g: Graph, node: Node, inputs: Inputs) -> Expr:
    return _align(g, node, inputs, text(g.attr(node, "coordinate_transformation_mode"), "half_pixel"))


def _align(g: Graph, node: Node, inputs: Inputs, coordinates: str) -> Expr:
    x, rois, images = operands(node, inputs, 3)
    mode = text(g.attr(node, "mode"), "avg")
    size = (g.attr(node, "output_height", 1), g.attr(node, "output_width", 1))
    scale, ratio = g.attr(node, "spatial_scale", 1.0), g.attr(node, "sampling_ratio", 0)
    if mode not in ("avg", "max") or min(size) < 1:
        raise RelayError(
            f"RoiAlign requires a positive output size and the mode 'avg' or 'max', not {size} and {mode!r}"
        )
    if coordinates not in ("half_pixel", "output_half_pixel"):
        raise RelayError(f"coordinate_transformation_mode is {coordinates!r}, which ONNX does not define")
    aligned = coordinates == "half_pixel"
    if aligned or mode == "max":
        # Relay's roi_align differs: regions have at least a pixel, and "max" compares interpolated values.
        if ratio < 1:
            raise RelayError(
                "RoiAlign with half-pixel coordinates or in the mode max cannot be imported with "
                "sampling_ratio=0, because the number of samples then depends on the region",
                help=["export the model with a sampling ratio of 1 or more, such as 2"],
            )
        return _sampled_regions(g, x, rois, images, size, scale, ratio, mode, aligned)
    rows = relay.concatenate([relay.cast(relay.expand_dims(images, 1), g.context.dtype(rois)), rois], 1)
    return relay.vision.roi_align(x, rows, size, scale, ratio if ratio > 0 else -1, "NCHW", mode)


def _sampled_regions(
    g: Graph,
    x: Expr,
    rois: Expr,
    images: Expr,
    size: tuple[int, int],
    scale: float,
    ratio: int,
    mode: str,
    aligned: bool,
) -> Expr:
    """Align regions by samples, `ratio` × `ratio` for each element of the result.

    A sample is the weighted sum of the four elements around it for the mode "avg"; for "max", ONNX takes the
    greatest of the four weighted elements. `aligned` is whether coordinates are those of half-pixel centres.
    """
    context = g.context
    _, channels, height, width = context.shape(x)
    if not isinstance(height, int) or not isinstance(width, int) or not isinstance(channels, int):
        raise DynamicShapeError(
            "RoiAlign with half-pixel coordinates or in the mode max requires that the size and the number "
            "of channels of the images are known at compile time"
        )
    dtype = context.dtype(x)
    corners: Expr = relay.multiply(rois, const(scale, dtype))
    if aligned:
        corners = relay.subtract(corners, const(0.5, dtype))
    left, top, right, bottom = [relay.take(corners, const(i, "int64"), axis=1) for i in range(4)]
    if not aligned:
        one = const(1.0, dtype)
        right = relay.add(left, relay.maximum(relay.subtract(right, left), one))
        bottom = relay.add(top, relay.maximum(relay.subtract(bottom, top), one))
    rows = _Samples(top, bottom, size[0], ratio, height, dtype)
    columns = _Samples(left, right, size[1], ratio, width, dtype)
    pixels = relay.reshape(relay.transpose(x, [0, 2, 3, 1]), [-1, channels])
    first = relay.expand_dims(relay.multiply(as_int64(g, images), const(height * width, "int64")), 1, 2)
    total: Expr | None = None
    for row, row_share in rows.corners:
        for column, column_share in columns.corners:
            start = relay.multiply(relay.expand_dims(row, 2), const(width, "int64"))
            index = relay.add(relay.add(first, start), relay.expand_dims(column, 1))
            share = relay.multiply(relay.expand_dims(row_share, 2), relay.expand_dims(column_share, 1))
            part = relay.multiply(relay.take(pixels, index, axis=0), relay.expand_dims(share, 3))
            combine = relay.add if mode == "avg" else relay.maximum
            total = part if total is None else combine(total, part)
    assert total is not None
    cells = relay.reshape(total, [-1, size[0], ratio, size[1], ratio, channels])
    pooled: Anything = (relay.mean if mode == "avg" else relay.max)(cells, [2, 4])
    return relay.transpose(pooled, [0, 3, 1, 2])


class _Samples:
    """The samples of regions along one axis: `corners` has the two elements around each, with their weights,
    of the shape (regions, samples).
    """

    def __init__(self, begin: Expr, end: Expr, cells: int, ratio: int, extent: int, dtype: str) -> None:
        import numpy as np

        count = cells * ratio
        steps = const(((np.arange(count) + 0.5) / count).astype(dtype), dtype)
        length = relay.expand_dims(relay.subtract(end, begin), 1)
        at = relay.add(relay.expand_dims(begin, 1), relay.multiply(length, steps))
        inside = relay.logical_and(
            relay.greater_equal(at, const(-1.0, dtype)), relay.less_equal(at, const(float(extent), dtype))
        )
        at = relay.clip(at, 0, extent - 1)
        low = relay.floor(at)
        part = relay.subtract(at, low)
        low = relay.cast(low, "int64")
        high = relay.minimum(relay.add(low, const(1, "int64")), const(extent - 1, "int64"))
        inside = relay.cast(inside, dtype)
        one = const(1.0, dtype)
        self.corners: list[tuple[Expr, Expr]] = [
            (low, relay.multiply(relay.subtract(one, part), inside)),
            (high, relay.multiply(part, inside)),
        ]
