"""The reference interpreter: it defines what a program computes, with NumPy for operators.

It keeps its own stack, so that a program may recurse as deep as memory allows. A call whose value is returned
unchanged (a tail call) does not grow that stack, so that a loop by recursion runs in constant space.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from ..ir.adt import Constructor, Pattern, PatternConstructor, PatternTuple, PatternVar
from ..ir.errors import Note, RelayError
from ..ir.expr import Call, Constant, Expr, Function, GlobalVar, Var
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.recorder import active, unrecorded
from ..ir.show import counted
from ..ir.span import Span
from ..ops.numeric import quiet
from ..typing.exhaustive import missing_case, show_pattern
from .code import Block, ClauseCode, Code, Instruction, Kind, compile_function
from .events import (
    BranchChosen,
    EvaluationEvent,
    Frame,
    FunctionEntered,
    RunFailed,
    RunFinished,
    ValueComputed,
    ValueReturned,
)
from .memory import Budget
from .values import Closure, ConstructorValue, ForeignClosure, RefValue, Value, show

MAX_CLAUSES = 6  # of a match: an error names at most so many
DEEP = 1000  # calls: from this depth on, they may be what exhausts memory
MAX_STACK_DEPTH = 1_000_000  # waiting callers; each takes about 200 bytes

Waiting = tuple[Block, int, Frame, int]  # block and instruction to resume at, frame, slot of the result


class ExecutionError(RelayError):
    """A program failed while it ran; the error says where."""


class Interpreter:
    """Runs the functions of one module. Compiled functions are cached. Each step is emitted as an event."""

    def __init__(self, module: IRModule | None = None) -> None:
        self.module = module or IRModule()
        self._globals: dict[str, Closure] = {}
        self._templates: dict[Code, Frame] = {}

    def call(self, function: Function | str | Closure, args: Sequence[Value]) -> Value:
        """Call a function (or the global function of that name) with `args`."""
        if isinstance(function, str):
            callee: Value = self._global(self.module.get_global_var(function))
        elif isinstance(function, ForeignClosure):
            return function.call(args)
        else:
            callee = function if isinstance(function, Closure) else Closure(compile_function(function), [])
        return self._run(callee, tuple(args))

    def evaluate(self, expr: Expr, values: Mapping[Var, Value] | None = None) -> Value:
        """Evaluate an expression whose free variables have `values`."""
        bindings = dict(values or {})
        return self.call(Function(list(bindings), expr), list(bindings.values()))

    # -- the machine

    def _run(self, callee: Value, args: tuple[Value, ...]) -> Value:
        waiting: list[Waiting] = []
        with quiet():
            try:
                return self._loop(callee, args, waiting)
            except MemoryError as problem:
                depth = len(waiting)
                waiting.clear()
                raise used_up(depth, problem) from None

    def _loop(self, callee: Value, args: tuple[Value, ...], waiting: list[Waiting]) -> Value:
        recorder, budget, clock = active(EvaluationEvent), Budget(), time.perf_counter
        emit = recorder.emit if recorder is not None else None
        code, frame = self._enter(callee, args, None)
        block, at = code.block, 0
        if emit is not None:
            emit(FunctionEntered(code, frame, callee, None, False))
        try:
            while True:
                if at == len(block.instructions):
                    value = frame[block.result]
                    done = block
                    if not waiting:
                        break
                    block, at, frame, target = waiting.pop()
                    frame[target] = value
                    if emit is not None:
                        emit(ValueReturned(block.instructions[at - 1], value, done))
                    continue
                instruction = block.instructions[at]
                kind, target, operands, detail, node = instruction
                at += 1
                if kind is _OPERATOR:
                    op, attrs = detail
                    frame[target] = apply_operator(op, attrs, [frame[i] for i in operands], node)
                    if emit is not None:
                        emit(ValueComputed(instruction, frame))
                    continue
                if (simple := _SIMPLE.get(kind)) is not None:
                    frame[target] = simple(instruction, frame)
                    if emit is not None:
                        emit(ValueComputed(instruction, frame))
                    continue
                tail = at == len(block.instructions) and block.result == target
                if kind is _CALL:
                    function, *values = [frame[i] for i in operands]
                    if type(function) is not Closure:
                        frame[target] = self._apply(function, values, instruction)
                        if emit is not None:
                            emit(ValueComputed(instruction, frame))
                        continue
                    if clock() > budget.next_look and (allocated := budget.overdrawn()) is not None:
                        raise too_much(instruction.node.span, _called(instruction), allocated, len(waiting))
                    code, next_frame = self._enter(function, tuple(values), instruction)
                    next_block = code.block
                    if emit is not None:
                        emit(FunctionEntered(code, next_frame, function, instruction, tail))
                else:
                    next_block, next_frame = self._choose(instruction, frame), frame
                    if emit is not None:
                        emit(BranchChosen(instruction, frame, next_block, tail))
                if not tail:
                    waiting.append((block, at, frame, target))
                    if len(waiting) > MAX_STACK_DEPTH:
                        raise too_deep(instruction.node.span, _called(instruction), len(waiting))
                block, at, frame = next_block, 0, next_frame
        except (RelayError, TypeError, AttributeError, IndexError, ValueError) as problem:
            at_fault = block.instructions[at - 1]
            error = problem if isinstance(problem, RelayError) else ill_typed(at_fault.node.span, problem)
            if emit is not None:
                emit(RunFailed(at_fault, frame, error))
            raise error from (None if error is problem else problem)
        if emit is not None:
            emit(RunFinished(value, done))
        return value

    def _enter(self, callee: Value, args: tuple[Value, ...], at: Instruction | None) -> tuple[Code, Frame]:
        assert isinstance(callee, Closure)
        code = callee.code
        params = len(code.function.params)
        if len(args) != params:
            raise ExecutionError(
                f"the function expects {counted(params, 'argument')}, got {len(args)}",
                at.node.span if at is not None else code.function.span,
            )
        template = self._templates.get(code)
        if template is None:
            template = self._templates[code] = self._template(code)
        frame = template.copy()
        frame[:params] = args
        for (_, slot), value in zip(code.captures, callee.captured):
            frame[slot] = value
        return code, frame

    def _template(self, code: Code) -> Frame:
        """Create a frame that lacks only its arguments: constants and global names are in their slots."""
        frame: Frame = [None] * code.size
        for slot, expr in code.constants:
            if isinstance(expr, Constant):
                array = expr.data.numpy()
                array.flags.writeable = False
                frame[slot] = array
            else:
                frame[slot] = self._global(expr) if isinstance(expr, GlobalVar) else expr
        return frame

    def _global(self, var: GlobalVar) -> Closure:
        closure = self._globals.get(var.name_hint)
        if closure is None:
            closure = self._globals[var.name_hint] = Closure(compile_function(self.module[var]), [])
        return closure

    def _apply(self, callee: Value, values: list[Value], at: Instruction) -> Value:
        """Call anything but a closure of this interpreter: a constructor, an operator that was passed as a
        value, or a function that another executor runs.
        """
        if isinstance(callee, ForeignClosure):
            with unrecorded(EvaluationEvent):  # another executor's function: its run is not part of this one
                return callee.call(values)
        if isinstance(callee, Constructor):
            try:
                return ConstructorValue(callee, values)
            except RelayError as problem:
                raise ExecutionError(problem.message, at.node.span, help=problem.help) from None
        if isinstance(callee, Op):
            attrs = callee.attrs_class() if callee.attrs_class is not None else None
            return apply_operator(callee, attrs, values, at.node)
        raise ExecutionError(f"{show(callee)} is called, but is not a function", at.node.span)

    def _choose(self, instruction: Instruction, frame: Frame) -> Block:
        """Return the branch to continue with."""
        value = frame[instruction.operands[0]]
        if instruction.kind is _IF:
            yes, no = instruction.detail
            branch: Block = yes if bool(value) else no
            return branch
        clauses: list[ClauseCode] = instruction.detail
        for clause in clauses:
            bound = match(clause.pattern, value)
            if bound is not None:
                for var, part in bound.items():
                    frame[clause.slots[var]] = part
                return clause.block
        raise self._unmatched(instruction, value)

    def _unmatched(self, instruction: Instruction, value: Value) -> ExecutionError:
        note, help = no_clause([clause.pattern for clause in instruction.detail], self.module)
        return unmatched(value, instruction.node.span, note, help)


# The loop compares with these at every instruction. They have names of their own because looking up a member
# of an enumeration costs as much as a small step.
_OPERATOR, _CALL, _IF = Kind.OPERATOR, Kind.CALL, Kind.IF

_ENDLESS = "does the recursion end? A function that ends in the recursive call needs no stack"


def too_deep(span: Span | None, called: str, depth: int) -> ExecutionError:
    """Build the error for a call stack that is too deep; `called` is the function of the last call."""
    return ExecutionError(f"{_nested(depth - 1)}; the last is {called}", span, help=[_ENDLESS])


def too_much(span: Span | None, called: str, allocated: int, depth: int) -> ExecutionError:
    """Build the error for a run that has allocated too much memory."""
    return ExecutionError(
        f"the program has taken {allocated / 2**20:,.0f} MiB of memory, over half of what was free",
        span,
        [Note(f"{_nested(depth)}; the last is {called}")],
        [_ENDLESS if depth > 1000 else "does the loop end, and must it store all values that it creates?"],
    )


def used_up(depth: int, problem: MemoryError) -> ExecutionError:
    """Build the error for a run that exhausted Python's memory; `problem` may name the size of the tensor."""
    if str(problem) and depth < DEEP:
        return ExecutionError(
            f"out of memory: {str(problem)[:300]}",
            help=["give the program smaller inputs, or fewer at a time"],
        )
    return ExecutionError(f"out of memory, with calls nested {depth:,} deep", help=[_ENDLESS])


