"""Softmax and its relatives, in stages: the greatest element of each row, exponentials, their sum, quotients.

Half-precision numbers are computed in float32, integers in float64, and brought back at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .elementwise import fast_exponential
from .lowered import Lowered, Lowering
from .tensors import Tensor, Value, cast, dims, dtype_of, real_type, stage, te


class _Rows:
    """A call's data, in a type of real numbers, and its rows along the axis."""

    def __init__(self, call: Lowered) -> None:
        self.x = call.inputs[0]
        self.dtype = dtype_of(self.x)
        self.real = real_type(self.dtype)
        self.axis = call.attrs.axis % len(self.x.shape)
        self.rows = [*self.x.shape[: self.axis], *self.x.shape[self.axis + 1 :]]
        self.name = call.name
        self.highest = self.folded(te.max, self.element, "max")

    def element(self, *i: Value) -> Value:
        return cast(self.x(*i), self.real)

    def shifted(self, *i: Value) -> Value:
        """An element less the greatest of its row, so that no exponential overflows."""
        return self.element(*i) - self.highest(*self.row(i))

    def row(self, i: Sequence[Value]) -> list[Value]:
        return [*i[: self.axis], *i[self.axis + 1 :]]

    def folded(self, reducer: Callable[..., Value], body: Callable[..., Value], what: str) -> Tensor:
        k = te.reduce_axis((0, dims(self.x)[self.axis]), name="k")

        def value(*i: Value) -> Value:
            return reducer(body(*i[: self.axis], k, *i[self.axis :]), axis=k)

        return stage(self.rows, value, f"{self.name}_{what}")


def _softmax(exponential: Callable[[Value], Value]) -> Lowering:
    def lower(call: Lowered) -> list[Tensor]:
        r = _Rows(call)
        powers = stage(r.x.shape, lambda *i: exponential(r.shifted(*i)), f"{r.name}_exp")
        total = r.folded(te.sum, powers, "sum")
        return [stage(r.x.shape, lambda *i: cast(powers(*i) / total(*r.row(i)), r.dtype), r.name)]

    return lower


softmax = _softmax(te.exp)
fast_softmax = _softmax(fast_exponential)


def log_softmax(call: Lowered) -> list[Tensor]:
    r = _Rows(call)
    total = r.folded(te.sum, lambda *i: te.exp(r.shifted(*i)), "sum")
    return [stage(r.x.shape, lambda *i: cast(r.shifted(*i) - te.log(total(*r.row(i))), r.dtype), r.name)]
