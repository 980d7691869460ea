"""Boxes given by two corners, (left, top, right, bottom), and their intersection over union."""

from __future__ import annotations

from collections.abc import Iterator

from ..numeric import Array, np


def ordered(boxes: Array) -> Array:
    """Order the coordinates of `boxes` (…, 4) so that the lesser ones come first."""
    first, second = boxes[..., :2], boxes[..., 2:]
    return np.concatenate([np.minimum(first, second), np.maximum(first, second)], -1)


def overlaps(box: Array, others: Array, pixel: float = 0.0) -> Array:
    """Return the intersection over union of `box` with each of `others` (n, 4); 0 for empty boxes.

    `pixel` is added to the difference of a side's ends to get its length: 1 where corners are whole pixels.
    """
    low, high = np.maximum(box[:2], others[:, :2]), np.minimum(box[2:], others[:, 2:])
    shared = np.maximum(high - low + pixel, 0).prod(-1)
    areas = (others[:, 2:] - others[:, :2] + pixel).prod(-1)
    union = (box[2:] - box[:2] + pixel).prod() + areas - shared
    return np.where(union > 0, shared / np.where(union > 0, union, 1), 0)


def kept(boxes: Array, limit: float, *, at_limit: bool, pixel: float = 0.0) -> Iterator[int]:
    """Yield the indices of the `boxes` (n, 4), best first, that overlap no earlier retained box by more than
    `limit`.

    `at_limit` is whether an overlap of exactly `limit` is too much.
    """
    alive = np.ones(len(boxes), bool)
    for index in range(len(boxes)):
        if alive[index]:
            yield index
            shared = overlaps(boxes[index], boxes[index + 1 :], pixel)
            alive[index + 1 :] &= ~(shared >= limit if at_limit else shared > limit)
