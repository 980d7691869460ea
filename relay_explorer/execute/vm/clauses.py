"""Compile the tests of a match to instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..code import Instruction
from ..interpreter import no_clause
from .bytecode import Fatal, Goto, Switch
from .matching import Chosen, Look, Path, State, decisions

if TYPE_CHECKING:
    from .function import FunctionCompiler


def emit_tests(compiler: FunctionCompiler, match: Instruction, value: int) -> dict[int, int]:
    """Emit the switches of a match on the register `value`; return the labels of the reachable clauses, whose
    code the caller emits after them.
    """
    patterns = [clause.pattern for clause in match.detail]
    start, plan = decisions(patterns, compiler.program.constructors)
    labels: dict[State, int] = {}
    clauses: dict[int, int] = {}
    fatal = -1
    for state, decision in plan.items():
        if isinstance(decision, Look):
            labels[state] = compiler.label()
        elif decision.clause is None:
            fatal = labels[state] = compiler.label() if fatal < 0 else fatal
        else:
            if decision.clause not in clauses:
                clauses[decision.clause] = compiler.label()
            labels[state] = clauses[decision.clause]
    if isinstance(plan[start], Chosen):
        compiler.emit(Goto(labels[start]))
    for state, decision in plan.items():
        if isinstance(decision, Look):
            compiler.place(labels[state])
            part = emit_path(compiler, value, decision.path)
            cases = tuple([(name, labels[after]) for name, after in decision.cases])
            otherwise = labels[decision.otherwise] if decision.otherwise is not None else -1
            compiler.emit(Switch(part, decision.type, cases, otherwise))
    if fatal >= 0:
        compiler.place(fatal)
        note, help = no_clause(patterns, compiler.program.module)
        compiler.emit(Fatal(value, note, help))
    return clauses


def emit_path(compiler: FunctionCompiler, value: int, path: Path) -> int:
    """Emit the loads of a nested part of a value; return its register."""
    for index in path:
        value = compiler.part(value, index)
    return value
