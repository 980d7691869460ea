"""What a pass rewrites, one rewrite after the other, as the rules tell it while somebody listens.

    with recorded() as told:
        made = SimplifyExpr()(module)
    for rewrite in told.rewrites:
        print(rewrite.rule, rewrite.before, rewrite.after)

Nobody listens by default, and then `tell` returns at once. The mutators of `visitor`, `walk.rewrite` and the
rewriting of patterns tell what is changed through them, so that a reader's own pass is followed too.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Any as Anything
from typing import NamedTuple

from .expr import Expr

MOST = 2_000  # rewrites that are kept of one recording; the others are counted
_PACKAGE = Path(__file__).parents[1]


class Rewrite(NamedTuple):
    """One rewrite: what the rule says, its name, and where it stands (the file in the package, or "" for a
    rule of a reader's own; its line, or 0 if that is not known).

    `before` are the expressions that the rule found, as they were at that moment, `after` what it put in
    their place, None for nothing. `at` are the expressions of the program that the pass was looking at.
    `how` is "" for a rewrite, and otherwise says what `before` is to `after`: "joins the kernel of".
    """

    rule: str
    name: str
    path: str
    line: int
    before: tuple[Expr, ...]
    after: Expr | None
    at: tuple[Expr, ...]
    how: str = ""


class Recording:
    """What has been told: the first rewrites, and how many there were."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self.rewrites: list[Rewrite] = []
        self.total = 0


class _State(threading.local):
    recording: Recording | None = None


_STATE = _State()
Rule = Callable[..., Anything]


@contextmanager
def recorded(most: int = MOST) -> Iterator[Recording]:
    """Listens, in this thread, to what is rewritten in the `with` statement."""
    outer, _STATE.recording = _STATE.recording, Recording(most)
    try:
        yield _STATE.recording
    finally:
        _STATE.recording = outer


def listening() -> bool:
    """Whether somebody wants to know."""
    return _STATE.recording is not None


def tell(
    rule: Rule | str,
    before: Expr | Sequence[Expr],
    after: Expr | None,
    at: Expr | Sequence[Expr] = (),
    words: str = "",
    how: str = "",
) -> None:
    """Tells a rewrite. A rule that is a function is called by its name and says the first sentence of its
    docstring, or `words`; a rule that is a sentence stands where `tell` is called.
    """
    recording = _STATE.recording
    if recording is None:
        return
    recording.total += 1
    if len(recording.rewrites) >= recording.most:
        return
    if isinstance(rule, str):
        frame = sys._getframe(1)
        code: CodeType | None = frame.f_code
        line, said, name = frame.f_lineno, rule, frame.f_code.co_qualname
    else:
        while isinstance(rule, partial):
            rule = rule.func
        function = getattr(rule, "__func__", rule)
        code = getattr(function, "__code__", None)
        line = code.co_firstlineno if code is not None else 0
        name = getattr(function, "__qualname__", type(rule).__name__)
        said = words or first_sentence(getattr(function, "__doc__", None))
    found = (before,) if isinstance(before, Expr) else tuple(before)
    place = (at,) if isinstance(at, Expr) else tuple(at)
    name = ".".join(part.lstrip("_") for part in name.replace("<locals>.", "").split("."))
    recording.rewrites.append(Rewrite(said, name, _path(code), line, found, after, place or found, how))


def first_sentence(text: str | None) -> str:
    """The first sentence of a docstring."""
    words = " ".join((text or "").split())
    return words.partition(". ")[0].rstrip(".:") + "." if words else ""


def _path(code: CodeType | None) -> str:
    """Where code stands in the package: `relay_explorer/…`; "" for what does not."""
    if code is None:
        return ""
    try:
        return "/".join((_PACKAGE.name, *Path(code.co_filename).relative_to(_PACKAGE).parts))
    except ValueError:
        return ""
