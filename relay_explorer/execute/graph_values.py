"""Arguments from outside as arrays of the types that a graph program's parameters have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from ..ir.errors import Note, RelayError
from ..ir.types import TensorType
from .arguments import describe
from .graph import Input, Nest, Slot
from .results import DEEPEST_TUPLE, to_value
from .tensor_arguments import by_dlpack, of_number, remedies

if TYPE_CHECKING:
    from numpy import ndarray as Array


def arrays_of(given: Input, value: Any, slots: Sequence[Slot]) -> Iterable[tuple[int, Array]]:
    """The tensors of a parameter, by number, and the arrays for them; a RelayError where the argument is not
    of the parameter's type.
    """
    nest = given.nest
    if type(nest) is int:  # what nearly every argument is, in the least time
        slot = slots[nest]
        if type(value) is _numpy_array() and value.shape == slot.shape and value.dtype == _dtype(slot.dtype):
            return ((nest, value),)
    return _arrays(given, value, nest, slots, 0)


@cache
def _numpy_array() -> Any:
    import numpy as np

    return np.ndarray


@cache
def _dtype(name: str) -> Any:
    import numpy as np

    return np.dtype(name)


def _arrays(
    given: Input, value: object, nest: Nest, slots: Sequence[Slot], depth: int
) -> Iterator[tuple[int, Array]]:
    if isinstance(nest, list):
        if not isinstance(value, (tuple, list)) or len(value) != len(nest) or depth >= DEEPEST_TUPLE:
            raise _wrong(given, value, depth)
        for part, inner in zip(value, nest):
            yield from _arrays(given, part, inner, slots, depth + 1)
        return
    slot = slots[nest]
    array = _array(given, value, slot)
    if not hasattr(array, "dtype") or array.dtype.name != slot.dtype or array.shape != slot.shape:
        raise _wrong(given, array, depth, slot)
    yield nest, array


def _array(given: Input, value: Any, slot: Slot) -> Any:
    """The argument as an array; one that hands its memory over is not copied. Python's numbers, which have no
    element type, take the parameter's.
    """
    if not slot.shape:
        value = of_number(value, slot.dtype)
    value = by_dlpack(value, given.name)
    return value if isinstance(value, (list, tuple)) else to_value(value)


def _wrong(given: Input, value: Any, depth: int, slot: Slot | None = None) -> RelayError:
    """What is wrong with an argument, or with a part of one."""
    wanted = given.type if slot is None or not depth else str(TensorType(slot.shape, slot.dtype))
    within = "a part of " if depth and isinstance(given.nest, list) else ""
    notes = [Note(f"the whole argument is `{given.type}`")] if within else []
    return RelayError(
        f"{within}the argument `%{given.name}` must be `{wanted}`, and is {describe(value)}",
        None,
        notes,
        remedies(TensorType(slot.shape, slot.dtype), value) if slot is not None else [],
    )
