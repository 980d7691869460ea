"""Operators on boxes and regions, against the definitions, written out element by element."""

from __future__ import annotations

import math
from typing import Any as Anything

import numpy as np
import pytest
import torch

from relay_explorer.execute import ExecutionError
from relay_explorer.relay import vision
from tests.ops.meanings import Array, close, evaluate, numbers, rng


def share(a: Anything, b: Anything, pixel: float = 0) -> float:
    """How much of their union two boxes have in common."""
    (al, at, ar, ab), (bl, bt, br, bb) = map(float, a), map(float, b)
    wide, high = min(ar, br) - max(al, bl) + pixel, min(ab, bb) - max(at, bt) + pixel
    both = max(wide, 0) * max(high, 0)
    union = (ar - al + pixel) * (ab - at + pixel) + (br - bl + pixel) * (bb - bt + pixel) - both
    return both / union if union > 0 else 0


def boxes(random: np.random.Generator, *extents: int) -> Array:
    """Boxes of about a third of the unit square."""
    low = random.random((*extents, 2)) * 0.6
    return np.concatenate([low, low + 0.1 + random.random((*extents, 2)) * 0.5], -1).astype("float32")


# Anchors


@pytest.mark.parametrize("clip", [False, True])
def test_multibox_prior(clip: bool) -> None:
    sizes, ratios = (0.6, 0.3), (1.0, 2.0, 0.5)
    found = evaluate(
        vision.multibox_prior, np.zeros((2, 3, 2, 4), "float32"), sizes=sizes, ratios=ratios,
        steps=(-1, 0.2), offsets=(0.25, 0.5), clip=clip,
    )  # fmt: skip
    wanted = []
    for row in range(2):
        for column in range(4):
            y, x = (row + 0.25) / 2, (column + 0.5) * 0.2
            for size, ratio in [(0.6, 1), (0.3, 1), (0.6, 2), (0.6, 0.5)]:
                w, h = size * 2 / 4 * math.sqrt(ratio) / 2, size / math.sqrt(ratio) / 2
                box = [x - w, y - h, x + w, y + h]
                wanted.append([min(max(v, 0), 1) for v in box] if clip else box)
    close(found, np.array([wanted], "float32"))


@pytest.mark.parametrize("keep", [False, True])
def test_multibox_transform_loc(keep: bool) -> None:
    random = rng("loc", keep)
    probs = random.random((2, 3, 6)).astype("float32")
    moves, anchors = numbers(random, (2, 24)), boxes(random, 1, 6)
    found, counts = evaluate(
        vision.multibox_transform_loc, probs, moves, anchors, threshold=0.6, keep_background=keep, clip=False
    )
    for n in range(2):
        rows = []
        for a in range(6):
            first = 0 if keep else 1
            score = float(probs[n, first:, a].max())
            kind = int(probs[n, first:, a].argmax()) + first
            if kind > 0 and score < 0.6:
                kind = 0
            if not keep and kind == 0:
                continue
            left, top, right, bottom = anchors[0, a].astype("float64")
            px, py, pw, ph = moves[n, 4 * a : 4 * a + 4].astype("float64") * [0.1, 0.1, 0.2, 0.2]
            x, y = (left + right) / 2 + px * (right - left), (top + bottom) / 2 + py * (bottom - top)
            w, h = math.exp(pw) * (right - left) / 2, math.exp(ph) * (bottom - top) / 2
            rows.append([kind - first, score, x - w, y - h, x + w, y + h])
        assert counts[n] == len(rows)
        close(found[n, : len(rows)], np.array(rows, "float32").reshape(-1, 6))


# Suppression


@pytest.mark.parametrize("has_class", [False, True])
def test_get_valid_counts(has_class: bool) -> None:
    random = rng("valid", has_class)
    x = numbers(random, (3, 20, 6))
    counts, rows, places = evaluate(lambda v: vision.get_valid_counts(v, 0.2, 0 if has_class else -1, 1), x)
    for n in range(3):
        good = [k for k in range(20) if x[n, k, 1] > 0.2 and (not has_class or x[n, k, 0] >= 0)]
        assert counts[n] == len(good)
        assert places[n].tolist() == good + [-1] * (20 - len(good))
        close(rows[n, : len(good)], x[n, good])
        assert (rows[n, len(good) :] == -1).all()


