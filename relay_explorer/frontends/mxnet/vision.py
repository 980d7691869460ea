"""Operators of object detection."""

from __future__ import annotations

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.context import Results
from ..base.errors import DynamicShapeError
from .elementwise import number
from .registry import Operation, converts


@converts("ROIPooling")
def roi_pooling(op: Operation) -> Results:
    return relay.vision.roi_pool(
        op[0], op[1], op.attrs.ints("pooled_size"), op.attrs.float("spatial_scale"), layout="NCHW"
    )


@converts("_contrib_ROIAlign")
def roi_align(op: Operation) -> Results:
    for name in ("position_sensitive", "aligned"):
        if op.attrs.bool(name, False):
            raise RelayError(f"ROIAlign with {name}=True is not supported")
    return relay.vision.roi_align(
        op[0],
        op[1],
        op.attrs.ints("pooled_size"),
        op.attrs.float("spatial_scale"),
        sample_ratio=op.attrs.int("sample_ratio", -1),
        layout="NCHW",
    )


@converts("_contrib_MultiBoxPrior")
def multibox_prior(op: Operation) -> Results:
    return relay.vision.multibox_prior(
        op[0],
        sizes=op.attrs.floats("sizes", (1.0,)),
        ratios=op.attrs.floats("ratios", (1.0,)),
        steps=op.attrs.floats("steps", (-1.0, -1.0)),
        offsets=op.attrs.floats("offsets", (0.5, 0.5)),
        clip=op.attrs.bool("clip", False),
    )


@converts("_contrib_MultiBoxDetection")
def multibox_detection(op: Operation) -> Results:
    """Decode the boxes of every anchor, and suppress those that overlap a better one."""
    if op.attrs.int("background_id", 0) != 0:
        raise RelayError("MultiBoxDetection is supported only with background_id=0")
    boxes, counts = relay.vision.multibox_transform_loc(
        op[0],
        op[1],
        op[2],
        clip=op.attrs.bool("clip", True),
        threshold=op.attrs.float("threshold", 0.01),
        variances=op.attrs.floats("variances", (0.1, 0.1, 0.2, 0.2)),
    )
    boxes = _by_score(op, boxes, 1)
    selected = _suppressed(
        op,
        boxes,
        counts,
        threshold=op.attrs.float("nms_threshold", 0.5),
        force=op.attrs.bool("force_suppress", False),
        top_k=op.attrs.int("nms_topk", -1),
        columns=(0, 1, 2),
        compact=False,
    )
    # A box that is suppressed loses its class only; rows without a box are -1.
    classes = relay.strided_slice(selected, [0], [1], axes=[2])
    rest = relay.strided_slice(boxes, [1], [6], axes=[2])
    place = relay.arange(const(0, "int32"), const(op.context.static_shape(boxes)[1], "int32"), dtype="int32")
    filled = relay.less(relay.expand_dims(place, 0), relay.expand_dims(counts, 1))
    rest = relay.where(relay.expand_dims(filled, 2), rest, number(op, -1))
    return relay.concatenate([classes, rest], 2)


def _by_score(op: Operation, boxes: Expr, score: int) -> Expr:
    """Return the boxes, best first."""
    batch, extent, width = op.context.static_shape(boxes)
    scores = relay.squeeze(relay.strided_slice(boxes, [score], [score + 1], axes=[2]), [2])
    order = relay.argsort(scores, 1, is_ascend=False, dtype="int32")
    rows = relay.broadcast_to(relay.expand_dims(order, 2), (batch, extent, width))
    return relay.gather(boxes, 1, rows)


def _suppressed(
    op: Operation,
    boxes: Expr,
    counts: Expr,
    threshold: float,
    force: bool,
    top_k: int,
    columns: tuple[int, int, int],
    compact: bool,
) -> Expr:
    """Suppress boxes; `columns` are where the class, the score and the coordinates are in a box."""
    class_, score, coordinates = columns
    extent = op.context.shape(boxes)[1]
    if not isinstance(extent, int):
        raise DynamicShapeError("the number of boxes must be known at compile time")
    indices = relay.arange(const(0, "int32"), const(extent, "int32"), const(1, "int32"), dtype="int32")
    batch = op.context.static_shape(boxes)[0]
    result = relay.vision.non_max_suppression(
        boxes,
        counts,
        relay.broadcast_to(relay.expand_dims(indices, 0), (batch, extent)),
        max_output_size=-1,
        iou_threshold=threshold,
        force_suppress=force,
        top_k=top_k,
        coord_start=coordinates,
        score_index=score,
        id_index=class_,
        return_indices=False,
        invalid_to_bottom=compact,
    )
    assert isinstance(result, Expr)
    return result


