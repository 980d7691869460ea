"""Attach methods and names that TVM's classes had, and this package's lack, for old code."""

from __future__ import annotations

from ..ir.attrs import Attrs, Field
from ..ir.expr import Constant, Expr
from ..ir.identity import Id
from ..ir.module import IRModule
from ..ir.ndarray import NDArray
from ..ir.op import Op
from ..ir.size import Size
from ..ir.span import Span
from ..ir.types import Type
from ..ops.namespaces import nn
from . import operator_steps


def same_as(value: object, other: object) -> bool:
    """Whether this is the same object."""
    return value is other


def same_variable(value: Id, other: object) -> bool:
    """Whether this identifies the same variable."""
    return value == other


def get_int(attrs: Attrs, name: str) -> int:
    """Return the attribute `name` as an integer."""
    return int(attrs[name])


def get_str(attrs: Attrs, name: str) -> str:
    """Return the attribute `name` as text."""
    return str(attrs[name])


def get_int_tuple(attrs: Attrs, name: str) -> tuple[int, ...]:
    """Return the attribute `name` as a tuple of integers."""
    return tuple(int(value) for value in attrs[name])


def list_field_info(attrs: Attrs) -> list[Field]:
    """Return the declarations of the attributes."""
    return list(attrs._fields.values())


def script(node: IRModule | Expr, *args: object, **options: object) -> str:
    """Return the program as Relay text. TVM's options, on TVMScript, have no effect."""
    return node.astext(show_meta_data=False)


def show(node: IRModule | Expr, *args: object, **options: object) -> None:
    """Print the program as Relay text. TVM's options, on colors and formatting, have no effect."""
    print(script(node))


METHODS: dict[type, dict[str, object]] = {
    **{cls: {"same_as": same_as} for cls in (Type, Size, Span)},
    **{cls: {"same_as": same_as, "script": script, "show": show} for cls in (Expr, IRModule)},
    Id: {"same_as": same_variable},
    Attrs: {method.__name__: method for method in (get_int, get_str, get_int_tuple, list_field_info)},
    NDArray: {"asnumpy": NDArray.numpy},
    Op: operator_steps.METHODS,
}


def enable() -> None:
    """Attach the methods and names; doing so twice changes nothing."""
    for cls, methods in METHODS.items():
        for name, method in methods.items():
            setattr(cls, name, method)
    nn.__dict__["Constant"] = Constant
