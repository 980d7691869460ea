"""Pooling of the regions of an image that a detector proposed, and the reordering of YOLO."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...ir.attrs import Attrs, Ints, attr, required
from ...ir.expr import Call, Expr
from ...ir.op import OpPattern, RelationError, no_flops, size_of
from ...ir.show import show_shape
from ...ir.types import TensorType, Type
from ..arguments import expr
from ..declare import declare
from ..nn.layout import divided, layout_map, times
from ..numeric import Array, np
from ..relation import forward, same_dim, tensor

__all__ = ["roi_align", "roi_pool", "yolo_reorg"]


class ROIPoolAttrs(Attrs, key="relay.attrs.ROIPoolAttrs"):
    pooled_size: Ints = required("The rows and columns that every region becomes.")
    spatial_scale: float = required("The size of the data by that of the image which the regions speak of.")
    layout: str = attr("NCHW", "The layout of data and result: NCHW or NHWC.")


class ROIAlignAttrs(Attrs, key="relay.attrs.ROIAlignAttrs"):
    pooled_size: Ints = required("The rows and columns that every region becomes.")
    spatial_scale: float = required("The size of the data by that of the image which the regions speak of.")
    sample_ratio: int = attr(-1, "How many places a cell is sampled at, down and across; -1: one an element.")
    layout: str = attr("NCHW", "The layout of data and result: NCHW or NHWC.")
    mode: str = attr("avg", '"avg" or "max": what becomes of the samples of a cell.')


class YoloReorgAttrs(Attrs, key="relay.attrs.YoloReorgAttrs"):
    stride: int = attr(1, "The side of the blocks that become channels.")


def _pooled(attrs: ROIPoolAttrs | ROIAlignAttrs, data: Type, rois: Type) -> Type:
    x, r = tensor(data, 0, "data"), tensor(rois, 1, "rois")
    layout = layout_map(attrs.layout, "NCHW")
    if attrs.layout not in ("NCHW", "NHWC"):
        raise RelationError(f'the layout is "{attrs.layout:.20}", but it is NCHW or NHWC')
    if len(attrs.pooled_size) != 2 or min(attrs.pooled_size) < 1:
        raise RelationError(f"pooled_size={list(attrs.pooled_size)} must be 2 positive numbers")
    if isinstance(attrs, ROIAlignAttrs) and attrs.mode not in ("avg", "max"):
        raise RelationError(f'mode is "{attrs.mode:.20}", but it is "avg" or "max"')
    if len(r.shape) != 2 or not same_dim(r.shape[1], 5):
        raise RelationError(
            f"rois has the shape {show_shape(r.shape)}, but a region is a row of 5 numbers: its image, left, "
            "top, right, bottom",
            culprits=(1,),
        )
    channels = layout.forward(x.shape, 0, "data")[1]
    return TensorType.of(layout.backward((r.shape[0], channels, *attrs.pooled_size)), x.dtype)


def _image_of(region: Sequence[float], images: Array) -> Array:
    number = int(region[0])
    if not 0 <= number < len(images):
        raise ValueError(f"a region speaks of image {number}, but there are {len(images)}")
    return images[number]


def _weights(places: Array, extent: int) -> Array:
    """For each place on an axis the part that each of its elements has in the interpolated value: rows of a
    matrix. Beyond the edge elements the value stays, and a whole element further it is 0.
    """
    if extent == 0:
        return np.zeros((len(places), 0))
    inside = (places >= -1) & (places <= extent)
    at = np.clip(places, 0, extent - 1)
    low = np.floor(at).astype("int64")
    matrix, row = np.zeros((len(places), extent)), np.arange(len(places))
    matrix[row, low] = 1 - (at - low)
    matrix[row, np.minimum(low + 1, extent - 1)] += at - low
    return matrix * inside[:, None]


def _sampling(start: float, length: float, cells: int, samples: int) -> Array:
    """Where the cells of a region are sampled: cells × samples places in a row."""
    step = length / cells
    return start + step * (np.arange(cells * samples) + 0.5) / samples


def _aligned(attrs: ROIAlignAttrs, x: Array, rois: Array) -> Array:
    layout = layout_map(attrs.layout, "NCHW")
    images, (rows, columns) = layout.unpack(x), attrs.pooled_size
    y = np.zeros((len(rois), images.shape[1], rows, columns))
    for out, region in zip(y, rois.astype("float64").tolist(), strict=True):
        left, top, right, bottom = [v * attrs.spatial_scale for v in region[1:]]
        high, wide = max(bottom - top, 1.0), max(right - left, 1.0)
        ratio = attrs.sample_ratio
        down = ratio if ratio > 0 else math.ceil(high / rows)
        across = ratio if ratio > 0 else math.ceil(wide / columns)
        image = _image_of(region, images)
        along_rows = _weights(_sampling(top, high, rows, down), image.shape[1])
        along_columns = _weights(_sampling(left, wide, columns, across), image.shape[2])
        samples = along_rows @ image @ along_columns.T
        cells = samples.reshape(-1, rows, down, columns, across)
        out[:] = cells.mean((2, 4)) if attrs.mode == "avg" else cells.max((2, 4))
    return layout.pack(y.astype(x.dtype))


def _nearest(value: float) -> int:
    """The nearest whole number; a half goes away from 0."""
    return math.floor(abs(value) + 0.5) * (1 if value > 0 else -1)


def _cells(first: int, last: int, count: int, extent: int) -> list[tuple[int, int]]:
    """Where `count` cells of the places from `first` to `last` begin and end, within an axis of `extent`."""
    step = max(last - first + 1, 1) / count
    return [
        (
            min(max(first + math.floor(n * step), 0), extent),
            min(max(first + math.ceil((n + 1) * step), 0), extent),
        )
        for n in range(count)
    ]


def _greatest(attrs: ROIPoolAttrs, x: Array, rois: Array) -> Array:
    layout = layout_map(attrs.layout, "NCHW")
    images, (rows, columns) = layout.unpack(x), attrs.pooled_size
    y = np.zeros((len(rois), images.shape[1], rows, columns), x.dtype)
    for out, region in zip(y, rois.astype("float64").tolist(), strict=True):
        left, top, right, bottom = [_nearest(v * attrs.spatial_scale) for v in region[1:]]
        image = _image_of(region, images)
        for i, (y0, y1) in enumerate(_cells(top, bottom, rows, image.shape[1])):
            for j, (x0, x1) in enumerate(_cells(left, right, columns, image.shape[2])):
                if y0 < y1 and x0 < x1:
                    out[:, i, j] = image[:, y0:y1, x0:x1].max((1, 2))
    return layout.pack(y)


def _reorg(attrs: YoloReorgAttrs, data: Type) -> Type:
    x, stride = tensor(data, 0, "data"), attrs.stride
    if len(x.shape) != 4:
        raise RelationError(f"the data must be (batch, channels, rows, columns), not {x}", culprits=(0,))
    if stride < 1:
        raise RelationError(f"stride={stride} must be positive")
    batch, channels, rows, columns = x.shape
    divided(channels, stride * stride, "the number of channels", "relay.nn.pad can make it so")
    help = f"the image must divide into blocks of {stride} × {stride}; relay.nn.pad can make it so"
    shape = (
        batch,
        times(channels, stride * stride),
        divided(rows, stride, "the height", help),
        divided(columns, stride, "the width", help),
    )
    return TensorType.of(shape, x.dtype)


def _reordered(attrs: YoloReorgAttrs, x: Array) -> Array:
    """As Darknet does it: the data is read as if blocks had been spread over the image, and is gathered from
    there.
    """
    (n, c, h, w), s = x.shape, attrs.stride
    if c % (s * s):
        raise ValueError(f"there are {c} channels, which stride² = {s * s} does not divide")
    blocks = x.reshape(n, c // (s * s), h, s, w, s)
    return blocks.transpose(0, 3, 5, 1, 2, 4).reshape(n, c * s * s, h // s, w // s)


_ROI_ALIGN = declare(
    "vision.roi_align",
    "Regions of images interpolated to one size, each cell from several samples.",
    formula=r"y_{r c p} = \frac{1}{|S_p|} \sum_{q \in S_p} \sum_k w(q - k)\, x_{c k}",
    relation=forward("ROIAlign", "{out} = one image of `pooled_size` for each region of {1}", _pooled),
    inputs=("data", "rois"),
    attrs=ROIAlignAttrs,
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=lambda attrs, inputs, output: 9 * size_of(output) * max(attrs.sample_ratio, 1) ** 2,
    family="image",
    level=5,
    lenient_in_tvm="It did not check that a region has 5 numbers.",
    compute=_aligned,
    lowering="regions.roi_align",
)
_ROI_POOL = declare(
    "vision.roi_pool",
    "Regions of images brought to one size, each cell the greatest element in it.",
    formula=r"y_{r c p} = \max_{k \in \mathit{cell}_p(r)} x_{c k}",
    relation=forward("ROIPool", "{out} = one image of `pooled_size` for each region of {1}", _pooled),
    inputs=("data", "rois"),
    attrs=ROIPoolAttrs,
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=no_flops,
    family="image",
    level=5,
    lenient_in_tvm="It did not check that a region has 5 numbers.",
    compute=_greatest,
    lowering="regions.roi_pool",
)
_YOLO_REORG = declare(
    "vision.yolo_reorg",
    "Moves square blocks of the image into channels, in the order of Darknet's reorg layer.",
    formula=r"y = \mathrm{space\_to\_depth}_s(x \text{ read as } C / s^2 \times H s \times W s)",
    relation=forward("YoloReorg", "{out} = {0} with C s², H / s, W / s", _reorg),
    attrs=YoloReorgAttrs,
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    family="shape",
    level=5,
    lenient_in_tvm="It rounded down where the blocks do not divide an axis.",
    compute=_reordered,
    gradient="shape.moved",
    lowering="space.yolo_reorg",
)


def roi_align(
    data: Expr,
    rois: Expr,
    pooled_size: Sequence[int],
    spatial_scale: float,
    sample_ratio: int = -1,
    layout: str = "NCHW",
    mode: str = "avg",
) -> Expr:
    """For each row (image, left, top, right, bottom) of `rois` its part of `data`, at `pooled_size`."""
    attrs = ROIAlignAttrs(
        pooled_size=pooled_size,
        spatial_scale=spatial_scale,
        sample_ratio=sample_ratio,
        layout=layout,
        mode=mode.decode() if isinstance(mode, bytes) else mode,
    )
    return Call(_ROI_ALIGN, [expr(data), expr(rois)], attrs)


def roi_pool(
    data: Expr, rois: Expr, pooled_size: Sequence[int], spatial_scale: float, layout: str = "NCHW"
) -> Expr:
    """For each row (image, left, top, right, bottom) of `rois` the greatest elements of its cells."""
    attrs = ROIPoolAttrs(pooled_size=pooled_size, spatial_scale=spatial_scale, layout=layout)
    return Call(_ROI_POOL, [expr(data), expr(rois)], attrs)


def yolo_reorg(data: Expr, stride: int) -> Expr:
    """`data` (N, C, H, W): (N, C * stride², H / stride, W / stride)."""
    return Call(_YOLO_REORG, [expr(data)], YoloReorgAttrs(stride=stride))
