"""Find the blocks that a program repeats: residual blocks, encoder layers, the steps of an unrolled
recurrence.

Each straight-line part of a program (a function's body, a branch) is a sequence of operations in the order of
evaluation. Three observations find its blocks in near-linear time:

* Where only one value is live, the sequence can be cut. Between two such cuts is either a single operation or
  a block with a structure of its own, such as a residual block.
* Segments that follow one another periodically form a larger block, such as the attention and the
  feed-forward part of an encoder layer.
* Where more than one value is live throughout, as in a recurrence, the operations themselves are searched
  for a period, and cut where the fewest values are live.

Two blocks are equal when they perform the same operations, connected in the same way; shapes and most
attributes may differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import field
from itertools import pairwise

from ..ir.adt import Constructor, Match
from ..ir.expr import Call, Constant, Expr, Function, GlobalVar, If, Let, Tuple, TupleGetItem, Var
from ..ir.lazy_dataclass import dataclass
from ..ir.op import Op
from ..ir.walk import children, post_order
from ..text.printer import program_rows
from ..text.rows import BINDING, LET, RESULT, TYPE, Row

SHORTEST_BLOCK = 3  # operations
SHORTEST_SEQUENCE = 12  # operations: a shorter sequence has no blocks
_STATEMENTS = (BINDING, LET, RESULT)
_LEAVES = frozenset((Var, Constant, GlobalVar, Op, Constructor))
# A value that is used this many operations later (a mask, an encoder's output) does not count as live.
LONG_LIVED = 128
CANDIDATES = 24  # the number of periods tried


@dataclass
class Block:
    """One occurrence of a repeated block: its operations, in order; the index of the enclosing block, or -1;
    and a key that is the same for blocks of the same structure.
    """

    members: list[Expr]
    parent: int
    key: str


@dataclass
class _Sequence:
    """The operations of one straight-line sequence: the label of each, its operands (positions, -1 for values
    from outside), and the number of values live before each.
    """

    exprs: Sequence[Expr]
    labels: list[Hashable] = field(default_factory=list)
    operands: list[tuple[int, ...]] = field(default_factory=list)
    alive: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class _Range:
    first: int
    end: int  # one past the last

    def __len__(self) -> int:
        return self.end - self.first


def repeated_blocks(function: Function, order: Iterable[Sequence[Expr]] | None = None) -> list[Block]:
    """Return the repeated blocks below `function`, outer ones before those inside them. Each occurs at least
    twice.

    `order` lists the operations of each straight-line sequence, in an order in which they can be evaluated;
    the default is that of the text format. The members of a block are consecutive in it.
    """
    if order is None:
        order = [exprs for _, exprs in stretches(program_rows(function))]
    blocks: list[Block] = []
    keys: dict[Hashable, str] = {}
    values: dict[Expr, Expr] = {
        node.var: node.value for node in post_order(function) if isinstance(node, Let)
    }
    for exprs in order:
        if len(exprs) < SHORTEST_SEQUENCE:
            continue
        sequence = _sequence(exprs, values)
        ranges = _find(sequence)
        counts = Counter(_structure(sequence, r) for r in ranges)
        outer: list[tuple[_Range, int]] = []
        for block in sorted(ranges, key=lambda r: (r.first, -len(r))):
            structure = _structure(sequence, block)
            if counts[structure] < 2:
                continue
            while outer and outer[-1][0].end <= block.first:
                outer.pop()
            parent = outer[-1][1] if outer else -1
            key = keys.setdefault(structure, f"block {len(keys) + 1}")
            outer.append((block, len(blocks)))
            blocks.append(Block(list(exprs[block.first : block.end]), parent, key))
    return blocks


def structures(
    function: Function, order: Iterable[Sequence[Expr]], ranges: Iterable[tuple[int, int, int]]
) -> list[Hashable]:
    """Return a key for each range (number of the sequence in `order`, first operation, one past the last). It
    is the same for ranges with the same operations, connected in the same way.
    """
    values: dict[Expr, Expr] = {
        node.var: node.value for node in post_order(function) if isinstance(node, Let)
    }
    sequences = [_sequence(exprs, values) for exprs in order]
    return [_structure(sequences[number], _Range(first, end)) for number, first, end in ranges]


def stretches(rows: Sequence[Row]) -> list[tuple[int, list[Expr]]]:
    """Return the operations of every body and branch of a printed program, in the order of its rows, with the
    row in which the outermost block around them begins.
    """
    sequences: list[tuple[int, list[Expr]]] = [(-1, [])]
    open_blocks: list[tuple[int, int, list[Expr]]] = [(len(rows), -1, sequences[0][1])]
    visited: set[Expr] = set()
    for index, row in enumerate(rows):
        while index >= open_blocks[-1][0]:
            open_blocks.pop()
        _, outermost, here = open_blocks[-1]
        if (
            row.kind in _STATEMENTS
            and row.expr is not None
            and row.expr.__class__ not in _LEAVES
            and row.expr not in visited
        ):
            visited.add(row.expr)
            here.append(row.expr)
        if row.end >= 0 and row.kind != TYPE:
            sequences.append((index if outermost < 0 else outermost, []))
            open_blocks.append((row.end, *sequences[-1]))
    return [(head, exprs) for head, exprs in sequences if exprs]


def _parts(node: Expr) -> Sequence[Expr]:
    """Return the operands that are evaluated with `node`, rather than in a sequence of their own."""
    if isinstance(node, Function):
        return ()
    if isinstance(node, If):
        return (node.cond,)
    if isinstance(node, Match):
        return (node.data,)
    return children(node)


def _sequence(exprs: Sequence[Expr], values: Mapping[Expr, Expr]) -> _Sequence:
    sequence = _Sequence(exprs)
    place = {expr: i for i, expr in enumerate(exprs)}
    first, last = dict(enumerate(range(len(exprs)))), dict(enumerate(range(len(exprs))))
    outside: dict[Expr, int] = {}
    for i, expr in enumerate(exprs):
        used = [_value(part, values) for part in _parts(expr) if not isinstance(part, Op)]
        sequence.labels.append(_label(expr))
        sequence.operands.append(tuple(place.get(part, -1) for part in used))
        for part in used:
            # a value from outside is live from its first use on
            j = place.get(part, -1 - outside.setdefault(part, len(outside)))
            first.setdefault(j, i)
            last[j] = i
    change = [0] * (len(exprs) + 1)
    for j, until in last.items():
        if 0 < until - first[j] < LONG_LIVED:
            change[first[j] + 1] += 1
            change[until + 1] -= 1
    total = 0
    for step in change:
        total += step
        sequence.alive.append(total)
    return sequence


def _value(expr: Expr, values: Mapping[Expr, Expr]) -> Expr:
    """Resolve variables to the values that a `let` binds to them, and `let`s to their bodies."""
    while True:
        if isinstance(expr, Let):
            expr = expr.body
        elif expr in values:
            expr = values[expr]
        else:
            return expr


def _label(expr: Expr) -> Hashable:
    """Return a label of the computation of an operation, independent of sizes."""
    match expr:
        case Call(op=Op() as op):
            grouped = expr.attrs is not None and "groups" in expr.attrs and expr.attrs["groups"] != 1
            return op.name, grouped, len(expr.args)
        case Call(op=GlobalVar() as callee):
            return "call", callee.name_hint
        case TupleGetItem():
            return "field", min(expr.index, 1)
        case Tuple():
            return "tuple", len(expr.fields)
    return type(expr).__name__


def _structure(sequence: _Sequence, block: _Range) -> Hashable:
    """Return the operations of a block and the connections between them."""
    return tuple(
        (sequence.labels[i], tuple(j - block.first if j >= block.first else -1 for j in sequence.operands[i]))
        for i in range(block.first, block.end)
    )


def _find(sequence: _Sequence) -> list[_Range]:
    segments = _segments(sequence)
    structures = [_structure(sequence, s) for s in segments]
    counts = Counter(structures)
    periodic = {
        s
        for s, structure in zip(segments, structures, strict=True)
        if len(s) >= SHORTEST_BLOCK and counts[structure] > 1
    }
    periodic.update(_periodic(sequence, segments, structures))
    ranges = list(periodic)
    for rest in _uncovered(periodic, len(sequence.exprs)):
        if len(rest) >= SHORTEST_SEQUENCE:
            single = [_Range(i, i + 1) for i in range(rest.first, rest.end)]
            ranges += _periodic(sequence, single, sequence.labels[rest.first : rest.end])
    return ranges


def _uncovered(ranges: Iterable[_Range], end: int) -> list[_Range]:
    """Return the ranges between 0 and `end` that no range covers."""
    gaps = []
    at = 0
    for covered in sorted(ranges, key=lambda r: r.first):
        if covered.first > at:
            gaps.append(_Range(at, covered.first))
        at = max(at, covered.end)
    return [*gaps, _Range(at, end)] if at < end else gaps


def _segments(sequence: _Sequence) -> list[_Range]:
    """Cut the sequence where at most one value is live."""
    cuts = [i for i in range(1, len(sequence.exprs)) if sequence.alive[i] <= 1]
    edges = [0, *cuts, len(sequence.exprs)]
    segments = [_Range(a, b) for a, b in pairwise(edges)]
    return _with_followers(sequence, segments)


def _with_followers(sequence: _Sequence, segments: Sequence[_Range]) -> list[_Range]:
    """Add to each block the single operation that follows every block, such as the activation after a
    residual addition.
    """
    after = {s.first: s for s in segments}
    large = {s for s in segments if len(s) >= SHORTEST_BLOCK}
    next_labels = {
        sequence.labels[s.end] if s.end in after and len(after[s.end]) == 1 else None for s in large
    }
    if len(next_labels) != 1 or None in next_labels:
        return list(segments)
    followers = {s.end for s in large}
    return [_Range(s.first, s.end + 1) if s in large else s for s in segments if s.first not in followers]


def _periodic(sequence: _Sequence, segments: Sequence[_Range], tokens: Sequence[Hashable]) -> list[_Range]:
    """Return the blocks that consist of several segments and follow each other at least twice."""
    # Equal neighbors count as one token: three times a block and then four times it are not a period.
    merged: list[tuple[int, int]] = []
    for i, token in enumerate(tokens):
        if merged and token == tokens[merged[-1][0]]:
            merged[-1] = (merged[-1][0], i + 1)
        else:
            merged.append((i, i + 1))
    numbers: dict[Hashable, int] = {}
    code = [numbers.setdefault((tokens[a], b - a), len(numbers)) for a, b in merged]
    spans = [_Range(segments[a].first, segments[b - 1].end) for a, b in merged]
    runs = [
        (start, period, count) for period in _periods(code) for start, period, count in _runs(code, period)
    ]
    runs.sort(key=lambda r: (-(r[2] // r[1] - 1) * r[1], r[1], r[0]))
    covered = [False] * len(code)
    blocks: list[_Range] = []
    for start, period, length in runs:
        if (
            any(covered[start : start + length])
            or len(_Range(spans[start].first, spans[start + period - 1].end)) < SHORTEST_BLOCK
        ):
            continue
        first = _phase(sequence, spans, start, period, length)
        for at in range(first, start + length - period + 1, period):
            blocks.append(_Range(spans[at].first, spans[at + period - 1].end))
        covered[start : start + length] = [True] * length
    return blocks


def _periods(code: Sequence[int]) -> list[int]:
    """Return likely periods: the distances between neighboring occurrences of the same few tokens."""
    votes: Counter[int] = Counter()
    for size in (1, 4):
        last: dict[tuple[int, ...], int] = {}
        for i in range(len(code) - size + 1):
            gram = tuple(code[i : i + size])
            if gram in last:
                votes[i - last[gram]] += 1
            last[gram] = i
    return [period for period, _ in votes.most_common(CANDIDATES) if period > 1]


def _runs(code: Sequence[int], period: int) -> list[tuple[int, int, int]]:
    """Return the maximal runs (start, period, length) of at least two periods; omit those whose period is
    itself periodic.
    """
    runs: list[tuple[int, int, int]] = []
    start = 0
    for i in range(len(code) - period + 1):
        if i < len(code) - period and code[i] == code[i + period]:
            continue
        length = i - start + period
        if i - start >= period and not _is_power(code[start : start + period]):
            runs.append((start, period, length))
        start = i + 1
    return runs


def _is_power(word: Sequence[int]) -> bool:
    """Whether `word` is a repetition of a shorter one."""
    return any(len(word) % d == 0 and list(word[:-d]) == list(word[d:]) for d in range(1, len(word) // 2 + 1))


def _phase(sequence: _Sequence, spans: Sequence[_Range], start: int, period: int, length: int) -> int:
    """Return the offset in a run at which the first block starts: where the fewest values are passed from
    block to block, and among these the latest.
    """
    rest = length % period

    def passed_values(first: int) -> int:
        return sum(
            sequence.alive[spans[at].first]
            for at in range(first + period, start + length - period + 1, period)
        )

    return min(range(start, start + rest + 1), key=lambda first: (passed_values(first), -first))


__all__ = ["Block", "repeated_blocks", "stretches"]
