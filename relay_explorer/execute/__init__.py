"""Running programs: the interpreter."""

from __future__ import annotations

from .interpreter import ExecutionError, Interpreter
from .values import Closure, ConstructorValue, RefValue, show

__all__ = ["Closure", "ConstructorValue", "ExecutionError", "Interpreter", "RefValue", "show"]
