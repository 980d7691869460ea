"""Arguments as the list of numbers that a native program reads (see runtime.c), looked at and written in one
go. What is not plainly right is left to `check_arguments`, which says what is wrong.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from ...ir.adt import Constructor
from ...ir.errors import RelayError
from ...ir.module import IRModule
from ...ir.types import GlobalTypeVar, RefType, TensorType, TupleType, Type, TypeCall
from ...typing.solver import substitute
from .. import results, values
from .names import dtype_parts
from .values import CELL, FIELDS, INLINE, tensor_written

_MOST_KNOWN = 256  # constructors that are looked up quickly: each module that is parsed has its own


class Unusual(Exception):
    """An argument that is not plainly right."""


class ArgumentWriter:
    """Writes arguments of `types`; `module` declares the data types, `tags` are their constructors' numbers."""

    def __init__(
        self, types: Sequence[Type], module: IRModule, tags: Mapping[tuple[str, str], int]
    ) -> None:
        import numpy as np

        self.array_type = np.ndarray
        self.declared = {var.name_hint: data for var, data in module.type_definitions.items()}
        self.tags = tags
        self.plans: dict[Type, Any] = {}
        self.params = [self._plan(type_) for type_ in types]

    def write(self, arguments: Sequence[Any]) -> tuple[array[int], list[Any]]:
        """The numbers, and what must live while they are read. Unusual: no such arguments are written."""
        if len(arguments) != len(self.params):
            raise Unusual
        found = array("q")
        extend = found.extend
        alive: list[Any] = []
        number: dict[int, tuple[int, Any]] = {}  # by the identity of a value; and as what it was written
        pending = list(zip(arguments, self.params))
        pending.reverse()
        array_type, data_type = self.array_type, values.ConstructorValue
        while pending:
            value, plan = pending.pop()
            kind = type(value)
            if kind is array_type:
                if type(plan) is not _Tensor or (value.dtype is not plan.dtype and value.dtype != plan.dtype):
                    raise Unusual
                if value.shape == plan.shape and plan.small:
                    extend(plan.head)
                    found.frombytes(value.tobytes() + plan.filling)
                    continue
                if not plan.takes(value.shape):
                    raise Unusual
                tensor_written(value, found, alive)
                continue
            if isinstance(value, results.Wrapper):
                value = value.inner
                kind = type(value)
            if id(value) in number:
                again, same = number[id(value)]
                if same is not plan:
                    raise Unusual
                extend((2, again))
                continue
            number[id(value)] = len(number), plan
            if kind is data_type and type(plan) is _Data:
                made = plan.known.get(value.constructor)
                if made is None:
                    made = self._constructor(plan, value.constructor)
                head, plans = made
                extend(head)
                if plans:
                    pending.extend(zip(reversed(value.fields), plans))
            elif kind is tuple and type(plan) is _Tuple and len(value) == len(plan.fields):
                extend((1, FIELDS, 0, len(value)))
                pending.extend(zip(reversed(value), plan.fields))
            elif kind is values.RefValue and type(plan) is _Cell:
                extend((1, CELL, 0, 1))
                pending.append((value.value, plan.value))
            else:
                raise Unusual
        return found, alive

    def _plan(self, type_: Type) -> Any:
        """What a value of a type is written by; None: it is unusual whatever it is."""
        if type_ in self.plans:
            return self.plans[type_]
        made: Any = None
        match type_:
            case TensorType():
                made = _tensor(type_)
            case TupleType():
                made = _Tuple([self._plan(field) for field in reversed(type_.fields)])
            case RefType():
                made = _Cell(self._plan(type_.value))
            case GlobalTypeVar():
                made = _Data(type_.name_hint, ())
            case TypeCall(func=GlobalTypeVar() as head):
                made = _Data(head.name_hint, type_.args)
        self.plans[type_] = made
        return made

    def _constructor(self, plan: _Data, constructor: Constructor) -> tuple[tuple[int, ...], list[Any]]:
        """How values of a constructor are written; that of another module of the same name is the same."""
        data = self.declared.get(plan.name)
        names = constructor.belong_to.name_hint, constructor.name_hint
        if data is None or names[0] != plan.name or names not in self.tags:
            raise Unusual
        inputs = next(c.inputs for c in data.constructors if c.name_hint == names[1])
        given = dict(zip(data.type_vars, plan.args))
        if len(inputs) != len(constructor.inputs) or len(given) != len(data.type_vars):
            raise Unusual
        plans = [self._plan(substitute(t, given) if given else t) for t in reversed(inputs)]
        if len(plan.known) >= _MOST_KNOWN:
            plan.known.clear()
        made = (1, FIELDS, self.tags[names], len(inputs)), plans
        plan.known[constructor] = made
        return made


class _Tensor:
    """`head` is what stands before the elements of a tensor of the usual shape, `filling` what is after."""

    __slots__ = ("dtype", "filling", "head", "shape", "sizes", "small")

    def __init__(self, type_: TensorType, dtype: Any) -> None:
        code, bits = dtype_parts(type_.dtype)
        self.dtype, self.sizes = dtype, tuple(type_.shape)
        self.shape: Any = self.sizes if type_.is_static else None
        size = dtype.itemsize
        for extent in self.shape or ():
            size *= extent
        self.small = self.shape is not None and size <= INLINE
        self.head = (4, code, bits, len(self.sizes), size, *(self.shape or ())) if self.small else ()
        self.filling = bytes(-size % 8)

    def takes(self, shape: tuple[int, ...]) -> bool:
        if len(shape) != len(self.sizes):
            return False
        return all(not isinstance(w, int) or a == w for a, w in zip(shape, self.sizes))


class _Tuple:
    """A tuple; its fields, the last first."""

    __slots__ = ("fields",)

    def __init__(self, fields: Sequence[Any]) -> None:
        self.fields = fields


class _Cell:
    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class _Data:
    """A data type; `known` are its constructors so far."""

    __slots__ = ("args", "known", "name")

    def __init__(self, name: str, args: Sequence[Type]) -> None:
        self.name, self.args = name, args
        self.known: dict[Constructor, tuple[tuple[int, ...], list[Any]]] = {}


def _tensor(type_: TensorType) -> _Tensor | None:
    import numpy as np

    try:
        return _Tensor(type_, np.dtype(type_.dtype))
    except (TypeError, RelayError):  # NumPy has no bfloat16
        return None


__all__ = ["ArgumentWriter", "Unusual"]
