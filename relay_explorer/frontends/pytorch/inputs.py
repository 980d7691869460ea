"""The inputs of a TorchScript program, as `input_infos` describes them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any as Anything
from typing import cast

from ...ir.errors import RelayError
from ...ir.expr import Var
from ...ir.size import Size, SizeVar
from ...ir.types import Any, Dim, TensorType, TupleType, Type, TypeCall
from ..aten.dtypes import dtype_name
from .graph import TorchValue
from .interpreter import Interpreter
from .structure import ListSpec, Spec, TensorSpec, TupleSpec

_EXTENT = (int, Size, Any, str)
_MOST_AXES = 64


def input_of(
    run: Interpreter,
    name: str,
    info: Anything,
    value: TorchValue,
    default_dtype: str,
    sizes: dict[str, SizeVar],
) -> tuple[Var, object]:
    """Return the parameter for an input and its value. `sizes` are the named sizes so far."""
    shape, dtype = info, None
    if isinstance(info, (tuple, list)) and len(info) == 2 and _is_dtype(info[1]):
        shape, dtype = info[0], dtype_name(info[1])
    traced = _traced_dtype(value)
    if traced is not None and dtype not in (None, traced):
        # The traced code was recorded for this element type.
        warnings.warn(
            f"the program was traced with {traced} elements in `{name}`; input_infos says {dtype}, which is "
            "ignored",
            stacklevel=5,
        )
    dtype = traced or dtype
    if _is_number(value, shape):
        return _number(run, name, value, dtype)
    type_, spec = _typed(run, name, shape, dtype or default_dtype, sizes)
    var = run.context.variable(name, type_)
    run.context.type(var)
    run.value_names[var] = name
    return var, run.packer.unpacked(var, spec)


def _is_dtype(value: object) -> bool:
    return isinstance(value, str) or type(value).__name__ == "dtype"


def _traced_dtype(value: TorchValue) -> str | None:
    """Return the element type that a traced graph knows of an input."""
    type_ = value.type()
    return dtype_name(type_.dtype()) if type_.kind() == "TensorType" and type_.dtype() is not None else None


def _is_number(value: TorchValue, shape: object) -> bool:
    return value.type().kind() in ("IntType", "FloatType", "BoolType") and shape in ((), [])


def _number(run: Interpreter, name: str, value: TorchValue, dtype: str | None) -> tuple[Var, object]:
    """Return a parameter that is a Python number of the program."""
    kinds = {"IntType": "int64", "FloatType": "float64", "BoolType": "bool"}
    var = run.context.variable(name, TensorType.of((), dtype or kinds[value.type().kind()]))
    return var, run.ctx.scalar(var)


def _typed(
    run: Interpreter, name: str, shape: Anything, dtype: str, sizes: dict[str, SizeVar]
) -> tuple[Type, Spec]:
    """Return the type of an input and its description."""
    if not isinstance(shape, (tuple, list)) and not hasattr(shape, "__iter__"):
        raise RelayError(f"the shape of the input `{name}` must be a sequence of extents, not {shape!r}")
    extents = list(shape)
    if all(isinstance(extent, _EXTENT) or hasattr(extent, "__index__") for extent in extents):
        return TensorType(_shape(name, extents, sizes), dtype), TensorSpec()
    if len(extents) == 2 and _is_dtype(extents[1]):
        return _typed(run, name, extents[0], cast(str, dtype_name(extents[1])), sizes)
    parts = [_typed(run, name, part, dtype, sizes) for part in extents]
    types, specs = [part[0] for part in parts], tuple(part[1] for part in parts)
    if isinstance(shape, tuple):
        return TupleType(types), TupleSpec(specs)
    if any(type_ != types[0] for type_ in types):
        raise RelayError(f"the elements of the input list `{name}` must all have the same type")
    list_type = run.context.prelude.mod.get_type("List")[0]
    return TypeCall(list_type, [types[0]]), ListSpec(specs[0], types[0])


def _shape(name: str, extents: Sequence[Anything], sizes: dict[str, SizeVar]) -> list[Dim]:
    """Return a shape; a string is a named size."""
    if len(extents) > _MOST_AXES:
        raise RelayError(f"the input `{name}` has {len(extents)} axes, more than {_MOST_AXES}")
    shape: list[Dim] = []
    for extent in extents:
        if isinstance(extent, str):
            shape.append(sizes.setdefault(extent, SizeVar(extent, "int64")))
        elif isinstance(extent, (Size, Any)):
            shape.append(extent)
        else:
            number = extent.__index__()
            if number < 0:
                raise RelayError(
                    f"the input `{name}` has the negative extent {number}",
                    help=["write relay.Any() for a dynamic extent"],
                )
            shape.append(number)
    return shape
