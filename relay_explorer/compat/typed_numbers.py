"""Give integer sizes and attributes a `.value` and a `.dtype`, as TVM's `IntImm` had.

    int(tensor_type.shape[0]), tensor_type.shape[0].value, call.attrs.strides[0].value

In this package they are plain integers. Old code also reads `.value`, so once `compat.tvm` is loaded, the
shapes of types and the attributes of calls hold typed integers, which behave as Python integers everywhere
else.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ..ir import attrs, types
from ..ops.builder import regenerate
from .tir import IntImm

DTYPE = "int32"
_KINDS = ("int", "Ints", "Dims", "int | Ints", "Pairs")


class Listed(tuple[Any, ...]):
    """A tuple that is printed like TVM's arrays: `[0, 1]`."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"[{', '.join(map(str, self))}]"

    __repr__ = __str__


def typed(value: Any) -> Any:
    """Return `value` with each plain integer in it, also inside tuples, replaced by a typed one."""
    if type(value) is int:
        return IntImm(DTYPE, value)
    if type(value) is tuple:
        return Listed([typed(part) for part in value])
    return value


@lru_cache(maxsize=10_000)
def _typed_shape(shape: types.Shape) -> types.Shape:
    return tuple([typed(dim) for dim in shape])


def _converting(kind: str) -> None:
    """Make attributes of that kind typed from here on."""
    convert = attrs.KINDS[kind]
    attrs.KINDS[kind] = lambda value: typed(convert(value))


def enable() -> None:
    """Make integers typed from here on, including the defaults of attributes that are already declared; doing
    so twice changes nothing.
    """
    slot: Any = types.TensorType.__dict__["shape"]
    if isinstance(slot, property):
        return
    read, write = slot.__get__, slot.__set__
    shape = property(lambda self: _typed_shape(read(self)), write)
    types.TensorType.shape = shape  # type: ignore[assignment, misc]  # instead of the slot
    types.STATIC_DIMENSIONS.add(IntImm)
    for kind in _KINDS:
        _converting(kind)
        _converting(f"{kind} | None")
    for key in list(attrs.Attrs._schemas):
        schema = attrs.Attrs.by_key(key)
        assert schema is not None
        for name, field in schema._fields.items():
            if field.kind.removesuffix(" | None") in _KINDS:
                schema._fields[name] = field._replace(default=typed(field.default))
                if name in schema.__dict__:
                    setattr(schema, name, schema._fields[name].default)
    regenerate()
