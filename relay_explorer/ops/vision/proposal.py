"""Proposal of regions by the first stage of a two-stage detector (Faster R-CNN, arXiv 1506.01497)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Annotated
from typing import Any as Anything

from ...ir.attrs import attr
from ...ir.declaration import NotApplicable, Precision
from ...ir.expr import Call
from ...ir.op import RelationError, no_flops
from ...ir.show import show_shape
from ...ir.types import TensorType, Type
from ..arguments import Operand
from ..examples import t
from ..layouts.layout import NO_LAYOUT_RULE
from ..numeric import Array, np
from ..operator import operator
from ..relation import floating, forward, same_dim, tensor, times
from ..te.imperative import Buffers, each, int32, loops, when
from ..te.library import te
from ..te.lowered import Lowered
from ..te.tensors import Tensor, Value, clamp, dims, dtype_of, number, select, shorter, some, stage
from .boxes import kept
from .lowering import REAL, best_first, is_at, keep, overlap, real, table

__all__ = ["first_anchor", "proposal"]


def _proposal(attrs: Anything, cls_prob: Type, bbox_pred: Type, im_info: Type) -> Type:
    p, b = floating(cls_prob, 0, "cls_prob"), floating(bbox_pred, 1, "bbox_pred")
    info, count = tensor(im_info, 2, "im_info"), len(attrs.scales) * len(attrs.ratios)
    agree = len(p.shape) == len(b.shape) == 4 and all(
        same_dim(p.shape[axis], b.shape[axis]) for axis in (0, 2, 3)
    )
    if not agree or not same_dim(p.shape[1], 2 * count) or not same_dim(b.shape[1], 4 * count):
        raise RelationError(
            f"for {count} anchors per cell, cls_prob is (batch, {2 * count}, rows, columns) and bbox_pred "
            f"(batch, {4 * count}, rows, columns), not {show_shape(p.shape)} and {show_shape(b.shape)}",
            "there is an anchor for each scale and ratio",
            culprits=(0, 1),
        )
    if len(info.shape) != 2 or not same_dim(info.shape[1], 3) or not same_dim(info.shape[0], p.shape[0]):
        raise RelationError(
            f"im_info must have a row (height, width, scale) for each image, not {show_shape(info.shape)}",
            culprits=(2,),
        )
    if attrs.feature_stride < 1 or attrs.rpn_post_nms_top_n < 0 or min(attrs.ratios, default=1) <= 0:
        raise RelationError("feature_stride and ratios must be positive, and rpn_post_nms_top_n not negative")
    return TensorType.of((times(p.shape[0], attrs.rpn_post_nms_top_n), 5), p.dtype)


def first_anchor(ratio: float, scale: float, stride: int) -> tuple[float, float, float, float]:
    """Return the anchor around the first cell: its sides are the integer sides of the unscaled anchor
    times `scale`.
    """
    width = math.floor(math.sqrt(math.floor(stride * stride / ratio)) + 0.5)
    height = math.floor(width * ratio + 0.5)
    centre, x, y = (stride - 1) / 2, (width * scale - 1) / 2, (height * scale - 1) / 2
    return centre - x, centre - y, centre + x, centre + y


def _predicted(attrs: Anything, anchors: Array, moves: Array) -> Array:
    """Move the `anchors` (n, 4) by predictions (n, 4); a side is one pixel longer than the
    difference of its ends.
    """
    if attrs.iou_loss:
        return anchors + moves
    size = anchors[:, 2:] - anchors[:, :2] + 1
    centre = anchors[:, :2] + (size - 1) / 2 + moves[:, :2] * size
    half = (np.exp(moves[:, 2:]) * size - 1) / 2
    return np.concatenate([centre - half, centre + half], 1)


def _regions(attrs: Anything, scores: Array, moves: Array, info: Array) -> tuple[Array, Array]:
    """Return the boxes and scores of one image, cell by cell; excluded boxes have the score -1."""
    rows, columns = scores.shape[1:]
    stride, (high, wide, scale) = attrs.feature_stride, info.tolist()
    first = [first_anchor(ratio, size, stride) for ratio in attrs.ratios for size in attrs.scales]
    shift = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)) * 2, -1) * stride
    anchors = (shift[:, :, None] + np.array(first)).reshape(-1, 4)
    by_cell = moves.reshape(len(first), 4, rows, columns).transpose(2, 3, 0, 1).reshape(-1, 4)
    edges = np.array([wide, high] * 2) - 1
    boxes = np.clip(_predicted(attrs, anchors, by_cell), 0, np.maximum(edges, 0))
    values = scores.transpose(1, 2, 0).copy()
    values[int(high / stride) :] = -1
    values[:, int(wide / stride) :] = -1
    least = scale * attrs.rpn_min_size
    small = (boxes[:, 2:] - boxes[:, :2] + 1 < least).any(1)
    boxes[small] += np.array([-1, -1, 1, 1]) * least / 2
    return boxes, np.where(small, -1, values.reshape(-1))


def _proposed(attrs: Anything, cls_prob: Array, bbox_pred: Array, im_info: Array) -> Array:
    count = len(attrs.scales) * len(attrs.ratios)
    max_count = attrs.rpn_post_nms_top_n
    y = np.zeros((len(cls_prob), max_count, 5), cls_prob.dtype)
    for n, (scores, moves, info) in enumerate(zip(cls_prob, bbox_pred, im_info, strict=True)):
        boxes, values = _regions(attrs, scores[count:], moves, info)
        order = np.argsort(-values, kind="stable")
        if attrs.rpn_pre_nms_top_n > 0:
            order = order[: attrs.rpn_pre_nms_top_n]
        stay = order[list(kept(boxes[order], attrs.threshold, at_limit=False, pixel=1))]
        if len(stay):
            y[n, :, 0], y[n, :, 1:] = n, boxes[np.resize(stay, max_count)]
    return y.reshape(-1, 5)


def _proposal_te(call: Lowered) -> list[Tensor]:
    (scores, _, info), attrs = call.inputs, call.attrs
    images, _, rows, columns = dims(scores)
    count = len(attrs.scales) * len(attrs.ratios)
    total, max_count, dtype = rows * columns * count, attrs.rpn_post_nms_top_n, dtype_of(scores)
    boxes = stage((images, total, 4), _Anchors(call).corner, f"{call.name}_boxes")
    least = attrs.rpn_min_size

    def value(n: Value, box: Value) -> Value:
        cell, which = te.floordiv(box, count), te.floormod(box, count)
        i, j = te.floordiv(cell, columns), te.floormod(cell, columns)
        high, wide, scale = (info(n, k).astype(REAL) for k in range(3))
        stride = real(attrs.feature_stride)
        outside = [real(i) >= te.trunc(high / stride), real(j) >= te.trunc(wide / stride)]
        # a region that is too small was enlarged by the least side, half of it at each end
        small = [boxes(n, box, k + 2) - boxes(n, box, k) + real(1) for k in range(2)]
        too_small = [side < scale * real(least) for side in small]
        return select(some([*outside, *too_small]), real(-1), scores(n, count + which, i, j).astype(REAL))

    values = stage((images, total), value, f"{call.name}_scores")

    def grown(n: Value, box: Value, k: Value) -> Value:
        small = [
            boxes(n, box, axis + 2) - boxes(n, box, axis) + real(1) < info(n, 2).astype(REAL) * real(least)
            for axis in range(2)
        ]
        by = info(n, 2).astype(REAL) * real(least * 0.5)
        return boxes(n, box, k) + select(some(small), select(k < 2, -by, by), real(0))

    regions = stage((images, total, 4), grown, f"{call.name}_regions")

    def body(ins: Buffers, outs: Buffers) -> None:
        (box_of, value_of), (regions, places, spare, retained) = ins, outs
        with each(images) as n:
            best_first(0, int32(total), lambda j: value_of[n, j], places, spare)
            considered = shorter(total, attrs.rpn_pre_nms_top_n) if attrs.rpn_pre_nms_top_n > 0 else total

            def box(j: Value) -> Callable[[int], Value]:
                return lambda k: box_of[n, places[0, j], k]

            def too_close(a: Value, b: Value) -> Value:
                return overlap(box(b), box(a), REAL, 1.0) > real(attrs.threshold)

            stay = keep(int32(considered), None, lambda j: number(True, "bool"), too_close, retained)
            with each(max_count) as m:
                for k in range(5):
                    regions[n * max_count + m, k] = number(0, dtype)
                with when(stay[0] > 0):
                    index = places[0, retained[te.floormod(int32(m), stay[0])]]
                    regions[n * max_count + m, 0] = n.astype(dtype)
                    for k in range(4):
                        regions[n * max_count + m, k + 1] = box_of[n, index, k].astype(dtype)

    scratch = [((1, total), "int32"), ((1, total), "int32"), ((total,), "int32")]
    results = [((images * max_count, 5), dtype), *scratch]
    return loops(results, [regions, values], body, call.name, slice(1), call.target)


class _Anchors:
    """The anchors of each cell, moved by the network's predictions."""

    def __init__(self, call: Lowered) -> None:
        self.attrs = call.attrs
        scores, self.moves, self.info = call.inputs
        self.rows, self.columns = dims(scores)[2:]
        self.first = [
            first_anchor(ratio, size, call.attrs.feature_stride)
            for ratio in call.attrs.ratios
            for size in call.attrs.scales
        ]

    def corner(self, n: Value, box: Value, k: Value) -> Value:
        count = len(self.first)
        cell, which = te.floordiv(box, count), te.floormod(box, count)
        i, j = te.floordiv(cell, self.columns), te.floormod(cell, self.columns)
        across = is_at(te.floormod(k, 2), 0)
        shift = real(select(across, j, i) * self.attrs.feature_stride)
        axis = te.floormod(k, 2)
        low, high = (self._known(which, axis + side) + shift for side in (0, 2))
        edge = te.max(select(across, self.info(n, 1), self.info(n, 0)).astype(REAL) - real(1), real(0))
        return clamp(self._moved(n, which, i, j, k, low, high), real(0), edge)

    def _known(self, which: Value, k: Value) -> Value:
        values = [value for anchor in self.first for value in anchor]
        return table(values, which * 4 + k)

    def _moved(self, n: Value, which: Value, i: Value, j: Value, k: Value, low: Value, high: Value) -> Value:
        axis = te.floormod(k, 2)

        def move(number_: Value) -> Value:
            return self.moves(n, which * 4 + number_, i, j).astype(REAL)

        if self.attrs.iou_loss:
            return select(k < 2, low, high) + move(k)
        one, half = real(1), real(0.5)
        size = high - low + one
        centre = low + (size - one) * half + move(axis) * size
        reach = (te.exp(move(axis + 2)) * size - one) * half
        return select(k < 2, centre - reach, centre + reach)


