"""Run a program and hand out the value of each operator call: for analyses in the layers below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ir.expr import Expr
from ..ir.hooks import provide
from ..ir.module import IRModule
from ..ir.recorder import Recorder
from .code import Kind
from .events import EvaluationEvent, ValueComputed
from .executor import Executor
from .values import Value

Receiver = Callable[[Expr, Value], None]


class _Receiving(Recorder[EvaluationEvent]):
    """Passes the values of operator calls on, and keeps nothing."""

    def __init__(self, receive: Receiver) -> None:
        super().__init__(EvaluationEvent)
        self.receive = receive

    def emit(self, event: EvaluationEvent) -> None:
        if isinstance(event, ValueComputed) and event.instruction.kind is Kind.OPERATOR:
            self.receive(event.instruction.node, event.frame[event.instruction.target])


def run_observed(module: IRModule, arguments: Sequence[Any], receive: Receiver) -> Any:
    """Run `@main` in the interpreter, and call `receive` with each call of an operator and its value, in the
    order of execution: once for each time that the call is evaluated. Return the result.
    """
    function = Executor("debug", module).evaluate()
    with _Receiving(receive):
        return function(*arguments)


provide("run_observed", run_observed)
