"""Operators that create a tensor of a given shape, or of the shape and element type of another tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ParamSpec, TypeVar

from ..ir.attrs import Attrs, DType, Ints, attr, required
from ..ir.declaration import Gradient, Precision, Trait
from ..ir.expr import Call, Expr, const
from ..ir.op import OpPattern, Reference, Relation, RelationError, no_flops
from ..ir.types import TensorType, Type
from .arguments import Operand, computed, static_ints
from .calls import relay
from .examples import X, t
from .gradient_tools import ZERO
from .layouts.layout import NO_LAYOUT_RULE, LayoutRule
from .layouts.same import elementwise_layout
from .numeric import Array, element_type, np
from .operator import Example, call, operator
from .relation import IDENTITY, forward, scalar, tensor
from .te.lowered import Lowered, Lowering
from .te.tensors import Tensor, cast, dtype_of, number, stage

__all__ = ["full", "full_like", "ones", "ones_like", "zeros", "zeros_like"]

P = ParamSpec("P")
R = TypeVar("R")


class InitOpAttrs(Attrs, key="relay.attrs.InitOpAttrs"):
    shape: Ints | None = required("The shape of the result.")
    dtype: DType | None = attr(None, "The element type of the result.")


def _extents(attrs: InitOpAttrs) -> tuple[int, ...]:
    if attrs.shape is None or any(extent < 0 for extent in attrs.shape):
        raise RelationError(
            f"shape={attrs.shape if attrs.shape is None else list(attrs.shape)} must be extents of 0 or more"
        )
    return attrs.shape


def _init(attrs: InitOpAttrs) -> Type:
    if not attrs.dtype:
        raise RelationError("the element type is missing", 'give it: dtype="float32"')
    return TensorType.of(_extents(attrs), attrs.dtype)


def _full(attrs: InitOpAttrs, fill_value: Type) -> Type:
    fill = scalar(fill_value, 0, "fill_value")
    return TensorType.of(_extents(attrs), attrs.dtype or fill.dtype)


def _full_like(attrs: None, data: Type, fill_value: Type) -> Type:
    scalar(fill_value, 1, "fill_value")
    return tensor(data, 0, "data")


def _filled(attrs: InitOpAttrs, fill_value: Array) -> Array:
    return np.full(attrs.shape, fill_value, element_type(attrs.dtype or fill_value.dtype))


def _full_gradient(call: Call, grad: Expr) -> list[Expr | None]:
    """Sum the gradient of `full`, because every element is a copy of the operand."""
    return [relay.cast_like(relay.sum(grad), call.args[0]), *[None] * (len(call.args) - 1)]


def _full_like_gradient(call: Call, grad: Expr) -> list[Expr | None]:
    return [None, relay.cast_like(relay.sum(grad), call.args[1])]


FULL_GRADIENT = Gradient("d fill_value = Σ dy", _full_gradient)


def _full_te(lowered: Lowered) -> list[Tensor]:
    value = lowered.inputs[0]
    return [stage(lowered.out_shape, lambda *i: cast(value(), lowered.out.dtype), lowered.name)]


def _full_like_te(lowered: Lowered) -> list[Tensor]:
    x, value = lowered.inputs
    return [stage(x.shape, lambda *i: cast(value(), dtype_of(x)), lowered.name)]


def _init_te(value: int) -> Lowering:
    """Make the lowering that fills a tensor of the result's type with one value."""
    return lambda call: [stage(call.out_shape, lambda *i: number(value, call.out.dtype), call.name)]


def _init_like_te(value: int) -> Lowering:
    """Make the lowering that fills a tensor like the operand with one value."""

    def lower(call: Lowered) -> list[Tensor]:
        x = call.inputs[0]
        return [stage(x.shape, lambda *i: number(value, dtype_of(x)), call.name)]

    return lower


