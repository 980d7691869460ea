"""Operators that broadcast a tensor, and those that reverse it in gradients: sums over the copies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any as Anything
from typing import ParamSpec, TypeVar

from ..ir.attrs import Attrs
from ..ir.declaration import Gradient, Precision, Trait
from ..ir.expr import Call, Constant, Expr
from ..ir.op import OpPattern, Reference, Relation, RelationError, Reporter, flops_per_input, no_flops
from ..ir.show import show_shape
from ..ir.types import IncompleteType, Shape, TensorType, Type
from .arguments import Operand, computed, int_const, static_ints
from .calls import relay
from .create import InitOpAttrs
from .examples import V, X, ints
from .gradient_tools import SUMMED
from .layouts.layout import NO_LAYOUT_RULE
from .numeric import Array, np, numbers
from .operator import Example, call, operator
from .relation import UNKNOWN, forward, integers, same_dim, same_dtypes, tensor
from .te.library import te
from .te.lowered import Lowered, Lowering
from .te.tensors import Shape as TeShape
from .te.tensors import Tensor, Value, dims, dtype_of, element, known, stage, summed

__all__ = ["broadcast_to", "broadcast_to_like", "collapse_sum_like", "collapse_sum_to"]

P = ParamSpec("P")
R = TypeVar("R")


def _check(small: Shape, large: Shape, culprits: tuple[int, ...]) -> None:
    """Raise a RelationError unless broadcasting `small` gives `large`."""
    lead = len(large) - len(small)
    if lead < 0:
        raise RelationError(
            f"broadcasting {show_shape(small)} does not give {show_shape(large)}, which has fewer axes",
            culprits=culprits,
        )
    for axis, dim in enumerate(small, lead):
        if dim != 1 and not same_dim(dim, large[axis]):
            raise RelationError(
                f"broadcasting {show_shape(small)} does not give {show_shape(large)}: "
                f"axis {axis - len(large)} is {dim} in one and {large[axis]} in the other",
                "axes are aligned at the last; each of the smaller shape must be 1 or equal",
                culprits=culprits,
            )


def _like(types: Sequence[Type], reporter: Reporter, wide: int) -> bool:
    """Assign the second operand's type to the result; operand number `wide` has the larger shape."""
    data, like, out = types
    reporter.assign(out, like)
    if isinstance(like, IncompleteType):
        like = out  # `assign` made them equal, and the result's type may be known already
    if isinstance(data, IncompleteType) or isinstance(like, IncompleteType):
        return False
    pair = tensor(data, 0, "data"), tensor(like, 1, "type")
    same_dtypes(*pair)
    _check(pair[1 - wide].shape, pair[wide].shape, (0, 1))
    return True


# -- broadcasting


