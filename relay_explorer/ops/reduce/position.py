"""Reductions to the index of the greatest or the least element."""

from __future__ import annotations

import math

from ...ir.attrs import Attrs, Ints, attr
from ...ir.declaration import Precision
from ...ir.expr import Call
from ...ir.op import Reference, RelationError
from ...ir.types import TensorType, Type
from ..arguments import Operand
from ..examples import X
from ..gradient_tools import ZERO
from ..numeric import Array, np
from ..relation import count, forward, tensor
from ..te.lowered import Lowered, Lowering
from ..te.reduce import Folded, fold_value, place_of
from ..te.tensors import Tensor, Value, plain, stage
from ..te.tensors import number as te_number
from .declaring import (
    Axes,
    reduced_axes,
    reduced_shape,
    reduction,
)

__all__ = ["argmax", "argmin"]


class ArgReduceAttrs(Attrs, key="relay.attrs.ArgReduceAttrs"):
    axis: Ints | None = attr(None, "The axes that are searched; None or an empty list means all of them.")
    keepdims: bool = attr(False, "Whether searched axes stay in the shape, with extent 1.")
    select_last_index: bool = attr(
        False, "Whether the last of equal elements is chosen, rather than the first."
    )
    exclude: bool = attr(False, "Whether `axis` names the axes that are kept instead.")


def _arg_reduce(attrs: ArgReduceAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    if not x.shape:
        raise RelationError(
            "a scalar has no axis to search",
            "give a tensor of at least one axis",
            culprits=(0,),
        )
    axes = reduced_axes(attrs, len(x.shape))
    positions = count(tuple([x.shape[axis] for axis in axes]))
    if positions is not None and positions >= 2**31:
        raise RelationError(
            f"there are {positions} positions, more than the result's int32 can index", culprits=(0,)
        )
    return TensorType.of(reduced_shape(x.shape, axes, attrs.keepdims), "int32")


_ARG_REDUCE = forward("ArgReduce", "{out} = int32 of {0} without `axis`", _arg_reduce)


def _position(name: str) -> Reference:
    """Make a reference implementation by NumPy's search `name`, over the searched axes in row-major order."""

    def compute(attrs: ArgReduceAttrs, x: Array) -> Array:
        axes = sorted(reduced_axes(attrs, x.ndim))
        rest = [extent for axis, extent in enumerate(x.shape) if axis not in axes]
        count = math.prod([x.shape[axis] for axis in axes])
        rows = np.moveaxis(x, axes, range(-len(axes), 0)).reshape(*rest, count)
        search = getattr(np, name)
        result = count - 1 - search(rows[..., ::-1], -1) if attrs.select_last_index else search(rows, -1)
        return np.asarray(result, "int32").reshape(reduced_shape(x.shape, set(axes), attrs.keepdims))

    return compute


def _position_te(greater: bool) -> Lowering:
    def lower(call: Lowered) -> list[Tensor]:
        x, last = call.inputs[0], call.attrs.select_last_index
        first, second = Folded(call), Folded(call)
        if not first.axes:
            return [stage(first.shape, lambda *i: te_number(0, "int32"), call.name)]
        kind = "max" if greater else "min"
        best = stage(
            first.shape,
            lambda *i: fold_value(kind, plain(x(*first.index(i))), first.over()),
            f"{call.name}_best",
        )

        def value(*i: Value) -> Value:
            here = plain(x(*second.index(i)))
            return place_of(here, best(*i), second.place, second.over(), last)

        return [stage(first.shape, value, call.name)]

    return lower


@reduction(
    "argmax",
    description="Computes the index of the maximum over the given axes.",
    formula=r"y = \operatorname{arg\,max}_{i \in \mathit{axis}} x_i",
    relation=_ARG_REDUCE,
    attrs=ArgReduceAttrs,
    reference=_position("argmax"),
    gradient=ZERO,
    lowering=_position_te(True),
    precision=Precision.FOLLOW,
    example=lambda build: build(X, 1, select_last_index=True),
)
def argmax(
    data: Operand,
    axis: Axes = None,
    keepdims: bool = False,
    exclude: bool = False,
    select_last_index: bool = False,
) -> Call:
    """Compute the int32 index of the greatest element over `axis`, or in the flattened tensor where that is
    None.
    """


@reduction(
    "argmin",
    description="Computes the index of the minimum over the given axes.",
    formula=r"y = \operatorname{arg\,min}_{i \in \mathit{axis}} x_i",
    relation=_ARG_REDUCE,
    attrs=ArgReduceAttrs,
    reference=_position("argmin"),
    gradient=ZERO,
    lowering=_position_te(False),
    precision=Precision.FOLLOW,
    example=lambda build: build(X, exclude=True, axis=0),
)
def argmin(
    data: Operand,
    axis: Axes = None,
    keepdims: bool = False,
    exclude: bool = False,
    select_last_index: bool = False,
) -> Call:
    """Compute the int32 index of the least element over `axis`, or in the flattened tensor where that is
    None.
    """
