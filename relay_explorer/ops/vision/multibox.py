"""The boxes of single-shot detectors: anchors on a grid, and what a network's predictions make of them."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.attrs import Attrs, Floats, attr
from ...ir.expr import Call, Expr
from ...ir.op import OpPattern, RelationError, no_flops, size_of
from ...ir.show import show_shape
from ...ir.tuple_wrapper import TupleWrapper
from ...ir.types import TensorType, TupleType, Type
from ..arguments import expr
from ..declare import declare
from ..numeric import Array, np
from ..relation import floating, forward, same_dim, times

__all__ = ["multibox_prior", "multibox_transform_loc"]


class MultiBoxPriorAttrs(Attrs, key="relay.attrs.MultiBoxPriorAttrs"):
    sizes: Floats = attr((1.0,), "The sides of the boxes, as parts of the image's.")
    ratios: Floats = attr((1.0,), "Their widths by their heights; the first goes with every size.")
    steps: Floats = attr((-1.0, -1.0), "The distance of two rows and columns of anchors; -1: one a cell.")
    offsets: Floats = attr((0.5, 0.5), "Where in its cell an anchor lies, down and across.")
    clip: bool = attr(False, "Whether boxes are cut at the edges of the image.")


class MultiBoxTransformLocAttrs(Attrs, key="relay.attrs.MultiBoxTransformLocAttrs"):
    clip: bool = attr(True, "Whether boxes are cut at the edges of the image.")
    threshold: float = attr(0.01, "The least probability with which a class is taken.")
    variances: Floats = attr((0.1, 0.1, 0.2, 0.2), "The factors of the four predictions for a box.")
    keep_background: bool = attr(False, "Whether boxes of class 0, the background, are kept.")


def _prior(attrs: MultiBoxPriorAttrs, data: Type) -> Type:
    x = floating(data, 0, "data")
    if len(x.shape) != 4:
        raise RelationError(f"the data must be (batch, channels, rows, columns), not {x}", culprits=(0,))
    for name in ("steps", "offsets"):
        if len(attrs[name]) != 2:
            raise RelationError(f"{name}={list(attrs[name])} must be 2 numbers, down and across")
    if not attrs.sizes or not attrs.ratios or min(*attrs.sizes, *attrs.ratios) <= 0:
        raise RelationError("sizes and ratios must each hold at least one number, all of them positive")
    cells = times(x.shape[2], x.shape[3])
    return TensorType.of((1, times(cells, len(attrs.sizes) + len(attrs.ratios) - 1), 4), x.dtype)


def _anchors(attrs: MultiBoxPriorAttrs, x: Array) -> Array:
    rows, columns = x.shape[2:]
    down, across = [
        step if step > 0 else 1 / max(extent, 1)
        for step, extent in zip(attrs.steps, (rows, columns), strict=True)
    ]
    y = (np.arange(rows) + attrs.offsets[0]) * down
    x0 = (np.arange(columns) + attrs.offsets[1]) * across
    centres = np.stack(np.meshgrid(x0, y), -1)[:, :, None]  # rows, columns, 1, (x, y)
    sizes = np.array([*attrs.sizes, *[attrs.sizes[0]] * (len(attrs.ratios) - 1)])
    ratios = np.sqrt([*[1.0] * len(attrs.sizes), *attrs.ratios[1:]])
    half = np.stack([sizes * rows / max(columns, 1) * ratios, sizes / ratios], -1) / 2
    boxes = np.concatenate([centres - half, centres + half], -1).reshape(1, -1, 4)
    return (np.clip(boxes, 0, 1) if attrs.clip else boxes).astype(x.dtype)


def _transform(attrs: MultiBoxTransformLocAttrs, cls_prob: Type, loc_pred: Type, anchor: Type) -> Type:
    p, loc = floating(cls_prob, 0, "cls_prob"), floating(loc_pred, 1, "loc_pred")
    a = floating(anchor, 2, "anchor")
    if len(attrs.variances) != 4:
        raise RelationError(f"variances={list(attrs.variances)} must be 4 numbers: x, y, width, height")
    if len(p.shape) != 3 or len(loc.shape) != 2 or len(a.shape) != 3:
        raise RelationError(
            "cls_prob is (batch, classes, anchors), loc_pred (batch, 4 · anchors) and anchor (1, anchors, "
            f"4), not {show_shape(p.shape)}, {show_shape(loc.shape)} and {show_shape(a.shape)}",
            culprits=(0, 1, 2),
        )
    count = p.shape[2]
    if not same_dim(count, a.shape[1]) or not same_dim(a.shape[2], 4):
        raise RelationError(
            f"cls_prob speaks of {count} anchors, but anchor has the shape {show_shape(a.shape)}",
            culprits=(0, 2),
        )
    if not same_dim(p.shape[0], loc.shape[0]) or not same_dim(times(count, 4), loc.shape[1]):
        raise RelationError(
            f"for {count} anchors loc_pred must be (batch, {times(count, 4)}), not {show_shape(loc.shape)}",
            "give 4 numbers for each anchor",
            culprits=(0, 1),
        )
    return TupleType(
        [TensorType.of((p.shape[0], a.shape[1], 6), p.dtype), TensorType.of((p.shape[0],), "int32")]
    )


def _moved(anchors: Array, loc: Array, attrs: MultiBoxTransformLocAttrs) -> Array:
    """The `anchors` (n, 4), by the predictions `loc` (batch, n, 4) of centre and logarithmic size."""
    size, centre = anchors[:, 2:] - anchors[:, :2], (anchors[:, 2:] + anchors[:, :2]) / 2
    steps = loc * np.asarray(attrs.variances)
    middle, half = steps[..., :2] * size + centre, np.exp(steps[..., 2:]) * size / 2
    boxes = np.concatenate([middle - half, middle + half], -1)
    return np.clip(boxes, 0, 1) if attrs.clip else boxes


def _detected(
    attrs: MultiBoxTransformLocAttrs, cls_prob: Array, loc_pred: Array, anchor: Array
) -> tuple[Array, Array]:
    batch, _, count = cls_prob.shape
    first = 0 if attrs.keep_background else 1
    scores = cls_prob[:, first:].max(1, initial=-1)
    classes = np.zeros((batch, count), "int64")
    if cls_prob.shape[1] > first:
        classes = cls_prob[:, first:].argmax(1) + first
    classes[(scores < attrs.threshold) | (scores <= -1)] = 0
    boxes = _moved(anchor[0].astype("float64"), loc_pred.reshape(batch, count, 4), attrs)
    rows = np.concatenate([(classes - first)[..., None], scores[..., None], boxes], -1)
    found = np.zeros((batch, count, 6), cls_prob.dtype)
    counts = np.zeros(batch, "int32")
    for n in range(batch):
        here = rows[n][(classes[n] > 0) | attrs.keep_background]
        found[n, : len(here)], counts[n] = here, len(here)
    return found, counts


_MULTIBOX_PRIOR = declare(
    "vision.multibox_prior",
    "Anchor boxes of several sizes and shapes around the centre of each cell of an image.",
    formula=r"y_{i j k} = (c_{i j} - \tfrac12 s_k,\ c_{i j} + \tfrac12 s_k)",
    relation=forward(
        "MultiBoxPrior", "{out} = 1 × boxes for all cells of {0} × (left, top, right, bottom)", _prior
    ),
    attrs=MultiBoxPriorAttrs,
    pattern=OpPattern.OPAQUE,
    flops=lambda attrs, inputs, output: size_of(output),
    family="image",
    level=5,
    lenient_in_tvm="It did not look at the numbers of its attributes.",
    compute=_anchors,
    lowering="regions.multibox_prior",
    gradient="elementwise.none",
)
_MULTIBOX_TRANSFORM_LOC = declare(
    "vision.multibox_transform_loc",
    "The detections that predictions for anchor boxes make: class, score and box of each.",
    formula=r"c' = c + p_{xy} v_{xy}\, s, \quad s' = s\, e^{p_{wh} v_{wh}}",
    relation=forward(
        "MultiBoxTransformLoc",
        "{out} = (detections of 6 numbers for the anchors of {0}, how many are valid)",
        _transform,
    ),
    inputs=("cls_prob", "loc_pred", "anchor"),
    attrs=MultiBoxTransformLocAttrs,
    pattern=OpPattern.OPAQUE,
    flops=no_flops,
    family="image",
    level=5,
    compute=_detected,
    lowering="regions.multibox_transform_loc",
)


def multibox_prior(
    data: Expr,
    sizes: Sequence[float] = (1.0,),
    ratios: Sequence[float] = (1.0,),
    steps: Sequence[float] = (-1.0, -1.0),
    offsets: Sequence[float] = (0.5, 0.5),
    clip: bool = False,
) -> Expr:
    """Boxes (1, rows · columns · (sizes + ratios - 1), 4) over `data` (batch, channels, rows, columns)."""
    attrs = MultiBoxPriorAttrs(sizes=sizes, ratios=ratios, steps=steps, offsets=offsets, clip=clip)
    return Call(_MULTIBOX_PRIOR, [expr(data)], attrs)


def multibox_transform_loc(
    cls_prob: Expr,
    loc_pred: Expr,
    anchor: Expr,
    clip: bool = True,
    threshold: float = 0.01,
    variances: Sequence[float] = (0.1, 0.1, 0.2, 0.2),
    keep_background: bool = False,
) -> TupleWrapper:
    """Detections (batch, anchors, 6), each (class, score, left, top, right, bottom), and how many are valid.

    What is beyond the valid ones is 0.
    """
    attrs = MultiBoxTransformLocAttrs(
        clip=clip, threshold=threshold, variances=variances, keep_background=keep_background
    )
    call = Call(_MULTIBOX_TRANSFORM_LOC, [expr(cls_prob), expr(loc_pred), expr(anchor)], attrs)
    return TupleWrapper(call, 2)