def suppressed(rows: Array, limit: float, most: int, top: int, force: bool) -> list[int]:
    """Which rows (class, score, box) stay, best first, by the definition."""
    order = sorted(range(len(rows)), key=lambda k: -rows[k, 1])[: top if top > 0 else None]
    stay: list[int] = []
    for k in order:
        rivals = [j for j in stay if force or rows[j, 0] == rows[k, 0]]
        if len(stay) != most and all(share(rows[k, 2:], rows[j, 2:]) < limit for j in rivals):
            stay.append(k)
    return stay


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize(("most", "top"), [(-1, -1), (3, -1), (-1, 6), (2, 6)])
def test_non_max_suppression(most: int, top: int, force: bool) -> None:
    random = rng(most, top, force)
    x = np.concatenate(
        [random.integers(0, 2, (2, 12, 1)), random.random((2, 12, 1)) + 0.1, boxes(random, 2, 12)], -1
    ).astype("float32")
    valid, numbered = np.array([12, 9], "int32"), (np.arange(24).reshape(2, 12) * 10).astype("int32")
    named: dict[str, Anything] = {"iou_threshold": 0.3, "force_suppress": force, "top_k": top}
    named["max_output_size"] = most
    rows = evaluate(vision.non_max_suppression, x, valid, numbered, return_indices=False, **named)
    front = evaluate(
        vision.non_max_suppression, x, valid, numbered, return_indices=False, invalid_to_bottom=True, **named
    )
    places, counts = evaluate(vision.non_max_suppression, x, valid, numbered, **named)
    for n in range(2):
        stay = suppressed(x[n, : valid[n]], 0.3, most, top, force)
        assert 1 < len(stay) < valid[n]
        close(rows[n][rows[n, :, 1] > 0], x[n, stay])
        assert (rows[n][rows[n, :, 1] <= 0] == -1).all()
        close(front[n, : len(stay)], x[n, stay])
        assert (front[n, len(stay) :] == -1).all()
        assert places[n].tolist() == [numbered[n, k] for k in stay] + [-1] * (12 - len(stay))
        assert counts[n] == [len(stay)]


def test_without_a_limit_nothing_is_suppressed() -> None:
    x = np.concatenate([np.zeros((1, 4, 1)), np.full((1, 4, 1), 0.5), np.ones((1, 4, 4))], -1)
    found = evaluate(
        vision.non_max_suppression, x, np.array([3]), np.array([[0, 1, 2, 3]]),
        iou_threshold=0.0, return_indices=False,
    )  # fmt: skip
    close(found[0, :3], x[0, :3])
    assert (found[0, 3] == -1).all()


def test_corners_may_come_in_any_order() -> None:
    x = np.array([[[0, 0.9, 0, 0, 2, 2], [0, 0.8, 2, 2, 0, 0]]], "float32")
    places, counts = evaluate(vision.non_max_suppression, x, np.array([2]), np.array([[0, 1]]))
    assert places.tolist() == [[0, -1]]
    assert counts.tolist() == [[1]]


@pytest.mark.parametrize("most", [-1, 2])
def test_suppression_class_by_class(most: int) -> None:
    random = rng("all", most)
    corners, scores = boxes(random, 2, 9), random.random((2, 3, 9)).astype("float32")
    wanted = []
    for n in range(2):
        for c in range(3):
            rows = np.concatenate([np.zeros((9, 1)), scores[n, c][:, None], corners[n]], -1)
            good = np.flatnonzero(scores[n, c] > 0.25)
            wanted += [(n, c, int(good[k])) for k in suppressed(rows[good], 0.4, most, -1, True)]
    named = {"max_output_boxes_per_class": most, "iou_threshold": 0.4, "score_threshold": 0.25}
    rows, count = evaluate(vision.all_class_non_max_suppression, corners, scores, **named)
    assert count.tolist() == [len(wanted)]
    assert rows[: len(wanted)].tolist() == [list(one) for one in wanted]
    assert not rows[len(wanted) :].any()
    rows, values, counts = evaluate(
        vision.all_class_non_max_suppression, corners, scores, output_format="tensorflow", **named
    )
    for n in range(2):
        here = [(c, k) for image, c, k in wanted if image == n]
        assert counts[n] == len(here)
        assert rows[n, : len(here)].tolist() == [list(one) for one in here]
        close(values[n, : len(here)], np.array([scores[n, c, k] for c, k in here]))


