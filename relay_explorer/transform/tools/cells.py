"""Which writes of a function's cells may be read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ...ir.adt import Constructor
from ...ir.expr import Call, Expr, Function, Let, RefCreate, RefRead, RefWrite, Var
from ...ir.op import Op
from ...ir.types import FuncType, RefType, Type, TypeCall
from ...ir.walk import children, post_order, type_children


class Cells:
    """The cells of an expression, and what may write and read each.

    A cell is known by the variable that a `ref(…)` is bound to. Where such a variable stands anywhere but in
    reads and writes, the cell escapes: other references may then be references to it.
    """

    def __init__(self, root: Expr, order: Sequence[Expr], lets: dict[Var, list[Let]]) -> None:
        self.lets = lets
        self.order = order
        self.escaped = {cell for node in order for cell in self._escaping(node)}
        self.shared = isinstance(root, Function) and any(
            type_ is None or _may_hold_cells(type_)
            for type_ in (*[param.type_annotation for param in root.params], root.ret_type)
        )

    def cell(self, expr: Expr) -> Var | None:
        """The variable of the cell that `expr` refers to; None where that is not known."""
        while isinstance(expr, Var) and len(self.lets.get(expr, ())) == 1:
            value = self.lets[expr][0].value
            if isinstance(value, RefCreate):
                return expr
            expr = value
        return None

    def _escaping(self, node: Expr) -> Iterable[Var]:
        match node:
            case RefRead():
                return
            case RefWrite():
                parts: Collection[Expr] = [node.value]
            case Let():
                parts = [node.body]
            case _:
                parts = children(node)
        for part in parts:
            cell = self.cell(part)
            if cell is not None:
                yield cell

    def read_writes(self, seen: set[int], candidates: Iterable[Let]) -> list[Let]:
        """Those of `candidates` whose value may write a cell that an expression in `seen` may read."""
        reads: set[Var] = set()
        anywhere = self.shared  # whether cells are read that are not known
        for node in self.order:
            if id(node) in seen:
                if isinstance(node, RefRead):
                    cell = self.cell(node.ref)
                    anywhere = anywhere or cell is None
                    reads |= set() if cell is None else {cell}
                elif isinstance(node, Call):
                    anywhere = anywhere or _may_call(node)
        return [let for let in candidates if self._is_read(let.value, reads, anywhere)]

    def _is_read(self, value: Expr, reads: set[Var], anywhere: bool) -> bool:
        for node in post_order(value):
            if isinstance(node, RefWrite):
                cell = self.cell(node.ref)
                if cell is None:
                    if anywhere or reads & self.escaped:
                        return True
                elif cell in reads or (anywhere and cell in self.escaped):
                    return True
            elif isinstance(node, Call) and _may_call(node) and (anywhere or reads):
                return True
        return False


def _may_call(call: Call) -> bool:
    """Whether a call may run code of the program."""
    return not isinstance(call.op, (Op, Constructor))


def _may_hold_cells(type_: Type) -> bool:
    """Whether a value of that type may hold references, or functions that use them."""
    if isinstance(type_, FuncType):
        return True
    return isinstance(type_, (RefType, TypeCall)) or any(map(_may_hold_cells, type_children(type_)))