def ill_typed(span: Span | None, problem: Exception) -> ExecutionError:
    """Build the error for a program that is not well typed, or a value that is not of its type: nothing else
    causes it.
    """
    return ExecutionError(
        f"a value is not what the program expects here: {problem}",
        span,
        help=["infer types first; an executor does so, and checks the arguments too"],
    )


def _nested(depth: int) -> str:
    return f"calls are nested {depth:,} deep" if depth else "no call is waiting, so this is a loop"


def _called(at: Instruction) -> str:
    return called(at.node.op if isinstance(at.node, Call) else None)


def called(callee: Expr | None) -> str:
    """Describe the called function for an error message."""
    return f"of `@{callee.name_hint}`" if isinstance(callee, GlobalVar) else "of a function without a name"


def no_clause(patterns: Sequence[Pattern], module: IRModule) -> tuple[str, str]:
    """Write the note that lists the patterns of a match, and the help that names a missing one (empty if
    there is none).
    """
    clauses = ", ".join(f"`{show_pattern(pattern)}`" for pattern in patterns[:MAX_CLAUSES])
    more = f" and {len(patterns) - MAX_CLAUSES} more" if len(patterns) > MAX_CLAUSES else ""
    missing = missing_case(patterns, module)
    note = f"the match has clauses for {clauses}{more}" if patterns else "the match has no clauses"
    return (
        note,
        f"add a clause for {missing}, or for `_`, which matches any value" if missing is not None else "",
    )


