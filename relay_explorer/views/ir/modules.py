"""The blocks of a program: the modules of its model, level by level, by the names of nodes and parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from ...analysis.repeats import structures
from ...ir.expr import Expr, Function, TupleGetItem
from ..provenance import Provenance
from .scopes import Scope, filled, node_scope, parameter_scopes, shared

MAX_DEPTH = 16  # levels of modules
LARGE = 12  # operations: a smaller program has no blocks by the names of its parameters
SMALLEST = 2  # operations of a block, fields of tuples aside
MAX_PARTS = 2  # parts of a module, on average: more mean that each module is in many pieces


class ModuleBlock(NamedTuple):
    """Successive operations of one module: its name below the module around it, its whole path, and a key
    that is the same for blocks of the same structure.
    """

    members: Sequence[Expr]
    label: str
    module: str
    key: str


class _Range(NamedTuple):
    """A range of successive operations, in the sequence `number` of a function, that belong to one module."""

    number: int
    first: int
    end: int
    path: Scope


def module_blocks(
    function: Function, order: Sequence[Sequence[Expr]], provenance: Provenance | None
) -> list[ModuleBlock]:
    """Return the blocks of `function`, whose operations are in `order` (see `repeated_blocks`).

    The module of an operation is that of the node from which it was imported. In a program without nodes, the
    names of parameters are paths of modules: `%layer1_attention_query_weight` is read by an operation of the
    module `query` in `attention` in `layer1`.

    A block is a longest range of successive operations of one module. A module whose operations are
    interrupted by others has several blocks. A level that contains the same operations as the level around it
    is joined with it. Return no blocks where the names of parameters tell too little: where there is only one
    module, or most would be in pieces, as the weights of a recurrence are read in every step.
    """
    if provenance is None:
        if max(map(len, order), default=0) < LARGE:
            return []
        separator, scopes = parameter_scopes(order)
    else:
        separator = "."
        scopes = [[node_scope(expr, provenance) for expr in exprs] for exprs in order]
    ranges: list[_Range] = []
    labels: list[str] = []
    for number, exprs in enumerate(order):
        paths = [path[:MAX_DEPTH] for path in filled(exprs, scopes[number])]
        for part, label in _ranges(number, paths, exprs, separator):
            ranges.append(part)
            labels.append(label)
    times = Counter(part.path for part in ranges)
    if provenance is None and (len(ranges) > MAX_PARTS * len(times) or len(times) < 2):
        return []
    keys: dict[Hashable, str] = {}
    parts: Counter[Scope] = Counter()
    blocks = []
    places = [(part.number, part.first, part.end) for part in ranges]
    for part, label, structure in zip(ranges, labels, structures(function, order, places), strict=True):
        parts[part.path] += 1
        whole = f"{label} · part {parts[part.path]}" if times[part.path] > 1 else label
        key = keys.setdefault(structure, f"module {len(keys) + 1}")
        members = order[part.number][part.first : part.end]
        blocks.append(ModuleBlock(members, whole, separator.join(part.path), key))
    return blocks


def _ranges(
    number: int, paths: Sequence[Scope], exprs: Sequence[Expr], separator: str
) -> Iterator[tuple[_Range, str]]:
    """Iterate over the ranges of operations below one path, outer ones first, and their labels."""
    computed = [0]
    for expr in exprs:
        computed.append(computed[-1] + (not isinstance(expr, TupleGetItem)))
    spans: list[_Range] = []
    open_: list[tuple[int, Scope]] = []
    for index in range(len(paths) + 1):
        path = paths[index] if index < len(paths) else ()
        same = len(shared(path, open_[-1][1])) if open_ else 0
        while len(open_) > same:
            first, closed = open_.pop()
            if computed[index] - computed[first] >= SMALLEST:
                spans.append(_Range(number, first, index, closed))
        for depth in range(len(open_), len(path)):
            open_.append((index, path[: depth + 1]))
    spans.sort(key=lambda r: (r.first, -r.end, len(r.path)))
    outer: list[_Range] = []
    for position, span in enumerate(spans):
        inner = spans[position + 1] if position + 1 < len(spans) else None
        if inner is not None and (inner.first, inner.end) == (span.first, span.end):
            continue  # its only content is the next level, whose label will contain its name
        while outer and outer[-1].end <= span.first:
            outer.pop()
        if span.end - span.first < len(paths):  # a block of all operations would say nothing
            yield span, _label(span.path, len(outer[-1].path) if outer else 0, separator)
        outer.append(span)


def _label(path: Scope, above: int, separator: str) -> str:
    """Return the name of a module below the module around it. A number says nothing without the name before
    it: `layer.3`.
    """
    while above and path[above].isdigit():
        above -= 1
    return separator.join(path[above:])
