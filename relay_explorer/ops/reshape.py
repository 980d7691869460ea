"""Operators that keep a tensor's elements in their row-major order and give them another shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Annotated, ParamSpec, TypeVar
from typing import Any as Anything

from ..ir.attrs import Attrs, Ints, attr, required
from ..ir.declaration import Precision, Trait
from ..ir.expr import Call, Expr
from ..ir.op import OpPattern, RelationError, no_flops
from ..ir.show import show_shape
from ..ir.size import Size
from ..ir.types import Any, Dim, Shape, TensorType, Type
from .arguments import Operand, computed, static_ints
from .examples import X, ints, t
from .gradient_tools import RESHAPED
from .layouts.layout import NO_LAYOUT_RULE
from .numeric import Array
from .operator import Example, call, operator
from .relation import UNKNOWN, count, forward, tensor, times
from .te import tensors as te_tensors
from .te.lowered import Lowered, Lowering
from .te.tensors import Shape as TeShape
from .te.tensors import Tensor, dims, known, product, quotient

__all__ = ["reshape", "reshape_like", "reverse_reshape"]

P = ParamSpec("P")
R = TypeVar("R")


def _reshaping(
    name: str,
    *,
    description: str,
    relation_name: str,
    relation_formula: str,
    result: Callable[..., TensorType],
    lowering: Lowering,
    example: Example,
    inputs: tuple[str, ...] | str = "",
    attrs: type[Attrs] | None = None,
    level: int = 3,
    precision: Precision = Precision.UNLISTED,
    traits: tuple[Trait, ...] = (),
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare an operator that reshapes its data to the shape of the type `result(attrs, *types)`."""

    def reference(attrs: Anything, *values: Array) -> Array:
        shape = result(attrs, *[TensorType.of(x.shape, str(x.dtype)) for x in values]).shape
        return values[0].reshape(shape)

    return operator(
        name,
        description=description,
        formula=r"y[k] = x[k] \text{ for every index } k \text{ in row-major order}",
        family="shape",
        level=level,
        relation=forward(relation_name, relation_formula, result),
        inputs=inputs,
        attrs=attrs,
        pattern=OpPattern.INJECTIVE,
        flops=no_flops,
        reference=reference,
        gradient=RESHAPED,
        lowering=lowering,
        layout=NO_LAYOUT_RULE,
        precision=precision,
        traits=traits,
        example=example,
    )


class ReshapeAttrs(Attrs, key="relay.attrs.ReshapeAttrs"):
    newshape: Ints | None = required(
        "The new shape. 0 copies a dimension, -1 is computed from the other extents, -2 copies all "
        "that remain, -3 "
        "merges two, "
        "and -4 splits one into the two that follow."
    )
    allowzero: bool = attr(False, "Whether 0 is an extent of zero, rather than a copied dimension.")


class _Plan:
    """The interpretation of `newshape`, read from the left while it consumes the dimensions of `source`.
    Copied, merged or split dimensions account for their own elements; the others determine -1.
    """

    def __init__(self, source: Shape, newshape: Sequence[int], allowzero: bool) -> None:
        self.source, self.newshape, self.allowzero = source, list(newshape), allowzero
        self.out: list[Dim] = []
        self.free: list[int] = []  # extents written in newshape, not copied from the source
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
                    f"newshape={self.newshape} has {value}, which has no meaning",
                    "the special values are 0, -1, -2, -3 and -4",
                )
        if self.inferred >= 0:
            self.out[self.inferred] = self.rest()
        return tuple(self.out)

    def take(self, value: str) -> Dim:
        """Return the next dimension of the source, for the special `value`."""
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
                f"newshape={self.newshape} leaves two dimensions unspecified",
                "only one can be -1; give the other's extent",
            )
        self.inferred = len(self.out)
        self.out.append(1)
        self.at += 1

    def split(self, left: int | None, right: int | None) -> None:
        """Apply -4: split the next dimension into two, of which one may be -1."""
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
            parts = abs(left * right)  # one of them may be -1
            if whole % parts or (min(left, right) > 0 and whole != parts):
                raise RelationError(
                    f"newshape={self.newshape} splits axis {self.at - 1}, {whole}, into {left} and {right}, "
                    "whose product it is not",
                    "make one of the two -1",
                    culprits=(0,),
                )
            left, right = (whole // right if left == -1 else left), (whole // left if right == -1 else right)
        elif isinstance(whole, Size) and -1 in (left, right):
            factor = abs(left * right)
            other = whole // factor
            if isinstance(other, Size) and other * factor == whole:
                self.out += [other, factor] if left == -1 else [factor, other]
                return
        self.out.append(UNKNOWN if left == -1 else left)
        self.out.append(UNKNOWN if right == -1 else right)

    def rest(self) -> Dim:
        """Return the extent that -1 stands for: the elements that no other dimension accounts for."""
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
                f"the tensor {show_shape(self.source)} has {have} elements for -1 and the other "
                f"extents, {others}, but {others} does not divide {have}",
                f"the other extents of newshape={self.newshape} must divide the number of elements",
                culprits=(0,),
            )
        return have // others


