"""The event of a rewriting pass: one rewrite, with the rule that was applied.

    with Recorder(Rewrite) as recorder:
        simpler = SimplifyExpr()(module)
    for rewrite in recorder.events:
        print(rewrite.rule, rewrite.before, rewrite.after)

The mutators of `visitor`, `walk.rewrite` and the rewriting of patterns emit an event for each of their
changes, so a reader's own pass is recorded too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from types import CodeType
from typing import Any as Anything

from .expr import Expr
from .lazy_dataclass import dataclass
from .recorder import Event, active

_FOLDER = os.path.dirname(os.path.dirname(__file__))
Rule = Callable[..., Anything]


@dataclass(frozen=True, slots=True)
class Rewrite(Event):
    """One rewrite: the rule in a sentence, the name of the function that applied it, and the function's
    location (the file in the package, or "" for a rule outside it; its line, or 0 if unknown).

    `before` are the expressions that the rule matched, as they were at that moment, `after` is their
    replacement, None for nothing. `at` are the expressions of the input program that the pass was visiting.
    `how` is "" for a rewrite, and otherwise relates `before` to `after`: "is fused into the kernel of".
    """

    rule: str
    name: str
    path: str
    line: int
    before: tuple[Expr, ...]
    after: Expr | None
    at: tuple[Expr, ...]
    how: str = ""


def emit_rewrite(
    rule: Rule,
    before: Expr | Sequence[Expr],
    after: Expr | None,
    at: Expr | Sequence[Expr] = (),
    sentence: str = "",
    how: str = "",
) -> None:
    """Emit a rewrite, if rewrites are recorded.

    `rule` is the function that applies the rule; the event takes its name, file and line. `sentence` states
    the rule; without it, the first sentence of the function's docstring does.
    """
    recorder = active(Rewrite)
    if recorder is None:
        return
    if recorder.full:
        recorder.count(Rewrite)
        return
    while isinstance(rule, partial):
        rule = rule.func
    function = getattr(rule, "__func__", rule)
    code: CodeType | None = getattr(function, "__code__", None)
    line = code.co_firstlineno if code is not None else 0
    name = getattr(function, "__qualname__", type(rule).__name__)
    name = ".".join(part.lstrip("_") for part in name.replace("<locals>.", "").split("."))
    stated = sentence or first_sentence(getattr(function, "__doc__", None))
    matched = (before,) if isinstance(before, Expr) else tuple(before)
    place = (at,) if isinstance(at, Expr) else tuple(at)
    recorder.emit(Rewrite(stated, name, _path(code), line, matched, after, place or matched, how))


def first_sentence(text: str | None) -> str:
    """Return the first sentence of a docstring."""
    words = " ".join((text or "").split())
    return words.partition(". ")[0].rstrip(".:") + "." if words else ""


def _path(code: CodeType | None) -> str:
    """Return the path of code within the package, `relay_explorer/…`; "" for code outside it."""
    if code is None:
        return ""
    inside = code.co_filename.removeprefix(_FOLDER + os.sep)
    return "" if inside == code.co_filename else f"{os.path.basename(_FOLDER)}/{inside.replace(os.sep, '/')}"
