"""Running programs: the interpreter, and executors that call it from Python."""

from __future__ import annotations

from .executor import Executor, FunctionValue, create_executor
from .interpreter import ExecutionError, Interpreter
from .lists import list_items, make_list
from .record import Evaluation, record
from .values import Closure, ConstructorValue, RefValue, show

__all__ = [
    "Closure", "ConstructorValue", "Evaluation", "ExecutionError", "Executor", "FunctionValue", "Interpreter",
    "RefValue", "create_executor", "list_items", "make_list", "record", "show",
]  # fmt: skip