def unmatched(value: Value, span: Span | None, note: str, help: str) -> ExecutionError:
    """Build the error for a value that no clause of a match covers."""
    return ExecutionError(f"no clause matches {show(value)}", span, [Note(note)], [help] if help else [])


def _tuple(at: Instruction, frame: Frame) -> Value:
    return tuple([frame[i] for i in at.operands])


def _field(at: Instruction, frame: Frame) -> Value:
    return frame[at.operands[0]][at.detail]


def _closure(at: Instruction, frame: Frame) -> Value:
    code: Code = at.detail
    closure = Closure(code, [frame[outer] for outer, _ in code.captures])
    for index, (outer, _) in enumerate(code.captures):
        if outer == at.target:  # the function refers to itself by its let's name
            closure.captured[index] = closure
    return closure


def _ref(at: Instruction, frame: Frame) -> Value:
    return RefValue(frame[at.operands[0]])


def _read(at: Instruction, frame: Frame) -> Value:
    return frame[at.operands[0]].value


def _write(at: Instruction, frame: Frame) -> Value:
    frame[at.operands[0]].value = frame[at.operands[1]]
    return ()


# Instructions that only create, read or write a value.
_SIMPLE = {
    Kind.TUPLE: _tuple, Kind.FIELD: _field, Kind.CLOSURE: _closure,
    Kind.REF: _ref, Kind.READ: _read, Kind.WRITE: _write,
}  # fmt: skip


def match(pattern: Pattern, value: Value) -> dict[Var, Value] | None:
    """Match a value against a pattern; return the bindings of its variables, or None where it does not
    match.
    """
    bound: dict[Var, Value] = {}
    pending = [(pattern, value)]
    while pending:
        current, part = pending.pop()
        if isinstance(current, PatternVar):
            bound[current.var] = part
        elif isinstance(current, PatternConstructor):
            if (
                not isinstance(part, ConstructorValue)
                or part.constructor.name_hint != current.constructor.name_hint
            ):
                return None
            pending.extend(zip(current.patterns, part.fields))
        elif isinstance(current, PatternTuple):
            pending.extend(zip(current.patterns, part))
    return bound


def apply_operator(op: Op, attrs: Any, values: Sequence[Value], at: Expr | None = None) -> Value:
    """Evaluate an operator with its reference implementation; an ExecutionError names the call that failed
    and its arguments.
    """
    span = at.span if at is not None else None
    if op.reference is None:
        raise ExecutionError(f"`{op.name}` has no reference implementation, so it cannot be run", span)
    try:
        return op.reference(attrs, *values)
    except (ValueError, TypeError, IndexError, ZeroDivisionError) as problem:
        notes = [Note(f"argument {k} is {show(v)}") for k, v in enumerate(values)]
        raise ExecutionError(f"`{op.name}` failed: {str(problem).strip()}", span, notes) from None
