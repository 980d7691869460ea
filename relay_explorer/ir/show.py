"""Print types as Relay text. This is here and not in `text/` because errors in all layers name types."""

from __future__ import annotations

from collections.abc import Callable

from .types import (
    FuncType,
    GlobalTypeVar,
    IncompleteType,
    RefType,
    TensorType,
    TupleType,
    Type,
    TypeCall,
    TypeRelation,
    TypeVar,
)

Namer = Callable[[Type], "str | None"]
MAX_TYPE_DEPTH = 200  # messages truncate deeper types with `…`; the printer raises an error


def show_shape(shape: tuple[object, ...]) -> str:
    """Print a shape: `(3, 4)`, `(3)`, `()`; an unknown dimension is `?`."""
    return f"({', '.join(map(str, shape))})"


def show_type(type_: Type, namer: Namer | None = None, depth: int = 0) -> str:
    """Print `type_` in the text format. `namer` may name type variables and incomplete types; they have their
    plain names where it returns None.
    """
    if namer is not None and (name := namer(type_)) is not None:
        return name
    if depth > MAX_TYPE_DEPTH:
        return "…"

    def inner(t: Type) -> str:
        return show_type(t, namer, depth + 1)

    match type_:
        case TensorType():
            if not type_.shape:
                return type_.dtype
            return f"Tensor[{show_shape(type_.shape)}, {type_.dtype}]"
        case TupleType():
            fields = ", ".join(map(inner, type_.fields))
            return f"({fields},)" if len(type_.fields) == 1 else f"({fields})"
        case TypeVar() | GlobalTypeVar():
            return type_.name_hint
        case IncompleteType():
            return getattr(type_, "name_hint", "_")
        case FuncType():
            params = f"[{', '.join(map(inner, type_.type_params))}]" if type_.type_params else ""
            args = ", ".join(map(inner, type_.arg_types))
            return (
                f"fn {params}({args}) -> {inner(type_.ret_type)}"
                if params
                else f"fn ({args}) -> {inner(type_.ret_type)}"
            )
        case TypeCall():
            return (
                f"{inner(type_.func)}[{', '.join(map(inner, type_.args))}]"
                if type_.args
                else inner(type_.func)
            )
        case RefType():
            return f"ref({inner(type_.value)})"
        case TypeRelation():
            name = getattr(type_.func, "__name__", "relation")
            return f"{name}({', '.join(map(inner, type_.args))})"
        case _:
            return f"<{type(type_).__name__}>"


def short_type(type_: Type, namer: Namer | None = None) -> str:
    """Print a type as briefly as a label needs: `(3, 4) f32`, `fn (2)`, tuples as `⟨…⟩`."""
    if namer is not None and (name := namer(type_)) is not None:
        return name
    match type_:
        case TensorType():
            dtype = short_dtype(type_.dtype)
            return f"{show_shape(type_.shape)} {dtype}" if type_.shape else dtype
        case TupleType() if len(type_.fields) <= 3:
            return f"({', '.join(short_type(f, namer) for f in type_.fields)})"
        case TupleType():
            return f"({short_type(type_.fields[0], namer)}, … {len(type_.fields)} fields)"
        case _:
            text = show_type(type_, namer)
            return text if len(text) <= 60 else text[:59] + "…"


def short_dtype(dtype: str) -> str:
    """Abbreviate an element type: `float32` as `f32`, `int64` as `i64`, `uint8` as `u8`; others stay
    unchanged.
    """
    for long, short in (("bfloat", "bf"), ("float", "f"), ("uint", "u"), ("int", "i")):
        if dtype.startswith(long) and dtype[len(long) :].isdigit():
            return short + dtype[len(long) :]
    return dtype


def counted(count: int, noun: str) -> str:
    """Print a count with its noun: `1 argument`, `2 arguments`."""
    return f"{count} {noun}{'s' * (count != 1)}"


def ordinal(index: int) -> str:
    """Return the ordinal of position `index`, counted from 0: 0 is "first"."""
    words = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
    return words[index] if 0 <= index < len(words) else f"{index + 1}th"