def test_suppression_as_in_tflite() -> None:
    random = rng("regular")
    corners, scores = boxes(random, 2, 9), random.random((2, 9, 3)).astype("float32")
    found = evaluate(
        vision.regular_non_max_suppression, corners, scores, max_detections_per_class=3, max_detections=4,
        num_classes=2, iou_threshold=0.4, score_threshold=0.25,
    )  # fmt: skip
    for n in range(2):
        stay = []
        for c in range(2):
            rows = np.concatenate([np.zeros((9, 1)), scores[n, :, c + 1 : c + 2], corners[n]], -1)
            good = np.flatnonzero(scores[n, :, c + 1] >= 0.25)
            stay += [(c, int(good[k])) for k in suppressed(rows[good], 0.4, 3, -1, True)]
        best = sorted(stay, key=lambda one: -scores[n, one[1], one[0] + 1])[:4]
        assert found[3][n] == len(best)
        close(found[0][n, : len(best)], corners[n, [k for _, k in best]])
        assert found[1][n, : len(best)].tolist() == [c for c, _ in best]
        close(found[2][n, : len(best)], np.array([scores[n, k, c + 1] for c, k in best]))
        assert not found[2][n, len(best) :].any()


# Regions


def sampled(image: Array, y: float, x: float) -> Array:
    """The image (channels, rows, columns) interpolated at a place; 0 beyond a whole element outside."""
    rows, columns = image.shape[1:]
    if not (-1 <= y <= rows and -1 <= x <= columns):
        return np.zeros(len(image))
    y, x = min(max(y, 0), rows - 1), min(max(x, 0), columns - 1)
    value = np.zeros(len(image))
    for i in {int(y), min(int(y) + 1, rows - 1)}:
        for j in {int(x), min(int(x) + 1, columns - 1)}:
            value += image[:, i, j] * (1 - abs(y - i)) * (1 - abs(x - j))
    return value


def regions(random: np.random.Generator, images: int) -> Array:
    low = random.random((6, 2)) * 8 - 2
    corners = np.concatenate([low, low + random.random((6, 2)) * 12 - 1], 1)
    return np.concatenate([random.integers(0, images, (6, 1)), corners], 1).astype("float32")


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("ratio", [-1, 1, 3])
def test_roi_align(ratio: int, mode: str, layout: str) -> None:
    random = rng(ratio, mode)
    x, rois = numbers(random, (2, 3, 6, 8)), regions(random, 2)
    data = x.transpose(0, 2, 3, 1).copy() if layout == "NHWC" else x
    found = evaluate(
        vision.roi_align, data, rois, pooled_size=(2, 3), spatial_scale=0.5, sample_ratio=ratio, mode=mode,
        layout=layout,
    )  # fmt: skip
    wanted = np.zeros((6, 3, 2, 3))
    for n, (image, *corners) in enumerate(rois.astype("float64")):
        left, top, right, bottom = [v * 0.5 for v in corners]
        high, wide = max(bottom - top, 1) / 2, max(right - left, 1) / 3
        down, across = (ratio, ratio) if ratio > 0 else (math.ceil(high), math.ceil(wide))
        for i in range(2):
            for j in range(3):
                places = [
                    (top + (i + (a + 0.5) / down) * high, left + (j + (b + 0.5) / across) * wide)
                    for a in range(down)
                    for b in range(across)
                ]
                values = np.stack([sampled(x[int(image)], *place) for place in places])
                wanted[n, :, i, j] = values.mean(0) if mode == "avg" else values.max(0)
    close(found, (wanted.transpose(0, 2, 3, 1) if layout == "NHWC" else wanted).astype("float32"))


def test_roi_pool() -> None:
    random = rng("pool")
    x, rois = numbers(random, (2, 3, 6, 8)), regions(random, 2)
    found = evaluate(vision.roi_pool, x, rois, pooled_size=(2, 3), spatial_scale=0.5)
    for n, (image, *corners) in enumerate(rois.astype("float64")):
        left, top, right, bottom = [math.floor(abs(v / 2) + 0.5) * (1 if v > 0 else -1) for v in corners]
        high, wide = max(bottom - top + 1, 1), max(right - left + 1, 1)
        for i in range(2):
            for j in range(3):
                rows = range(top + math.floor(i * high / 2), top + math.ceil((i + 1) * high / 2))
                columns = range(left + math.floor(j * wide / 3), left + math.ceil((j + 1) * wide / 3))
                cell = [x[int(image), :, r, c] for r in rows for c in columns if 0 <= r < 6 and 0 <= c < 8]
                close(found[n, :, i, j], np.max(cell, 0) if cell else np.zeros(3))


