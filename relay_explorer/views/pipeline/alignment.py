"""Align the rows of two programs by the origins of their expressions."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable, Sequence

from ...ir.expr import Expr
from ..fates import Fate
from ..rows import ProgramRows

Pair = tuple[int, int, Fate]


def aligned(
    before: ProgramRows, after: ProgramRows, came: Callable[[Expr], Expr | None], rewritten: Collection[int]
) -> list[Pair]:
    """Return pairs of rows, in reading order, with -1 for a side that has none. `came(expr)` is the
    expression of `before` that `expr` of `after` came from; `rewritten` are the rows of `after` whose
    expression has changed.
    """
    old = _keys(before, lambda expr: expr)
    new = _keys(after, came)
    place = {key: row for row, key in enumerate(new)}
    common = set(old) & set(new)
    both = [(b, place[key]) for b, key in enumerate(old) if key in place]
    pairs: list[Pair] = []
    b0 = a0 = 0
    for b, a in [*in_order(both), (len(old), len(new))]:
        pairs += [
            (removed, -1, Fate.MOVED if old[removed] in common else Fate.REMOVED) for removed in range(b0, b)
        ]
        pairs += [(-1, fresh, Fate.MOVED if new[fresh] in common else Fate.ADDED) for fresh in range(a0, a)]
        if b < len(old):
            pairs.append((b, a, Fate.REWRITTEN if a in rewritten else Fate.KEPT))
        b0, a0 = b + 1, a + 1
    return pairs


def in_order(both: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return a longest subsequence of the pairs whose second numbers increase, as the first ones do, so that
    as many rows as possible stay in place. It takes O(n log n) time: `ends[k]` is the pair with the smallest
    second number that ends such a subsequence of k + 1 pairs, `before` the predecessor of each pair.
    """
    ends: list[int] = []
    seconds: list[int] = []
    before: list[int] = []
    for index, (_, second) in enumerate(both):
        length = bisect_left(seconds, second)
        before.append(ends[length - 1] if length else -1)
        ends[length : length + 1] = [index]
        seconds[length : length + 1] = [second]
    run: list[tuple[int, int]] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        run.append(both[at])
        at = before[at]
    return run[::-1]


def _keys(program: ProgramRows, source: Callable[[Expr], Expr | None]) -> list[Hashable]:
    """Return a key that distinguishes each row from all others: the expression that it defines, for a closing
    row that of its opening one, else its text and its position among rows of that text.
    """
    keys: list[Hashable] = []
    closing: dict[int, Hashable] = {}
    occurrences: dict[Hashable, int] = {}
    for index, row in enumerate(program.source):
        expr = program.defines(index)
        origin = source(expr) if expr is not None else None
        key: Hashable
        if origin is not None:
            key = ("expression", id(origin))
        elif index in closing:
            key = ("end", closing[index])
        elif expr is not None:
            key = ("new", id(expr))
        else:
            key = ("text", row.text.split("(")[0])
        occurrences[key] = occurrences.get(key, 0) + 1
        if occurrences[key] > 1 or key[0] == "text":
            key = (*key, occurrences[key])
        keys.append(key)
        if row.end >= 0:
            closing[row.end] = key
    return keys
