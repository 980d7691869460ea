"""Align the rows of two programs, and compare the expressions of a pair."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from ...ir.adt import Match
from ...ir.expr import Call, Constant, Expr, Function, If, Let, TupleGetItem, Var
from ...ir.module import IRModule
from ...ir.walk import children
from ...text import rows as printed
from ..fates import Fate
from ..ir.format import IRView
from ..ir.view import ir_view
from ..pipeline.alignment import in_order
from ..rows import ProgramRows, program_rows
from .format import Differs, Pair
from .kernels import Kernels
from .matching import corresponding, expressions, label

#: What has blocks: the rows in them are compared on their own.
_BLOCKS = (Function, If, Match, Let)


class Side:
    """One of the programs: its view, its rows, and the node and the type of each expression."""

    def __init__(self, module: IRModule, name: str) -> None:
        self.view: IRView = ir_view(module, name)
        self.program: ProgramRows = program_rows(module)
        self.kernels = Kernels(module)
        self.known: set[Expr | None] = set(expressions(module))
        functions = [function for function in module.functions.values() if isinstance(function, Function)]
        #: The functions of the module, and their parameters.
        self.signatures: set[Expr] = {part for f in functions for part in (f, *f.params)}
        self.nodes: dict[Expr, int] = {}
        for row, source in zip(self.view.rows, self.program.source, strict=True):
            if source.expr is not None and row.node >= 0:
                self.nodes.setdefault(source.expr, row.node)
            for token, printed_token in zip(row.tokens, source.tokens, strict=True):
                if printed_token.expr is not None and token.ref >= 0:
                    self.nodes.setdefault(printed_token.expr, token.ref)

    def type(self, expr: Expr) -> str:
        """Return the type of an expression, "" where it is unknown."""
        node = self.nodes.get(expr, -1)
        return self.view.nodes[node].type if node >= 0 else ""

    def keys(self, matched: Mapping[Expr, Hashable]) -> list[Hashable]:
        """Return a key of each row, equal for corresponding rows: that of the expression which it defines, or
        its kind and its place in its block.
        """
        keys: list[Hashable] = []
        blocks: list[tuple[int, Hashable]] = []  # the ends and keys of the blocks around the row
        times: dict[Hashable, int] = {}
        for index, row in enumerate(self.program.source):
            while blocks and blocks[-1][0] < index:
                blocks.pop()
            around = blocks[-1][1] if blocks else None
            expr = self.program.defines(index)
            if expr not in self.known:
                expr = None  # a constructor, or a pattern's variable that nothing uses
            key: Hashable
            if expr is not None:
                key = ("expression", matched[expr]) if expr in matched else ("alone", id(expr))
            elif blocks and blocks[-1][0] == index:
                key = ("end", around)
            else:
                text = row.text if row.kind in (printed.TYPE, printed.MODULE) else ""
                key = ("row", row.kind, text, hash(around))
            times[key] = times.get(key, 0) + 1
            keys.append((key, times[key]))
            if row.end > index:
                blocks.append((row.end, (key, times[key])))
        return keys


def aligned(a: Side, b: Side, source: Mapping[Expr, Expr]) -> list[Pair]:
    """Return the pairs of rows, in reading order; `source` is the expression of A that corresponds to each
    of B.
    """
    old = a.keys({expr: id(expr) for expr in source.values()})
    new = b.keys({expr: id(other) for expr, other in source.items()})
    place = {key: row for row, key in enumerate(new)}
    both = [(i, place[key]) for i, key in enumerate(old) if key in place]
    partner = dict(both)
    back = {j: i for i, j in both}
    pairs: list[tuple[int, int]] = []
    i0 = j0 = 0
    for i, j in [*in_order(both), (len(old), len(new))]:
        pairs += [(gone, -1) for gone in range(i0, i)]
        pairs += [(-1, fresh) for fresh in range(j0, j)]
        if i < len(old):
            pairs.append((i, j))
        i0, j0 = i + 1, j + 1
    on_a = {i: number for number, (i, j) in enumerate(pairs) if j < 0}
    on_b = {j: number for number, (i, j) in enumerate(pairs) if i < 0}
    result = []
    for i, j in pairs:
        left, right = (i if i >= 0 else back.get(j, -1)), (j if j >= 0 else partner.get(i, -1))
        if left < 0 or right < 0:
            result.append(Pair(i, j, Fate.REMOVED if j < 0 else Fate.ADDED, 0, -1))
            continue
        differs = _differs(a, b, left, right, source)
        if i >= 0 and j >= 0:
            result.append(Pair(i, j, Fate.REWRITTEN if differs else Fate.KEPT, differs, -1))
        else:
            result.append(Pair(i, j, Fate.MOVED, differs, on_b[right] if i >= 0 else on_a[left]))
    return result


def _differs(a: Side, b: Side, i: int, j: int, source: Mapping[Expr, Expr]) -> int:
    """Return what differs between two rows, a sum of `Differs`."""
    mine, other = b.program.defines(j), a.program.defines(i)
    if mine is None or other is None:
        left, right = a.program.source[i], b.program.source[j]
        if left.kind == right.kind == printed.HEADER:  # the end of a list of parameters
            return 0  # the type of the result belongs to the function's first row
        return 0 if _same_tokens(left.tokens, right.tokens, source) else int(Differs.OPERANDS)
    total = 0
    if label(mine) != label(other):
        constants = isinstance(mine, Constant) and isinstance(other, Constant)
        total |= Differs.VALUE if constants else 0 if _both_vars(mine, other) else Differs.OPERATOR
    if attributes(mine) != attributes(other):
        total |= Differs.ATTRIBUTES
    if isinstance(mine, Constant) and isinstance(other, Constant) and mine.data.data != other.data.data:
        total |= Differs.VALUE
    if not isinstance(mine, _BLOCKS) and not _same_operands(a, b, other, mine, source):
        total |= Differs.OPERANDS
    types = a.type(other), b.type(mine)
    if _both_vars(mine, other):
        types = str(getattr(other, "type_annotation", "")), str(getattr(mine, "type_annotation", ""))
    if isinstance(mine, Function) and isinstance(other, Function):
        declared = other.ret_type, mine.ret_type
        types = ("", "") if None in declared else (str(declared[0]), str(declared[1]))
    return total | (Differs.TYPE if types[0] != types[1] else 0)


def _both_vars(a: Expr, b: Expr) -> bool:
    return isinstance(a, Var) and isinstance(b, Var)


def _same_operands(a: Side, b: Side, mine: Expr, other: Expr, source: Mapping[Expr, Expr]) -> bool:
    """Whether two expressions have corresponding operands, also where a kernel is around one of them."""
    left = [a.kernels.stands_for(part) for part in children(mine)]
    right = [b.kernels.stands_for(part) for part in children(other)]
    return len(left) == len(right) and all(
        corresponding(source, y, x) or _alike(x, y, source) for x, y in zip(left, right)
    )


def _alike(a: Expr, b: Expr, source: Mapping[Expr, Expr]) -> bool:
    """Whether two operands that do not correspond are equal nevertheless: constants and parts of tuples,
    which are written where they are used.
    """
    if isinstance(a, Constant) and isinstance(b, Constant):
        return label(a) == label(b) and a.data.data == b.data.data
    if isinstance(a, TupleGetItem) and isinstance(b, TupleGetItem):
        return a.index == b.index and corresponding(source, b.tuple_value, a.tuple_value)
    return label(a) == label(b) if not isinstance(a, (Call, Var)) and not children(a) else False


def attributes(expr: Expr) -> dict[str, object]:
    """Return the attributes of a call or a function."""
    attrs = getattr(expr, "attrs", None)
    if not isinstance(expr, (Call, Function)) or attrs is None:
        return {}
    return {str(name): _written(value) for name, value in attrs.items()}


def _written(value: object) -> str:
    """Write an attribute's value as the program does: a tuple as a list."""
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_written, value))}]"
    return str(value)


def _same_tokens(a: Sequence[printed.Token], b: Sequence[printed.Token], source: Mapping[Expr, Expr]) -> bool:
    return len(a) == len(b) and all(
        x.cls == y.cls
        and (
            x.text == y.text
            or (x.expr is not None and y.expr is not None and corresponding(source, y.expr, x.expr))
        )
        for x, y in zip(a, b)
    )
