"""Sequences as the prelude's lists, and optional values as its options.

A list holds values of one type, so an axis whose extent differs between the elements of a sequence is `?` in
the list's type. A sequence that is built from known elements is a chain of `Cons`, from which the elements
are read back with their own, more precise types.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ...ir.adt import Constructor
from ...ir.errors import RelayError
from ...ir.expr import Call, Expr, Function, GlobalVar, Var
from ...ir.module import IRModule
from ...ir.types import Type, TypeCall
from ...prelude.libraries import library as library_module
from ...text import parse
from ...typing import infer_types
from ..base.context import Context
from ..base.loops import joined

_EDITS = """#[version = "0.0.5"]
// The list with %v before element %n, counted from 0.
def @sequence_insert[A](%xs: List[A], %n: int32, %v: A) -> List[A] {
  if (less_equal(%n, 0)) { Cons(%v, %xs) } else {
    match? (%xs) { Cons(%x, %rest) => { Cons(%x, @sequence_insert(%rest, subtract(%n, 1), %v)) } }
  }
}

// The list without element %n, counted from 0.
def @sequence_erase[A](%xs: List[A], %n: int32) -> List[A] {
  match? (%xs) {
    Cons(%x, %rest) => {
      if (less_equal(%n, 0)) { %rest } else { Cons(%x, @sequence_erase(%rest, subtract(%n, 1))) }
    }
  }
}
"""


def constructor(context: Context, name: str) -> Constructor:
    """Return the prelude's constructor `Cons`, `Nil`, `Some` or `None`."""
    return context.prelude.get_ctor("List" if name in ("Cons", "Nil") else "Option", name)


def list_type(context: Context, element: Type) -> Type:
    """Return the type of lists of `element`."""
    return TypeCall(context.prelude.get_type("List"), [element])


def option_type(context: Context, element: Type) -> Type:
    """Return the type of optional values of type `element`."""
    return TypeCall(context.prelude.get_type("Option"), [element])


def argument_of(type_: Type, name: str) -> Type | None:
    """Return `T` of the type `List[T]` or `Option[T]`, where `name` is `List` or `Option`; else None."""
    if isinstance(type_, TypeCall) and getattr(type_.func, "name_hint", "") == name:
        return type_.args[0]
    return None


def element_type(context: Context, sequence: Expr) -> Type:
    """Return the type of a sequence's elements; raise a RelayError for anything else."""
    element = argument_of(context.type(sequence), "List")
    if element is None:
        raise RelayError(f"a sequence is required here, but the value has type {context.type(sequence)}")
    return element


def is_call_of(expr: Expr, name: str) -> bool:
    """Whether an expression calls the constructor of that name."""
    return isinstance(expr, Call) and isinstance(expr.op, Constructor) and expr.op.name_hint == name


def known_items(sequence: Expr) -> list[Expr] | None:
    """Return the elements of a sequence whose length is known at compile time, else None."""
    items: list[Expr] = []
    rest = sequence
    while is_call_of(rest, "Cons"):
        assert isinstance(rest, Call)
        items.append(rest.args[0])
        rest = rest.args[1]
    return items if is_call_of(rest, "Nil") else None


def make_list(context: Context, items: Sequence[Expr], element: Type | None = None) -> Expr:
    """Build a list. `element` is the type of the elements, by default the most precise that all have."""
    for item in items if element is None else ():
        own = context.type(item)
        element = own if element is None else _common(element, own)
    if element is None:
        raise RelayError("the element type of an empty sequence is unknown")
    cons = constructor(context, "Cons")
    result: Expr = Call(constructor(context, "Nil"), [], None, [element])
    for item in reversed(items):
        result = Call(cons, [item, result], None, [element])
    return result


def with_elements(context: Context, sequence: Expr, element: Type) -> Expr:
    """Return a sequence as a list of `element`, which must be its own element type or less precise."""
    own = element_type(context, sequence)
    if own == element:
        return sequence
    items = known_items(sequence)
    if items is not None:
        return make_list(context, items, element)
    item = Var("item", own)
    copy = Function([item], item, element)
    return Call(context.module.get_global_var("map"), [copy, sequence], None, [own, element])


def common_elements(context: Context, *sequences: Expr) -> Type:
    """Return the most precise element type that all the sequences can have."""
    types = [element_type(context, s) for s in sequences if known_items(s) != []]
    if not types:
        return element_type(context, sequences[0])
    element = types[0]
    for other in types[1:]:
        element = _common(element, other)
    return element


def edit(context: Context, name: str, args: Sequence[Expr], element: Type) -> Expr:
    """Call `sequence_insert` or `sequence_erase`, which is added to the module at the first use."""
    context.prelude  # noqa: B018  # adds the type List
    if name not in context.module:
        ours = _edits()
        context.module.add_function(ours.get_global_var(name), ours[name])
    return Call(context.module.get_global_var(name), list(args), None, [element])


def library(context: Context, name: str) -> GlobalVar:
    """Return a function of the prelude."""
    return context.prelude.mod.get_global_var(name)


def some(context: Context, value: Expr) -> Expr:
    """Build an optional value that is present."""
    return Call(constructor(context, "Some"), [value], None, [context.type(value)])


def absent(context: Context, element: Type) -> Expr:
    """Build an optional value that is absent."""
    return Call(constructor(context, "None"), [], None, [element])


def _common(a: Type, b: Type) -> Type:
    try:
        return joined(a, b)
    except RelayError:
        raise RelayError(
            f"a sequence has elements of type {a} and of type {b}",
            help=["a list holds values of one type: the elements must have the same rank and element type"],
        ) from None


@cache
def _edits() -> IRModule:
    return infer_types(parse(_EDITS, "sequences.rly", library_module("prelude.rly")))