@operator(
    "vision.proposal",
    description=(
        "Proposes regions that may contain objects, from the scores and predicted offsets of anchor boxes."
    ),
    formula=r"\{\, b_i : \forall j < i \text{ that stays},\ \mathrm{IoU}(b_i, b_j) \le t \,\}",
    family="image",
    level=5,
    relation=forward(
        "Proposal", "{out} = `rpn_post_nms_top_n` regions of 5 elements for each image of {0}", _proposal
    ),
    flops=no_flops,
    reference=_proposed,
    gradient=NotApplicable("the choice of boxes does not change smoothly"),
    lowering=_proposal_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(
        t(1, 4, 3, 3, name="p"),
        t(1, 8, 3, 3, name="b"),
        t(1, 3, name="info"),
        [1, 2],
        [1],
        16,
        0.7,
        20,
        4,
        1,
        False,
    ),
    lenient_in_tvm="It compared neither the anchors nor the cells of cls_prob and bbox_pred.",
)
def proposal(
    cls_prob: Operand,
    bbox_pred: Operand,
    im_info: Operand,
    scales: Annotated[
        Sequence[float], attr((4.0, 8.0, 16.0, 32.0), "The sides of the anchors, in strides.", kind="Floats")
    ],
    ratios: Annotated[
        Sequence[float], attr((0.5, 1.0, 2.0), "The ratios of their heights to their widths.", kind="Floats")
    ],
    feature_stride: Annotated[int, attr(16, "The distance of two cells, in pixels of the image.")],
    threshold: Annotated[float, attr(0.7, "The overlap beyond which a region is suppressed.")],
    rpn_pre_nms_top_n: Annotated[
        int, attr(6000, "How many of the best regions are considered; not positive: all.")
    ],
    rpn_post_nms_top_n: Annotated[
        int, attr(300, "The number of regions of each image; they are repeated if fewer are selected.")
    ],
    rpn_min_size: Annotated[int, attr(16, "The least side of a region, in pixels of the network's input.")],
    iou_loss: Annotated[
        bool, attr(False, "Whether predictions move the corners, rather than centre and size.")
    ],
) -> Call:
    """Return regions (image, left, top, right, bottom), the best first: `rpn_post_nms_top_n` for each
    image.
    """
