"""Operators that return a tensor's shape, or its number of elements, as a tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, ParamSpec, TypeVar
from typing import Any as Anything

from ..ir.attrs import attr
from ..ir.declaration import Precision, Trait
from ..ir.expr import Call
from ..ir.op import OpPattern, Relation, no_flops
from ..ir.types import TensorType, Type
from .arguments import Operand
from .examples import X
from .gradient_tools import ZERO
from .layouts.layout import NO_LAYOUT_RULE
from .numeric import Array, element_type, np
from .operator import operator
from .relation import forward, tensor
from .te.library import topi
from .te.lowered import Lowered, Lowering
from .te.tensors import Tensor, cast, dims, number, product, stage

__all__ = ["ndarray_size", "shape_of"]

P = ParamSpec("P")
R = TypeVar("R")


def _query(
    name: str,
    *,
    description: str,
    formula: str,
    relation: Relation,
    value: Callable[[Array], object],
    lowering: Lowering,
    precision: Precision,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare an operator that computes integers from the operand's shape."""
    return operator(
        name,
        description=description,
        formula=formula,
        family="shape",
        relation=relation,
        pattern=OpPattern.INJECTIVE,
        flops=no_flops,
        reference=lambda attrs, x: np.array(value(x), element_type(attrs.dtype or "int32")),
        gradient=ZERO,
        lowering=lowering,
        layout=NO_LAYOUT_RULE,
        precision=precision,
        traits={Trait.SHAPE_QUERY, Trait.TYPE_OF_FIRST},
        example=lambda build: build(X),
    )


def _shape_of(attrs: Anything, data: Type) -> Type:
    return TensorType.of((len(tensor(data, 0, "data").shape),), attrs.dtype or "int32")


@_query(
    "shape_of",
    description="Returns the shape of a tensor as a vector.",
    formula=r"y = (n_0, n_1, \dots)",
    relation=forward("ShapeOf", "{out} is a vector with an element for each axis of {0}", _shape_of),
    value=lambda x: x.shape,
    lowering=lambda lowered: [topi.shape(lowered.inputs[0], lowered.out.dtype)],
    precision=Precision.FOLLOW,
)
def shape_of(
    data: Operand,
    dtype: Annotated[
        object, attr(None, "The element type of the result; None is int32.", kind="DType | None")
    ] = "int32",
) -> Call:
    """Return the extents of `data` as a vector, one per axis."""


def _ndarray_size(attrs: Anything, data: Type) -> Type:
    tensor(data, 0, "data")
    return TensorType.of((), attrs.dtype or "int32")


def _ndarray_size_te(lowered: Lowered) -> list[Tensor]:
    size, dtype = product(dims(lowered.inputs[0])), lowered.out.dtype
    value = number(size, dtype) if isinstance(size, int) else cast(size, dtype)
    return [stage((), lambda: value, lowered.name)]


@_query(
    "ndarray_size",
    description="Returns the number of elements of a tensor.",
    formula=r"y = \prod_i n_i",
    relation=forward("NdarraySize", "{out} is a scalar", _ndarray_size),
    value=lambda x: x.size,
    lowering=_ndarray_size_te,
    precision=Precision.UNLISTED,
)
def ndarray_size(
    data: Operand,
    dtype: Annotated[
        object, attr(None, "The element type of the result; None is int32.", kind="DType | None")
    ] = "int32",
) -> Call:
    """Return the number of elements of `data`, as a scalar."""
