"""The table of ATen converters, shared by the importers of TorchScript and of torch.export.

A converter is a function `(ctx, *args)`, declared with the operator's names:

    @aten("leaky_relu")
    def leaky_relu(ctx: Aten, x: Expr, slope: float) -> Value:
        return relay.nn.leaky_relu(x, slope)

Its arguments come in the order of the operator's schema, keyword-only ones included, with the schema's
defaults filled in. See `Value` for what they can be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any as Anything
from typing import TypeAlias

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ..base.require import require
from .context import Aten
from .dtypes import dtype_name
from .values import Value

Conversion: TypeAlias = Callable[..., Value]
"""`(ctx, *args)` returns the operator's result: a value, or a tuple or list of them."""

_TABLE: dict[str, Conversion] = {}


def aten(*names: str) -> Callable[[Conversion], Conversion]:
    """Register a converter under the names of operators.

    A name is that of an ATen operator (`add`), with an overload where overloads differ (`sum.dim_IntList`),
    or has its namespace (`torchvision::nms`). `add_`, which changes its operand in place, has the converter
    of `add` unless it is registered itself: importers turn the change into a new value.
    """

    def register(conversion: Conversion) -> Conversion:
        for name in names:
            key = name if "::" in name else f"aten::{name}"
            if key in _TABLE:
                raise ValueError(f"{key} has two converters")
            _TABLE[key] = conversion
        return conversion

    return register


def find(name: str, overload: str = "") -> Conversion | None:
    """Return the converter of an operator such as `aten::add` with the overload `Tensor`, or None.

    The overload's own converter is preferred to that of the operator. An in-place operator `aten::add_` has
    the converter of `aten::add`.
    """
    _load()
    for candidate in (name, name[:-1]) if _is_in_place(name) else (name,):
        conversion = _TABLE.get(f"{candidate}.{overload}") if overload else None
        conversion = conversion or _TABLE.get(candidate)
        if conversion is not None:
            return conversion
    return None


def names() -> list[str]:
    """Return the names of all operators with a converter, sorted."""
    _load()
    return sorted(_TABLE)


def _is_in_place(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")


@cache
def _load() -> None:
    """Import the modules that declare converters."""
    import importlib
    import pkgutil

    package = importlib.import_module(__package__)
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")


@cache
def schemas() -> Mapping[tuple[str, str], Anything]:
    """Return PyTorch's schemas by operator (`aten::add`) and overload (`Tensor`)."""
    torch = require("torch", "torch")
    return {(schema.name, schema.overload_name): schema for schema in torch._C._jit_get_all_schemas()}


def bind(schema: Anything, args: Sequence[Value], kwargs: Mapping[str, Value] | None = None) -> list[Value]:
    """Return the arguments of a call in the schema's order, with defaults filled in and dtypes as names.

    Raise a RelayError where an argument is missing or not one of the schema's.
    """
    named = dict(kwargs or {})
    bound: list[Value] = []
    if len(args) > len(schema.arguments):
        raise RelayError(f"{schema.name} takes {len(schema.arguments)} arguments, not {len(args)}")
    for position, argument in enumerate(schema.arguments):
        if position < len(args):
            value = args[position]
        elif argument.name in named:
            value = named.pop(argument.name)
        elif argument.has_default_value():
            value = argument.default_value
        else:
            raise RelayError(f"{schema.name} requires the argument `{argument.name}`")
        bound.append(dtype_name(value) if _is_dtype(argument) else value)
    if named:
        raise RelayError(f"{schema.name} has no argument {', '.join(map(repr, named))}")
    return bound


def _is_dtype(argument: Anything) -> bool:
    return "ScalarType" in str(argument.real_type)


def call(ctx: Aten, name: str, *args: Value) -> Value:
    """Apply the converter of another operator (`aten::add`, or `add`) to arguments in the schema's order."""
    full, _, overload = (name if "::" in name else f"aten::{name}").partition(".")
    conversion = find(full, overload)
    if conversion is None:
        raise RelayError(f"{full} has no converter")
    return conversion(ctx, *args)


def tensor_call(ctx: Aten, name: str, *args: Value) -> Expr:
    """Apply the converter of another operator whose result is one tensor."""
    result = call(ctx, name, *args)
    assert isinstance(result, Expr)
    return result
