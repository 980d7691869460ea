"""Whether data from outside are what a program expects: each part of a tree, list or cell has its type.

Inference sees the types of tensors and tuples that come from Python; what a constructed value holds is seen
only by looking, and it is looked at before the program runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..ir.adt import Constructor, TypeData
from ..ir.errors import Note, RelayError
from ..ir.expr import Var
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.show import counted
from ..ir.types import FuncType, GlobalTypeVar, RefType, TensorType, TupleType, Type, TypeCall
from ..typing.solver import substitute
from .values import Closure, ConstructorValue, RefValue, Value

Place = tuple["Place | None", str]  # where a part stands: in which place, and as what

MOST_PLACES = 6  # that an error names


def check_arguments(params: Sequence[Var], values: Sequence[Value], module: IRModule) -> None:
    """A RelayError where a value, or a part of one, is not of the parameter's type; it says which part. What
    is a tensor outright is left to type inference.
    """
    checker = _Checker(module)
    for param, value in zip(params, values):
        if param.type_annotation is not None and not hasattr(value, "dtype"):
            checker.check(param, value, param.type_annotation)


def fits(value: Value, wanted: TensorType) -> bool:
    """Whether an array has the element type and the shape; a size that is not known takes any."""
    same = str(value.dtype) == wanted.dtype and len(value.shape) == len(wanted.shape)
    return same and all(not isinstance(w, int) or a == w for a, w in zip(value.shape, wanted.shape))


class _Checker:
    def __init__(self, module: IRModule) -> None:
        self.declared = {var.name_hint: data for var, data in module.type_definitions.items()}
        self.fields: dict[tuple[Constructor, int], Sequence[Type]] = {}  # by the identity of the whole type
        self.types: dict[Type, Type] = {}  # equal types as one object, which also keeps it alive

    def check(self, param: Var, value: Value, wanted: Type) -> None:
        seen: set[tuple[int, int]] = set()  # a value that is shared, or a cell that leads back to itself
        wanted = self.types.setdefault(wanted, wanted)
        pending: list[tuple[Value, Type, Place | None]] = [(value, wanted, None)]
        while pending:
            part, type_, place = pending.pop()
            if isinstance(part, (ConstructorValue, RefValue)):
                if (id(part), id(type_)) in seen:
                    continue
                seen.add((id(part), id(type_)))
            match type_:
                case TensorType():
                    right = hasattr(part, "dtype") and fits(part, type_)
                case TupleType():
                    right = isinstance(part, tuple) and len(part) == len(type_.fields)
                case RefType():
                    right = isinstance(part, RefValue)
                case FuncType():
                    right = isinstance(part, (Closure, Constructor, Op))
                case GlobalTypeVar() | TypeCall():
                    right = self._belongs(part, type_)
                case _:
                    right = is_value(part)
            if not right:
                raise _wrong(param, part, type_, place)
            pending += self._parts(part, type_, place)

    def _belongs(self, part: Value, type_: Type) -> bool:
        head = type_.func if isinstance(type_, TypeCall) else type_
        if not isinstance(head, GlobalTypeVar):
            return is_value(part)
        return isinstance(part, ConstructorValue) and part.constructor.belong_to.name_hint == head.name_hint

    def _parts(self, part: Value, type_: Type, place: Place | None) -> Iterator[tuple[Value, Type, Place]]:
        """The parts of a value whose top is right."""
        if isinstance(part, ConstructorValue):
            types = self._fields(part.constructor, type_)
            for index, (field, wanted) in enumerate(zip(part.fields, types)):
                yield field, wanted, (place, f"field {index} of `{part.constructor.name_hint}`")
        elif isinstance(part, tuple) and isinstance(type_, TupleType):
            for index, (field, wanted) in enumerate(zip(part, type_.fields)):
                yield field, wanted, (place, f"field {index} of a tuple")
        elif isinstance(part, RefValue) and isinstance(type_, RefType):
            yield part.value, type_.value, (place, "the content of a cell")

    def _fields(self, constructor: Constructor, type_: Type) -> Sequence[Type]:
        """The types of a constructor's fields in a value of `type_`; the same objects each time."""
        found = self.fields.get((constructor, id(type_)))
        if found is None:
            data: TypeData | None = self.declared.get(constructor.belong_to.name_hint)
            found = list(constructor.inputs)
            if isinstance(type_, TypeCall) and data is not None:
                given = dict(zip(data.type_vars, type_.args))
                declared = next((c for c in data.constructors if c.name_hint == constructor.name_hint), None)
                found = [substitute(t, given) for t in (declared or constructor).inputs]
            found = [self.types.setdefault(t, t) for t in found]
            self.fields[constructor, id(type_)] = found
        return found


def is_value(part: Value) -> bool:
    """Whether it is anything that programs compute with."""
    return hasattr(part, "dtype") or isinstance(
        part, (tuple, ConstructorValue, RefValue, Closure, Constructor, Op)
    )


def describe(part: Value) -> str:
    """What a value is, for an error: its type as far as it can be seen."""
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
    return f"a {type(part).__name__}, which is no value of a program"


def _wrong(param: Var, part: Value, wanted: Type, place: Place | None) -> RelayError:
    notes = []
    if place is not None:
        notes.append(Note(f"it is {', in '.join(_places(place))}"))
    within = "" if place is None else "a part of "
    return RelayError(
        f"{within}the argument `%{param.name_hint}` must be `{wanted}`, and is {describe(part)}",
        param.span,
        notes,
    )


def _places(place: Place | None) -> list[str]:
    """From the inside out; of a long way the first and the rest counted."""
    names: list[str] = []
    rest = 0
    while place is not None:
        place, name = place
        if len(names) < MOST_PLACES:
            names.append(name)
        else:
            rest += 1
    return [*names, f"{rest:,} more"] if rest else names
