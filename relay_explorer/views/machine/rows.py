"""The rows of a program that the virtual machine runs, and which of them each instruction came from."""

from __future__ import annotations

from collections.abc import Iterable

from ...execute.vm import VMFunction, VMProgram
from ...ir.expr import Call, Expr, Function
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.walk import post_order
from ...transform.remove_unused_functions import RemoveUnusedFunctions
from ..evaluation.rows import types_named
from ..pipeline.origins import Origins
from ..rows import program_rows

MAX_ROWS = 60  # from which one instruction may come


class MachineRows:
    """The rows of the program that is shown: of `module` as it was given, before any pass."""

    def __init__(self, module: IRModule) -> None:
        self.module = module
        self.program = program_rows(module)
        self.origins = Origins()
        for function in module.functions.values():
            for node in post_order(function):
                row = self.program.row(node)
                if row >= 0:
                    self.origins.items[node] = row
        self._rows_of: dict[int, tuple[int, ...]] = {}
        self._sources: list[Expr] = []  # alive, so that no id is reused

    def rows(self, source: Expr | None) -> tuple[int, ...]:
        """Return the rows that an expression of the optimized program came from, that of its value first."""
        if source is None:
            return ()
        rows = self._rows_of.get(id(source))
        if rows is None:
            self._sources.append(source)
            rows = self._rows_of[id(source)] = tuple(dict.fromkeys(self._rows(source)))[:MAX_ROWS]
        return rows

    def _rows(self, source: Expr) -> Iterable[int]:
        yield from self.origins.nearest(source)
        callee = source.op if isinstance(source, Call) else None
        if isinstance(callee, Function):  # a kernel: the operators that it computes, the last first
            calls = [n for n in post_order(callee.body) if isinstance(n, Call) and isinstance(n.op, Op)]
            for call in reversed(calls):
                yield from self.origins.nearest(call)

    def header(self, function: VMFunction) -> int:
        """Return the row where a function of the machine begins, -1 for one that the passes created."""
        for var, candidate in self.module.functions.items():
            if var.name_hint == function.name:
                return self.program.row(candidate)
        return -1


def shown(module: IRModule, original: IRModule, program: VMProgram) -> IRModule:
    """Return the functions of a module that are shown: those that `@main` needs, from libraries only those
    that are in the program. `original` is the module before libraries were added.
    """
    needed = RemoveUnusedFunctions(("main",))(module)
    functions = {
        var: function
        for var, function in needed.functions.items()
        if var in original or var.name_hint in program.functions
    }
    named = set(types_named(functions.values()))
    types = {var: data for var, data in module.type_definitions.items() if var.name_hint in named}
    return IRModule(functions, types, source=module.source)
