"""Convert Python sequences to the prelude's lists, and lists to Python's, at any length."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from ..ir.adt import Constructor
from ..ir.errors import RelayError
from ..ir.module import IRModule
from .results import ConstructorValue


def make_list(module: IRModule, items: Iterable[object]) -> ConstructorValue:
    """Build the value of type `List` with these elements, each anything that an executor accepts as an
    argument; `module` has the prelude (or a type `List` with `Cons` and `Nil` in this order). Raise a
    ModuleError where there is no such type.
    """
    _, cons, nil = cast("tuple[Any, Constructor, Constructor]", module.get_type("List"))
    result = ConstructorValue(nil.tag, [], nil)
    for item in reversed(list(items)):
        result = ConstructorValue(cons.tag, [item, result], cons)
    return result


def list_items(value: ConstructorValue) -> list[Any]:
    """Return the elements of a value of type `List`, as an executor returns them; raise a RelayError for any
    other value.
    """
    items: list[Any] = []
    rest: Any = value
    while getattr(getattr(rest, "constructor", None), "name_hint", None) == "Cons":
        head, rest = rest.fields
        items.append(head)
    if getattr(getattr(rest, "constructor", None), "name_hint", None) != "Nil":
        raise RelayError(f"{rest!r:.200} is not a list", help=["a list is `Cons(element, list)` or `Nil`"])
    return items