def _creation(
    name: str,
    *,
    description: str,
    formula: str,
    relation: Relation,
    reference: Reference,
    lowering: Lowering,
    example: Example,
    gradient: Gradient = ZERO,
    inputs: tuple[str, ...] | str = "",
    attrs: type[Attrs] | None = None,
    level: int = 3,
    layout: LayoutRule | None = None,
    precision: Precision = Precision.UNLISTED,
    traits: Iterable[Trait] = (),
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare an operator that creates a tensor without arithmetic."""
    return operator(
        name,
        description=description,
        formula=formula,
        family="creation",
        level=level,
        relation=relation,
        inputs=inputs,
        attrs=attrs,
        pattern=OpPattern.ELEMENTWISE,
        flops=no_flops,
        reference=reference,
        gradient=gradient,
        lowering=lowering,
        layout=NO_LAYOUT_RULE if layout is None else layout,
        precision=precision,
        traits=traits,
        example=example,
    )


_INIT = forward("InitOp", "{out} has `shape` and `dtype`", _init)


@_creation(
    "zeros",
    description="Creates a tensor of zeros.",
    formula=r"y_i = 0",
    relation=_INIT,
    attrs=InitOpAttrs,
    reference=lambda attrs: _filled(attrs, 0),
    lowering=_init_te(0),
    precision=Precision.FOLLOW,
    traits={Trait.ZEROS, Trait.DISPLACED},
    example=lambda build: build((2, 3), "float32"),
)
def zeros(shape: int | Sequence[int] | Expr, dtype: object) -> Call:
    """Create a tensor of zeros."""
    if computed(shape):
        return call("dyn.zeros", [shape], shape=None, dtype=dtype)
    return call("zeros", [], shape=static_ints(shape, "shape"), dtype=dtype)


@_creation(
    "ones",
    description="Creates a tensor of ones.",
    formula=r"y_i = 1",
    relation=_INIT,
    attrs=InitOpAttrs,
    reference=lambda attrs: _filled(attrs, 1),
    lowering=_init_te(1),
    traits={Trait.ONES, Trait.DISPLACED},
    example=lambda build: build((2, 3), "int8"),
)
def ones(shape: int | Sequence[int] | Expr, dtype: object) -> Call:
    """Create a tensor of ones."""
    if computed(shape):
        return call("dyn.ones", [shape], shape=None, dtype=dtype)
    return call("ones", [], shape=static_ints(shape, "shape"), dtype=dtype)


@_creation(
    "full",
    description="Creates a tensor of a given shape, filled with one value.",
    formula=r"y_i = v",
    relation=forward("Full", "{out} has `shape`, and `dtype` or that of {0}", _full),
    inputs=("fill_value",),
    attrs=InitOpAttrs,
    reference=_filled,
    gradient=FULL_GRADIENT,
    lowering=_full_te,
    precision=Precision.FOLLOW,
    traits={Trait.DISPLACED, Trait.SIZED_BY_VALUES},
    example=lambda build: build(const(1.0), (2,)),
)
def full(data: Operand, shape: int | Sequence[int] | Expr = (), dtype: object = "") -> Call:
    """Create a tensor filled with `data`, a scalar; the element type is that of `data` by default."""
    if computed(shape):
        return call("dyn.full", [data, shape], shape=None, dtype=dtype or None)
    return call("full", [data], shape=static_ints(shape, "shape"), dtype=dtype or None)


@_creation(
    "full_like",
    description="Creates a tensor with the shape of another, filled with one value.",
    formula=r"y_i = v",
    relation=forward("FullLike", "{out} = {0}, if {1} is a scalar", _full_like),
    reference=lambda attrs, x, fill_value: np.full_like(x, fill_value),
    gradient=Gradient("d fill_value = Σ dy", _full_like_gradient),
    lowering=_full_like_te,
    traits={Trait.DISPLACED, Trait.TYPE_OF_FIRST},
    example=lambda build: build(X, const(1.0)),
)
def full_like(data: Operand, fill_value: Operand) -> Call:
    """Create a tensor like `data`, filled with `fill_value`, a scalar."""


@_creation(
    "zeros_like",
    description="Creates a tensor of zeros with the shape of another.",
    formula=r"y_i = 0",
    relation=IDENTITY,
    level=4,
    reference=lambda attrs, x: np.zeros_like(x),
    lowering=_init_like_te(0),
    layout=elementwise_layout,
    traits={Trait.ZEROS, Trait.TYPE_OF_FIRST},
    example=lambda build: build(t(6)),
)
def zeros_like(data: Operand) -> Call:
    """Create a tensor of zeros like `data`."""


@_creation(
    "ones_like",
    description="Creates a tensor of ones with the shape of another.",
    formula=r"y_i = 1",
    relation=IDENTITY,
    level=4,
    reference=lambda attrs, x: np.ones_like(x),
    lowering=_init_like_te(1),
    layout=elementwise_layout,
    traits={Trait.ONES, Trait.TYPE_OF_FIRST},
    example=lambda build: build(t(6)),
)
def ones_like(data: Operand) -> Call:
    """Create a tensor of ones like `data`."""