def _reshaped(source: Shape, newshape: Sequence[int], allowzero: bool) -> Shape:
    """Return the shape that `newshape`, with its special values, denotes for a tensor of shape `source`."""
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


def _newshape(attrs: ReshapeAttrs) -> Ints:
    if attrs.newshape is None:
        raise RelationError("the new shape is missing", "give it: newshape=(2, -1)")
    return attrs.newshape


def _reshape(attrs: ReshapeAttrs, data: Type) -> TensorType:
    x = tensor(data, 0, "data")
    return TensorType.of(_reshaped(x.shape, _newshape(attrs), attrs.allowzero), x.dtype)


def _reshape_te(lowered: Lowered) -> list[Tensor]:
    """Compute dynamic dimensions from the operand's, about which the type relation knows less."""
    x, shape = lowered.inputs[0], lowered.out_shape
    several = sum(known(dim) is None for dim in shape) > 1
    extents = _by_newshape(x, shape, lowered.attrs) if several else _rest_computed(x, shape)
    return [te_tensors.reshape(x, extents, lowered.name)]


def _reverse_reshape_te(lowered: Lowered) -> list[Tensor]:
    x = lowered.inputs[0]
    return [te_tensors.reshape(x, _rest_computed(x, lowered.out_shape), lowered.name)]


def _by_newshape(x: Tensor, shape: TeShape, attrs: Anything) -> TeShape:
    """Compute the dynamic extents of `shape` by interpreting `newshape`."""
    sizes, codes = list(dims(x)), iter(attrs.newshape)
    extents: list[Anything] = []
    left = None  # the axis whose extent is -1
    for code in codes:
        if code == -1:
            left = len(extents)
            extents.append(1)
            sizes = sizes[1:]
        elif code == -2:
            extents, sizes = [*extents, *sizes], []
        elif code == -3:
            extents.append(sizes[0] * sizes[1])
            sizes = sizes[2:]
        elif code == -4:
            first, second = next(codes), next(codes)
            extents += [
                quotient(sizes[0], second) if first == -1 else first,
                quotient(sizes[0], first) if second == -1 else second,
            ]
            sizes = sizes[1:]
        else:
            extents.append(code if code or attrs.allowzero else sizes[0])
            sizes = sizes[1:]
    if left is not None:
        extents[left] = quotient(product(dims(x)), product(extents))
    return [have if known(dim) is None else dim for dim, have in zip(shape, extents, strict=True)]


def _rest_computed(x: Tensor, shape: TeShape) -> TeShape:
    """Compute the extent of `shape` that is dynamic, if exactly one is, from the number of elements."""
    unknown = [axis for axis, dim in enumerate(shape) if known(dim) is None]
    if len(unknown) != 1:
        return shape
    extents = list(shape)
    others = product([dim for axis, dim in enumerate(shape) if axis != unknown[0]])
    extents[unknown[0]] = product(dims(x)) // others
    return extents


