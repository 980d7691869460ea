"""The blocks of an imported program: the modules of its model, level by level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from ...analysis.repeats import structures
from ...ir.expr import Expr, Function
from ..provenance import Provenance, levels

MAX_DEPTH = 16  # levels of modules


class ModuleBlock(NamedTuple):
    """Successive operations of one module: its name below the module around it, its whole path, and a key
    that is the same for blocks of the same structure.
    """

    members: Sequence[Expr]
    label: str
    module: str
    key: str


def module_blocks(
    function: Function, order: Sequence[Sequence[Expr]], provenance: Provenance
) -> list[ModuleBlock]:
    """Return the blocks of `function`, whose operations are in `order` (see `repeated_blocks`).

    A block is a longest range of successive operations of one module. A module whose operations are
    interrupted by others has several blocks. A level that contains the same operations as the level around it
    is joined with it, and so is a number with the name before it: `layer.3` is one level.
    """
    ranges: list[tuple[int, int, int]] = []
    paths: list[tuple[str, ...]] = []
    labels: list[str] = []
    for number, exprs in enumerate(order):
        scopes = _filled([_scope(expr, provenance) for expr in exprs])
        for first, end, path, label in _ranges(scopes):
            ranges.append((number, first, end))
            paths.append(path)
            labels.append(label)
    keys: dict[Hashable, str] = {}
    times = Counter(paths)
    part: Counter[tuple[str, ...]] = Counter()
    blocks = []
    for (number, first, end), path, label, structure in zip(
        ranges, paths, labels, structures(function, order, ranges), strict=True
    ):
        part[path] += 1
        whole = f"{label} · part {part[path]}" if times[path] > 1 else label
        key = keys.setdefault(structure, f"module {len(keys) + 1}")
        blocks.append(ModuleBlock(order[number][first:end], whole, ".".join(path), key))
    return blocks


def _scope(expr: Expr, provenance: Provenance) -> tuple[str, ...] | None:
    """Return the path of the module of an expression, by levels; None where it is unknown."""
    nodes = provenance.nodes(expr)
    if not nodes:
        return None
    return levels(nodes[0])[:MAX_DEPTH]


def _filled(scopes: Sequence[tuple[str, ...] | None]) -> list[tuple[str, ...]]:
    """Place an operation of unknown origin in the innermost module that the operations around it share."""
    following: list[tuple[str, ...]] = [()] * len(scopes)
    next_: tuple[str, ...] = ()
    for index in reversed(range(len(scopes))):
        own = scopes[index]
        next_ = next_ if own is None else own
        following[index] = next_
    filled: list[tuple[str, ...]] = []
    before: tuple[str, ...] = ()
    for index, scope in enumerate(scopes):
        before = scope if scope is not None else _shared(before, following[index])
        filled.append(before)
    return filled


def _shared(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...]:
    length = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return a[:length]


def _ranges(scopes: Sequence[tuple[str, ...]]) -> list[tuple[int, int, tuple[str, ...], str]]:
    """Return the ranges of two or more operations below one path: first, end, path, and label."""
    spans: list[tuple[int, int, tuple[str, ...]]] = []
    open_: list[tuple[int, tuple[str, ...]]] = []
    for index in range(len(scopes) + 1):
        path = scopes[index] if index < len(scopes) else ()
        while open_ and path[: len(open_[-1][1])] != open_[-1][1]:
            first, closed = open_.pop()
            if index - first > 1:
                spans.append((first, index, closed))
        for depth in range(len(open_), len(path)):
            open_.append((index, path[: depth + 1]))
    spans.sort(key=lambda r: (r[0], -r[1], len(r[2])))
    result: list[tuple[int, int, tuple[str, ...], str]] = []
    outer: list[tuple[int, int, tuple[str, ...]]] = []
    for position, (first, end, path) in enumerate(spans):
        inner = spans[position + 1] if position + 1 < len(spans) else None
        if inner is not None and inner[:2] == (first, end):
            continue  # its only content is the next level, whose label will contain its name
        while outer and outer[-1][1] <= first:
            outer.pop()
        above = len(outer[-1][2]) if outer else 0
        if end - first < len(scopes):  # a block of all operations would say nothing
            result.append((first, end, path, ".".join(path[above:])))
        outer.append((first, end, path))
    return result
