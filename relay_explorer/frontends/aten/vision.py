"""torchvision's operators: non-maximum suppression, and pooling of regions."""

from __future__ import annotations

from ...ir import const
from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from ..base.deformable import deformable_conv2d as deformable
from .context import Aten
from .registry import aten, tensor_call
from .values import Value


@aten("torchvision::nms")
def nms(ctx: Aten, boxes: Expr, scores: Expr, iou_threshold: float) -> Value:
    """Return the indices of the boxes that no better box overlaps by more than the threshold, best first."""
    import numpy as np

    order = relay.argsort(scores, axis=0, is_ascend=False, dtype="int32")
    count = ctx.tensor(ctx.size(boxes, 0), "int64")
    # Relay's operator ignores boxes with scores of zero or less, so it gets ranks in place of scores.
    ranks = relay.cast(relay.subtract(count, relay.arange(count, dtype="int64")), "float32")
    rows = relay.cast(relay.take(boxes, order, axis=0), "float32")
    data = relay.expand_dims(relay.concatenate([relay.expand_dims(ranks, 1), rows], 1), 0)
    # It suppresses at the threshold, torchvision only above it.
    threshold = float(np.nextafter(np.float32(iou_threshold), np.float32(np.inf)))
    results = relay.vision.non_max_suppression(
        data,
        relay.reshape(relay.cast(count, "int32"), (1,)),
        relay.expand_dims(order, 0),
        max_output_size=-1,
        iou_threshold=threshold,
        force_suppress=True,
        top_k=-1,
        coord_start=1,
        score_index=0,
        id_index=-1,
        return_indices=True,
    )
    end = relay.reshape(relay.cast(results[1], "int64"), (1,))
    selected = relay.strided_slice(
        relay.squeeze(results[0], [0]), const([0], "int64"), end, const([1], "int64"), slice_mode="end"
    )
    return relay.cast(selected, "int64")


@aten("torchvision::roi_align")
def roi_align(
    ctx: Aten,
    x: Expr,
    rois: Expr,
    spatial_scale: float,
    height: int,
    width: int,
    sampling_ratio: int,
    aligned: bool = False,
) -> Value:
    """Resample regions to height × width; `aligned` moves them by half an element."""
    if not aligned:
        return relay.vision.roi_align(
            x, rois, (height, width), spatial_scale, sample_ratio=max(sampling_ratio, -1) or -1
        )
    if sampling_ratio <= 0:
        raise RelayError(
            "roi_align with aligned=True requires a positive sampling_ratio: otherwise the number of samples "
            "depends on the region",
            help=["call roi_align with a sampling_ratio such as 2"],
        )
    images = relay.cast(relay.take(rois, const(0, "int64"), axis=1), "int64")
    extents = ctx.static_shape(x)[2:]
    # Each sample is a product with weights along the rows, and one along the columns.
    down = _weights(ctx, rois, (2, 4), spatial_scale, height, sampling_ratio, extents[0])
    across = _weights(ctx, rois, (1, 3), spatial_scale, width, sampling_ratio, extents[1])
    chosen = relay.take(x, images, axis=0)
    rows = tensor_call(ctx, "matmul", relay.expand_dims(down, 1), chosen)
    turned = relay.transpose(relay.expand_dims(across, 1), (0, 1, 3, 2))
    samples = tensor_call(ctx, "matmul", rows, turned)
    sizes = ctx.sizes(samples)[:2]
    cells = ctx.reshape(samples, [*sizes, height, sampling_ratio, width, sampling_ratio])
    return relay.mean(cells, axis=[3, 5])


def _weights(
    ctx: Aten, rois: Expr, ends: tuple[int, int], scale: float, cells: int, samples: int, extent: int
) -> Expr:
    """Return the bilinear weights of an axis's elements in the samples of each region."""
    dtype = ctx.dtype(rois)

    def number(value: float) -> Expr:
        return const(value, dtype)

    first, last = (
        relay.subtract(
            relay.multiply(relay.take(rois, const(end, "int64"), axis=1), number(scale)), number(0.5)
        )
        for end in ends
    )
    step = relay.divide(relay.subtract(last, first), number(cells))
    steps = [(cell + (sample + 0.5) / samples) for cell in range(cells) for sample in range(samples)]
    offsets = relay.multiply(relay.expand_dims(step, 1), const([steps], dtype))
    places = relay.add(relay.expand_dims(first, 1), offsets)
    inside = relay.logical_and(
        relay.greater_equal(places, number(-1.0)), relay.less_equal(places, number(extent))
    )
    at = relay.expand_dims(relay.clip(places, 0.0, extent - 1.0), 2)
    elements = const([[[float(index) for index in range(extent)]]], dtype)
    hat = relay.nn.relu(relay.subtract(number(1.0), relay.abs(relay.subtract(at, elements))))
    return relay.multiply(hat, relay.expand_dims(relay.cast(inside, dtype), 2))


@aten("torchvision::roi_pool")
def roi_pool(ctx: Aten, x: Expr, rois: Expr, spatial_scale: float, height: int, width: int) -> Value:
    return relay.vision.roi_pool(x, rois, (height, width), spatial_scale), None


@aten("torchvision::deform_conv2d")
def deform_conv2d(
    ctx: Aten,
    x: Expr,
    weight: Expr,
    offset: Expr,
    mask: Expr,
    bias: Expr,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dilation_h: int,
    dilation_w: int,
    groups: int,
    offset_groups: int,
    use_mask: bool,
) -> Value:
    result = deformable(
        ctx.context,
        x,
        offset,
        weight,
        mask if use_mask else None,
        strides=(stride_h, stride_w),
        padding=(pad_h, pad_w),
        dilations=(dilation_h, dilation_w),
        groups=groups,
        offset_groups=offset_groups,
    )
    return relay.nn.bias_add(result, bias, axis=1)
