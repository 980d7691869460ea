"""Arguments as the list of numbers that a native program reads (see exchange.c), looked at and written in one
go. What is not plainly right is left to `check_arguments`, which says what is wrong.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...ir.adt import Constructor, TypeData
from ...ir.errors import RelayError
from ...ir.module import IRModule
from ...ir.substitute import substitute_type
from ...ir.types import GlobalTypeVar, RefType, TensorType, TupleType, Type, TypeCall
from .. import results, values
from .names import dtype_parts
from .values import CELL, FIELDS, INLINE, tensor_written

_MOST_KNOWN = 256  # constructors that are looked up quickly: each module that is parsed has its own
_two, _four = struct.Struct("=2q").pack, struct.Struct("=4q").pack

Pairs = Iterator[tuple[Any, "Plan"]]  # values, and how each is written


class UnusualError(Exception):
    """An argument that is not plainly right."""


class ArgumentWriter:
    """Writes arguments of `types`; `module` declares the data types, `tags` number their constructors."""

    def __init__(self, types: Sequence[Type], module: IRModule, tags: Mapping[tuple[str, str], int]) -> None:
        import numpy as np

        self.array_type = np.ndarray
        self.declared = {var.name_hint: data for var, data in module.type_definitions.items()}
        self.tags = tags
        self.plans: dict[Type, Plan] = {}
        self.params = [self.plan(type_) for type_ in types]

    def write(self, arguments: Sequence[Any]) -> tuple[bytes, list[Any]]:
        """Encode the arguments as bytes; return these and the objects that must stay alive while they are
        read. Raise UnusualError for arguments that this writer does not encode.
        """
        if len(arguments) != len(self.params):
            raise UnusualError
        parts: list[bytes] = []
        append = parts.append
        alive: list[Any] = []
        number: dict[int, int] = {}  # by the identity of a value
        plans: list[Plan] = []  # as what it was written
        rest: Pairs = zip(arguments, self.params)
        waiting: list[Pairs] = []
        array_type, wrapper = self.array_type, results.Wrapper
        while True:
            for value, plan in rest:
                if type(value) is array_type:
                    if value.dtype is plan.dtype and value.shape == plan.shape:
                        append(plan.head)
                        append(value.tobytes())
                        if plan.filling:
                            append(plan.filling)
                    else:
                        append(plan.tensor(value, alive))
                    continue
                if isinstance(value, wrapper):
                    value = value.inner
                index = number.setdefault(id(value), len(plans))
                if index < len(plans):
                    if plans[index] is not plan:
                        raise UnusualError
                    append(_two(2, index))
                    continue
                plans.append(plan)
                head, fields = plan.opened(value)
                append(head)
                if fields is not None:
                    waiting.append(rest)
                    rest = fields
                    break
            else:
                if not waiting:
                    return b"".join(parts), alive
                rest = waiting.pop()

    def plan(self, type_: Type) -> Plan:
        """How a value of a type is written."""
        if type_ in self.plans:
            return self.plans[type_]
        encoding = Plan()
        match type_:
            case TensorType():
                encoding = _tensor_plan(type_)
            case TupleType():
                encoding = _TuplePlan([self.plan(field) for field in type_.fields])
            case RefType():
                encoding = _CellPlan(self.plan(type_.value))
            case GlobalTypeVar() if type_.name_hint in self.declared:
                encoding = _DataPlan(self, self.declared[type_.name_hint], ())
            case TypeCall(func=GlobalTypeVar() as head) if head.name_hint in self.declared:
                encoding = _DataPlan(self, self.declared[head.name_hint], type_.args)
        self.plans[type_] = encoding
        return encoding


class Plan:
    """How the values of a type are written; here, of a type whose values are never plainly right. `head`
    stands before the elements of a small tensor of this `dtype` and `shape`, and `filling` after them.
    """

    __slots__ = ()
    dtype: Any = None
    shape: Any = None
    head = filling = b""

    def tensor(self, value: Any, alive: list[Any]) -> bytes:
        """Encode a tensor that is not small, or has another type."""
        raise UnusualError

    def opened(self, value: Any) -> tuple[bytes, Pairs | None]:
        """Return the header that precedes the parts of a value, and the parts."""
        raise UnusualError


class _TensorPlan(Plan):
    __slots__ = ("dtype", "element", "filling", "head", "shape", "sizes")

    def __init__(self, type_: TensorType, element: Any) -> None:
        self.element, self.sizes = element, tuple(type_.shape)
        size = element.itemsize
        for extent in type_.concrete_shape if type_.is_static else ():
            size *= extent
        self.dtype = self.shape = None
        self.head = self.filling = b""
        if type_.is_static and size <= INLINE:
            self.dtype, self.shape = element, self.sizes
            numbers = (4, *dtype_parts(type_.dtype), len(self.sizes), size, *type_.concrete_shape)
            self.head, self.filling = struct.pack(f"={len(numbers)}q", *numbers), bytes(-size % 8)

    def tensor(self, value: Any, alive: list[Any]) -> bytes:
        shape = value.shape
        if value.dtype != self.element or len(shape) != len(self.sizes):
            raise UnusualError
        if any(isinstance(expected, int) and expected != size for expected, size in zip(self.sizes, shape)):
            raise UnusualError
        encoded = array("q")
        tensor_written(value, encoded, alive)
        return encoded.tobytes()


class _TuplePlan(Plan):
    __slots__ = ("fields", "first")

    def __init__(self, fields: Sequence[Plan]) -> None:
        self.fields, self.first = fields, _four(1, FIELDS, 0, len(fields))

    def opened(self, value: Any) -> tuple[bytes, Pairs | None]:
        if type(value) is not tuple or len(value) != len(self.fields):
            raise UnusualError
        return self.first, zip(value, self.fields) if value else None


class _CellPlan(Plan):
    __slots__ = ("content",)

    def __init__(self, content: Plan) -> None:
        self.content = content

    def opened(self, value: Any) -> tuple[bytes, Pairs | None]:
        if type(value) is not values.RefValue:
            raise UnusualError
        return _four(1, CELL, 0, 1), iter(((value.value, self.content),))


class _DataPlan(Plan):
    """Of a data type, which has its constructors' plans once they are needed: it may hold itself."""

    __slots__ = ("args", "data", "known", "writer")

    def __init__(self, writer: ArgumentWriter, data: TypeData, args: Sequence[Type]) -> None:
        self.writer, self.data, self.args = writer, data, args
        self.known: dict[Constructor, tuple[bytes, list[Plan]]] = {}

    def opened(self, value: Any) -> tuple[bytes, Pairs | None]:
        if type(value) is not values.ConstructorValue:
            raise UnusualError
        learned = self.known.get(value.constructor) or self._learned(value.constructor)
        return learned[0], zip(value.fields, learned[1]) if learned[1] else None

    def _learned(self, constructor: Constructor) -> tuple[bytes, list[Plan]]:
        """How values of a constructor are written; that of another module of the same name is the same."""
        header = self.data.header.name_hint
        same = [c for c in self.data.constructors if c.name_hint == constructor.name_hint]
        if constructor.belong_to.name_hint != header or not same:
            raise UnusualError
        inputs, substitution = same[0].inputs, dict(zip(self.data.type_vars, self.args))
        if len(inputs) != len(constructor.inputs) or len(substitution) != len(self.data.type_vars):
            raise UnusualError
        plans = [self.writer.plan(substitute_type(t, substitution) if substitution else t) for t in inputs]
        if len(self.known) >= _MOST_KNOWN:
            self.known.clear()
        tag = self.writer.tags[header, constructor.name_hint]
        learned = self.known[constructor] = _four(1, FIELDS, tag, len(inputs)), plans
        return learned


def _tensor_plan(type_: TensorType) -> Plan:
    import numpy as np

    try:
        return _TensorPlan(type_, np.dtype(type_.dtype))
    except (TypeError, RelayError):  # NumPy has no bfloat16
        return Plan()
