"""Encode arguments as the list of integers that a native program reads (see exchange.c), and check them in
the same pass. Arguments that are not plainly valid are left to `check_arguments`, which explains what is
wrong.
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

_MAX_CACHED = 256  # constructors whose encodings are cached; each parsed module has its own
_two, _four = struct.Struct("=2q").pack, struct.Struct("=4q").pack

Pairs = Iterator[tuple[Any, "Plan"]]  # values, each with its encoding


class UnusualError(Exception):
    """An argument that is not plainly valid."""


class ArgumentWriter:
    """Encodes arguments of `types`; `module` declares the data types, `tags` numbers their constructors."""

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
        plans: list[Plan] = []  # by the number of a value
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
        """Return the encoding of the values of a type."""
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
    """The encoding of the values of a type; this base class is that of a type whose values are never plainly
    valid. `head` precedes the elements of a small tensor of this `dtype` and `shape`, and `filling` follows
    them.
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
    """The encoding of a data type. The encodings of its constructors are created when they are needed,
    because the type may contain itself.
    """

    __slots__ = ("args", "data", "known", "writer")

    def __init__(self, writer: ArgumentWriter, data: TypeData, args: Sequence[Type]) -> None:
        self.writer, self.data, self.args = writer, data, args
        self.known: dict[Constructor, tuple[bytes, list[Plan]]] = {}

    def opened(self, value: Any) -> tuple[bytes, Pairs | None]:
        if type(value) is not values.ConstructorValue:
            raise UnusualError
        encoding = self.known.get(value.constructor) or self._encoding_of(value.constructor)
        return encoding[0], zip(value.fields, encoding[1]) if encoding[1] else None

    def _encoding_of(self, constructor: Constructor) -> tuple[bytes, list[Plan]]:
        """Return the encoding of a constructor's values. A constructor of another module is encoded in the
        same way if its name is the same.
        """
        header = self.data.header.name_hint
        same = [c for c in self.data.constructors if c.name_hint == constructor.name_hint]
        if constructor.belong_to.name_hint != header or not same:
            raise UnusualError
        inputs, substitution = same[0].inputs, dict(zip(self.data.type_vars, self.args))
        if len(inputs) != len(constructor.inputs) or len(substitution) != len(self.data.type_vars):
            raise UnusualError
        plans = [self.writer.plan(substitute_type(t, substitution) if substitution else t) for t in inputs]
        if len(self.known) >= _MAX_CACHED:
            self.known.clear()
        tag = self.writer.tags[header, constructor.name_hint]
        encoding = self.known[constructor] = _four(1, FIELDS, tag, len(inputs)), plans
        return encoding


def _tensor_plan(type_: TensorType) -> Plan:
    import numpy as np

    try:
        return _TensorPlan(type_, np.dtype(type_.dtype))
    except (TypeError, RelayError):  # NumPy has no bfloat16
        return Plan()
