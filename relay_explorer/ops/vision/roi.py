"""Operators that pool the regions that a detector proposed in an image, and YOLO's reordering."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Annotated
from typing import Any as Anything

from ...ir.attrs import attr, required
from ...ir.declaration import NotApplicable, Precision
from ...ir.expr import Call
from ...ir.op import OpPattern, RelationError, no_flops, size_of
from ...ir.show import show_shape
from ...ir.types import TensorType, Type
from ..arguments import Operand
from ..examples import IMAGE, t
from ..gradient_tools import MOVED
from ..layouts.images import regions as regions_layout
from ..layouts.layout import NO_LAYOUT_RULE
from ..nn.layout import divided, layout_map, times
from ..numeric import Array, np
from ..operator import call, operator
from ..relation import forward, same_dim, tensor
from ..te.imperative import Buffers, each, int32, local, loops, together
from ..te.library import te, tirx
from ..te.lowered import Lowered
from ..te.reduce import greatest
from ..te.tensors import (
    Tensor,
    Value,
    View,
    cast,
    clamp,
    dims,
    dtype_of,
    every,
    guarded,
    laid_out,
    number,
    packed,
    product,
    ravel,
    reduce_axes,
    select,
    stage,
    unravel,
)
from .lowering import REAL, image_number, real, region_side

__all__ = ["roi_align", "roi_pool", "yolo_reorg"]


def _pooled(attrs: Anything, data: Type, rois: Type) -> Type:
    x, r = tensor(data, 0, "data"), tensor(rois, 1, "rois")
    layout = layout_map(attrs.layout, "NCHW")
    if attrs.layout not in ("NCHW", "NHWC"):
        raise RelationError(f'the layout is "{attrs.layout:.20}", but it is NCHW or NHWC')
    if len(attrs.pooled_size) != 2 or min(attrs.pooled_size) < 1:
        raise RelationError(f"pooled_size={list(attrs.pooled_size)} must be 2 positive numbers")
    if getattr(attrs, "mode", "avg") not in ("avg", "max"):
        raise RelationError(f'mode is "{attrs.mode:.20}", but it is "avg" or "max"')
    if len(r.shape) != 2 or not same_dim(r.shape[1], 5):
        raise RelationError(
            f"rois has the shape {show_shape(r.shape)}, but a region is a row of 5 elements: its image, "
            "left, top, right, bottom",
            culprits=(1,),
        )
    channels = layout.forward(x.shape, 0, "data")[1]
    return TensorType.of(layout.backward((r.shape[0], channels, *attrs.pooled_size)), x.dtype)


def _image_of(region: Sequence[float], images: Array) -> Array:
    number = int(region[0])
    if not 0 <= number < len(images):
        raise ValueError(f"a region refers to image {number}, but there are {len(images)}")
    return images[number]


def _weights(places: Array, extent: int) -> Array:
    """Return a matrix whose rows are the weights of an axis's elements in the values at `places`. Beyond the
    edge elements the value stays constant, and further than one element beyond them it is 0.
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
    """Return the positions at which a region's cells are sampled: cells × samples of them."""
    step = length / cells
    return start + step * (np.arange(cells * samples) + 0.5) / samples


def _aligned(attrs: Anything, x: Array, rois: Array) -> Array:
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
    """Round to the nearest integer, a half away from 0."""
    return math.floor(abs(value) + 0.5) * (1 if value > 0 else -1)


def _cells(first: int, last: int, count: int, extent: int) -> list[tuple[int, int]]:
    """Return the begin and end of `count` cells from `first` to `last`, clamped to an axis of `extent`."""
    step = max(last - first + 1, 1) / count
    return [
        (
            min(max(first + math.floor(n * step), 0), extent),
            min(max(first + math.ceil((n + 1) * step), 0), extent),
        )
        for n in range(count)
    ]


def _greatest(attrs: Anything, x: Array, rois: Array) -> Array:
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


def _reorg(attrs: Anything, data: Type) -> Type:
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


