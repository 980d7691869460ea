"""Operators that create tensors of a shape that the program computes."""

from __future__ import annotations

from ...ir.declaration import Precision, Trait
from ...ir.expr import Call, const
from ...ir.op import OpPattern, RelationError
from ...ir.types import TensorType, Type
from ..arange import ONE_HOT_GRADIENT, OneHotAttrs
from ..arguments import Operand
from ..create import FULL_GRADIENT, InitOpAttrs
from ..examples import ints
from ..gradient_tools import ZERO
from ..operator import call
from ..relation import UNKNOWN, integers, normal_axis, scalar, vector_length
from .declaring import dynamic, unknown, with_operands

__all__ = []


def _init(attrs: InitOpAttrs, shape: Type) -> Type:
    if not attrs.dtype:
        raise RelationError("the element type is missing", 'give it: dtype="float32"')
    return TensorType.of(unknown(vector_length(shape, 0, "shape")), attrs.dtype)


@dynamic(
    "zeros",
    description="Works like zeros, with a shape that the program computes.",
    relation=("DynamicZeros", _init, "{out} has as many axes as {0} has elements"),
    inputs=("shape",),
    attrs=InitOpAttrs,
    reference=with_operands("zeros", "shape", at=0),
    gradient=ZERO,
    example=lambda build: build(ints(2), "float32"),
)
def zeros(shape: Operand, dtype: object) -> Call:
    """Create a tensor of zeros."""
    return call("dyn.zeros", [shape], shape=None, dtype=dtype)


@dynamic(
    "ones",
    description="Works like ones, with a shape that the program computes.",
    relation=("DynamicOnes", _init, "{out} has as many axes as {0} has elements"),
    inputs=("shape",),
    attrs=InitOpAttrs,
    reference=with_operands("ones", "shape", at=0),
    gradient=ZERO,
    example=lambda build: build(ints(2), "float32"),
)
def ones(shape: Operand, dtype: object) -> Call:
    """Create a tensor of ones."""
    return call("dyn.ones", [shape], shape=None, dtype=dtype)


def _full(attrs: InitOpAttrs, fill_value: Type, shape: Type) -> Type:
    fill = scalar(fill_value, 0, "fill_value")
    return TensorType.of(unknown(vector_length(shape, 1, "shape")), attrs.dtype or fill.dtype)


@dynamic(
    "full",
    description="Works like full, with a shape that the program computes.",
    relation=("DynamicFull", _full, "{out} has as many axes as {1} has elements"),
    inputs=("fill_value", "shape"),
    attrs=InitOpAttrs,
    pattern=OpPattern.ELEMENTWISE,
    reference=with_operands("full", "shape"),
    gradient=FULL_GRADIENT,
    precision=Precision.FOLLOW,
    traits=(Trait.DISPLACED,),
    example=lambda build: build(const(1.0), ints(2)),
)
def full(fill_value: Operand, shape: Operand, dtype: object = None) -> Call:
    """Create a tensor filled with `fill_value`."""
    return call("dyn.full", [fill_value, shape], shape=None, dtype=dtype)


def _one_hot(attrs: OneHotAttrs, indices: Type, on_value: Type, off_value: Type, depth: Type) -> Type:
    where, on = integers(indices, 0, "indices"), scalar(on_value, 1, "on_value")
    scalar(off_value, 2, "off_value")
    integers(scalar(depth, 3, "depth"), 3, "depth")
    axis = normal_axis(attrs.axis, len(where.shape) + 1, "one_hot")
    return TensorType.of((*where.shape[:axis], UNKNOWN, *where.shape[axis:]), attrs.dtype or on.dtype)


@dynamic(
    "one_hot",
    description="Works like one_hot, with a depth that the program computes.",
    relation=("DynamicOneHot", _one_hot, "{out} = {0} with a new axis of extent ?"),
    inputs=("indices", "on_value", "off_value", "depth"),
    attrs=OneHotAttrs,
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    reference=with_operands("one_hot", "depth", at=3, single=True),
    gradient=ONE_HOT_GRADIENT,
    example=lambda build: build(ints(4), const(1.0), const(0.0), ints(name="d"), 0, "float32"),
)
def one_hot(
    indices: Operand, on_value: Operand, off_value: Operand, depth: Operand, axis: int, dtype: object
) -> Call:
    """Add an axis of extent `depth`, with `on_value` at each of `indices` and `off_value` elsewhere."""
    return call("dyn.one_hot", [indices, on_value, off_value, depth], axis=axis, dtype=dtype)
