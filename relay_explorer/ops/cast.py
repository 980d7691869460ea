"""Operators that convert the elements of a tensor to another type, or reinterpret their bits as one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

from ..ir.attrs import Attrs, DType, required
from ..ir.declaration import Gradient, Precision, Trait
from ..ir.expr import Call, Expr
from ..ir.op import OpPattern, Reference, Relation, RelationError, flops_per_output, no_flops
from ..ir.typed import tensor_type
from ..ir.types import TensorType, Type
from .arguments import Operand
from .calls import relay
from .examples import X, ints
from .gradient_tools import ZERO
from .layouts.layout import NO_LAYOUT_RULE, LayoutRule
from .layouts.same import elementwise_layout
from .numeric import Array, element_type, rounded_to_bfloat16
from .operator import Example, operator
from .relation import forward, tensor
from .te.library import tirx
from .te.lowered import Lowered
from .te.tensors import Tensor, Value, dtype_of, number, stage
from .te.tensors import cast as cast_te

__all__ = ["cast", "cast_like", "reinterpret"]

P = ParamSpec("P")
R = TypeVar("R")


class CastAttrs(Attrs, key="relay.attrs.CastAttrs"):
    dtype: DType = required("The element type of the result.")


def _cast(attrs: CastAttrs, data: Type) -> Type:
    return TensorType.of(tensor(data, 0, "data").shape, attrs.dtype)


def _cast_like(attrs: None, data: Type, dtype_like: Type) -> Type:
    return TensorType.of(tensor(data, 0, "data").shape, tensor(dtype_like, 1, "dtype_like").dtype)


def _cast_array(attrs: CastAttrs, x: Array) -> Array:
    return rounded_to_bfloat16(x) if attrs.dtype == "bfloat16" else x.astype(element_type(attrs.dtype))


def _cast_gradient(call: Call, grad: Expr) -> list[Expr | None]:
    """Cast the gradient back to the operand's type; integers and booleans get none."""
    x = call.args[0]
    by_data = relay.cast(grad, tensor_type(x).dtype) if "float" in tensor_type(x).dtype else None
    return [by_data, *[None] * (len(call.args) - 1)]


def _cast_te(lowered: Lowered) -> list[Tensor]:
    """Cast each element; unlike TVM's cast to bool, make every number but 0 true."""
    x, dtype = lowered.inputs[0], lowered.out.dtype
    return [stage(x.shape, lambda *i: cast_te(x(*i), dtype), lowered.name)]


def _conversion(
    name: str,
    *,
    description: str,
    formula: str,
    relation: Relation,
    reference: Reference,
    example: Example,
    attrs: type[Attrs] | None = None,
    layout: LayoutRule | None = None,
    traits: Iterable[Trait] = (),
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare an operator that converts each element."""
    return operator(
        name,
        description=description,
        formula=formula,
        family="arithmetic",
        level=3,
        relation=relation,
        attrs=attrs,
        pattern=OpPattern.ELEMENTWISE,
        flops=flops_per_output,
        reference=reference,
        gradient=Gradient("dx = dy, in the element type of x; 0 if x is not floating-point", _cast_gradient),
        lowering=_cast_te,
        layout=NO_LAYOUT_RULE if layout is None else layout,
        precision=Precision.FOLLOW,
        traits={Trait.CAST, *traits},
        example=example,
    )


@_conversion(
    "cast",
    description="Converts each element to another element type.",
    formula=r"y = \mathrm{dtype}(x)",
    relation=forward("Cast", "{out} has the shape of {0} and the element type `dtype`", _cast),
    attrs=CastAttrs,
    reference=_cast_array,
    layout=elementwise_layout,
    example=lambda build: build(X, "int8"),
)
def cast(data: Operand, dtype: object) -> Call:
    """Convert the elements of `data` to `dtype`; the shape does not change."""


@_conversion(
    "cast_like",
    description="Converts each element to the element type of another tensor.",
    formula=r"y = \mathrm{dtype}_{t}(x)",
    relation=forward("CastLike", "{out} has the shape of {0} and the element type of {1}", _cast_like),
    reference=lambda attrs, x, dtype_like: x.astype(dtype_like.dtype),
    traits=(Trait.TYPE_OF_SECOND,),
    example=lambda build: build(X, ints()),
)
def cast_like(data: Operand, dtype_like: Operand) -> Call:
    """Convert the elements of `data` to the element type of `dtype_like`."""


def _width(dtype: str) -> int:
    """Return the width of an element in bits."""
    digits = "".join(letter for letter in dtype if letter.isdigit())
    return {"bool": 8, "bfloat16": 16}.get(dtype) or int(digits or 0)


def _reinterpret(attrs: CastAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    if _width(x.dtype) != _width(attrs.dtype):
        raise RelationError(
            f"{x.dtype} has {_width(x.dtype)} bits per element and {attrs.dtype} has {_width(attrs.dtype)}",
            "reinterpret keeps the bits; relay.cast converts the values",
            culprits=(0,),
        )
    return TensorType.of(x.shape, attrs.dtype)


def _reinterpret_te(lowered: Lowered) -> list[Tensor]:
    x, dtype = lowered.inputs[0], lowered.out.dtype

    def value(*i: Value) -> Value:
        if dtype == "bool" != dtype_of(x):
            return x(*i) != number(0, dtype_of(x))
        if "bool" in (dtype, dtype_of(x)):
            return cast_te(x(*i), dtype)
        return x(*i) if dtype == dtype_of(x) else tirx.reinterpret(dtype, x(*i))

    return [stage(x.shape, value, lowered.name)]


@operator(
    "reinterpret",
    description="Reinterprets the bits of each element as another element type of the same width.",
    formula=r"\operatorname{bits}(y) = \operatorname{bits}(x)",
    family="shape",
    level=3,
    relation=forward(
        "Reinterpret", "{out} has the shape of {0} and the element type `dtype`, of equal width", _reinterpret
    ),
    attrs=CastAttrs,
    pattern=OpPattern.ELEMENTWISE,
    flops=no_flops,
    reference=lambda attrs, x: x.view(element_type(attrs.dtype)),
    gradient=ZERO,
    lowering=_reinterpret_te,
    layout=elementwise_layout,
    precision=Precision.UNLISTED,
    traits={Trait.DISPLACED},
    example=lambda build: build(X, "int32"),
    lenient_in_tvm="It did not compare the widths of the two element types.",
)
def reinterpret(data: Operand, dtype: object) -> Call:
    """Reinterpret the bits of `data` as elements of type `dtype`, which must have the same width."""