def test_a_region_of_an_image_that_is_not_there_is_an_error() -> None:
    rois = np.array([[2, 0, 0, 1, 1]], "float32")
    for pool in (vision.roi_align, vision.roi_pool):
        with pytest.raises(ExecutionError, match="a region refers to image 2, but there are 2"):
            evaluate(
                pool, np.zeros((2, 3, 4, 4)), rois.astype("float64"), pooled_size=(1, 1), spatial_scale=1.0
            )


def test_what_is_empty_stays_empty() -> None:
    nothing, region = np.zeros((1, 2, 0, 3), "float32"), np.zeros((2, 5), "float32")
    for pool in (vision.roi_align, vision.roi_pool):
        assert not evaluate(pool, nothing, region, pooled_size=(2, 2), spatial_scale=1.0).any()
    assert evaluate(vision.multibox_prior, nothing).shape == (1, 0, 4)
    empty = np.zeros((2, 0, 6), "float32")
    places, counts = evaluate(
        vision.non_max_suppression, empty, np.zeros(2, "int32"), np.zeros((2, 0), "int32")
    )
    assert places.shape == (2, 0)
    assert counts.tolist() == [[0], [0]]


@pytest.mark.parametrize("stride", [1, 2, 3])
def test_yolo_reorg(stride: int) -> None:
    x = numbers(rng(stride), (2, 2 * stride**2, 2 * stride, 3 * stride))
    wide = torch.tensor(x).reshape(2, 2, 2 * stride * stride, 3 * stride * stride)
    blocks = torch.nn.functional.pixel_unshuffle(wide, stride)  # channel first, then the place in the block
    wanted = blocks.reshape(2, 2, stride**2, 2 * stride, 3 * stride).transpose(1, 2)
    close(evaluate(vision.yolo_reorg, x, stride=stride), wanted.reshape(2, -1, 2, 3))


def proposals(
    p: Array, moves: Array, info: Array, scales: list[float], ratios: list[float], corners: bool
) -> list[Array]:
    """The proposed boxes of one image, stride 8, overlap 0.5, least side 4, of the 15 best."""
    count, (high, wide, scale) = len(scales) * len(ratios), info.tolist()
    found = []
    for row in range(p.shape[1]):
        for column in range(p.shape[2]):
            for k, (ratio, size) in enumerate([(r, s) for r in ratios for s in scales]):
                w: float = math.floor(math.sqrt(math.floor(64 / ratio)) + 0.5)
                h: float = math.floor(w * ratio + 0.5) * size
                w *= size
                x, y = 3.5 + 8 * column, 3.5 + 8 * row
                a, b, c, d = moves[4 * k : 4 * k + 4, row, column]
                if corners:
                    box = [x - (w - 1) / 2 + a, y - (h - 1) / 2 + b, x + (w - 1) / 2 + c, y + (h - 1) / 2 + d]
                else:
                    x, y, w, h = x + a * w, y + b * h, w * math.exp(c), h * math.exp(d)
                    box = [x - (w - 1) / 2, y - (h - 1) / 2, x + (w - 1) / 2, y + (h - 1) / 2]
                box = [min(max(v, 0), edge - 1) for v, edge in zip(box, (wide, high) * 2, strict=True)]
                score = p[count + k, row, column] if 8 * row + 8 <= high and 8 * column + 8 <= wide else -1
                least = 4 * scale
                if box[2] - box[0] + 1 < least or box[3] - box[1] + 1 < least:
                    score = -1
                    box = [v + e for v, e in zip(box, np.array([-1, -1, 1, 1]) * least / 2, strict=True)]
                found.append((score, box))
    stay: list[Array] = []
    for _, box in sorted(found, key=lambda one: -one[0])[:15]:
        if all(share(box, other, 1) <= 0.5 for other in stay):
            stay.append(np.array(box))
    return stay


@pytest.mark.parametrize("corners", [False, True])
def test_proposal(corners: bool) -> None:
    random = rng("proposal", corners)
    p = random.random((2, 8, 3, 4)).astype("float64")
    moves = random.normal(size=(2, 16, 3, 4)) * (3 if corners else 0.4)
    info = np.array([[24, 32, 1.0], [20, 27, 0.5]])
    scales, ratios = [1.0, 2.0], [0.5, 1.0]
    found = evaluate(
        lambda a, b, c: vision.proposal(a, b, c, scales, ratios, 8, 0.5, 15, 6, 4, corners), p, moves, info
    ).reshape(2, 6, 5)
    for n in range(2):
        stay = proposals(p[n], moves[n], info[n], scales, ratios, corners)
        assert (found[n, :, 0] == n).all()
        close(found[n, :, 1:], np.array([stay[k % len(stay)] for k in range(6)]), 1e-9)
