"""Operators of single-shot detectors: anchors on a grid, and detections from a network's predictions."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Annotated
from typing import Any as Anything

from ...ir.attrs import attr
from ...ir.declaration import NotApplicable, Precision
from ...ir.expr import Call
from ...ir.op import RelationError, no_flops, size_of
from ...ir.show import show_shape
from ...ir.tuple_wrapper import TupleWrapper
from ...ir.types import TensorType, TupleType, Type
from ..arguments import Operand
from ..examples import IMAGE, t
from ..gradient_tools import ZERO
from ..layouts.layout import NO_LAYOUT_RULE
from ..numeric import Array, np
from ..operator import operator
from ..relation import floating, forward, same_dim, times
from ..te.imperative import Buffers, each, int32, local, loops, when
from ..te.library import te
from ..te.lowered import Lowered
from ..te.tensors import Tensor, Value, cast, clamp, dims, dtype_of, number, select, some, stage
from .lowering import REAL, is_at, real, table

__all__ = ["multibox_prior", "multibox_transform_loc"]


def _prior(attrs: Anything, data: Type) -> Type:
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


def _anchors(attrs: Anything, x: Array) -> Array:
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


def _transform(attrs: Anything, cls_prob: Type, loc_pred: Type, anchor: Type) -> Type:
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
            f"cls_prob has {count} anchors, but anchor has the shape {show_shape(a.shape)}",
            culprits=(0, 2),
        )
    if not same_dim(p.shape[0], loc.shape[0]) or not same_dim(times(count, 4), loc.shape[1]):
        raise RelationError(
            f"for {count} anchors loc_pred must be (batch, {times(count, 4)}), not {show_shape(loc.shape)}",
            "give 4 elements for each anchor",
            culprits=(0, 1),
        )
    return TupleType(
        [TensorType.of((p.shape[0], a.shape[1], 6), p.dtype), TensorType.of((p.shape[0],), "int32")]
    )


def _moved(anchors: Array, loc: Array, attrs: Anything) -> Array:
    """Move the `anchors` (n, 4) by the predictions `loc` (batch, n, 4) of centre and logarithmic size."""
    size, centre = anchors[:, 2:] - anchors[:, :2], (anchors[:, 2:] + anchors[:, :2]) / 2
    steps = loc * np.asarray(attrs.variances)
    middle, half = steps[..., :2] * size + centre, np.exp(steps[..., 2:]) * size / 2
    boxes = np.concatenate([middle - half, middle + half], -1)
    return np.clip(boxes, 0, 1) if attrs.clip else boxes


def _detected(attrs: Anything, cls_prob: Array, loc_pred: Array, anchor: Array) -> tuple[Array, Array]:
    batch, _, count = cls_prob.shape
    first = 0 if attrs.keep_background else 1
    scores = cls_prob[:, first:].max(1, initial=-1)
    classes = np.zeros((batch, count), "int64")
    if cls_prob.shape[1] > first:
        classes = cls_prob[:, first:].argmax(1) + first
    classes[(scores < attrs.threshold) | (scores <= -1)] = 0
    boxes = _moved(anchor[0].astype("float64"), loc_pred.reshape(batch, count, 4), attrs)
    rows = np.concatenate([(classes - first)[..., None], scores[..., None], boxes], -1)
    detections = np.zeros((batch, count, 6), cls_prob.dtype)
    counts = np.zeros(batch, "int32")
    for n in range(batch):
        here = rows[n][(classes[n] > 0) | attrs.keep_background]
        detections[n, : len(here)], counts[n] = here, len(here)
    return detections, counts


def _multibox_prior_te(call: Lowered) -> list[Tensor]:
    x, attrs = call.inputs[0], call.attrs
    rows, columns = dims(x)[2:]
    sizes = [*attrs.sizes, *[attrs.sizes[0]] * (len(attrs.ratios) - 1)]
    ratios = [sqrt(ratio) for ratio in [*[1.0] * len(attrs.sizes), *attrs.ratios[1:]]]
    each_cell = len(sizes)

    def centre(at: Value, axis: int, extent: Anything) -> Value:
        step = attrs.steps[axis]
        distance = real(step) if step > 0 else real(1) / real(extent)
        return (at.astype(REAL) + real(attrs.offsets[axis])) * distance

    def value(_: Value, box: Value, k: Value) -> Value:
        cell, which = te.floordiv(box, each_cell), te.floormod(box, each_cell)
        i, j = te.floordiv(cell, columns), te.floormod(cell, columns)
        size, ratio = table(sizes, which), table(ratios, which)
        across = is_at(te.floormod(k, 2), 0)
        wide = size * real(rows) / real(columns) * ratio
        half = select(across, wide, size / ratio) * real(0.5)
        middle = select(across, centre(j, 1, columns), centre(i, 0, rows))
        corner = select(k < 2, middle - half, middle + half)
        return cast(clamp(corner, real(0), real(1)) if attrs.clip else corner, dtype_of(x))

    return [stage((1, rows * columns * each_cell, 4), value, call.name)]


def _multibox_transform_loc_te(call: Lowered) -> list[Tensor]:
    """Write the valid detections to the front, in their order; the elements after them are 0."""
    (probabilities, loc, anchor), attrs = call.inputs, call.attrs
    images, classes, count = dims(probabilities)
    dtype, first = dtype_of(probabilities), 0 if attrs.keep_background else 1

    def coordinate(anchors: Anything, moves: Anything, n: Value, j: Value, k: int) -> Value:
        axis = k % 2
        low, high = (anchors[0, j, axis + side].astype(REAL) for side in (0, 2))
        move, grow = (
            moves[n, j * 4 + axis + side].astype(REAL) * real(attrs.variances[axis + side]) for side in (0, 2)
        )
        middle = move * (high - low) + (high + low) * real(0.5)
        half = te.exp(grow) * (high - low) * real(0.5)
        corner = middle - half if k < 2 else middle + half
        return clamp(corner, real(0), real(1)) if attrs.clip else corner

    def body(ins: Buffers, outs: Buffers) -> None:
        (score, moves, anchors), (detections, counts) = ins, outs
        with each(images) as n:
            counts[n] = number(0, "int32")
            with each(count) as j:
                for k in range(6):
                    detections[n, j, k] = number(0, dtype)
            with each(count) as j:
                best, kind = local(1, REAL), local(1, "int32")
                best[0], kind[0] = real(-1), number(0, "int32")
                with each(classes - first) as c, when(score[n, c + first, j].astype(REAL) > best[0]):
                    best[0], kind[0] = score[n, c + first, j].astype(REAL), int32(c + first)
                with when(best[0] < real(attrs.threshold)):
                    kind[0] = number(0, "int32")
                with when(some([kind[0] > 0, number(attrs.keep_background, "bool")])):
                    row = [kind[0] - first, best[0]] + [coordinate(anchors, moves, n, j, k) for k in range(4)]
                    for k, part in enumerate(row):
                        detections[n, counts[n], k] = part.astype(dtype)
                    counts[n] = counts[n] + 1

    results = [((images, count, 6), dtype), ((images,), "int32")]
    return loops(results, [probabilities, loc, anchor], body, call.name)


@operator(
    "vision.multibox_prior",
    description="Generates anchor boxes of several sizes and aspect ratios, centred on each image cell.",
    formula=r"y_{i j k} = (c_{i j} - \tfrac12 s_k,\ c_{i j} + \tfrac12 s_k)",
    family="image",
    level=5,
    relation=forward(
        "MultiBoxPrior", "{out} = 1 × boxes for all cells of {0} × (left, top, right, bottom)", _prior
    ),
    flops=lambda attrs, inputs, output: size_of(output),
    reference=_anchors,
    gradient=ZERO,
    lowering=_multibox_prior_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(IMAGE, (0.5, 0.25), (1, 2)),
    attrs_key="relay.attrs.MultiBoxPriorAttrs",
    lenient_in_tvm="It did not check the values of its attributes.",
)
def multibox_prior(
    data: Operand,
    sizes: Annotated[
        Sequence[float], attr((1.0,), "The sides of the boxes, as fractions of the image's.", kind="Floats")
    ] = (1.0,),
    ratios: Annotated[
        Sequence[float],
        attr(
            (1.0,),
            "The ratios of their widths to their heights; the first is combined with every size.",
            kind="Floats",
        ),
    ] = (1.0,),
    steps: Annotated[
        Sequence[float],
        attr(
            (-1.0, -1.0), "The distance of two rows and columns of anchors; -1: one per cell.", kind="Floats"
        ),
    ] = (-1.0, -1.0),
    offsets: Annotated[
        Sequence[float], attr((0.5, 0.5), "Where in its cell an anchor lies, down and across.", kind="Floats")
    ] = (0.5, 0.5),
    clip: Annotated[bool, attr(False, "Whether boxes are cut at the edges of the image.")] = False,
) -> Call:
    """Build boxes (1, rows · columns · (sizes + ratios - 1), 4) over `data` (batch, channels, rows,
    columns).
    """


@operator(
    "vision.multibox_transform_loc",
    description="Decodes predictions for anchor boxes into detections, each with its class, score and box.",
    formula=r"c' = c + p_{xy} v_{xy}\, s, \quad s' = s\, e^{p_{wh} v_{wh}}",
    family="image",
    level=5,
    relation=forward(
        "MultiBoxTransformLoc",
        "{out} = (detections of 6 elements for the anchors of {0}, the number of valid ones)",
        _transform,
    ),
    flops=no_flops,
    reference=_detected,
    gradient=NotApplicable("the class of a box does not change smoothly"),
    lowering=_multibox_transform_loc_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(t(1, 3, 5, name="p"), t(1, 20, name="loc"), t(1, 5, 4, name="a")),
    attrs_key="relay.attrs.MultiBoxTransformLocAttrs",
    results=2,
)
def multibox_transform_loc(
    cls_prob: Operand,
    loc_pred: Operand,
    anchor: Operand,
    clip: Annotated[bool, attr(True, "Whether boxes are cut at the edges of the image.")] = True,
    threshold: Annotated[float, attr(0.01, "The least probability at which a class is chosen.")] = 0.01,
    variances: Annotated[
        Sequence[float],
        attr((0.1, 0.1, 0.2, 0.2), "The factors of the four predictions for a box.", kind="Floats"),
    ] = (0.1, 0.1, 0.2, 0.2),
    keep_background: Annotated[
        bool, attr(False, "Whether boxes of class 0, the background, are kept.")
    ] = False,
) -> TupleWrapper:
    """Return detections (batch, anchors, 6), each (class, score, left, top, right, bottom), and the number of
    valid ones.

    The elements beyond the valid detections are 0.
    """
