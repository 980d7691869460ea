"""Check that data from outside have the types that a program expects, in every part of a tree, list or cell.

Type inference sees the types of tensors and tuples that come from Python. The types of a constructed value's
fields have to be checked in the value itself, which happens before the program runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from ..ir.adt import Constructor, TypeData
from ..ir.errors import Note, RelayError
from ..ir.expr import Var
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.show import counted
from ..ir.substitute import substitute_type
from ..ir.types import FuncType, GlobalTypeVar, RefType, TensorType, TupleType, Type, TypeCall
from .values import Closure, ConstructorValue, RefValue, Value

Place = tuple["Place | None", Value, int]  # a part's position: its parent's, the parent, the field

MAX_PLACES = 6  # at most so many positions are named by an error


def check_arguments(params: Sequence[Var], values: Sequence[Value], module: IRModule) -> None:
    """Raise a RelayError where a value, or a part of one, does not have the parameter's type; it names the
    part. The types of tensors themselves are left to type inference.
    """
    checker = _Checker(module)
    for param, value in zip(params, values):
        if param.type_annotation is not None and not hasattr(value, "dtype"):
            checker.check(param, value, param.type_annotation)


@cache
def _name(dtype: Any) -> str:
    """Return the name of a NumPy type, cached because NumPy composes it each time."""
    return str(dtype)


def fits(value: Value, expected: TensorType) -> bool:
    """Whether an array has the element type and the shape; a dynamic size accepts any."""
    shape = value.shape
    if _name(value.dtype) != expected.dtype or len(shape) != len(expected.shape):
        return False
    return shape == expected.shape or all(
        not isinstance(w, int) or a == w for a, w in zip(shape, expected.shape)
    )


class _Checker:
    def __init__(self, module: IRModule) -> None:
        self.declared = {var.name_hint: data for var, data in module.type_definitions.items()}
        self.fields: dict[tuple[Constructor, int], Sequence[Type]] = {}  # by the identity of the whole type
        self.types: dict[Type, Type] = {}  # one object for equal types, which is kept alive

    def check(self, param: Var, value: Value, expected: Type) -> None:
        expected = self.types.setdefault(expected, expected)
        visited: set[tuple[int, int]] = set()  # a value may be shared, and a cell may lead back to itself
        pending: list[tuple[Value, Type, Place | None]] = [(value, expected, None)]
        while pending:
            part, type_, place = pending.pop()
            if not self._is(part, type_):
                raise _wrong(param, part, type_, place)
            if isinstance(part, (ConstructorValue, RefValue)):
                if (id(part), id(type_)) in visited:
                    continue
                visited.add((id(part), id(type_)))
            for index, (inner, inside) in enumerate(self._parts(part, type_)):
                # Most parts are tensors of the right type, which need not be queued.
                if not (type(inside) is TensorType and hasattr(inner, "dtype") and fits(inner, inside)):
                    pending.append((inner, inside, (place, part, index)))

    def _is(self, part: Value, type_: Type) -> bool:
        """Whether the outermost level of a value has the type."""
        match type_:
            case TensorType():
                return hasattr(part, "dtype") and fits(part, type_)
            case TupleType():
                return isinstance(part, tuple) and len(part) == len(type_.fields)
            case RefType():
                return isinstance(part, RefValue)
            case FuncType():
                return isinstance(part, (Closure, Constructor, Op))
            case GlobalTypeVar() | TypeCall():
                return self._belongs(part, type_)
        return is_value(part)

    def _belongs(self, part: Value, type_: Type) -> bool:
        head = type_.func if isinstance(type_, TypeCall) else type_
        if not isinstance(head, GlobalTypeVar):
            return is_value(part)
        return isinstance(part, ConstructorValue) and part.constructor.belong_to.name_hint == head.name_hint

    def _parts(self, part: Value, type_: Type) -> Iterable[tuple[Value, Type]]:
        """Return the parts of a value whose outermost constructor is right, with their types."""
        if isinstance(part, ConstructorValue):
            return zip(part.fields, self._fields(part.constructor, type_))
        if isinstance(part, tuple) and isinstance(type_, TupleType):
            return zip(part, type_.fields)
        if isinstance(part, RefValue) and isinstance(type_, RefType):
            return [(part.value, type_.value)]
        return ()

    def _fields(self, constructor: Constructor, type_: Type) -> Sequence[Type]:
        """Return the types of a constructor's fields in a value of `type_`; the same objects each time."""
        types = self.fields.get((constructor, id(type_)))
        if types is None:
            data: TypeData | None = self.declared.get(constructor.belong_to.name_hint)
            types = list(constructor.inputs)
            if isinstance(type_, TypeCall) and data is not None:
                substitution = dict(zip(data.type_vars, type_.args))
                declared = next((c for c in data.constructors if c.name_hint == constructor.name_hint), None)
                types = [substitute_type(t, substitution) for t in (declared or constructor).inputs]
            types = [self.types.setdefault(t, t) for t in types]
            self.fields[constructor, id(type_)] = types
        return types


def is_value(part: Value) -> bool:
    """Whether an object is a value of any kind that programs compute with."""
    return hasattr(part, "dtype") or isinstance(
        part, (tuple, ConstructorValue, RefValue, Closure, Constructor, Op)
    )


def describe(part: Value) -> str:
    """Describe a value for an error message: its type, as far as it is visible."""
    match part:
        case ConstructorValue():
            return f"`{part.constructor.name_hint}`, of the type `{part.constructor.belong_to.name_hint}`"
        case RefValue():
            return "a cell"
        case tuple():
            return f"a tuple of {counted(len(part), 'field')}"
        case Closure() | Constructor() | Op():
            return "a function"
        case _ if hasattr(part, "dtype"):
            return f"`{TensorType(part.shape, str(part.dtype))}`"
    return f"a {type(part).__name__}, which is not a value of a program"


def _wrong(param: Var, part: Value, expected: Type, place: Place | None) -> RelayError:
    notes = []
    if place is not None:
        notes.append(Note(f"it is {', in '.join(_places(place))}"))
    within = "" if place is None else "a part of "
    return RelayError(
        f"{within}the argument `%{param.name_hint}` must be `{expected}`, but is {describe(part)}",
        param.span,
        notes,
    )


def _places(place: Place | None) -> list[str]:
    """List the positions from the inside out; of a long path the first ones, and the number of the others."""
    names: list[str] = []
    rest = 0
    while place is not None:
        place, whole, index = place
        if len(names) == MAX_PLACES:
            rest += 1
        elif isinstance(whole, RefValue):
            names.append("the content of a cell")
        else:
            owner = f"`{whole.constructor.name_hint}`" if isinstance(whole, ConstructorValue) else "a tuple"
            names.append(f"field {index} of {owner}")
    return [*names, f"{rest:,} more"] if rest else names
