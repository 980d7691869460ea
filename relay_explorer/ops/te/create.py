"""Operators that make tensors from nothing but their shape, or after another tensor."""

from __future__ import annotations

from .lowered import Lowered
from .tensors import Tensor, cast, dtype_of, number, select, stage


def zeros(call: Lowered) -> list[Tensor]:
    return [stage(call.out_shape, lambda *i: number(0, call.out.dtype), call.name)]


def ones(call: Lowered) -> list[Tensor]:
    return [stage(call.out_shape, lambda *i: number(1, call.out.dtype), call.name)]


def full(call: Lowered) -> list[Tensor]:
    value = call.inputs[0]
    return [stage(call.out_shape, lambda *i: cast(value(), call.out.dtype), call.name)]


def zeros_like(call: Lowered) -> list[Tensor]:
    x = call.inputs[0]
    return [stage(x.shape, lambda *i: number(0, dtype_of(x)), call.name)]


def ones_like(call: Lowered) -> list[Tensor]:
    x = call.inputs[0]
    return [stage(x.shape, lambda *i: number(1, dtype_of(x)), call.name)]


def full_like(call: Lowered) -> list[Tensor]:
    x, value = call.inputs
    return [stage(x.shape, lambda *i: cast(value(), dtype_of(x)), call.name)]


def arange(call: Lowered) -> list[Tensor]:
    """TOPI takes the bounds as numbers; here they are read, and the attributes only say how many there
    are.
    """
    start, _, step = call.inputs
    dtype = dtype_of(start)
    return [stage(call.out_shape, lambda i: start() + cast(i, dtype) * step(), call.name)]


def one_hot(call: Lowered) -> list[Tensor]:
    indices, on, off = call.inputs
    rank = len(indices.shape)
    axis = call.attrs.axis % (rank + 1)
    shape = (*indices.shape[:axis], call.attrs.depth, *indices.shape[axis:])
    dtype = call.out.dtype

    def value(*i: object) -> object:
        here = indices(*i[:axis], *i[axis + 1 :]) == cast(i[axis], dtype_of(indices))
        return cast(select(here, on(), cast(off(), dtype_of(on))), dtype)

    return [stage(shape, value, call.name)]
