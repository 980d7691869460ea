"""Print how programs differ: their operators, and the lines that were removed, changed and added."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ..ir.expr import Call, Constant, Expr
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.walk import post_order
from ..views.compare.format import CompareView
from ..views.compare.view import compare_view
from ..views.fates import Fate
from ..views.format import Row, View
from .programs import Program


def report(programs: Sequence[Program], names: Sequence[str], most: int, view: View) -> str:
    """Return the difference between each program and the next, in at most `most` lines of each. `view` is
    what the page shows: of two programs, their comparison.
    """
    parts = []
    for (before, after), (old, new) in zip(pairwise(programs), pairwise(names), strict=True):
        lines = [f"--- {old}", f"+++ {new}", *_counts(before.mod, after.mod)]
        pair = view if isinstance(view, CompareView) else compare_view(before.mod, after.mod)
        changed = list(_changed(pair))
        lines += changed[:most]
        if len(changed) > most:
            lines.append(f"… {len(changed) - most:,} more lines, which the page shows")
        if not changed:
            lines.append("the programs are equal up to the names of variables")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _counts(before: IRModule, after: IRModule) -> Iterator[str]:
    """Yield the operators whose number of calls differs, and the sizes of the constants."""
    old, new = _operators(before), _operators(after)
    rows = [("calls of operators", sum(old.values()), sum(new.values()))]
    rows += [(name, old[name], new[name]) for name in sorted(old | new) if old[name] != new[name]]
    rows.append(("bytes of constants", _constants(before), _constants(after)))
    width = max(len(name) for name, _, _ in rows)
    for name, a, b in rows:
        change = f"  ({b - a:+,})" if a != b else ""
        yield f"  {name:<{width}}  {a:>12,}  {b:>12,}{change}"


def _operators(module: IRModule) -> Counter[str]:
    return Counter(
        expr.op.name for expr in _exprs(module) if isinstance(expr, Call) and isinstance(expr.op, Op)
    )


def _constants(module: IRModule) -> int:
    return sum(len(expr.data.data) for expr in _exprs(module) if isinstance(expr, Constant))


def _exprs(module: IRModule) -> Iterator[Expr]:
    for function in module.functions.values():
        if isinstance(function, Expr):
            yield from post_order(function)


def _changed(view: CompareView) -> Iterator[str]:
    """Yield the lines that differ, with `-` and `+` before them, in the order of the programs."""
    for pair in view.pairs:
        if pair.fate in (Fate.KEPT, Fate.MOVED):
            continue
        if pair.a >= 0:
            yield f"- {_text(view.a.rows[pair.a])}"
        if pair.b >= 0:
            yield f"+ {_text(view.b.rows[pair.b])}"


def _text(row: Row) -> str:
    return "  " * row.depth + row.text