@converts("_contrib_box_nms", "_contrib_box_non_maximum_suppression", "_contrib_nms")
def box_nms(op: Operation) -> Results:
    if op.attrs.text("in_format", "corner") != "corner" or op.attrs.text("out_format", "corner") != "corner":
        raise RelayError("box_nms is supported only with in_format='corner' and out_format='corner'")
    if op.attrs.int("background_id", -1) != -1:
        raise RelayError("box_nms with background_id is not supported")
    shape = op.static_shape()
    data = op[0] if len(shape) == 3 else relay.reshape(op[0], (-1, *shape[-2:]))
    score, class_ = op.attrs.int("score_index", 1), op.attrs.int("id_index", -1)
    counts, valid, _ = relay.vision.get_valid_counts(
        data, op.attrs.float("valid_thresh", 0.0), id_index=class_, score_index=score
    )
    result = _suppressed(
        op,
        valid,
        counts,
        threshold=op.attrs.float("overlap_thresh", 0.5),
        force=op.attrs.bool("force_suppress", False) or class_ < 0,
        top_k=op.attrs.int("topk", -1),
        columns=(class_, score, op.attrs.int("coord_start", 2)),
        compact=True,
    )
    return result if len(shape) == 3 else relay.reshape(result, shape)


@converts("_contrib_box_decode")
def box_decode(op: Operation) -> Results:
    """Apply predicted offsets to anchors; the result has corners."""
    if op.attrs.float("clip", -1.0) > 0:
        limit: float | None = op.attrs.float("clip")
    else:
        limit = None
    deviations = [op.attrs.float(f"std{index}", 1.0) for index in range(4)]
    anchors: list[Expr] = list(relay.split(op[1], 4, 2))
    offsets = [
        relay.multiply(part, number(op, factor))
        for part, factor in zip(relay.split(op[0], 4, 2), deviations, strict=True)
    ]
    if op.attrs.text("format", "corner") == "corner":
        sizes: list[Expr] = [relay.subtract(anchors[2], anchors[0]), relay.subtract(anchors[3], anchors[1])]
        half = number(op, 0.5)
        centers: list[Expr] = [relay.add(anchors[i], relay.multiply(sizes[i], half)) for i in range(2)]
    else:
        centers, sizes = anchors[:2], anchors[2:]
    middles, halves = [], []
    for axis in range(2):
        middles.append(relay.add(relay.multiply(offsets[axis], sizes[axis]), centers[axis]))
        growth = offsets[2 + axis]
        if limit is not None:
            growth = relay.minimum(growth, number(op, limit))
        halves.append(relay.multiply(relay.multiply(relay.exp(growth), sizes[axis]), number(op, 0.5)))
    low = [relay.subtract(middles[i], halves[i]) for i in range(2)]
    high = [relay.add(middles[i], halves[i]) for i in range(2)]
    return relay.concatenate([*low, *high], 2)


@converts("_contrib_box_iou")
def box_iou(op: Operation) -> Results:
    """Return the intersection of every two boxes, divided by their union."""
    if op.attrs.text("format", "corner") != "corner":
        raise RelayError("box_iou is supported only with format='corner'")
    left, right = op.rank(0) - 1, op.rank(1) - 1
    first = relay.expand_dims(op[0], left, right)
    second = relay.expand_dims(op[1], 0, left)
    a: list[Expr] = list(relay.split(first, 4, -1))
    b: list[Expr] = list(relay.split(second, 4, -1))
    zero = number(op, 0)

    def area(box: list[Expr]) -> Expr:
        return relay.multiply(
            relay.maximum(relay.subtract(box[2], box[0]), zero),
            relay.maximum(relay.subtract(box[3], box[1]), zero),
        )

    common: list[Expr] = [
        *[relay.maximum(a[i], b[i]) for i in range(2)],
        *[relay.minimum(a[i], b[i]) for i in (2, 3)],
    ]
    shared = area(common)
    union = relay.subtract(relay.add(area(a), area(b)), shared)
    ratio = relay.where(relay.greater(union, zero), relay.divide(shared, union), relay.zeros_like(union))
    return relay.squeeze(ratio, [-1])


@converts("_contrib_Proposal")
def proposal(op: Operation) -> Results:
    if op.attrs.bool("output_score", False):
        raise RelayError("Proposal with output_score=True cannot be imported")
    return relay.vision.proposal(
        op[0],
        op[1],
        op[2],
        scales=op.attrs.floats("scales", (4.0, 8.0, 16.0, 32.0)),
        ratios=op.attrs.floats("ratios", (0.5, 1.0, 2.0)),
        feature_stride=op.attrs.int("feature_stride", 16),
        threshold=op.attrs.float("threshold", 0.7),
        rpn_pre_nms_top_n=op.attrs.int("rpn_pre_nms_top_n", 6000),
        rpn_post_nms_top_n=op.attrs.int("rpn_post_nms_top_n", 300),
        rpn_min_size=op.attrs.int("rpn_min_size", 16),
        iou_loss=op.attrs.bool("iou_loss", False),
    )
