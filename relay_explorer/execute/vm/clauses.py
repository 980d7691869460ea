"""The tests of a match as instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..code import Instruction
from ..interpreter import no_clause
from .bytecode import Fatal, Goto, Switch
from .matching import Chosen, Look, Path, State, decisions

if TYPE_CHECKING:
    from .function import FunctionCompiler


def emit_tests(compiler: FunctionCompiler, match: Instruction, value: int) -> dict[int, int]:
    """Emits the switches of a match on the register `value`; the labels of the clauses that can be reached,
    which the caller places behind.
    """
    patterns = [clause.pattern for clause in match.detail]
    start, plan = decisions(patterns, compiler.program.constructors)
    labels: dict[State, int] = {}
    clauses: dict[int, int] = {}
    fatal = -1
    for state, made in plan.items():
        if isinstance(made, Look):
            labels[state] = compiler.label()
        elif made.clause is None:
            fatal = labels[state] = compiler.label() if fatal < 0 else fatal
        else:
            if made.clause not in clauses:
                clauses[made.clause] = compiler.label()
            labels[state] = clauses[made.clause]
    if isinstance(plan[start], Chosen):
        compiler.emit(Goto(labels[start]))
    for state, made in plan.items():
        if isinstance(made, Look):
            compiler.place(labels[state])
            part = emit_path(compiler, value, made.path)
            cases = tuple([(name, labels[after]) for name, after in made.cases])
            otherwise = labels[made.otherwise] if made.otherwise is not None else -1
            compiler.emit(Switch(part, made.type, cases, otherwise))
    if fatal >= 0:
        compiler.place(fatal)
        note, help = no_clause(patterns, compiler.program.module)
        compiler.emit(Fatal(value, note, help))
    return clauses


def emit_path(compiler: FunctionCompiler, value: int, path: Path) -> int:
    """Emits what loads a part of a value; its register."""
    for index in path:
        value = compiler.part(value, index)
    return value
