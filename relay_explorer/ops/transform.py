"""Operators that keep a tensor's elements and change its element type, its axes or its shape."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.attrs import Attrs, DType, Ints, attr, required
from ..ir.expr import Call, Expr
from ..ir.op import Compute, Op, OpPattern, Relation, RelationError, flops_per_output, no_flops
from ..ir.show import show_shape
from ..ir.types import TensorType, Type
from .arguments import axes_of, computed, expr, static_ints
from .declare import declare
from .numeric import Array, element_type, np, numbers, rounded_to_bfloat16
from .relation import check_rank, forward, integers, normal_axes, normal_axis, same_dim, tensor

__all__ = [
    "cast", "cast_like", "expand_dims", "reinterpret", "reverse", "reverse_sequence", "squeeze",
    "transpose",
]  # fmt: skip


def _moves(
    name: str,
    description: str,
    formula: str,
    relation: Relation,
    *,
    attrs: type[Attrs] | None = None,
    inputs: tuple[str, ...] = ("data",),
    pattern: OpPattern = OpPattern.INJECTIVE,
    level: int = 3,
    compute: Compute,
    lenient_in_tvm: str = "",
    gradient: str = "",
) -> Op:
    """Declares an operator that computes nothing: elements are moved, or only described anew."""
    return declare(
        name, description, formula=formula, relation=relation, inputs=inputs, attrs=attrs, pattern=pattern,
        flops=no_flops, compute=compute, family="shape", level=level, lenient_in_tvm=lenient_in_tvm,
        gradient=gradient, lowering=f"transform.{name}",
    )  # fmt: skip


# Element types


class CastAttrs(Attrs, key="relay.attrs.CastAttrs"):
    dtype: DType = required("The element type of the result.")


_BITS = {"bool": 8, "bfloat16": 16}


def _bits(dtype: str) -> int:
    digits = "".join(c for c in dtype if c.isdigit())
    return _BITS.get(dtype) or int(digits or 0)


def _cast(attrs: CastAttrs, data: Type) -> Type:
    return TensorType.of(tensor(data, 0, "data").shape, attrs.dtype)


def _casted(attrs: CastAttrs, x: Array) -> Array:
    return rounded_to_bfloat16(x) if attrs.dtype == "bfloat16" else x.astype(element_type(attrs.dtype))


def _cast_like(attrs: None, data: Type, dtype_like: Type) -> Type:
    return TensorType.of(tensor(data, 0, "data").shape, tensor(dtype_like, 1, "dtype_like").dtype)


def _reinterpret(attrs: CastAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    if _bits(x.dtype) != _bits(attrs.dtype):
        raise RelationError(
            f"{x.dtype} has {_bits(x.dtype)} bits an element and {attrs.dtype} has {_bits(attrs.dtype)}",
            "reinterpret keeps the bits; relay.cast converts the numbers",
            culprits=(0,),
        )
    return TensorType.of(x.shape, attrs.dtype)


_CAST = declare(
    "cast",
    "Each element converted to another element type.",
    formula=r"y = \mathrm{dtype}(x)",
    relation=forward("Cast", "{out} = dtype of {0}", _cast),
    attrs=CastAttrs,
    pattern=OpPattern.ELEMWISE,
    flops=flops_per_output,
    family="arithmetic",
    level=3,
    compute=_casted,
    gradient="elementwise.cast",
    lowering="transform.cast",
)
_CAST_LIKE = declare(
    "cast_like",
    "Each element converted to the element type of a second tensor.",
    formula=r"y = \mathrm{dtype}_{t}(x)",
    relation=forward("CastLike", "{out} = dtype of {1} of {0}", _cast_like),
    inputs=("data", "dtype_like"),
    pattern=OpPattern.ELEMWISE,
    flops=flops_per_output,
    family="arithmetic",
    level=3,
    compute=lambda attrs, x, dtype_like: x.astype(dtype_like.dtype),
    gradient="elementwise.cast",
    lowering="transform.cast",
)
_REINTERPRET = declare(
    "reinterpret",
    "The same bits, read as another element type of the same width.",
    formula=r"\operatorname{bits}(y) = \operatorname{bits}(x)",
    relation=forward("Reinterpret", "{out} = dtype of {0}, of equal width", _reinterpret),
    attrs=CastAttrs,
    pattern=OpPattern.ELEMWISE,
    flops=no_flops,
    family="shape",
    level=3,
    lenient_in_tvm="It did not compare the widths of the two element types.",
    compute=lambda attrs, x: x.view(element_type(attrs.dtype)),
    gradient="elementwise.none",
    lowering="transform.reinterpret",
)


def cast(data: Expr, dtype: object) -> Expr:
    """`data` with its elements converted to `dtype`; the shape stays."""
    return Call(_CAST, [expr(data)], CastAttrs(dtype=dtype))


def cast_like(data: Expr, dtype_like: Expr) -> Expr:
    """`data` with its elements converted to the element type of `dtype_like`."""
    return Call(_CAST_LIKE, [expr(data), expr(dtype_like)])


def reinterpret(data: Expr, dtype: object) -> Expr:
    """The bits of `data` read as `dtype`, which must be as wide."""
    return Call(_REINTERPRET, [expr(data)], CastAttrs(dtype=dtype))


# Axes


class TransposeAttrs(Attrs, key="relay.attrs.TransposeAttrs"):
    axes: Ints | None = required(
        "Which axis of the input becomes each axis of the result; None reverses them."
    )


class ExpandDimsAttrs(Attrs, key="relay.attrs.ExpandDimsAttrs"):
    axis: int = required(
        "Where the new axes go; counted from the end, from after the last axis, if negative."
    )
    num_newaxis: int = attr(1, "How many axes of extent 1 are inserted.")


class SqueezeAttrs(Attrs, key="relay.attrs.SqueezeAttrs"):
    axis: Ints | None = attr(None, "The axes of extent 1 that are dropped; None is all of them.")


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


def _expand_dims(attrs: ExpandDimsAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    rank, axis, new = len(x.shape), attrs.axis, attrs.num_newaxis
    if new < 0:
        raise RelationError(f"num_newaxis is {new}, but it cannot be negative")
    if not -rank - 1 <= axis <= rank:
        raise RelationError(
            f"axis {axis} is out of range: new axes of the tensor {show_shape(x.shape)} go to "
            f"{-rank - 1} to {rank}",
            culprits=(0,),
        )
    check_rank(rank + new)
    at = axis if axis >= 0 else rank + axis + 1
    return TensorType.of(x.shape[:at] + (1,) * new + x.shape[at:], x.dtype)


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
                f"axis {axis} of {show_shape(x.shape)} is {x.shape[axis]}, and only axes of 1 can be dropped",
                "fold the axis (relay.sum, relay.max) or take one slice of it (relay.take)",
                culprits=(0,),
            )
    return TensorType.of(tuple([dim for axis, dim in enumerate(x.shape) if axis not in dropped]), x.dtype)


def _with_ones(attrs: ExpandDimsAttrs, x: Array) -> Array:
    at = attrs.axis if attrs.axis >= 0 else x.ndim + attrs.axis + 1
    return x.reshape(x.shape[:at] + (1,) * attrs.num_newaxis + x.shape[at:])


_TRANSPOSE = _moves(
    "transpose",
    "The same elements with the axes in another order.",
    r"y_{i_{a_0} i_{a_1} \dots} = x_{i_0 i_1 \dots}, \quad a = \mathit{axes}",
    forward("Transpose", "{out} = {0}, axes reordered", _transpose),
    attrs=TransposeAttrs,
    compute=lambda attrs, x: np.transpose(x, attrs.axes),
    gradient="shape.transpose",
)
_EXPAND_DIMS = _moves(
    "expand_dims", "The same elements with new axes of extent 1.",
    r"y_{\dots 1 \dots} = x_{\dots}", forward("ExpandDims", "{out} = {0} with axes of 1", _expand_dims),
    attrs=ExpandDimsAttrs, pattern=OpPattern.BROADCAST, level=1, compute=_with_ones,
    gradient="shape.reshaped",
)  # fmt: skip
_SQUEEZE = _moves(
    "squeeze", "The same elements without axes of extent 1.",
    r"y_{\dots} = x_{\dots 1 \dots}", forward("Squeeze", "{out} = {0} without axes of 1", _squeeze),
    attrs=SqueezeAttrs,
    lenient_in_tvm="It let an axis be named twice.", compute=lambda attrs, x: np.squeeze(x, attrs.axis),
    gradient="shape.reshaped",
)  # fmt: skip


def transpose(data: Expr, axes: Sequence[int] | None = None) -> Expr:
    """`data` with its axes in the order `axes`; reversed where None."""
    return Call(_TRANSPOSE, [expr(data)], TransposeAttrs(axes=axes))


def expand_dims(data: Expr, axis: int | Expr, num_newaxis: int = 1) -> Expr:
    """`data` with `num_newaxis` axes of extent 1 inserted at `axis`."""
    if isinstance(axis, Expr):
        if computed(axis):
            from .dynamic import DynExpandDimsAttrs  # dynamic operators stand below this file

            attrs = DynExpandDimsAttrs(num_newaxis=num_newaxis)
            return Call(Op.get("dyn.expand_dims"), [expr(data), axis], attrs)
        axis = static_ints(axis, "axis")[0]
    return Call(_EXPAND_DIMS, [expr(data)], ExpandDimsAttrs(axis=axis, num_newaxis=num_newaxis))


def squeeze(data: Expr, axis: int | Sequence[int] | Expr | None = None) -> Expr:
    """`data` without the axes `axis`, each of extent 1; without all such axes where None."""
    if isinstance(axis, Expr):
        if computed(axis):
            return Call(Op.get("dyn.squeeze"), [expr(data), axis], SqueezeAttrs(axis=None))
        axis = static_ints(axis, "axis")
    return Call(_SQUEEZE, [expr(data)], SqueezeAttrs(axis=axes_of(axis)))


# Order of elements along an axis


class ReverseAttrs(Attrs, key="relay.attrs.ReverseAttrs"):
    axis: int | None = attr(None, "The axis whose order is turned around.")


class ReverseSequenceAttrs(Attrs, key="relay.attrs.ReverseSequenceAttrs"):
    seq_axis: int = attr(1, "The axis whose order is turned around.")
    batch_axis: int = attr(0, "The axis that numbers the sequences.")


def _reverse(attrs: ReverseAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    if attrs.axis is None:
        raise RelationError("reverse needs an axis", "give one: relay.reverse(data, axis=0)")
    normal_axis(attrs.axis, len(x.shape), "reverse")
    return x


def _reverse_sequence(attrs: ReverseSequenceAttrs, data: Type, seq_lengths: Type) -> Type:
    x, lengths = tensor(data, 0, "data"), integers(seq_lengths, 1, "seq_lengths")
    normal_axis(attrs.seq_axis, len(x.shape), "seq_axis")
    batch = normal_axis(attrs.batch_axis, len(x.shape), "batch_axis")
    if len(lengths.shape) != 1 or not same_dim(lengths.shape[0], x.shape[batch]):
        raise RelationError(
            f"seq_lengths has the shape {show_shape(lengths.shape)}, but axis {batch} of the data, "
            f"{show_shape(x.shape)}, "
            f"numbers {x.shape[batch]} sequences",
            "give one length a sequence",
            culprits=(0, 1),
        )
    return x


def _reversed(attrs: ReverseSequenceAttrs, x: Array, seq_lengths: Array) -> Array:
    y = x.copy()
    from_batch, to_batch = (np.moveaxis(a, (attrs.batch_axis, attrs.seq_axis), (0, 1)) for a in (x, y))
    for number, length in enumerate(numbers(seq_lengths)):
        prefix = slice(max(length, 0))
        to_batch[number, prefix] = from_batch[number, prefix][::-1]
    return y


_REVERSE = _moves(
    "reverse",
    "The same elements with the order along one axis turned around.",
    r"y_i = x_{n - 1 - i}",
    forward("Reverse", "{out} = {0}", _reverse),
    attrs=ReverseAttrs,
    compute=lambda attrs, x: np.flip(x, attrs.axis),
    gradient="shape.reverse",
)
_REVERSE_SEQUENCE = _moves(
    "reverse_sequence", "Sequences of different lengths, each turned around within its length.",
    r"y_{b i} = \begin{cases} x_{b, \ell_b - 1 - i} & i < \ell_b \\ x_{b i} & i \ge \ell_b \end{cases}",
    forward("ReverseSequence", "{out} = {0}, with one length of {1} each", _reverse_sequence),
    attrs=ReverseSequenceAttrs, inputs=("data", "seq_lengths"), compute=_reversed, gradient="shape.moved",
)  # fmt: skip


def reverse(data: Expr, axis: int) -> Expr:
    """`data` with the order of elements along `axis` turned around."""
    return Call(_REVERSE, [expr(data)], ReverseAttrs(axis=axis))


def reverse_sequence(data: Expr, seq_lengths: Expr, seq_axis: int = 1, batch_axis: int = 0) -> Expr:
    """`data` with each sequence turned around within its own length, one of `seq_lengths`."""
    attrs = ReverseSequenceAttrs(seq_axis=seq_axis, batch_axis=batch_axis)
    return Call(_REVERSE_SEQUENCE, [expr(data), expr(seq_lengths)], attrs)
