"""The regions that the first stage of a two-stage detector proposes (Faster R-CNN, arXiv 1506.01497)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...ir.attrs import Attrs, Floats, attr
from ...ir.expr import Call, Expr
from ...ir.op import OpPattern, RelationError, no_flops
from ...ir.show import show_shape
from ...ir.types import TensorType, Type
from ..arguments import expr
from ..declare import declare
from ..numeric import Array, np
from ..relation import floating, forward, same_dim, tensor, times
from .boxes import kept

__all__ = ["first_anchor", "proposal"]


class ProposalAttrs(Attrs, key="relay.attrs.ProposalAttrs"):
    scales: Floats = attr((4.0, 8.0, 16.0, 32.0), "The sides of the anchors, in strides.")
    ratios: Floats = attr((0.5, 1.0, 2.0), "Their heights by their widths.")
    feature_stride: int = attr(16, "The distance of two cells, in pixels of the image.")
    threshold: float = attr(0.7, "The overlap beyond which a region is suppressed.")
    rpn_pre_nms_top_n: int = attr(6000, "How many regions, the best, are looked at; not positive: all.")
    rpn_post_nms_top_n: int = attr(300, "How many regions each image gets; they are repeated if fewer stay.")
    rpn_min_size: int = attr(16, "The least side of a region, in pixels of the network's input.")
    iou_loss: bool = attr(False, "Whether predictions move the corners, rather than centre and size.")


def _proposal(attrs: ProposalAttrs, cls_prob: Type, bbox_pred: Type, im_info: Type) -> Type:
    p, b = floating(cls_prob, 0, "cls_prob"), floating(bbox_pred, 1, "bbox_pred")
    info, count = tensor(im_info, 2, "im_info"), len(attrs.scales) * len(attrs.ratios)
    agree = len(p.shape) == len(b.shape) == 4 and all(
        same_dim(p.shape[axis], b.shape[axis]) for axis in (0, 2, 3)
    )
    if not agree or not same_dim(p.shape[1], 2 * count) or not same_dim(b.shape[1], 4 * count):
        raise RelationError(
            f"for {count} anchors a cell cls_prob is (batch, {2 * count}, rows, columns) and bbox_pred "
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
    """The anchor around the first cell: its sides are whole pixels of the unscaled one, times `scale`."""
    width = math.floor(math.sqrt(math.floor(stride * stride / ratio)) + 0.5)
    height = math.floor(width * ratio + 0.5)
    centre, x, y = (stride - 1) / 2, (width * scale - 1) / 2, (height * scale - 1) / 2
    return centre - x, centre - y, centre + x, centre + y


def _predicted(attrs: ProposalAttrs, anchors: Array, moves: Array) -> Array:
    """The `anchors` (n, 4), by predictions (n, 4); a side measures one pixel more than its ends' distance."""
    if attrs.iou_loss:
        return anchors + moves
    size = anchors[:, 2:] - anchors[:, :2] + 1
    centre = anchors[:, :2] + (size - 1) / 2 + moves[:, :2] * size
    half = (np.exp(moves[:, 2:]) * size - 1) / 2
    return np.concatenate([centre - half, centre + half], 1)


def _regions(attrs: ProposalAttrs, scores: Array, moves: Array, info: Array) -> tuple[Array, Array]:
    """Boxes and scores of one image, cell by cell; what is not to be looked at scores -1."""
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


def _proposed(attrs: ProposalAttrs, cls_prob: Array, bbox_pred: Array, im_info: Array) -> Array:
    count = len(attrs.scales) * len(attrs.ratios)
    wanted = attrs.rpn_post_nms_top_n
    y = np.zeros((len(cls_prob), wanted, 5), cls_prob.dtype)
    for n, (scores, moves, info) in enumerate(zip(cls_prob, bbox_pred, im_info, strict=True)):
        boxes, values = _regions(attrs, scores[count:], moves, info)
        order = np.argsort(-values, kind="stable")
        if attrs.rpn_pre_nms_top_n > 0:
            order = order[: attrs.rpn_pre_nms_top_n]
        stay = order[list(kept(boxes[order], attrs.threshold, at_limit=False, pixel=1))]
        if len(stay):
            y[n, :, 0], y[n, :, 1:] = n, boxes[np.resize(stay, wanted)]
    return y.reshape(-1, 5)


_PROPOSAL = declare(
    "vision.proposal",
    "The regions of an image where objects may be, from the scores and moves of anchors in each cell.",
    formula=r"\{\, b_i : \forall j < i \text{ that stays},\ \mathrm{IoU}(b_i, b_j) \le t \,\}",
    relation=forward(
        "Proposal", "{out} = `rpn_post_nms_top_n` regions of 5 numbers for each image of {0}", _proposal
    ),
    inputs=("cls_prob", "bbox_pred", "im_info"),
    attrs=ProposalAttrs,
    pattern=OpPattern.OPAQUE,
    flops=no_flops,
    family="image",
    level=5,
    lenient_in_tvm="It compared neither the anchors nor the cells of cls_prob and bbox_pred.",
    compute=_proposed,
    lowering="regions.proposal",
)


def proposal(
    cls_prob: Expr,
    bbox_pred: Expr,
    im_info: Expr,
    scales: Sequence[float],
    ratios: Sequence[float],
    feature_stride: int,
    threshold: float,
    rpn_pre_nms_top_n: int,
    rpn_post_nms_top_n: int,
    rpn_min_size: int,
    iou_loss: bool,
) -> Expr:
    """Regions (image, left, top, right, bottom), the best first: `rpn_post_nms_top_n` for each image."""
    attrs = ProposalAttrs(
        scales=scales,
        ratios=ratios,
        feature_stride=feature_stride,
        threshold=threshold,
        rpn_pre_nms_top_n=rpn_pre_nms_top_n,
        rpn_post_nms_top_n=rpn_post_nms_top_n,
        rpn_min_size=rpn_min_size,
        iou_loss=iou_loss,
    )
    return Call(_PROPOSAL, [expr(cls_prob), expr(bbox_pred), expr(im_info)], attrs)