@_reshaping(
    "reshape",
    description="Gives a tensor another shape; its elements stay in row-major order.",
    relation_name="Reshape",
    relation_formula="{out} = {0} in the shape `newshape`",
    result=_reshape,
    inputs=("data",),
    attrs=ReshapeAttrs,
    lowering=_reshape_te,
    precision=Precision.FOLLOW,
    traits=(Trait.RESHAPE,),
    example=lambda build: [build(X, (3, -1)), build(X, ints(2))],
)
def reshape(data: Operand, newshape: int | Sequence[int] | Expr, allowzero: bool = False) -> Call:
    """Give `data` the shape `newshape`, in which 0 to -4 have special meanings (see ReshapeAttrs)."""
    if computed(newshape):
        return call("dyn.reshape", [data, newshape], newshape=None, allowzero=allowzero)
    return call("reshape", [data], newshape=static_ints(newshape, "newshape"), allowzero=allowzero)


def _reverse_reshape(attrs: ReshapeAttrs, data: Type) -> TensorType:
    x = tensor(data, 0, "data")
    shape = _reshaped(x.shape[::-1], _newshape(attrs)[::-1], attrs.allowzero)
    return TensorType.of(shape[::-1], x.dtype)


@_reshaping(
    "contrib_reverse_reshape",
    description="Reshapes as reshape does, but reads special values in the new shape from the right.",
    relation_name="ReverseReshape",
    relation_formula="{out} = {0} in the shape `newshape`, read from the right",
    result=_reverse_reshape,
    inputs=("data",),
    attrs=ReshapeAttrs,
    level=10,
    lowering=_reverse_reshape_te,
    traits=(Trait.RESHAPE,),
    example=lambda build: build(X, (-1, 3)),
)
def reverse_reshape(data: Operand, newshape: int | Sequence[int] | Expr) -> Call:
    """Reshape `data` as `reshape` does, with special values read from the right."""
    return call("contrib_reverse_reshape", [data], newshape=static_ints(newshape, "newshape"))


def _span(begin: int, end: int | None, rank: int, name: str) -> tuple[int, int]:
    """Return the axes from `begin` to before `end`, counted from the front."""
    first = begin + rank if begin < 0 else begin
    last = rank if end is None else end + rank if end < 0 else end
    if not 0 <= first <= last <= rank:
        raise RelationError(f"{name}_begin={begin} and {name}_end={end} are not a range of the {rank} axes")
    return first, last


def _reshape_like(attrs: Anything, data: Type, shape_like: Type) -> TensorType:
    x, like = tensor(data, 0, "data"), tensor(shape_like, 1, "shape_like")
    x_from, x_to = _span(attrs.lhs_begin, attrs.lhs_end, len(x.shape), "lhs")
    y_from, y_to = _span(attrs.rhs_begin, attrs.rhs_end, len(like.shape), "rhs")
    shape = x.shape[:x_from] + like.shape[y_from:y_to] + x.shape[x_to:]
    _same_count(x.shape, shape)
    return TensorType.of(shape, x.dtype)


def _reshape_like_te(lowered: Lowered) -> list[Tensor]:
    x, like = lowered.inputs
    attrs = lowered.attrs
    x_from, x_to = _span(attrs.lhs_begin, attrs.lhs_end, len(x.shape), "lhs")
    y_from, y_to = _span(attrs.rhs_begin, attrs.rhs_end, len(like.shape), "rhs")
    shape = (*dims(x)[:x_from], *dims(like)[y_from:y_to], *dims(x)[x_to:])
    return [te_tensors.reshape(x, shape, lowered.name)]


@_reshaping(
    "reshape_like",
    description="Gives a tensor the shape of another; its elements stay in row-major order.",
    relation_name="ReshapeLike",
    relation_formula="{out} = {0} in the shape of {1}",
    result=_reshape_like,
    lowering=_reshape_like_te,
    traits=(Trait.TYPE_OF_SECOND,),
    example=lambda build: build(X, t(12, name="y"), rhs_end=1),
)
def reshape_like(
    data: Operand,
    shape_like: Operand,
    lhs_begin: Annotated[int, attr(0, "The first axis of data that is replaced.")] = 0,
    lhs_end: Annotated[
        int | None, attr(None, "The axis of data before which replacing ends; None is after the last.")
    ] = None,
    rhs_begin: Annotated[int, attr(0, "The first axis of shape_like that is taken.")] = 0,
    rhs_end: Annotated[
        int | None, attr(None, "The axis of shape_like before which taking ends; None is after the last.")
    ] = None,
) -> Call:
    """Replace the axes lhs_begin to lhs_end of `data` by the axes rhs_begin to rhs_end of `shape_like`."""
