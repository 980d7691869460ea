"""Two programs' rows side by side, matched by where their expressions came from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from difflib import SequenceMatcher

from ..ir.expr import Expr
from .pipeline_format import Fate
from .rows import ProgramRows

Pair = tuple[int, int, Fate]


def aligned(
    before: ProgramRows, after: ProgramRows, came: Callable[[Expr], Expr | None], rewritten: Collection[int]
) -> list[Pair]:
    """Pairs of rows, in an order that reads well: -1 where there is none on a side. `came(expr)` is the
    expression of `before` that `expr` of `after` came from; `rewritten` are the rows of `after` whose
    expression is another one now.
    """
    old = _keys(before, lambda expr: expr)
    new = _keys(after, came)
    common = set(old) & set(new)
    pairs: list[Pair] = []
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for kind, b0, b1, a0, a1 in matcher.get_opcodes():
        if kind == "equal":
            pairs += [
                (b, a, Fate.REWRITTEN if a in rewritten else Fate.KEPT)
                for b, a in zip(range(b0, b1), range(a0, a1))
            ]
            continue
        pairs += [(b, -1, Fate.MOVED if old[b] in common else Fate.REMOVED) for b in range(b0, b1)]
        pairs += [(-1, a, Fate.MOVED if new[a] in common else Fate.ADDED) for a in range(a0, a1)]
    return pairs


def _keys(program: ProgramRows, source: Callable[[Expr], Expr | None]) -> list[Hashable]:
    """What tells each row from all others: the expression that it defines, for a closing row that of its
    opening one, else its text, and which of the rows of that text it is.
    """
    keys: list[Hashable] = []
    closing: dict[int, Hashable] = {}
    met: dict[Hashable, int] = {}
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
        met[key] = met.get(key, 0) + 1
        if met[key] > 1 or key[0] == "text":
            key = (*key, met[key])
        keys.append(key)
        if row.end >= 0:
            closing[row.end] = key
    return keys