def _reordered(attrs: Anything, x: Array) -> Array:
    """Reorder as Darknet does: read the data as if blocks had been moved to the image, and gather it from
    there.
    """
    (n, c, h, w), s = x.shape, attrs.stride
    if c % (s * s):
        raise ValueError(f"there are {c} channels, which stride² = {s * s} does not divide")
    blocks = x.reshape(n, c // (s * s), h, s, w, s)
    return blocks.transpose(0, 3, 5, 1, 2, 4).reshape(n, c * s * s, h // s, w // s)


def _roi_align_te(call: Lowered) -> list[Tensor]:
    """Accumulate the samples of a cell in loops, because their number may depend on the region. An image
    index out of range is clamped (the interpreter raises an error).
    """
    (x, rois), attrs = call.inputs, call.attrs
    layout = layout_map(attrs.layout, "NCHW")
    images, channels, high, wide = View(x, layout).shape
    rows, columns = attrs.pooled_size
    shape, dtype = (dims(rois)[0], channels, rows, columns), dtype_of(x)

    def body(ins: Buffers, outs: Buffers) -> None:
        (data, regions), (result,) = ins, outs
        with together(product(shape)) as flat:
            r, c, i, j = unravel(flat, shape)
            n, total, best = image_number(regions, r, images), local(1, REAL), local(1, REAL)
            down, across = local(1, "int32"), local(1, "int32")
            starts, steps = [], []
            for samples, cells, k in ((down, rows, 2), (across, columns, 1)):
                start = region_side(regions, r, k, attrs.spatial_scale)
                length = te.max(region_side(regions, r, k + 2, attrs.spatial_scale) - start, real(1))
                fixed = attrs.sample_ratio > 0
                samples[0] = (
                    int32(attrs.sample_ratio) if fixed else te.ceil(length / real(cells)).astype("int32")
                )
                starts.append(start)
                steps.append(length / real(cells))
            total[0], best[0] = real(0), -tirx.infinity(REAL)
            with each(down[0]) as a, each(across[0]) as b:
                half = real(0.5)
                y = starts[0] + steps[0] * (real(i * down[0] + a) + half) / real(down[0])
                z = starts[1] + steps[1] * (real(j * across[0] + b) + half) / real(across[0])

                def read(row: Value, column: Value) -> Value:
                    return data[tuple(packed((n, c, row, column), layout))].astype(REAL)

                sample = _sample(read, (y, z), (high, wide))
                total[0] = total[0] + sample
                best[0] = te.max(best[0], sample)
            mean = total[0] / real(down[0] * across[0])
            result[r, c, i, j] = cast(mean if attrs.mode == "avg" else best[0], dtype)

    pooled = loops([(shape, dtype)], [x, rois], body, f"{call.name}_cells")[0]
    return [laid_out(shape, layout, lambda *i: pooled(*i), call.name)]


def _sample(
    read: Callable[[Value, Value], Value], place: tuple[Value, Value], extents: tuple[Anything, Anything]
) -> Value:
    """Interpolate the image between its elements. Beyond the edge elements the value stays constant, and
    further than one element beyond them it is 0.
    """
    inside, near, far, share = [], [], [], []
    for at, extent in zip(place, extents, strict=True):
        inside.append(te.all(at >= real(-1), at <= real(extent)))
        clamped = clamp(at, real(0), real(extent - 1))
        low = te.floor(clamped)
        near.append(low.astype("int32"))
        far.append(te.min(near[-1] + 1, extent - 1))
        share.append(clamped - low)
    one = real(1)
    upper = read(near[0], near[1]) * (one - share[1]) + read(near[0], far[1]) * share[1]
    lower = read(far[0], near[1]) * (one - share[1]) + read(far[0], far[1]) * share[1]
    return select(every(inside), upper * (one - share[0]) + lower * share[0], real(0))


def _roi_pool_te(call: Lowered) -> list[Tensor]:
    """Pool each cell by a reduction over the whole image, which tests whether each element lies in the
    cell, because a cell's extent is known only at run time.
    """
    (x, rois), attrs = call.inputs, call.attrs
    layout = layout_map(attrs.layout, "NCHW")
    view = View(x, layout)
    images, channels, high, wide = view.shape
    rows, columns = attrs.pooled_size
    dtype = dtype_of(x)

    def ends(r: Value, k: int, cell: Value, cells: int, extent: Anything) -> tuple[Value, Value]:
        first, last = (
            _nearest_te(region_side(_Read(rois), r, side, attrs.spatial_scale)) for side in (k, k + 2)
        )
        step = te.max(last - first + real(1), real(1)) / real(cells)
        low = first + te.floor(real(cell) * step)
        top = first + te.ceil(real(cell + 1) * step)
        return clamp(low, real(0), real(extent)), clamp(top, real(0), real(extent))

    u, v = reduce_axes([high, wide])

    def seen(r: Value, c: Value, i: Value, j: Value) -> Value:
        (top, bottom), (left, right) = ends(r, 2, i, rows, high), ends(r, 1, j, columns, wide)
        within = [real(u) >= top, real(u) < bottom, real(v) >= left, real(v) < right]
        element = view(image_number(_Read(rois), r, images), c, u, v)
        lowest = number(False, "bool") if dtype == "bool" else tirx.min_value(dtype)
        return guarded(every(within), element, lowest)

    def value(r: Value, c: Value, i: Value, j: Value) -> Value:
        (top, bottom), (left, right) = ends(r, 2, i, rows, high), ends(r, 1, j, columns, wide)
        empty = te.any(top >= bottom, left >= right)
        return guarded(empty, number(0, dtype), maxima(r, c, i, j))

    shape = (dims(rois)[0], channels, rows, columns)
    maxima = stage(shape, lambda *i: greatest(seen(*i), [u, v]), f"{call.name}_greatest")
    return [laid_out(shape, layout, value, call.name)]


class _Read:
    """A tensor that is indexed like a buffer."""

    def __init__(self, x: Tensor) -> None:
        self.x = x

    def __getitem__(self, index: tuple[Value, ...]) -> Value:
        return self.x(*index)


def _nearest_te(value: Value) -> Value:
    """Round to the nearest integer, a half away from 0."""
    whole = te.floor(te.abs(value) + real(0.5))
    return select(value > real(0), whole, -whole)


def _yolo_reorg_te(call: Lowered) -> list[Tensor]:
    """Reorder as Darknet does: read the data as if blocks had been moved to the image. TOPI no longer has
    such an operator.
    """
    x, s = call.inputs[0], call.attrs.stride
    batch, channels, height, width = dims(x)
    each = channels // (s * s)

    def element(n: Value, c: Value, i: Value, j: Value) -> Value:
        flat = ravel((c, i, j), (channels * s * s, height // s, width // s))
        u, v, k, row, column = unravel(flat, (s, s, each, height, width))
        spread = ravel((k, row, u, column, v), (each, height, s, width, s))
        return x(n, *unravel(spread, (channels, height, width)))

    return [stage((batch, channels * s * s, height // s, width // s), element, call.name)]


@operator(
    "vision.roi_align",
    description="Resamples regions of images to one size, each cell from several interpolated samples.",
    formula=r"y_{r c p} = \frac{1}{|S_p|} \sum_{q \in S_p} \sum_k w(q - k)\, x_{c k}",
    family="image",
    level=5,
    relation=forward("ROIAlign", "{out} = one image of `pooled_size` for each region of {1}", _pooled),
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=lambda attrs, inputs, output: 9 * size_of(output) * max(attrs.sample_ratio, 1) ** 2,
    reference=_aligned,
    gradient=NotApplicable("there is no gradient rule for regions of interest"),
    lowering=_roi_align_te,
    layout=regions_layout,
    precision=Precision.UNLISTED,
    example=lambda build: build(IMAGE, t(2, 5, name="r"), (2, 3), 0.5),
    attrs_key="relay.attrs.ROIAlignAttrs",
    lenient_in_tvm="It did not check that a region has 5 elements.",
)
def roi_align(
    data: Operand,
    rois: Operand,
    pooled_size: Annotated[
        Sequence[int], required("The rows and columns to which every region is pooled.", kind="Ints")
    ],
    spatial_scale: Annotated[
        float, required("The ratio of the data's size to that of the image to which the regions refer.")
    ],
    sample_ratio: Annotated[
        int, attr(-1, "The number of samples of a cell, down and across; -1: one per element.")
    ] = -1,
    layout: Annotated[str, attr("NCHW", "The layout of data and result: NCHW or NHWC.")] = "NCHW",
    mode: Annotated[str, attr("avg", '"avg" or "max": how the samples of a cell are pooled.')] = "avg",
) -> Call:
    """Resample the region of `data` in each row (image, left, top, right, bottom) of `rois` to
    `pooled_size`.
    """
    return call(
        "vision.roi_align",
        [data, rois],
        pooled_size=pooled_size,
        spatial_scale=spatial_scale,
        sample_ratio=sample_ratio,
        layout=layout,
        mode=mode.decode() if isinstance(mode, bytes) else mode,
    )


@operator(
    "vision.roi_pool",
    description="Pools regions of images to one size: each cell takes the maximum of its elements.",
    formula=r"y_{r c p} = \max_{k \in \mathit{cell}_p(r)} x_{c k}",
    family="image",
    level=5,
    relation=forward("ROIPool", "{out} = one image of `pooled_size` for each region of {1}", _pooled),
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=no_flops,
    reference=_greatest,
    gradient=NotApplicable("there is no gradient rule for regions of interest"),
    lowering=_roi_pool_te,
    layout=regions_layout,
    precision=Precision.UNLISTED,
    example=lambda build: build(IMAGE, t(2, 5, name="r"), (2, 3), 0.5),
    attrs_key="relay.attrs.ROIPoolAttrs",
    lenient_in_tvm="It did not check that a region has 5 elements.",
)
def roi_pool(
    data: Operand,
    rois: Operand,
    pooled_size: Annotated[
        Sequence[int], required("The rows and columns to which every region is pooled.", kind="Ints")
    ],
    spatial_scale: Annotated[
        float, required("The ratio of the data's size to that of the image to which the regions refer.")
    ],
    layout: Annotated[str, attr("NCHW", "The layout of data and result: NCHW or NHWC.")] = "NCHW",
) -> Call:
    """Take the maximum of each cell of the region in each row (image, left, top, right, bottom) of `rois`."""


@operator(
    "vision.yolo_reorg",
    description="Moves square blocks of the image into channels, in the order of Darknet's reorg layer.",
    formula=r"y = \mathrm{space\_to\_depth}_s(x \text{ read as } C / s^2 \times H s \times W s)",
    family="shape",
    level=5,
    relation=forward(
        "YoloReorg", "{out} = {0} with C · `stride`² channels and extents H / `stride`, W / `stride`", _reorg
    ),
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    reference=_reordered,
    gradient=MOVED,
    lowering=_yolo_reorg_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(IMAGE, 2),
    lenient_in_tvm="It rounded down where the blocks do not divide an axis.",
)
def yolo_reorg(
    data: Operand, stride: Annotated[int, attr(1, "The side of the blocks that become channels.")]
) -> Call:
    """Rearrange `data` (N, C, H, W) to (N, C * stride², H / stride, W / stride)."""
