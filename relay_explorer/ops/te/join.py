"""Broadcasting, and the sums that take it back."""

from __future__ import annotations

from .library import te
from .lowered import Lowered
from .tensors import (
    Shape,
    Tensor,
    Value,
    dims,
    dtype_of,
    element,
    known,
    stage,
    summed,
)

# -- broadcasting, and what takes it back


def broadcast_to(call: Lowered) -> list[Tensor]:
    x, shape = call.inputs[0], call.out_shape
    return [stage(shape, lambda *i: element(x, i, shape), call.name)]


def broadcast_to_like(call: Lowered) -> list[Tensor]:
    x, like = call.inputs
    shape = dims(like)
    return [stage(shape, lambda *i: element(x, i, shape), call.name)]


def collapse_sum_like(call: Lowered) -> list[Tensor]:
    x, like = call.inputs
    return [_collapsed(x, dims(like), call.name)]


def collapse_sum_to(call: Lowered) -> list[Tensor]:
    """The second argument only repeats the shape, which the type tells where it is known."""
    return [_collapsed(call.inputs[0], call.out_shape, call.name)]


def _collapsed(x: Tensor, shape: Shape, name: str) -> Tensor:
    """`x` summed over the axes along which broadcasting from `shape` repeats."""
    lead = len(x.shape) - len(shape)
    folded = {
        axis: te.reduce_axis((0, dim), name=f"k{axis}")
        for axis, dim in enumerate(dims(x))
        if axis < lead or (known(shape[axis - lead]) == 1 and known(dim) != 1)
    }

    def value(*i: Value) -> Value:
        return x(*[folded[axis] if axis in folded else i[axis - lead] for axis in range(len(x.shape))])

    return summed(shape, value, list(folded.values()), dtype_of(x), name)
