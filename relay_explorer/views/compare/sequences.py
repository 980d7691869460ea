"""Find a long common subsequence of two sequences in nearly linear time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

from ..pipeline.alignment import in_order

Pair = tuple[int, int]
EXACT = 10_000  # cells of the table for an exact answer
PATIENCE = 40  # times that all elements may be looked at, before repeated ones are paired in order
CONTEXTS = (4, 2, 1, 0)  # neighbors on each side that make an element unique


def common(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Pair]:
    """Return pairs of indices of equal elements, both increasing.

    As in a patience diff, equal ends are paired first, then elements that are unique on both sides, with
    their neighbors; the gaps between them are aligned in the same way. A small gap is aligned exactly.
    """
    pairs: list[Pair] = []
    budget = PATIENCE * (len(a) + len(b)) + EXACT
    gaps = [(0, len(a), 0, len(b))]
    while gaps:
        a0, a1, b0, b1 = gaps.pop()
        while a0 < a1 and b0 < b1 and a[a0] == b[b0]:
            pairs.append((a0, b0))
            a0, b0 = a0 + 1, b0 + 1
        while a0 < a1 and b0 < b1 and a[a1 - 1] == b[b1 - 1]:
            a1, b1 = a1 - 1, b1 - 1
            pairs.append((a1, b1))
        if a0 == a1 or b0 == b1:
            continue
        left, right = a[a0:a1], b[b0:b1]
        if len(left) * len(right) <= EXACT:
            pairs += [(a0 + i, b0 + j) for i, j in _exact(left, right)]
            continue
        budget -= len(left) + len(right)
        anchors = _unique(left, right) if budget > 0 else []
        if not anchors:
            pairs += [(a0 + i, b0 + j) for i, j in _kth(left, right)]
            continue
        pairs += [(a0 + i, b0 + j) for i, j in anchors]
        at, bt = a0, b0
        for i, j in [*anchors, (len(left), len(right))]:
            gaps.append((at, a0 + i, bt, b0 + j))
            at, bt = a0 + i + 1, b0 + j + 1
    return sorted(pairs)


def _exact(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Pair]:
    best = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) - 1, -1, -1):
        row, below = best[i], best[i + 1]
        for j in range(len(b) - 1, -1, -1):
            row[j] = below[j + 1] + 1 if a[i] == b[j] else max(below[j], row[j + 1])
    pairs = []
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def _unique(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Pair]:
    """Return pairs of elements that occur once on each side, in as large a context as has any."""
    for width in CONTEXTS:
        left, right = _within(a, width), _within(b, width)
        once = {key for key, count in Counter(left).items() if count == 1}
        place = {key: j for j, key in enumerate(right) if key in once}
        twice = {key for key, count in Counter(right).items() if count > 1}
        both = [(i, place[key]) for i, key in enumerate(left) if key in place and key not in twice]
        if both:
            return in_order(both)
    return []


def _within(sequence: Sequence[Hashable], width: int) -> list[Hashable]:
    if width == 0:
        return list(sequence)
    ends = [None] * width  # an element at an end is not like one in the middle
    padded = [*ends, *sequence, *ends]
    return [tuple(padded[i : i + 2 * width + 1]) for i in range(len(sequence))]


def _kth(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Pair]:
    """Pair the first occurrence of an element with the first one, the second with the second …"""
    places: dict[Hashable, list[int]] = {}
    for j, key in enumerate(b):
        places.setdefault(key, []).append(j)
    for waiting in places.values():
        waiting.reverse()
    return in_order([(i, places[key].pop()) for i, key in enumerate(a) if places.get(key)])
