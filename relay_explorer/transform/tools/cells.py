"""Determine which writes to a function's cells are live, because an expression that is kept may read them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from ...ir.adt import Constructor
from ...ir.expr import Call, Expr, Function, Let, RefCreate, RefRead, RefWrite, Var
from ...ir.op import Op
from ...ir.types import FuncType, RefType, Type, TypeCall
from ...ir.walk import children, type_children


class Cells:
    """The cells of an expression, what may write each, and which of these writes are live.

    A cell is identified by the `ref(…)` that creates it. A cell that is used elsewhere than in reads and
    writes escapes: other references may then refer to it. A cell that escapes only in dead code cannot be
    read through another reference, so reads and escapes count only once their expression is live (`need`).
    """

    def __init__(self, root: Expr, order: Sequence[Expr], lets: dict[Var, list[Let]]) -> None:
        self.lets = lets
        self.shared = isinstance(root, Function) and any(
            type_ is None or _may_hold_cells(type_)
            for type_ in (*[param.type_annotation for param in root.params], root.ret_type)
        )
        self._cells: dict[Var, RefCreate | None] = {}
        self._may_escape = {cell for node in order for cell in self._escaping(node)}
        self._writes: dict[RefCreate | None, list[Expr]] = {}
        self._calls: list[Expr] = []
        for node in order:
            if isinstance(node, RefWrite):
                self._writes.setdefault(self.cell(node.ref), []).append(node)
            elif may_call(node):
                self._calls.append(node)
        self._read: set[RefCreate] = set()
        self._escaped: set[RefCreate] = set()
        self._escaping_read = False
        self._unknown_read = False

    def cell(self, expr: Expr) -> RefCreate | None:
        """Return the cell that `expr` refers to; None where that is unknown."""
        path: dict[Var, None] = {}
        while isinstance(expr, Var) and expr not in self._cells and expr not in path:
            path[expr] = None
            bound = self.lets.get(expr, ())
            if len(bound) == 1:
                expr = bound[0].value
        cell = expr if isinstance(expr, RefCreate) else None
        if isinstance(expr, Var):
            cell = self._cells.get(expr)
        self._cells.update(dict.fromkeys(path, cell))
        return cell

    def _escaping(self, node: Expr) -> Iterable[RefCreate]:
        match node:
            case RefRead():
                return
            case RefWrite():
                parts: Collection[Expr] = [node.value]
            case Let():
                is_bound_once = len(self.lets[node.var]) == 1
                parts = [node.body] if is_bound_once else [node.value, node.body]
            case _:
                parts = children(node)
        for part in parts:
            cell = self.cell(part)
            if cell is not None:
                yield cell

    def needed_at_first(self) -> Iterator[Expr]:
        """Iterate over the writes, and calls that may write, that code outside the function may read."""
        if self.shared:
            yield from self._read_unknown()

    def need(self, node: Expr) -> Iterator[Expr]:
        """Iterate over the writes, and calls that may write, that become live when `node` does."""
        for cell in self._escaping(node):
            if cell not in self._escaped:
                self._escaped.add(cell)
                if self._unknown_read:
                    yield from self._writes.get(cell, ())
        if isinstance(node, RefRead):
            cell_read = self.cell(node.ref)
            yield from self._read_unknown() if cell_read is None else self._read_known(cell_read)
        elif may_call(node):
            yield from self._read_unknown()

    def _read_known(self, cell: RefCreate) -> Iterator[Expr]:
        if cell not in self._read:
            self._read.add(cell)
            yield from self._writes.get(cell, ())
            yield from self._calls if len(self._read) == 1 else ()
            if cell in self._may_escape and not self._escaping_read:
                self._escaping_read = True
                yield from self._writes.get(None, ())

    def _read_unknown(self) -> Iterator[Expr]:
        if not self._unknown_read:
            self._unknown_read = True
            yield from self._calls
            for cell in (None, *self._escaped):
                yield from self._writes.get(cell, ())


def may_call(node: Expr) -> bool:
    """Whether a node is a call that may run code of the program."""
    return isinstance(node, Call) and not isinstance(node.op, (Op, Constructor))


def _may_hold_cells(type_: Type) -> bool:
    """Whether a value of that type may contain references, or functions that use them."""
    if isinstance(type_, FuncType):
        return True
    return isinstance(type_, (RefType, TypeCall)) or any(map(_may_hold_cells, type_children(type_)))
