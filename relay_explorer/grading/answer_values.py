"""Inspect the value that an answer returned, defensively: it may be of any type, and its methods may do
anything.
"""

from __future__ import annotations

import operator
import sys
import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
_OURS = __name__.partition(".")[0]
ANSWERING = "answer of a learner"  # the name of the thread in which an answer runs


def repr_of(value: object, most: int = 200) -> str:
    """Return the first `most` characters of a value's `repr`, even if that raises an error."""
    try:
        return repr(value)[:most]
    except RecursionError:
        return f"{type(value).__name__}: nested too deep to be shown"
    except Exception as error:
        return f"{type(value).__name__}: cannot be shown, its `repr` raises {type(error).__name__}"


def integer(value: object) -> int | None:
    """Convert a value to an integer, including NumPy's. Return None if it is not an integer; a bool is not
    one.
    """
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]  # a wrong type raises the error that is tested for
    except Exception:
        return None


class WithheldError(Exception):
    """An answer calls the package's own solution."""


def withheld(function: Callable[P, R]) -> Callable[P, R]:
    """Guard a function that solves an exercise: an answer that is being graded may not call it. (This is
    not a security measure. It only reminds learners that calling the function is not the exercise.)
    """

    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        if threading.current_thread().name == ANSWERING:
            caller: dict[str, Any] = sys._getframe(1).f_globals
            if str(caller.get("__name__", "")).partition(".")[0] != _OURS:
                raise WithheldError(f"`{function.__name__}` of the package is the solution itself")
        return function(*args, **kwargs)

    return guarded


def is_ours(answer: object) -> bool:
    """Return whether an answer is such a function rather than the learner's own."""
    return bool(getattr(answer, "__wrapped__", None)) and str(getattr(answer, "__module__", "")).startswith(
        f"{_OURS}.grading"
    )
