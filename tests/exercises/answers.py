"""Answers to the exercises: the solutions, and wrong answers derived from them by editing their text."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from exercises import notebooks


@cache
def _cells(exercise: str) -> tuple[str, ...]:
    """Return the code of a solution that is not graded: imports and answers, without checks and
    experiments. Both end where the notebook invites experiments.
    """
    code = []
    for cell in notebooks.solution(notebooks.source(exercise)).cells:
        if cell.cell_type == "code":
            code.append(cell.source)
        elif re.search("^## (Try it yourself|What is graded)$", cell.source, re.MULTILINE):
            break
    asks = ("check(", "grade(", "register(")
    return tuple(text for text in code[1:] if not any(line.startswith(asks) for line in text.splitlines()))


def answers(exercise: str, *changes: tuple[str, str]) -> dict[str, Any]:
    """Return the names that the solution defines, after replacements in its text: pairs of an old and a new
    one.
    """
    text = "\n\n".join(_cells(exercise))
    for old, new in changes:
        assert text.count(old) == 1, f"the solution has {old!r} {text.count(old)} times"
        text = text.replace(old, new)
    names: dict[str, Any] = {}
    exec(compile(text, "answer.py", "exec"), names)
    return names


def answer(exercise: str, name: str, *changes: tuple[str, str]) -> Callable[..., Any]:
    """Return one function of the solution, after changes."""
    result: Callable[..., Any] = answers(exercise, *changes)[name]
    return result
