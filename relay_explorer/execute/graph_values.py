"""Convert arguments from outside to arrays of the types of a graph program's parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from ..ir.errors import Note, RelayError
from ..ir.types import TensorType
from .arguments import describe
from .graph import Input, Nest, Slot
from .results import MAX_TUPLE_DEPTH, to_value
from .tensor_arguments import by_dlpack, of_number, remedies

if TYPE_CHECKING:
    from numpy import ndarray as Array


def arrays_of(parameter: Input, value: Any, slots: Sequence[Slot]) -> Iterable[tuple[int, Array]]:
    """Pair the tensors of a parameter, by number, with the arrays of its argument; raise a RelayError where
    the argument does not have the parameter's type.
    """
    nest = parameter.nest
    if type(nest) is int:  # the fast path, which nearly every argument takes
        slot = slots[nest]
        if type(value) is _numpy_array() and value.shape == slot.shape and value.dtype == _dtype(slot.dtype):
            return ((nest, value),)
    return _arrays(parameter, value, nest, slots, 0)


@cache
def _numpy_array() -> Any:
    import numpy as np

    return np.ndarray


@cache
def _dtype(name: str) -> Any:
    import numpy as np

    return np.dtype(name)


def _arrays(
    parameter: Input, value: object, nest: Nest, slots: Sequence[Slot], depth: int
) -> Iterator[tuple[int, Array]]:
    if isinstance(nest, list):
        if not isinstance(value, (tuple, list)) or len(value) != len(nest) or depth >= MAX_TUPLE_DEPTH:
            raise _wrong(parameter, value, depth)
        for part, inner in zip(value, nest):
            yield from _arrays(parameter, part, inner, slots, depth + 1)
        return
    slot = slots[nest]
    array = _array(parameter, value, slot)
    if not hasattr(array, "dtype") or array.dtype.name != slot.dtype or array.shape != slot.shape:
        raise _wrong(parameter, array, depth, slot)
    yield nest, array


def _array(parameter: Input, value: Any, slot: Slot) -> Any:
    """Convert the argument to an array, without a copy if it exports its memory. Python's numbers, which have
    no element type, take that of the parameter.
    """
    if not slot.shape:
        value = of_number(value, slot.dtype)
    value = by_dlpack(value, parameter.name)
    return value if isinstance(value, (list, tuple)) else to_value(value)


def _wrong(parameter: Input, value: Any, depth: int, slot: Slot | None = None) -> RelayError:
    """Build the error for an argument, or a part of one, of the wrong type."""
    expected = parameter.type if slot is None or not depth else str(TensorType(slot.shape, slot.dtype))
    within = "a part of " if depth and isinstance(parameter.nest, list) else ""
    notes = [Note(f"the whole argument is `{parameter.type}`")] if within else []
    return RelayError(
        f"{within}the argument `%{parameter.name}` must be `{expected}`, but is {describe(value)}",
        None,
        notes,
        remedies(TensorType(slot.shape, slot.dtype), value) if slot is not None else [],
    )
