"""The machine that runs bytecode.

It keeps its own stack of callers, as the interpreter does, and has its limits and messages. Before a function
runs for the first time, each of its instructions is decoded: to a Python function of the registers, or, if it
transfers control, to a tuple that the machine's loop interprets.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...ir.adt import Constructor
from ...ir.errors import RelayError
from ...ir.expr import Call, Var
from ...ir.op import Op
from ...ir.recorder import active, unrecorded
from ...ir.show import counted
from ...ir.span import Span
from ...ops.numeric import quiet
from .. import interpreter
from ..interpreter import ExecutionError, Interpreter, ill_typed, too_deep, too_much, unmatched, used_up
from ..memory import Budget
from ..values import Closure, ForeignClosure, Value, show
from .bytecode import (
    Fatal,
    Goto,
    If,
    Instruction,
    Invoke,
    InvokeClosure,
    Ret,
    Switch,
    TailInvoke,
    TailInvokeClosure,
    VMFunction,
    VMProgram,
)
from .events import (
    FunctionEntered,
    InstructionExecuted,
    MachineEvent,
    RunFailed,
    RunFinished,
    ValueReturned,
)
from .kernels import Kernel, NumPyKernel
from .memory import Memory
from .steps import Registers, step_of

if TYPE_CHECKING:
    from numpy import ndarray as Array

STEP, IF, GOTO, SWITCH, RET, CALL, TAIL_CALL, CLOSURE, TAIL_CLOSURE, FATAL = range(10)
_BY_NAME, _TAIL = (CALL, TAIL_CALL), (TAIL_CALL, TAIL_CLOSURE)
Word = tuple[int, Any, Any, Any]  # a decoded instruction


class Loaded:
    """A function that is decoded and ready to run."""

    __slots__ = ("blank", "function", "machine", "params", "words")

    def __init__(self, function: VMFunction, machine: Machine) -> None:
        self.function = function
        self.machine = machine  # the machine whose program it belongs to
        self.params = len(function.params)
        self.blank: Registers = [None] * (function.registers - self.params - function.captured)
        self.words: list[Word] = []


class VMClosure(ForeignClosure):
    """A function of a program, and the values that it captured."""

    __slots__ = ()
    code: Loaded  # type: ignore[assignment]  # another machine's code

    def __init__(self, code: Loaded, captured: Sequence[Value] = ()) -> None:
        self.code = code
        self.captured = list(captured)

    @property
    def parameters(self) -> list[str]:
        return list(self.code.function.params)

    def call(self, args: Sequence[Value]) -> Value:
        return self.code.machine.call(self, args)


class Machine:
    """Runs the functions of a program.

    `kernels` compute the program's kernels (without them, NumPy does). `memory` allocates tensors that they
    accept, `constants` are the program's constants as arrays that they accept. Each step is emitted as an
    event.
    """

    def __init__(
        self,
        program: VMProgram,
        kernels: Sequence[Kernel] | None = None,
        *,
        memory: Memory | None = None,
        constants: Sequence[Array] | None = None,
    ) -> None:
        self.program = program
        self._kernels = list(kernels) if kernels is not None else None
        self._made: dict[int, Kernel] = {}
        self.memory = memory or Memory()
        self._constants = list(constants) if constants is not None else None
        self._loaded: dict[str, Loaded] = {}
        self.constructors: dict[tuple[str, str], Constructor] = {
            (data.header.name_hint, constructor.name_hint): constructor
            for data in program.types
            for constructor in data.constructors
        }

    def call(self, function: str | Closure, args: Sequence[Value]) -> Value:
        """Call a function of the program, by its name, or a closure, with `args`."""
        if isinstance(function, str):
            function = self.closure(function)
        if not isinstance(function, VMClosure):
            return Interpreter().call(function, args)
        waiting: list[Any] = []
        values = list(args)
        try:
            with self.memory.at_hand(values), quiet():
                return self._run(function, values, waiting)
        except MemoryError as problem:
            depth = len(waiting)
            waiting.clear()
            raise used_up(depth, problem) from None

    def closure(self, name: str, captured: Sequence[Value] = ()) -> VMClosure:
        """Return a function of the program as a closure, with its captured values."""
        return VMClosure(self._loaded.get(name) or self.loaded(self._name(name)), captured)

    def _name(self, name: str) -> str:
        if name not in self.program.functions:
            names = ", ".join(f"`@{function}`" for function in list(self.program.functions)[:8])
            raise RelayError(f"the program has no function `@{name:.60}`", help=[f"it has {names or 'none'}"])
        return name

    # -- what instructions need

    def loaded(self, name: str) -> Loaded:
        """Return a function ready to run, decoded on first use."""
        ready = self._loaded.get(name)
        if ready is None:
            function = self.program.functions[name]
            ready = self._loaded[name] = Loaded(function, self)
            ready.words += [self._word(instruction) for instruction in function.code]
        return ready

    def kernel(self, number: int) -> Kernel:
        if self._kernels is not None:
            return self._kernels[number]
        if number not in self._made:
            self._made[number] = NumPyKernel(self.program.kernels[number])
        return self._made[number]

    def constant(self, number: int) -> Array:
        if self._constants is None:
            self._constants = [data.numpy() for data in self.program.constants]
            for array in self._constants:
                array.flags.writeable = False
        return self._constants[number]

    def _word(self, instruction: Instruction) -> Word:
        match instruction:
            case If():
                return IF, instruction.condition, instruction.otherwise, None
            case Goto():
                return GOTO, instruction.target, None, None
            case Switch():
                return SWITCH, instruction.source, dict(instruction.cases), instruction.otherwise
            case Ret():
                return RET, instruction.result, None, None
            case Invoke():
                return CALL, instruction.function, instruction.arguments, instruction.to
            case TailInvoke():
                return TAIL_CALL, instruction.function, instruction.arguments, None
            case InvokeClosure():
                return CLOSURE, instruction.closure, instruction.arguments, instruction.to
            case TailInvokeClosure():
                return TAIL_CLOSURE, instruction.closure, instruction.arguments, None
            case Fatal():
                return FATAL, instruction, None, None
        return STEP, step_of(instruction, self), None, None

    # -- running

    def _run(self, callee: VMClosure, args: list[Value], waiting: list[Any]) -> Value:
        recorder, budget, clock = active(MachineEvent), Budget(), time.perf_counter
        emit = recorder.emit if recorder is not None else None
        deepest = interpreter.MAX_STACK_DEPTH
        code = callee.code
        if len(args) != code.params:
            raise _wrong_number(code.function, len(args), None)
        frame: Registers = [*args, *callee.captured, *code.blank]
        words, at = code.words, 0
        if emit is not None:
            emit(FunctionEntered(code.function, frame, -1, False))
        try:
            while True:
                kind, a, b, c = words[at]
                here = at
                at += 1
                if kind == STEP:
                    a(frame)
                elif kind == IF:
                    if not frame[a]:
                        at = b
                elif kind == SWITCH:
                    at = b.get(frame[a].constructor.name_hint, c)
                elif kind == GOTO:
                    at = a
                elif kind == RET:
                    value = frame[a]
                    if not waiting:
                        break
                    code, at, frame, target = waiting.pop()
                    words = code.words
                    frame[target] = value
                    if emit is not None:
                        emit(ValueReturned(code.function, at - 1, frame, value))
                    continue
                elif kind == FATAL:
                    raise unmatched(frame[a.value], _span(code, at), a.note, a.help)
                else:
                    values = [frame[register] for register in b]
                    if kind in _BY_NAME:
                        called = code.machine.loaded(a)
                    else:
                        closure = frame[a]
                        if not isinstance(closure, VMClosure):
                            with unrecorded(MachineEvent):  # its run is not part of this one
                                value = _applied(closure, values, _span(code, at))
                            if kind == TAIL_CLOSURE:
                                frame, words, at = [value], _RETURN, 0
                            else:
                                frame[c] = value
                                if emit is not None:
                                    emit(InstructionExecuted(code.function, here, frame))
                            continue
                        called = closure.code
                        if len(values) != called.params:
                            raise _wrong_number(called.function, len(values), _span(code, at))
                        values += closure.captured
                    if clock() > budget.next_look and (allocated := budget.overdrawn()) is not None:
                        raise too_much(_span(code, at), _called(kind, a), allocated, len(waiting))
                    tail = kind in _TAIL
                    if not tail:
                        waiting.append((code, at, frame, c))
                        if len(waiting) > deepest:
                            raise too_deep(_span(code, at), _called(kind, a), len(waiting))
                    values += called.blank
                    if emit is not None:
                        emit(FunctionEntered(called.function, values, at - 1, tail))
                    code, words, frame, at = called, called.words, values, 0
                    continue
                if emit is not None:
                    emit(InstructionExecuted(code.function, here, frame))
        except (RelayError, TypeError, AttributeError, IndexError, ValueError) as problem:
            error = problem if isinstance(problem, RelayError) else ill_typed(_span(code, at), problem)
            if emit is not None:
                emit(RunFailed(code.function, at - 1, error))
            raise error from (None if error is problem else problem)
        if emit is not None:
            emit(RunFinished(value))
        return value


_RETURN: list[Word] = [(RET, 0, None, None)]


def _span(code: Loaded, at: int) -> Span | None:
    """Return the position in the program's text of the instruction before `at`."""
    spans = code.function.spans
    return spans[at - 1] if 0 < at <= len(spans) else None


def _called(kind: int, callee: Any) -> str:
    return f"of `@{callee}`" if kind in _BY_NAME else "of a function without a name"


def _wrong_number(function: VMFunction, count: int, span: Span | None) -> ExecutionError:
    return ExecutionError(
        f"the function expects {counted(len(function.params), 'argument')}, got {count}", span
    )


def _applied(callee: Value, values: list[Value], span: Span | None) -> Value:
    """Call a value that no machine created and that was passed as an argument: an operator, a constructor, or
    a function of the interpreter.
    """
    if isinstance(callee, (Constructor, Op)):
        params = [Var(f"x{k}") for k in range(len(values))]
        return Interpreter().evaluate(Call(callee, params, span=span), dict(zip(params, values)))
    if isinstance(callee, Closure):  # the interpreter runs closures of other executors by their own `call`
        return Interpreter().call(callee, values)
    raise ExecutionError(f"{show(callee)} is called, but is not a function", span)
