"""`module_pass` and `function_pass`: passes made from plain functions and classes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any as Anything
from typing import NamedTuple, overload

from ...ir.errors import TypeInferenceError
from ...ir.expr import Function
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...typing import infer_types
from . import registry
from .context import PassContext
from .passes import Pass, PassInfo, shown_value

Body = Callable[..., Anything]


def _on_module(body: Body, mod: IRModule, ctx: PassContext) -> IRModule:
    """Run `f(mod, ctx) -> mod`."""
    result: IRModule = body(mod, ctx)
    return result


def _on_functions(body: Body, mod: IRModule, ctx: PassContext) -> IRModule:
    """Run `f(function, mod, ctx) -> function` on every global function, and infer the types again. An
    ill-typed result is returned without types; a later pass that needs them reports the error.
    """
    new = mod.copy()
    for var, function in mod.functions.items():
        if isinstance(function, Function):
            new[var] = body(function, mod, ctx)
    try:
        return infer_types(new)
    except TypeInferenceError:
        return new


class _Kind(NamedTuple):
    """How a decorator makes a pass: `run` applies a function to a module, and `method` is the method of a
    class that is used as that function.
    """

    run: Callable[[Body, IRModule, PassContext], IRModule]
    method: str


_MODULE = _Kind(_on_module, "transform_module")
_FUNCTION = _Kind(_on_functions, "transform_function")


@dataclass(frozen=True)
class _FromFunction(Pass):
    """A pass made from a plain function. It is registered and printed under its name."""

    body: Body
    kind: _Kind
    name: str
    opt_level: int = 0
    required: Sequence[str] = ()

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return self.kind.run(self.body, mod, ctx)

    def _runs_other_code(self) -> bool:
        return True

    def __repr__(self) -> str:
        return self.name


class _FromClass(Pass):
    """Base of passes made from a class: `inner` is an instance of it. Two passes are equal if their classes
    received equal arguments.
    """

    kind: _Kind
    body: type

    def __init__(self, *args: object, **keywords: object) -> None:
        self.arguments = (args, tuple(keywords.items()))
        self.inner = self.body(*args, **keywords)

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return self.kind.run(getattr(self.inner, self.kind.method), mod, ctx)

    def _runs_other_code(self) -> bool:
        return True

    def __getattr__(self, attribute: str) -> Anything:
        if attribute.startswith("__") or attribute == "inner":
            raise AttributeError(attribute)
        return getattr(self.inner, attribute)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.arguments == other.arguments

    def __hash__(self) -> int:
        return hash((type(self), self.arguments))

    def __repr__(self) -> str:
        args, keywords = self.arguments
        shown = [*map(shown_value, args), *(f"{name}={shown_value(value)}" for name, value in keywords)]
        return f"{type(self).__name__}({', '.join(shown)})"


@overload
def module_pass(
    pass_func: Body | type, opt_level: int = 0, name: str | None = None, required: Sequence[str] | None = None
) -> Anything: ...
@overload
def module_pass(
    pass_func: None = None, opt_level: int = 0, name: str | None = None, required: Sequence[str] | None = None
) -> Callable[[Body | type], Anything]: ...
def module_pass(
    pass_func: Body | type | None = None,
    opt_level: int = 0,
    name: str | None = None,
    required: Sequence[str] | None = None,
) -> Anything:
    """Make a pass from `f(mod, ctx) -> mod`, or from a class with such a `transform_module`; usable as a
    decorator.
    """
    return _maker(_MODULE, pass_func, opt_level, name, required)


@overload
def function_pass(
    pass_func: Body | type, opt_level: int = 0, name: str | None = None, required: Sequence[str] | None = None
) -> Anything: ...
@overload
def function_pass(
    pass_func: None = None, opt_level: int = 0, name: str | None = None, required: Sequence[str] | None = None
) -> Callable[[Body | type], Anything]: ...
def function_pass(
    pass_func: Body | type | None = None,
    opt_level: int = 0,
    name: str | None = None,
    required: Sequence[str] | None = None,
) -> Anything:
    """Make a pass from `f(function, mod, ctx) -> function`, or from a class with such a `transform_function`;
    it runs on every global function. Types are inferred again afterwards, if the result is well typed.
    """
    return _maker(_FUNCTION, pass_func, opt_level, name, required)


def _maker(
    kind: _Kind,
    pass_func: Body | type | None,
    opt_level: int,
    name: str | None,
    required: Sequence[str] | None,
) -> Anything:
    def make(body: Body | type) -> Anything:
        info = PassInfo(opt_level, name or body.__name__, tuple(required or ()))
        if isinstance(body, type):
            return _class_of(body, kind, info)
        step = _FromFunction(body, kind, info.name, info.opt_level, info.required)
        registry.register(step.name, step)
        return step

    return make if pass_func is None else make(pass_func)


def _class_of(body: type, kind: _Kind, info: PassInfo) -> type:
    """Make a pass class from a user's class; its instances take the arguments of that class."""
    members = {
        "name": info.name, "opt_level": info.opt_level, "required": info.required, "kind": kind,
        "body": body, "__doc__": body.__doc__, "__module__": body.__module__,
        "__qualname__": body.__qualname__, "__signature__": inspect.signature(body),
    }  # fmt: skip
    return type(body.__name__, (_FromClass,), members)