def _broadcasting(
    name: str,
    *,
    description: str,
    relation: Relation,
    reference: Reference,
    shape: Callable[[Lowered], TeShape],
    example: Example,
    attrs: type[Attrs] | None = None,
    level: int = 10,
    precision: Precision = Precision.UNLISTED,
    traits: tuple[Trait, ...] = (),
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare an operator that broadcasts its first operand to `shape`."""

    def lower(lowered: Lowered) -> list[Tensor]:
        x, extents = lowered.inputs[0], shape(lowered)
        return [stage(extents, lambda *i: element(x, i, extents), lowered.name)]

    return operator(
        name,
        description=description,
        formula=r"y_{i_0 i_1 \dots} = x_{i_0 \bmod n_0\, i_1 \bmod n_1 \dots}",
        family="shape",
        level=level,
        relation=relation,
        inputs=("data",) if attrs is not None else "",
        attrs=attrs,
        pattern=OpPattern.BROADCAST,
        flops=no_flops,
        reference=reference,
        gradient=SUMMED,
        lowering=lower,
        layout=NO_LAYOUT_RULE,
        precision=precision,
        traits=(Trait.DISPLACED, *traits),
        example=example,
    )


def _broadcast_to(attrs: InitOpAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    if attrs.shape is None or [extent for extent in attrs.shape if extent < 0]:
        raise RelationError("the shape to broadcast to must be extents of 0 or more")
    _check(x.shape, attrs.shape, (0,))
    return TensorType.of(attrs.shape, x.dtype)


@_broadcasting(
    "broadcast_to",
    description="Broadcasts a tensor to a given shape.",
    relation=forward("BroadCastTo", "{out} = `shape`, if {0} ⊔ `shape` = `shape`", _broadcast_to),
    attrs=InitOpAttrs,
    level=4,
    reference=lambda attrs, x: np.broadcast_to(x, attrs.shape),
    shape=lambda lowered: lowered.out_shape,
    traits=(Trait.SELECTION,),
    example=lambda build: [build(V, (2, 6)), build(X, ints(2))],
)
def broadcast_to(data: Operand, shape: int | Sequence[int] | Expr) -> Call:
    """Broadcast `data` to `shape`."""
    if computed(shape):
        return call("dyn.broadcast_to", [data, shape], shape=None)
    return call("broadcast_to", [data], shape=static_ints(shape, "shape"))


def _broadcast_to_like(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    return _like(types, reporter, 1)


@_broadcasting(
    "broadcast_to_like",
    description="Broadcasts a tensor to the shape of another.",
    relation=Relation("BroadCastToLike", _broadcast_to_like, "{out} = {1}, if {0} ⊔ {1} = {1}"),
    reference=lambda attrs, x, broadcast_type: np.broadcast_to(x, broadcast_type.shape),
    shape=lambda lowered: dims(lowered.inputs[1]),
    precision=Precision.FOLLOW,
    traits=(Trait.TYPE_OF_SECOND,),
    example=lambda build: build(V, X),
)
def broadcast_to_like(data: Operand, broadcast_type: Operand) -> Call:
    """Broadcast `data` to the shape of `broadcast_type`."""


# -- sums over broadcast axes


def _collapsed(x: Array, shape: tuple[int, ...]) -> Array:
    """Sum over the axes along which broadcasting from `shape` repeats."""
    _check(shape, x.shape, (0, 1))
    lead = x.ndim - len(shape)
    repeated = [lead + axis for axis, extent in enumerate(shape) if extent == 1]
    return np.sum(x, (*range(lead), *repeated), x.dtype).reshape(shape)


def _collapse_gradient(call: Call, grad: Expr) -> list[Expr | None]:
    return [relay.broadcast_to_like(grad, call.args[0]), None]


def _collapsing(
    name: str,
    *,
    description: str,
    relation: Relation,
    reference: Reference,
    lowering: Lowering,
    example: Example,
    attrs: type[Attrs] | None = None,
    level: int = 10,
    traits: tuple[Trait, ...] = (),
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare an operator that sums its first operand over the axes along which it was broadcast."""
    return operator(
        name,
        description=description,
        formula=r"y_i = \sum_{j \text{ broadcast from } i} x_j",
        family="shape",
        level=level,
        relation=relation,
        attrs=attrs,
        inputs=("data", "shape") if attrs is not None else "",
        pattern=OpPattern.REDUCTION,
        flops=flops_per_input,
        reference=reference,
        gradient=Gradient("dx = dy, broadcast over the axes that were summed", _collapse_gradient),
        lowering=lowering,
        layout=NO_LAYOUT_RULE,
        precision=Precision.UNLISTED,
        traits=traits,
        example=example,
    )


def _collapsed_te(x: Tensor, shape: TeShape, name: str) -> list[Tensor]:
    """Sum over the axes along which broadcasting from `shape` repeats."""
    lead = len(x.shape) - len(shape)
    folded = {
        axis: te.reduce_axis((0, dim), name=f"k{axis}")
        for axis, dim in enumerate(dims(x))
        if axis < lead or (known(shape[axis - lead]) == 1 and known(dim) != 1)
    }

    def value(*i: Value) -> Value:
        return x(*[folded[axis] if axis in folded else i[axis - lead] for axis in range(len(x.shape))])

    return [summed(shape, value, list(folded.values()), dtype_of(x), name)]


def _collapse_sum_like(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    return _like(types, reporter, 0)


@_collapsing(
    "collapse_sum_like",
    description="Sums a tensor to the shape of another, over the axes along which that shape was broadcast.",
    relation=Relation("CollapseSumLike", _collapse_sum_like, "{out} = {1}, if {0} ⊔ {1} = {0}"),
    reference=lambda attrs, x, collapse_type: _collapsed(x, collapse_type.shape),
    lowering=lambda lowered: _collapsed_te(lowered.inputs[0], dims(lowered.inputs[1]), lowered.name),
    traits=(Trait.TYPE_OF_SECOND,),
    example=lambda build: build(X, V),
)
def collapse_sum_like(data: Operand, collapse_type: Operand) -> Call:
    """Sum `data` to the shape of `collapse_type`; this is the gradient of broadcasting."""


def _collapse_sum_to(attrs: InitOpAttrs, data: Type, shape: Type) -> Type:
    x, target = tensor(data, 0, "data"), integers(shape, 1, "shape")
    if len(target.shape) != 1 or not isinstance(target.shape[0], int):
        raise RelationError(f"shape must be a vector of static length, not {target}", culprits=(1,))
    out: Shape = attrs.shape if attrs.shape is not None else (UNKNOWN,) * target.shape[0]
    if len(out) != target.shape[0]:
        raise RelationError(
            f"shape has {target.shape[0]} elements, but `shape` names {len(out)}", culprits=(1,)
        )
    _check(out, x.shape, (0, 1))
    return TensorType.of(out, x.dtype)


@_collapsing(
    "collapse_sum_to",
    description="Sums a tensor to a given shape, over the axes along which that shape was broadcast.",
    relation=forward("CollapseSumTo", "{out} has the shape in {1}, if {0} ⊔ {out} = {0}", _collapse_sum_to),
    attrs=InitOpAttrs,
    level=4,
    reference=lambda attrs, x, shape: _collapsed(x, numbers(shape)),
    # the second operand only repeats the shape; the static extents are in the type
    lowering=lambda lowered: _collapsed_te(lowered.inputs[0], lowered.out_shape, lowered.name),
    example=lambda build: build(X, (6,)),
)
def collapse_sum_to(data: Operand, shape: Sequence[int] | Expr) -> Call:
    """Sum `data` to `shape`; if the program computes `shape`, every extent of the result is `?`."""
    target = int_const(shape)
    extents = target.data.values() if isinstance(target, Constant) else None
    return call("collapse_sum_to", [data, target], shape=extents)
