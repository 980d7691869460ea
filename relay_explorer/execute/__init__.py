"""Run programs: the interpreter, the virtual machine, and executors that call them from Python."""

from __future__ import annotations

from .executor import Executor, FunctionValue
from .interpreter import ExecutionError, Interpreter
from .lists import list_items, make_list
from .record import Evaluation, record
from .values import Closure, ConstructorValue, RefValue, show

__all__ = [
    "Closure", "ConstructorValue", "Evaluation", "ExecutionError", "Executor", "FunctionValue", "Interpreter",
    "RefValue", "list_items", "make_list", "record", "show",
]  # fmt: skip
