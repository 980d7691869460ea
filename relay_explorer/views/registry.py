"""The registry of views. Each declares itself in its folder's `__init__.py`:

    @declare("fusion", "how operators are fused into kernels, step by step")
    def build(source: Source, *, limits: Limits | None = None) -> View: ...

The keyword parameters of the function are the view's options, with their types and defaults. `explore`, the
command line and the page look up here which views exist, what they accept and which options they have.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any, Protocol

from ..ir.errors import RelayError
from ..ir.lazy_dataclass import dataclass
from .format import View
from .source import with_article


class Answering(Protocol):
    """Answers a live widget's questions with a new view: of another run, or of one more kernel."""

    @property
    def view(self) -> View: ...

    def answer(self, question: Mapping[str, Any]) -> View:
        """Return the view that answers a question."""


Build = Callable[..., "View | Answering"]


@dataclass(frozen=True)
class Option:
    """An option of a view: its name, its type as the source writes it, and its default."""

    name: str
    type: str
    default: object
    required: bool


@dataclass(frozen=True)
class ViewKind:
    """A view: its name, one line about it, and the function that builds it. `accepts` names the classes
    that it takes besides programs, and `default_for` those of which it is the default view.
    """

    name: str
    help: str
    build: Build
    accepts: tuple[str, ...]
    default_for: tuple[str, ...]
    options: tuple[Option, ...]

    def option_names(self) -> tuple[str, ...]:
        return tuple(option.name for option in self.options)


class ViewError(RelayError, ValueError):
    """Raised for an unknown view or option, and for an input that a view does not accept."""


_declared: dict[str, ViewKind] = {}


def declare(
    name: str, help: str, *, accepts: tuple[str, ...] = (), default_for: tuple[str, ...] = ()
) -> Callable[[Build], Build]:
    """Register the decorated function as the one that builds the view `name`."""

    def register(build: Build) -> Build:
        parameters = list(inspect.signature(build).parameters.values())[1:]
        options = tuple(
            Option(p.name, str(p.annotation), p.default, p.default is p.empty) for p in parameters
        )
        _declared[name] = ViewKind(name, help, build, accepts, default_for, options)
        return build

    return register


@cache
def _load_all() -> None:
    """Import the folders beside this file: each declares its view."""
    package = __name__.rpartition(".")[0]
    for info in pkgutil.iter_modules(importlib.import_module(package).__path__):
        if info.ispkg:
            importlib.import_module(f"{package}.{info.name}")


def views() -> dict[str, ViewKind]:
    """Return every view by its name, "ir" first, the others in alphabetical order."""
    _load_all()
    return {name: _declared[name] for name in sorted(_declared, key=lambda name: (name != "ir", name))}


def view_kind(name: str | None, subject: object) -> ViewKind:
    """Return the view of this name; without one, the default view for `subject`."""
    every = views()
    kind = type(subject).__name__
    if name is None:
        return next((view for view in every.values() if kind in view.default_for), every["ir"])
    if name not in every:
        raise ViewError(
            f"there is no view {name!r}: views are {', '.join(map(repr, every))}", help=_nearest(name, every)
        )
    view = every[name]
    taking = [other.name for other in every.values() if kind in other.accepts]
    if taking and view.name not in taking:
        raise ViewError(
            f"the view {name!r} does not show {with_article(kind)}",
            help=[f"{'views' if len(taking) > 1 else 'the view'} that can: {', '.join(taking)}"],
        )
    return view


def chosen(view: ViewKind, options: Mapping[str, object]) -> dict[str, object]:
    """Return a copy of the options, once they are checked. The error for one that the view does not have
    names the nearest one that it has, and the views that have this one.
    """
    names = view.option_names()
    for name in options:
        if name not in names:
            raise ViewError(f"the view {view.name!r} has no option `{name}`", help=_where(view, name))
    return dict(options)


def _where(view: ViewKind, name: str) -> list[str]:
    names = view.option_names()
    having = [repr(other.name) for other in views().values() if name in other.option_names()]
    help_ = _nearest(name, names)
    if having:
        help_.append(f"{', '.join(having)} {'has' if len(having) == 1 else 'have'} it")
    listed = ", ".join(f"`{n}`" for n in names)
    return [*help_, f"options of {view.name!r}: {listed}" if names else f"{view.name!r} has no options"]


def _nearest(name: str, names: Any) -> list[str]:
    close = get_close_matches(name, list(names), 1)
    return [f"did you mean `{close[0]}`?"] if close else []
