"""The compare view's data: two programs side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...ir.equal import structural_equal
from ...ir.expr import Call, Constant, Expr
from ...ir.module import IRModule
from ...ir.op import Op
from ..fates import Fate
from ..format import spoken
from .descent import Descent
from .format import CompareView, Difference, DifferenceKind, Measure, OperatorCount, Pair, Unit
from .matching import correspondence, expressions
from .rows import Side, aligned
from .sentences import kind_of, several, summary

MAX_DIFFERENCES = 5_000  # that a reader can step through; the rows have all of them


def compare_view(
    a: IRModule, b: IRModule, names: tuple[str, str] = ("A", "B"), title: str = "", passes: str | None = None
) -> CompareView:
    """Build the view of two programs; `names` are theirs, `passes` make the second of the first."""
    sides = Side(a, names[0]), Side(b, names[1])
    source = correspondence(a, b)
    pairs = aligned(*sides, source)
    same = structural_equal(a, b)
    exprs = expressions(a), expressions(b)
    counts = _counts(*exprs)
    descent = Descent(*exprs, source)
    first = Difference(DifferenceKind.SUMMARY, -1, -1, summary(*sides, counts, pairs, same))
    return CompareView(
        title=title or " and ".join(dict.fromkeys(names)),
        summary=spoken(first.say),
        rows=(),
        a=sides[0].view,
        b=sides[1].view,
        same=same,
        pairs=tuple(pairs),
        partners=_partners(*sides, source),
        differences=(first, *_differences(pairs, *sides, descent)),
        counts=counts,
        measures=_measures(*sides, *exprs),
        passes=passes,
    )


def _partners(a: Side, b: Side, source: dict[Expr, Expr]) -> tuple[int, ...]:
    partners = [-1] * len(a.view.nodes)
    for mine, other in source.items():
        if other in a.nodes and mine in b.nodes:
            partners[a.nodes[other]] = b.nodes[mine]
    return tuple(partners)


def _differences(pairs: Sequence[Pair], a: Side, b: Side, descent: Descent) -> list[Difference]:
    """Return the differences: adjacent rows that differ alike are one. Signatures come first."""
    runs: list[tuple[DifferenceKind, int, int]] = []
    for number, pair in enumerate(pairs):
        if pair.fate == Fate.KEPT or (pair.fate == Fate.MOVED and pair.b < 0):
            continue  # what moved is one difference, where B has it
        kind = kind_of(pair, a, b)
        if runs and runs[-1][2] == number - 1 and _alike(runs[-1][0], kind):
            before, first, _ = runs[-1]
            runs[-1] = (kind if kind == before else DifferenceKind.CHANGED, first, number)
        else:
            runs.append((kind, number, number))
    runs.sort(key=lambda run: (run[0] != DifferenceKind.SIGNATURE, run[1]))
    return [
        Difference(kind, first, last, several(kind, pairs[first : last + 1], a, b, descent))
        for kind, first, last in runs[:MAX_DIFFERENCES]
    ]


def _alike(first: DifferenceKind, second: DifferenceKind) -> bool:
    mixed = (DifferenceKind.CHANGED, DifferenceKind.ADDED, DifferenceKind.REMOVED)
    return (first in mixed and second in mixed) or (
        first == second and first in (DifferenceKind.TYPES, DifferenceKind.SIGNATURE)
    )


def _counts(a: Sequence[Expr], b: Sequence[Expr]) -> tuple[OperatorCount, ...]:
    """Return the operators' calls, those whose number differs most first."""
    old, new = (
        Counter(expr.op.name for expr in exprs if isinstance(expr, Call) and isinstance(expr.op, Op))
        for exprs in (a, b)
    )
    names = sorted(
        old | new, key=lambda name: (-abs(new[name] - old[name]), -max(old[name], new[name]), name)
    )
    return tuple(OperatorCount(name, old[name], new[name]) for name in names)


def _measures(a: Side, b: Side, old: Sequence[Expr], new: Sequence[Expr]) -> tuple[Measure, ...]:
    before, after = a.view.totals, b.view.totals
    constants = [sum(len(e.data.data) for e in exprs if isinstance(e, Constant)) for exprs in (old, new)]
    return (
        Measure("calls", Unit.NUMBER, before.calls, after.calls),
        Measure("expressions", Unit.NUMBER, before.nodes, after.nodes),
        Measure("floating-point operations", Unit.NUMBER, before.flops, after.flops),
        Measure("bytes read and written", Unit.BYTES, before.bytes, after.bytes),
        Measure("parameters", Unit.NUMBER, before.params, after.params),
        Measure("bytes of constants", Unit.BYTES, *constants),
    )
