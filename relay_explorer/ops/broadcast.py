"""Broadcasting written out, and its opposite, which gradients need: summing what was broadcast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ..ir.expr import Call, Constant, Expr
from ..ir.op import (
    Compute,
    Flops,
    Op,
    OpPattern,
    Relation,
    RelationError,
    Reporter,
    flops_per_input,
    no_flops,
)
from ..ir.show import show_shape
from ..ir.types import IncompleteType, Shape, TensorType, Type
from .arguments import computed, expr, int_const, static_ints
from .create import InitOpAttrs
from .declare import declare
from .numeric import Array, np, numbers
from .relation import UNKNOWN, forward, integers, same_dim, same_dtypes, tensor

__all__ = ["broadcast_to", "broadcast_to_like", "collapse_sum_like", "collapse_sum_to"]


def _check(small: Shape, large: Shape, culprits: tuple[int, ...]) -> None:
    """A RelationError unless broadcasting `small` gives `large`."""
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


def _broadcast_to(attrs: InitOpAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    if attrs.shape is None or [extent for extent in attrs.shape if extent < 0]:
        raise RelationError("the shape to broadcast to must be extents of 0 or more")
    _check(x.shape, attrs.shape, (0,))
    return TensorType.of(attrs.shape, x.dtype)


def _like(types: Sequence[Type], reporter: Reporter, wide: int) -> bool:
    """The result is the second argument's type; of the two arguments number `wide` has the larger shape."""
    data, like, out = types
    reporter.assign(out, like)
    if isinstance(like, IncompleteType):
        like = out  # what the assignment made it, where the result is known first
    if isinstance(data, IncompleteType) or isinstance(like, IncompleteType):
        return False
    pair = tensor(data, 0, "data"), tensor(like, 1, "type")
    same_dtypes(*pair)
    _check(pair[1 - wide].shape, pair[wide].shape, (0, 1))
    return True


def _broadcast_to_like(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    return _like(types, reporter, 1)


def _collapse_sum_like(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    return _like(types, reporter, 0)


def _collapse_sum_to(attrs: InitOpAttrs, data: Type, shape: Type) -> Type:
    x, target = tensor(data, 0, "data"), integers(shape, 1, "shape")
    if len(target.shape) != 1 or not isinstance(target.shape[0], int):
        raise RelationError(f"shape must be a vector of known length, not {target}", culprits=(1,))
    out: Shape = attrs.shape if attrs.shape is not None else (UNKNOWN,) * target.shape[0]
    if len(out) != target.shape[0]:
        raise RelationError(
            f"shape has {target.shape[0]} elements, but `shape` names {len(out)}", culprits=(1,)
        )
    _check(out, x.shape, (0, 1))
    return TensorType.of(out, x.dtype)


def _spread(
    name: str,
    description: str,
    formula: str,
    relation: Relation,
    inputs: tuple[str, ...],
    attrs: type[InitOpAttrs] | None = None,
    *,
    pattern: OpPattern = OpPattern.BROADCAST,
    flops: Flops = no_flops,
    level: int = 10,
    compute: Compute,
    gradient: str = "",
) -> Op:
    return declare(
        name, description, formula=formula, relation=relation, inputs=inputs, attrs=attrs, pattern=pattern,
        flops=flops, compute=compute, family="shape", level=level, gradient=gradient,
        lowering=f"join.{name}",
    )  # fmt: skip


_BROADCAST_TO = _spread(
    "broadcast_to",
    "The tensor repeated along axes where it has extent 1, to a given shape.",
    r"y_{i_0 i_1 \dots} = x_{i_0 \bmod n_0\, i_1 \bmod n_1 \dots}",
    forward("BroadCastTo", "{out} = `shape`, if {0} ⊔ `shape` = `shape`", _broadcast_to),
    ("data",),
    InitOpAttrs,
    level=4,
    compute=lambda attrs, x: np.broadcast_to(x, attrs.shape),
    gradient="shape.broadcast",
)
_BROADCAST_TO_LIKE = _spread(
    "broadcast_to_like",
    "The tensor repeated along axes where it has extent 1, to another's shape.",
    r"y_{i_0 i_1 \dots} = x_{i_0 \bmod n_0\, i_1 \bmod n_1 \dots}",
    Relation("BroadCastToLike", _broadcast_to_like, "{out} = {1}, if {0} ⊔ {1} = {1}"),
    ("data", "broadcast_type"),
    compute=lambda attrs, x, broadcast_type: np.broadcast_to(x, broadcast_type.shape),
    gradient="shape.broadcast",
)


def _collapsed(x: Array, shape: tuple[int, ...]) -> Array:
    """`x` summed over the axes along which broadcasting from `shape` repeats."""
    _check(shape, x.shape, (0, 1))
    lead = x.ndim - len(shape)
    repeated = [lead + axis for axis, extent in enumerate(shape) if extent == 1]
    return np.sum(x, (*range(lead), *repeated), x.dtype).reshape(shape)


_COLLAPSE = r"y_i = \sum_{j \text{ broadcast from } i} x_j"
_COLLAPSE_SUM_LIKE = _spread(
    "collapse_sum_like",
    "The sum over all that broadcasting to the tensor's shape would have repeated.",
    _COLLAPSE,
    Relation("CollapseSumLike", _collapse_sum_like, "{out} = {1}, if {0} ⊔ {1} = {0}"),
    ("data", "collapse_type"),
    pattern=OpPattern.COMM_REDUCE,
    flops=flops_per_input,
    compute=lambda attrs, x, collapse_type: _collapsed(x, collapse_type.shape),
    gradient="shape.collapsed",
)
_COLLAPSE_SUM_TO = _spread(
    "collapse_sum_to",
    "The sum over all that broadcasting from a given shape would have repeated.",
    _COLLAPSE,
    forward("CollapseSumTo", "{out} = {1} as a shape, if {0} ⊔ {out} = {0}", _collapse_sum_to),
    ("data", "shape"),
    InitOpAttrs,
    pattern=OpPattern.COMM_REDUCE,
    flops=flops_per_input,
    level=4,
    compute=lambda attrs, x, shape: _collapsed(x, numbers(shape)),
    gradient="shape.collapsed",
)


def broadcast_to(data: Expr, shape: int | Sequence[int] | Expr) -> Expr:
    """`data` broadcast to `shape`."""
    if computed(shape):
        return Call(Op.get("dyn.broadcast_to"), [expr(data), expr(shape)], InitOpAttrs(shape=None))
    return Call(_BROADCAST_TO, [expr(data)], InitOpAttrs(shape=static_ints(shape, "shape")))


def broadcast_to_like(data: Expr, broadcast_type: Expr) -> Expr:
    """`data` broadcast to the shape of `broadcast_type`."""
    return Call(_BROADCAST_TO_LIKE, [expr(data), expr(broadcast_type)])


def collapse_sum_like(data: Expr, collapse_type: Expr) -> Expr:
    """`data` summed to the shape of `collapse_type`: the gradient of broadcasting one to the other."""
    return Call(_COLLAPSE_SUM_LIKE, [expr(data), expr(collapse_type)])


def collapse_sum_to(data: Expr, shape: Sequence[int] | Expr) -> Expr:
    """`data` summed to `shape`; if that is computed by the program, every extent of the result is `?`."""
    target = int_const(shape)
    extents = target.data.values() if isinstance(target, Constant) else None
    return Call(_COLLAPSE_SUM_TO, [expr(data), target], InitOpAttrs(shape=extents))
