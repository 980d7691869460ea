"""The parts of a value that are expressions, and what must be the same in every branch or iteration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any as Anything
from typing import cast

from ...ir.errors import RelayError
from ...ir.expr import Expr, TupleGetItem
from ...ir.expr import Tuple as RelayTuple
from ...ir.types import TensorType, Type
from ...ops import namespaces as relay
from ..aten import Aten
from ..aten.values import Scalar
from ..base.loops import joined as joined_types
from .cells import Computed, Journal, List, Tensor

UNINITIALIZED = object()  # a variable that the program never reads in this branch


class Spec:
    """Describes a value: which of its parts are expressions."""


@dataclass(frozen=True)
class TensorSpec(Spec):
    """A tensor."""


@dataclass(frozen=True)
class NumberSpec(Spec):
    """A Python number: `dtype` is int64, float64 or bool."""

    dtype: str


class StaticSpec(Spec):
    """A value that must be the same everywhere: None, a string, a module."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StaticSpec) and (self.value is other.value or self.value == other.value)

    def __hash__(self) -> int:
        return hash(type(self.value))


@dataclass(frozen=True)
class TupleSpec(Spec):
    """A tuple, or a list (`is_list`) of known length, with the types of its items."""

    fields: tuple[Spec, ...]
    is_list: bool = False
    types: tuple[Type, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class DictSpec(Spec):
    """A dictionary with known keys."""

    keys: tuple[object, ...]
    fields: tuple[Spec, ...]


@dataclass(frozen=True)
class ListSpec(Spec):
    """A list whose length is known only at run time: the description and the type of an element, None where
    they are not known yet.
    """

    element: Spec | None
    type: Type | None = None


def joined(a: Spec, b: Spec) -> Spec:
    """Return the description that fits both values, as those of two branches; else raise a RelayError."""
    if a == b:
        return a
    if isinstance(a, TupleSpec) and isinstance(b, TupleSpec) and a.is_list == b.is_list:
        if len(a.fields) == len(b.fields):
            types = tuple(map(joined_types, a.types, b.types)) if _compatible(a.types, b.types) else ()
            return TupleSpec(tuple(map(joined, a.fields, b.fields)), a.is_list, types)
        if a.is_list:
            return joined(as_list(a), as_list(b))
    if isinstance(a, ListSpec) and isinstance(b, TupleSpec) and b.is_list:
        return joined(a, as_list(b))
    if isinstance(b, ListSpec) and isinstance(a, TupleSpec) and a.is_list:
        return joined(as_list(a), b)
    if isinstance(a, ListSpec) and isinstance(b, ListSpec):
        if a.element is None or b.element is None or a.type is None or b.type is None:
            return b if a.element is None else a
        return ListSpec(joined(a.element, b.element), joined_types(a.type, b.type))
    if isinstance(a, DictSpec) and isinstance(b, DictSpec) and a.keys == b.keys:
        return DictSpec(a.keys, tuple(map(joined, a.fields, b.fields)))
    raise RelayError(
        f"a value is {named(a)} in one case and {named(b)} in another, and which case occurs is known only "
        "at run time; Relay needs one type for both"
    )


def as_list(spec: TupleSpec) -> ListSpec:
    """Return the description of a list of known length as that of a list of any length."""
    element: Spec | None = None
    type_: Type | None = None
    for part in spec.fields:
        element = part if element is None else joined(element, part)
    for part_type in spec.types:
        type_ = part_type if type_ is None else joined_types(type_, part_type)
    return ListSpec(element, type_)


def _compatible(a: Sequence[Type], b: Sequence[Type]) -> bool:
    """Whether the types of two lists can be joined one by one."""
    if len(a) != len(b):
        return False
    try:
        for x, y in zip(a, b):
            joined_types(x, y)
    except RelayError:
        return False
    return True


def named(spec: Spec) -> str:
    """Return what a description describes, in words."""
    match spec:
        case TensorSpec():
            return "a tensor"
        case NumberSpec():
            return {"int64": "an integer", "float64": "a float", "bool": "a bool"}[spec.dtype]
        case StaticSpec():
            return "None" if spec.value is None else repr(spec.value)
        case TupleSpec():
            what = "list" if spec.is_list else "tuple"
            return f"a {what} of {len(spec.fields)}"
        case ListSpec():
            return "a list"
    return "a dictionary"


class NotPackableError(RelayError):
    """A value that cannot be an element of a list whose length is known only at run time."""


class Packer:
    """Turns values into expressions and back."""

    def __init__(self, ctx: Aten, journal: Journal, lists: Anything) -> None:
        self.ctx = ctx
        self.journal = journal
        self.lists = lists

    def spec_of(self, value: object) -> Spec:
        """Return the description of a value."""
        match value:
            case Tensor():
                if value.form() in self.ctx.quantized:
                    raise RelayError(
                        "a quantized tensor is carried through a condition or a loop that is known only at "
                        "run time, where its scale would be lost",
                        help=["dequantize it before"],
                    )
                return TensorSpec()
            case Scalar():
                return NumberSpec({bool: "bool", int: "int64", float: "float64"}[value.kind])
            case bool():
                return NumberSpec("bool")
            case int():
                return NumberSpec("int64")
            case float():
                return NumberSpec("float64")
            case tuple():
                return TupleSpec(tuple(map(self.spec_of, value)))
            case List():
                if isinstance(value.state, Computed):
                    return cast(Spec, value.state.spec)
                fields = tuple(map(self.spec_of, value.items))
                return TupleSpec(fields, True, self._types(value.items, fields))
            case dict():
                return DictSpec(tuple(value), tuple(map(self.spec_of, value.values())))
        return StaticSpec(value)

    def _types(self, items: Sequence[object], fields: Sequence[Spec]) -> tuple[Type, ...]:
        """Return the types of a list's items as elements of a list, where they can be that."""
        try:
            return tuple(
                [self.ctx.context.type(self.packed(item, part)) for item, part in zip(items, fields)]
            )
        except NotPackableError:
            return ()

    def flat(self, value: object, spec: Spec) -> list[Expr]:
        """Return the expressions of a value."""
        match spec:
            case TensorSpec():
                assert isinstance(value, Tensor)
                return [value.read()]
            case NumberSpec():
                return [self.ctx.tensor(value, spec.dtype)]
            case TupleSpec():
                items = value.items if isinstance(value, List) else cast("Sequence[object]", value)
                return [leaf for item, part in zip(items, spec.fields) for leaf in self.flat(item, part)]
            case DictSpec():
                fields = cast("dict[object, object]", value)
                return [
                    leaf for key, part in zip(spec.keys, spec.fields) for leaf in self.flat(fields[key], part)
                ]
            case ListSpec():
                assert isinstance(value, List)
                return [self.lists.expression(value, spec)]
        return []

    def packed(self, value: object, spec: Spec) -> Expr:
        """Return a value as one expression: an element of a list."""
        match spec:
            case TupleSpec():
                items = value.items if isinstance(value, List) else cast("Sequence[object]", value)
                return RelayTuple([self.packed(item, part) for item, part in zip(items, spec.fields)])
            case TensorSpec() | NumberSpec() | ListSpec():
                return self.flat(value, spec)[0]
        raise NotPackableError(f"{named(spec)} cannot be an element of a list that a loop builds")

    def unpacked(self, expr: Expr, spec: Spec) -> object:
        """Return the value of an expression that `packed` describes."""
        if isinstance(spec, TupleSpec):
            fields = [self.unpacked(TupleGetItem(expr, at), part) for at, part in enumerate(spec.fields)]
            return List(self.journal, fields) if spec.is_list else tuple(fields)
        return self.built(spec, [expr])

    def frozen(self, value: object) -> object:
        """Return a copy of a value that later changes do not affect."""
        if isinstance(value, Tensor):
            return Tensor(self.journal, value.read())
        if isinstance(value, List):
            if isinstance(value.state, Computed):
                return List.computed(self.journal, value.state.expr, value.state.spec)
            return List(self.journal, [self.frozen(item) for item in value.items])
        if isinstance(value, tuple):
            return tuple([self.frozen(item) for item in value])
        return value

    def initialized(self, a: object, b: object) -> tuple[object, object]:
        """Return both values; one that is not initialized gets zeros in the form of the other."""
        if a is UNINITIALIZED and b is UNINITIALIZED:
            return None, None
        if a is UNINITIALIZED:
            return self._zeros(b), b
        return (a, self._zeros(a)) if b is UNINITIALIZED else (a, b)

    def _zeros(self, value: object) -> object:
        spec = self.spec_of(value)
        exprs = [self._zero(expr) for expr in self.flat(value, spec)]
        return self.built(spec, exprs)

    def _zero(self, expr: Expr) -> Expr:
        type_ = self.ctx.context.type(expr)
        if not isinstance(type_, TensorType):
            return expr
        shape = tuple([extent if isinstance(extent, int) else 1 for extent in type_.shape])
        zeros = relay.zeros(shape, type_.dtype)
        self.ctx.context.type(zeros)
        return zeros

    def several(self, specs: Sequence[Spec], exprs: Sequence[Expr]) -> list[object]:
        """Return the values of descriptions, whose expressions follow one another."""
        following = iter(exprs).__next__
        return [self._built(spec, following) for spec in specs]

    def built(self, spec: Spec, exprs: Sequence[Expr]) -> object:
        """Return a value with given expressions."""
        return self._built(spec, iter(exprs).__next__)

    def _built(self, spec: Spec, following: Callable[[], Expr]) -> object:
        match spec:
            case TensorSpec():
                return Tensor(self.journal, following())
            case NumberSpec():
                return self.ctx.unwrapped(self.ctx.scalar(following()))
            case TupleSpec():
                fields = [self._built(part, following) for part in spec.fields]
                return List(self.journal, fields) if spec.is_list else tuple(fields)
            case DictSpec():
                return {key: self._built(part, following) for key, part in zip(spec.keys, spec.fields)}
            case ListSpec():
                return List.computed(self.journal, following(), spec)
            case StaticSpec():
                return spec.value
        raise AssertionError(spec)
