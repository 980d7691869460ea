"""Operators that permute a tensor's axes, or insert or remove axes of extent 1."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.attrs import Attrs, Ints, attr, required
from ..ir.declaration import Gradient, Precision, Trait
from ..ir.expr import Call, Expr
from ..ir.op import OpPattern, RelationError, no_flops
from ..ir.show import show_shape
from ..ir.types import TensorType, Type
from .arguments import Operand, axes_of, computed, static_ints
from .calls import relay
from .examples import X, t
from .gradient_tools import RESHAPED, axis_count
from .layouts.layout import (
    NO_LAYOUT_RULE,
    Answer,
    InferCorrectLayoutOutput,
    Layout,
    Question,
    moved,
    shape_of_operand,
)
from .numeric import Array, np
from .operator import call, operator
from .relation import check_rank, forward, normal_axes, tensor
from .te.library import topi
from .te.lowered import Lowered
from .te.tensors import Tensor

__all__ = ["expand_dims", "squeeze", "transpose"]


class TransposeAttrs(Attrs, key="relay.attrs.TransposeAttrs"):
    axes: Ints | None = required(
        "Which axis of the input becomes each axis of the result; None reverses them."
    )


def _transpose(attrs: TransposeAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    rank = len(x.shape)
    if attrs.axes is None:
        return TensorType.of(x.shape[::-1], x.dtype)
    if len(attrs.axes) != rank:
        raise RelationError(
            f"axes={list(attrs.axes)} names {len(attrs.axes)} axes, but the tensor "
            f"{show_shape(x.shape)} has {rank}",
            "name every axis once",
            culprits=(0,),
        )
    return TensorType.of(tuple([x.shape[a] for a in normal_axes(attrs.axes, rank, "transpose")]), x.dtype)


def _transpose_gradient(call: Call, grad: Expr) -> list[Expr]:
    assert call.attrs is not None
    rank = axis_count(call.args[0])
    axes = [axis % rank for axis in call.attrs["axes"] or ()]
    inverse = sorted(range(rank), key=axes.__getitem__) if axes else None
    return [relay.transpose(grad, inverse)]


def _transpose_layout(question: Question) -> Answer:
    """Keep the result's layout, and compose the permutation with the data's new order of axes."""
    old, attrs = question.old[0], question.attrs
    assert attrs is not None
    if old is None:
        return None
    rank = len(old)
    axes = attrs["axes"] or range(rank - 1, -1, -1)
    if len(axes) != rank or any(not -rank <= axis < rank for axis in axes):
        return None
    result = Layout.of([old.axes[axis] for axis in axes])
    if question.new is not None and sorted(question.new[0].axes) == sorted(old.axes):
        new = question.new[0]
        new_attrs = attrs.replace(axes=[new.index_of(letter) for letter in result])
        return InferCorrectLayoutOutput([new], [result], new_attrs)
    return InferCorrectLayoutOutput([old], [result], attrs)


def _transpose_te(lowered: Lowered) -> list[Tensor]:
    return [topi.transpose(lowered.inputs[0], lowered.attrs.axes)]


@operator(
    "transpose",
    description="Permutes the axes of a tensor.",
    formula=r"y_{i_{a_0} i_{a_1} \dots} = x_{i_0 i_1 \dots}, \quad a = \mathit{axes}",
    family="shape",
    level=3,
    relation=forward("Transpose", "{out} = {0}, axes reordered", _transpose),
    attrs=TransposeAttrs,
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    reference=lambda attrs, x: np.transpose(x, attrs.axes),
    gradient=Gradient("dx = dy, transposed by the inverse permutation", _transpose_gradient),
    lowering=_transpose_te,
    layout=_transpose_layout,
    precision=Precision.FOLLOW,
    traits={Trait.TRANSPOSE},
    example=lambda build: [build(X), build(X, [1, 0])],
)
def transpose(data: Operand, axes: Sequence[int] | None = None) -> Call:
    """Permute the axes of `data` into the order `axes`; reverse them where `axes` is None."""


class ExpandDimsAttrs(Attrs, key="relay.attrs.ExpandDimsAttrs"):
    axis: int = required(
        "Where the new axes go; counted from the end, from after the last axis, if negative."
    )
    num_newaxis: int = attr(1, "How many axes of extent 1 are inserted.")


def _expand_dims(attrs: ExpandDimsAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    rank, axis, new = len(x.shape), attrs.axis, attrs.num_newaxis
    if new < 0:
        raise RelationError(f"num_newaxis is {new}, but it cannot be negative")
    if not -rank - 1 <= axis <= rank:
        raise RelationError(
            f"axis {axis} is out of range: new axes of the tensor {show_shape(x.shape)} have the "
            f"indices {-rank - 1} to {rank}",
            culprits=(0,),
        )
    check_rank(rank + new)
    at = axis if axis >= 0 else rank + axis + 1
    return TensorType.of(x.shape[:at] + (1,) * new + x.shape[at:], x.dtype)


def _with_ones(attrs: ExpandDimsAttrs, x: Array) -> Array:
    at = attrs.axis if attrs.axis >= 0 else x.ndim + attrs.axis + 1
    return x.reshape(x.shape[:at] + (1,) * attrs.num_newaxis + x.shape[at:])


def _expand_dims_te(lowered: Lowered) -> list[Tensor]:
    return [topi.expand_dims(lowered.inputs[0], lowered.attrs.axis, lowered.attrs.num_newaxis)]


@operator(
    "expand_dims",
    description="Inserts axes of extent 1.",
    formula=r"y_{\dots 1 \dots} = x_{\dots}",
    family="shape",
    level=1,
    relation=forward("ExpandDims", "{out} = {0} with new axes of extent 1", _expand_dims),
    inputs=("data",),
    attrs=ExpandDimsAttrs,
    pattern=OpPattern.BROADCAST,
    flops=no_flops,
    reference=_with_ones,
    gradient=RESHAPED,
    lowering=_expand_dims_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.FOLLOW,
    traits={Trait.RESHAPE},
    example=lambda build: build(X, 1, 2),
)
def expand_dims(data: Operand, axis: int | Expr, num_newaxis: int = 1) -> Call:
    """Insert `num_newaxis` axes of extent 1 into `data` at `axis`."""
    if isinstance(axis, Expr):
        if computed(axis):
            return call("dyn.expand_dims", [data, axis], num_newaxis=num_newaxis)
        axis = static_ints(axis, "axis")[0]
    return call("expand_dims", [data], axis=axis, num_newaxis=num_newaxis)


class SqueezeAttrs(Attrs, key="relay.attrs.SqueezeAttrs"):
    axis: Ints | None = attr(None, "The axes of extent 1 that are dropped; None is all of them.")


def _squeeze(attrs: SqueezeAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    if attrs.axis is None:
        unknown = [axis for axis, dim in enumerate(x.shape) if not isinstance(dim, int)]
        if unknown:
            raise RelationError(
                f"axis {unknown[0]} of {show_shape(x.shape)} may or may not be 1, so the result's "
                "rank is not known",
                "name the axes that are dropped: relay.squeeze(data, axis=[…])",
                culprits=(0,),
            )
        return TensorType.of(tuple([dim for dim in x.shape if dim != 1]), x.dtype)
    dropped = normal_axes(attrs.axis, len(x.shape), "squeeze")
    for axis in dropped:
        if isinstance(x.shape[axis], int) and x.shape[axis] != 1:
            raise RelationError(
                f"axis {axis} of {show_shape(x.shape)} is {x.shape[axis]}, but only axes of extent 1 "
                "can be removed",
                "reduce the axis (relay.sum, relay.max) or take one slice of it (relay.take)",
                culprits=(0,),
            )
    return TensorType.of(tuple([dim for axis, dim in enumerate(x.shape) if axis not in dropped]), x.dtype)


def _squeeze_layout(question: Question) -> Answer:
    """Infer the layouts of a squeeze; dropped axes must not be split into blocks."""
    old, attrs = question.old[0], question.attrs
    assert attrs is not None
    shape = shape_of_operand(question)
    if old is None or len(shape) != len(old):
        return None
    axes = attrs["axis"]
    if axes is None:
        if not all(isinstance(size, int) for size in shape):
            return None
        axes = [axis for axis, size in enumerate(shape) if size == 1]
    layout, new_attrs = old, attrs
    dropped = [old[axis] for axis in axes]
    if question.new is not None:
        new_axes = [moved(axis, old, question.new[0]) for axis in axes]
        if None not in new_axes:
            layout, new_attrs = question.new[0], attrs.replace(axis=new_axes)
    if layout != old and any(layout.splits(letter) for letter in dropped):
        return None
    if attrs["axis"] is None and layout == old:
        new_attrs = attrs.replace(axis=axes)
    return InferCorrectLayoutOutput([layout], [layout.without(dropped)], new_attrs)


def _squeeze_te(lowered: Lowered) -> list[Tensor]:
    return [topi.squeeze(lowered.inputs[0], lowered.attrs.axis)]


@operator(
    "squeeze",
    description="Removes axes of extent 1.",
    formula=r"y_{\dots} = x_{\dots 1 \dots}",
    family="shape",
    level=3,
    relation=forward("Squeeze", "{out} = {0} without axes of extent 1", _squeeze),
    inputs=("data",),
    attrs=SqueezeAttrs,
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    reference=lambda attrs, x: np.squeeze(x, attrs.axis),
    gradient=RESHAPED,
    lowering=_squeeze_te,
    layout=_squeeze_layout,
    precision=Precision.FOLLOW,
    traits={Trait.RESHAPE},
    example=lambda build: [build(t(1, 6)), build(t(1, 6), [0])],
    lenient_in_tvm="It allowed an axis to be named twice.",
)
def squeeze(data: Operand, axis: int | Sequence[int] | Expr | None = None) -> Call:
    """Remove the axes `axis` of `data`, each of extent 1; all such axes where `axis` is None."""
    if isinstance(axis, Expr):
        if computed(axis):
            return call("dyn.squeeze", [data, axis], axis=None)
        axis = static_ints(axis, "axis")
    return call("squeeze", [data], axis=axes_of(axis))
