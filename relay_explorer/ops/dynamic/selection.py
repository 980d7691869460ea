"""Operators that select a number of elements that the program computes."""

from __future__ import annotations

from ...ir.declaration import Precision
from ...ir.expr import Call
from ...ir.op import OpPattern, RelationError
from ...ir.types import TensorType, TupleType, Type
from ..arguments import Operand
from ..examples import X, ints
from ..gradient_tools import MOVED
from ..operator import call
from ..relation import UNKNOWN, integers, normal_axis, tensor, vector_length
from ..slice import StridedSliceAttrs
from ..sort import TOPK_GRADIENT, TopKAttrs
from .declaring import dynamic, unknown, with_operands

__all__ = []


def _topk(attrs: TopKAttrs, data: Type, k: Type) -> Type:
    x, count = tensor(data, 0, "data"), integers(k, 1, "k")
    if count.shape not in ((), (1,)):
        raise RelationError(f"k must be one integer, not {count}", culprits=(1,))
    axis = normal_axis(attrs.axis, len(x.shape), "topk")
    if attrs.ret_type not in ("both", "values", "indices"):
        raise RelationError(f'ret_type is "{attrs.ret_type:.20}", but it is "both", "values" or "indices"')
    shape = (*x.shape[:axis], UNKNOWN, *x.shape[axis + 1 :])
    values, indices = TensorType.of(shape, x.dtype), TensorType.of(shape, attrs.dtype or "int32")
    return {"both": TupleType([values, indices]), "values": values, "indices": indices}[attrs.ret_type]


@dynamic(
    "topk",
    description="Works like topk, with a k that the program computes.",
    relation=("DynamicTopk", _topk, "{out} = {0} with extent ? on `axis`"),
    inputs=("data", "k"),
    attrs=TopKAttrs,
    level=6,
    pattern=OpPattern.OPAQUE,
    reference=with_operands("topk", "k", single=True),
    gradient=TOPK_GRADIENT,
    example=lambda build: build(X, ints()),
)
def topk(
    data: Operand,
    k: Operand,
    axis: int = -1,
    ret_type: str = "both",
    is_ascend: bool = False,
    dtype: object = "int32",
) -> Call:
    """Find the `k` greatest elements along `axis`, their indices, or, as a tuple, both."""
    return call("dyn.topk", [data, k], k=None, axis=axis, ret_type=ret_type, is_ascend=is_ascend, dtype=dtype)


def _strided_slice(attrs: StridedSliceAttrs, data: Type, begin: Type, end: Type, strides: Type) -> Type:
    x = tensor(data, 0, "data")
    lengths = [
        vector_length(bound, n, name)
        for n, (name, bound) in enumerate(zip(("begin", "end", "strides"), (begin, end, strides)), 1)
    ]
    sliced = max(lengths)
    if sliced > len(x.shape):
        raise RelationError(
            f"the slice names {sliced} axes, but the tensor has {len(x.shape)}", culprits=(0,)
        )
    return TensorType.of(unknown(sliced) + x.shape[sliced:], x.dtype)


@dynamic(
    "strided_slice",
    description="Works like strided_slice, with bounds and strides that the program computes.",
    relation=("DynamicStridedSlice", _strided_slice, "{out} = {0} with extent ? on every sliced axis"),
    inputs=("data", "begin", "end", "strides"),
    attrs=StridedSliceAttrs,
    reference=with_operands("strided_slice", "begin", "end", "strides"),
    gradient=MOVED,
    precision=Precision.FOLLOW,
    example=lambda build: build(X, ints(1), ints(1, name="end"), ints(1, name="strides")),
)
def strided_slice(
    data: Operand, begin: Operand, end: Operand, strides: Operand, slice_mode: str = "end"
) -> Call:
    """Take the slice of `data` from `begin` up to `end` by `strides`."""
    bounds = {"begin": None, "end": None, "strides": None, "axes": None}
    return call("dyn.strided_slice", [data, begin, end, strides], slice_mode=slice_mode, **bounds)
