"""Operators that describe the same elements by another shape, and those that give a shape as data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any as Anything

from ..ir.attrs import Attrs, DType, Ints, attr, required
from ..ir.expr import Call, Expr
from ..ir.op import Compute, Op, OpPattern, RelationError, no_flops
from ..ir.show import show_shape
from ..ir.types import Any, Dim, Shape, TensorType, Type
from .arguments import computed, expr, static_ints
from .declare import declare
from .numeric import Array, element_type, np
from .relation import UNKNOWN, count, forward, tensor, times

__all__ = ["layout_transform", "ndarray_size", "reshape", "reshape_like", "reverse_reshape", "shape_of"]


class ReshapeAttrs(Attrs, key="relay.attrs.ReshapeAttrs"):
    newshape: Ints | None = required(
        "The new shape. 0 copies a dimension, -1 is what is left over, -2 copies all that remain, -3 "
        "merges two, "
        "and -4 splits one into the two that follow."
    )
    allowzero: bool = attr(False, "Whether 0 is an extent of zero, rather than a copied dimension.")


class _Plan:
    """Reads `newshape` from the left, and consumes the dimensions of `source` in step.

    Dimensions that are copied, merged or split answer for themselves; the others decide what -1 stands for.
    """

    def __init__(self, source: Shape, newshape: Sequence[int], allowzero: bool) -> None:
        self.source, self.newshape, self.allowzero = source, list(newshape), allowzero
        self.out: list[Dim] = []
        self.free: list[int] = []  # sizes that stand in newshape, and were not taken from the source
        self.at = 0  # the next dimension of the source
        self.accounted: set[int] = set()
        self.inferred = -1

    def shape(self) -> Shape:
        values = iter(self.newshape)
        for value in values:
            if value > 0 or (value == 0 and self.allowzero):
                self.out.append(value)
                self.free.append(value)
                self.at += 1
            elif value == 0:
                self.out.append(self.take("0"))
            elif value == -1:
                self.leave_open()
            elif value == -2:
                while self.at < len(self.source):
                    self.out.append(self.take("-2"))
            elif value == -3:
                self.out.append(times(self.take("-3"), self.take("-3")))
            elif value == -4:
                self.split(next(values, None), next(values, None))
            else:
                raise RelationError(
                    f"newshape={self.newshape} has {value}, which means nothing",
                    "the special values are 0, -1, -2, -3 and -4",
                )
        if self.inferred >= 0:
            self.out[self.inferred] = self.rest()
        return tuple(self.out)

    def take(self, value: str) -> Dim:
        """The next dimension of the source, for the special `value`."""
        if self.at >= len(self.source):
            raise RelationError(
                f"newshape={self.newshape} asks for axis {self.at} of the tensor with {value}, "
                f"but {show_shape(self.source)} has {len(self.source)}",
                "give the extent itself, or -1",
                culprits=(0,),
            )
        self.accounted.add(self.at)
        self.at += 1
        return self.source[self.at - 1]

    def leave_open(self) -> None:
        if self.inferred >= 0:
            raise RelationError(
                f"newshape={self.newshape} leaves two dimensions open",
                "only one can be -1; give the other's extent",
            )
        self.inferred = len(self.out)
        self.out.append(1)
        self.at += 1

    def split(self, left: int | None, right: int | None) -> None:
        """-4: the next dimension becomes two, of which one may be -1."""
        if (
            left is None
            or right is None
            or (left == -1 and right == -1)
            or min(left, right) < -1
            or 0 in (left, right)
        ):
            raise RelationError(
                f"newshape={self.newshape}: after -4 come two positive factors, of which one may be "
                "-1, as in (-4, 2, -1)"
            )
        whole = self.take("-4")
        if isinstance(whole, int):
            given = abs(left * right)  # one of them may be -1
            if whole % given or (min(left, right) > 0 and whole != given):
                raise RelationError(
                    f"newshape={self.newshape} splits axis {self.at - 1}, {whole}, into {left} and {right}, "
                    "whose product it is not",
                    "make one of the two -1",
                    culprits=(0,),
                )
            left, right = (whole // right if left == -1 else left), (whole // left if right == -1 else right)
        self.out.append(UNKNOWN if left == -1 else left)
        self.out.append(UNKNOWN if right == -1 else right)

    def rest(self) -> Dim:
        """What -1 stands for: the elements that no other dimension accounts for."""
        open_dims = [dim for axis, dim in enumerate(self.source) if axis not in self.accounted]
        have = prod([dim for dim in open_dims if isinstance(dim, int)])
        unknown = [dim for dim in open_dims if not isinstance(dim, int)]
        others = prod(self.free)
        if unknown:
            if any(isinstance(dim, Any) for dim in unknown):
                return unknown[0] if len(unknown) == 1 and have == others else UNKNOWN
            if others == 0:
                return UNKNOWN
            return prod(open_dims) // others  # type: ignore[return-value]  # whole
        if others == 0 or have % others:
            raise RelationError(
                f"the tensor {show_shape(self.source)} has {have} elements for -1 and the {others} "
                "beside it, "
                f"but {others} does not divide {have}",
                f"the other extents of newshape={self.newshape} must divide the number of elements",
                culprits=(0,),
            )
        return have // others


def _reshaped(source: Shape, newshape: Sequence[int], allowzero: bool) -> Shape:
    """The shape that `newshape`, with its special values, means for a tensor of shape `source`."""
    shape = _Plan(source, newshape, allowzero).shape()
    _same_count(source, shape)
    return shape


def _same_count(source: Shape, shape: Shape) -> None:
    have, want = count(source), count(shape)
    if have is not None and want is not None and have != want:
        raise RelationError(
            f"the tensor {show_shape(source)} has {have} elements, but the new shape "
            f"{show_shape(shape)} has {want}",
            "one extent can be -1: it is then computed from the others",
            culprits=(0,),
        )


def _given(attrs: ReshapeAttrs) -> Ints:
    if attrs.newshape is None:
        raise RelationError("the new shape is missing", "give it: newshape=(2, -1)")
    return attrs.newshape


def _reshape(attrs: ReshapeAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    return TensorType.of(_reshaped(x.shape, _given(attrs), attrs.allowzero), x.dtype)


def _reverse_reshape(attrs: ReshapeAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    shape = _reshaped(x.shape[::-1], _given(attrs)[::-1], attrs.allowzero)
    return TensorType.of(shape[::-1], x.dtype)


class ReshapeLikeAttrs(Attrs, key="relay.attrs.ReshapeLikeAttrs"):
    lhs_begin: int = attr(0, "The first axis of data that is replaced.")
    lhs_end: int | None = attr(None, "The axis of data before which replacing ends; None is after the last.")
    rhs_begin: int = attr(0, "The first axis of shape_like that is taken.")
    rhs_end: int | None = attr(
        None, "The axis of shape_like before which taking ends; None is after the last."
    )


def _span(begin: int, end: int | None, rank: int, name: str) -> tuple[int, int]:
    """Axes `begin` up to `end`, counted from the front."""
    first = begin + rank if begin < 0 else begin
    last = rank if end is None else end + rank if end < 0 else end
    if not 0 <= first <= last <= rank:
        raise RelationError(f"{name}_begin={begin} and {name}_end={end} are not a range of the {rank} axes")
    return first, last


def _reshape_like(attrs: ReshapeLikeAttrs, data: Type, shape_like: Type) -> Type:
    x, like = tensor(data, 0, "data"), tensor(shape_like, 1, "shape_like")
    x_from, x_to = _span(attrs.lhs_begin, attrs.lhs_end, len(x.shape), "lhs")
    y_from, y_to = _span(attrs.rhs_begin, attrs.rhs_end, len(like.shape), "rhs")
    shape = x.shape[:x_from] + like.shape[y_from:y_to] + x.shape[x_to:]
    _same_count(x.shape, shape)
    return TensorType.of(shape, x.dtype)


def _described(
    name: str,
    description: str,
    formula: str,
    relation_formula: str,
    result: Callable[..., Type],
    attrs: type[Attrs],
    *,
    compute: Compute,
    inputs: tuple[str, ...] = ("data",),
    level: int = 3,
    gradient: str = "",
) -> Op:
    relation = forward(
        "".join(word.title() for word in name.removeprefix("contrib_").split("_")), relation_formula, result
    )
    return declare(
        name, description, formula=formula, relation=relation, inputs=inputs, attrs=attrs,
        pattern=OpPattern.INJECTIVE, flops=no_flops, compute=compute, family="shape", level=level,
        gradient=gradient, lowering=f"transform.{name}",
    )  # fmt: skip


def _as(result: Callable[..., Type]) -> Compute:
    """The elements of the first argument in the shape that the type relation finds."""

    def compute(attrs: Anything, *values: Array) -> Array:
        shape = result(attrs, *[TensorType.of(x.shape, str(x.dtype)) for x in values]).shape  # type: ignore[attr-defined]  # a tensor type
        return values[0].reshape(shape)

    return compute


_ROW_MAJOR = r"y[k] = x[k] \text{ for every place } k \text{ in row-major order}"
_RESHAPE = _described(
    "reshape", "The same elements, in the same order, under another shape.", _ROW_MAJOR,
    "{out} = {0} as `newshape`", _reshape, ReshapeAttrs, compute=_as(_reshape), gradient="shape.reshaped",
)  # fmt: skip
_REVERSE_RESHAPE = _described(
    "contrib_reverse_reshape",
    "Like reshape, with the special values of the new shape read from the right.",
    _ROW_MAJOR,
    "{out} = {0} as `newshape`, read from the right",
    _reverse_reshape,
    ReshapeAttrs,
    level=10,
    compute=_as(_reverse_reshape),
    gradient="shape.reshaped",
)
_RESHAPE_LIKE = _described(
    "reshape_like",
    "The same elements, in the same order, under the shape of a second tensor.",
    _ROW_MAJOR,
    "{out} = {0} in the shape of {1}",
    _reshape_like,
    ReshapeLikeAttrs,
    inputs=("data", "shape_like"),
    compute=_as(_reshape_like),
    gradient="shape.reshaped",
)


def reshape(data: Expr, newshape: int | Sequence[int] | Expr, allowzero: bool = False) -> Expr:
    """`data` under the shape `newshape`, in which 0 to -4 have special meanings (see ReshapeAttrs)."""
    if computed(newshape):
        attrs = ReshapeAttrs(newshape=None, allowzero=allowzero)
        return Call(Op.get("dyn.reshape"), [expr(data), expr(newshape)], attrs)
    return Call(
        _RESHAPE, [expr(data)], ReshapeAttrs(newshape=static_ints(newshape, "newshape"), allowzero=allowzero)
    )


def reverse_reshape(data: Expr, newshape: int | Sequence[int] | Expr) -> Expr:
    """Like `reshape`, with special values read from the right."""
    return Call(_REVERSE_RESHAPE, [expr(data)], ReshapeAttrs(newshape=static_ints(newshape, "newshape")))


def reshape_like(
    data: Expr,
    shape_like: Expr,
    lhs_begin: int = 0,
    lhs_end: int | None = None,
    rhs_begin: int = 0,
    rhs_end: int | None = None,
) -> Expr:
    """`data` with its axes lhs_begin to lhs_end replaced by the axes rhs_begin to rhs_end of `shape_like`."""
    attrs = ReshapeLikeAttrs(lhs_begin=lhs_begin, lhs_end=lhs_end, rhs_begin=rhs_begin, rhs_end=rhs_end)
    return Call(_RESHAPE_LIKE, [expr(data), expr(shape_like)], attrs)


# Layouts


class LayoutTransformAttrs(Attrs, key="relay.attrs.LayoutTransformAttrs"):
    src_layout: str = required('The layout that the tensor has, such as "NCHW".')
    dst_layout: str = required('The layout of the result, such as "NCHW16c".')


def _layout_transform(attrs: LayoutTransformAttrs, data: Type) -> Type:
    from .nn.layout import layout_map, parse_layout  # nn stands below this file

    x = tensor(data, 0, "data")
    canonical = "".join(letter for letter, _ in parse_layout(attrs.src_layout) if letter.isupper())
    whole = layout_map(attrs.src_layout, canonical).forward(x.shape, 0, "data")
    return TensorType.of(layout_map(attrs.dst_layout, canonical).backward(whole), x.dtype)


def _laid_out(attrs: LayoutTransformAttrs, x: Array) -> Array:
    from .nn.layout import layout_map, parse_layout  # nn stands below this file

    canonical = "".join(letter for letter, _ in parse_layout(attrs.src_layout) if letter.isupper())
    return layout_map(attrs.dst_layout, canonical).pack(layout_map(attrs.src_layout, canonical).unpack(x))


_LAYOUT_TRANSFORM = _described(
    "layout_transform", "The same elements with their axes in another layout, in blocks if it says so.",
    r"y_{n\, c / 16\, h\, w\, c \bmod 16} = x_{n\, c\, h\, w} \quad \text{for NCHW to NCHW16c}",
    "{out} = {0}, laid out anew", _layout_transform, LayoutTransformAttrs, level=5, compute=_laid_out,
    gradient="shape.moved",
)  # fmt: skip


def layout_transform(data: Expr, src_layout: str, dst_layout: str) -> Expr:
    """`data`, which lies in `src_layout`, in `dst_layout`."""
    return Call(
        _LAYOUT_TRANSFORM, [expr(data)], LayoutTransformAttrs(src_layout=src_layout, dst_layout=dst_layout)
    )


# Shapes as data


class ShapeOfAttrs(Attrs, key="relay.attrs.ShapeOfAttrs"):
    dtype: DType | None = attr(None, "The element type of the result; None is int32.")


class NdarraySizeAttrs(Attrs, key="relay.attrs.NdarraySizeAttrs"):
    dtype: DType | None = attr(None, "The element type of the result; None is int32.")


def _shape_of(attrs: ShapeOfAttrs, data: Type) -> Type:
    return TensorType.of((len(tensor(data, 0, "data").shape),), attrs.dtype or "int32")


def _ndarray_size(attrs: NdarraySizeAttrs, data: Type) -> Type:
    tensor(data, 0, "data")
    return TensorType.of((), attrs.dtype or "int32")


_SHAPE_OF = _described(
    "shape_of",
    "The tensor's extents, one number an axis.",
    r"y = (n_0, n_1, \dots)",
    "{out} = the rank of {0}",
    _shape_of,
    ShapeOfAttrs,
    level=10,
    compute=lambda attrs, x: np.array(x.shape, element_type(attrs.dtype or "int32")),
    gradient="elementwise.none",
)
_NDARRAY_SIZE = _described(
    "ndarray_size",
    "How many elements the tensor has.",
    r"y = \prod_i n_i",
    "{out} is one number",
    _ndarray_size,
    NdarraySizeAttrs,
    level=10,
    compute=lambda attrs, x: np.array(x.size, element_type(attrs.dtype or "int32")),
    gradient="elementwise.none",
)


def shape_of(data: Expr, dtype: object = "int32") -> Expr:
    """The extents of `data` as a vector, one number an axis."""
    return Call(_SHAPE_OF, [expr(data)], ShapeOfAttrs(dtype=dtype))


def ndarray_size(data: Expr, dtype: object = "int32") -> Expr:
    """The number of elements of `data`, as a scalar."""
    return Call(_NDARRAY_SIZE, [expr(data)], NdarraySizeAttrs(dtype=dtype))
