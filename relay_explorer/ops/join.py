"""Operators that make one tensor of several, several of one, or one of its own copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ..ir.attrs import Attrs, Ints, attr, required
from ..ir.expr import Call, Expr
from ..ir.op import Compute, Op, OpPattern, Relation, RelationError, no_flops
from ..ir.show import show_shape
from ..ir.tuple_wrapper import TupleWrapper
from ..ir.types import Dim, Shape, TensorType, TupleType, Type
from .arguments import computed, expr, static_ints, tuple_expr
from .declare import declare
from .numeric import Array, np
from .relation import check_fields, forward, meet_dims, normal_axis, same_dim, tensor, tensor_fields, times

__all__ = ["concatenate", "meshgrid", "repeat", "split", "stack", "tile"]


def _joins(
    name: str,
    description: str,
    formula: str,
    relation: Relation,
    attrs: type[Attrs],
    *,
    inputs: tuple[str, ...] = ("data",),
    pattern: OpPattern = OpPattern.INJECTIVE,
    level: int = 3,
    compute: Compute,
    lenient_in_tvm: str = "",
    gradient: str = "",
) -> Op:
    return declare(
        name, description, formula=formula, relation=relation, inputs=inputs, attrs=attrs, pattern=pattern,
        flops=no_flops, compute=compute, family="shape", level=level, lenient_in_tvm=lenient_in_tvm,
        gradient=gradient, lowering=f"join.{name}",
    )  # fmt: skip


class ConcatenateAttrs(Attrs, key="relay.attrs.ConcatenateAttrs"):
    axis: int = attr(0, "The axis along which the tensors are put one after the other.")


class StackAttrs(Attrs, key="relay.attrs.StackAttrs"):
    axis: int = attr(0, "The place of the new axis in the result.")


def _agree(fields: Sequence[TensorType], skipped: int, operator: str) -> list[Dim]:
    """The dimensions that all share, each as well known as in any; that of axis `skipped` is the first's."""
    first = fields[0]
    shared = list(first.shape)
    for number, field in enumerate(fields[1:], 1):
        if field.dtype != first.dtype:
            raise RelationError(
                f"the element types differ: field 0 of the tuple is {first.dtype} and field {number} "
                f"is {field.dtype}",
                f'convert one of them: relay.cast(…, "{first.dtype}")',
                culprits=(0,),
                fields=(0, number),
            )
        if len(field.shape) != len(shared):
            raise RelationError(
                f"{operator} needs tensors of one rank: field 0 of the tuple is {show_shape(first.shape)} "
                f"and field {number} is {show_shape(field.shape)}",
                "relay.expand_dims adds an axis of 1",
                culprits=(0,),
                fields=(0, number),
            )
        for axis, dim in enumerate(field.shape):
            if axis == skipped:
                continue
            if not same_dim(shared[axis], dim):
                raise RelationError(
                    f"axis {axis} differs: it is {shared[axis]} in field 0 of the tuple and {dim} in "
                    f"field {number}",
                    _how_to_agree(fields, operator),
                    culprits=(0,),
                    fields=(0, number),
                )
            shared[axis] = meet_dims(shared[axis], dim)
    return shared


def _how_to_agree(fields: Sequence[TensorType], operator: str) -> str:
    """Another axis helps only where it is the one in which the shapes differ."""
    shapes = [field.shape for field in fields]
    if operator == "concatenate" and len({len(shape) for shape in shapes}) == 1:
        differ = [
            axis
            for axis, dims in enumerate(zip(*shapes, strict=True))
            if not all(same_dim(dims[0], dim) for dim in dims)
        ]
        if len(differ) == 1:
            return f"only the axis of concatenate may differ; is axis={differ[0]} meant?"
    return "make the shapes equal: relay.reshape, relay.strided_slice, relay.nn.pad"


def _concatenate(attrs: ConcatenateAttrs, data: Type) -> Type:
    fields = tensor_fields(data, "concatenate")
    if not fields[0].shape:
        raise RelationError(
            "single numbers have no axis to be put along", "relay.stack makes a vector of them", culprits=(0,)
        )
    axis = normal_axis(attrs.axis, len(fields[0].shape), "concatenate")
    shape = _agree(fields, axis, "concatenate")
    total: Dim = 0
    for field in fields:
        extent = field.shape[axis]
        total = total + extent  # type: ignore[assignment]  # whole, as both are
    shape[axis] = fields[0].shape[axis] if len(fields) == 1 else total
    return TensorType.of(tuple(shape), fields[0].dtype)


def _stack(attrs: StackAttrs, data: Type) -> Type:
    fields = tensor_fields(data, "stack")
    axis = normal_axis(attrs.axis, len(fields[0].shape) + 1, "stack")
    shape = _agree(fields, -1, "stack")
    return TensorType.of((*shape[:axis], len(fields), *shape[axis:]), fields[0].dtype)


_CONCATENATE = _joins(
    "concatenate",
    "Tensors put one after the other along an axis they have.",
    r"y = x^{(1)} \mathbin{\|}_{\mathit{axis}} x^{(2)} \mathbin{\|}_{\mathit{axis}} \dots",
    forward("Concatenate", "{out} = the fields of {0}, added up along `axis`", _concatenate),
    ConcatenateAttrs,
    level=1,
    compute=lambda attrs, data: np.concatenate(data, attrs.axis),
    gradient="shape.concatenate",
)
_STACK = _joins(
    "stack",
    "Tensors of one shape put side by side along a new axis.",
    r"y_{\dots k \dots} = x^{(k)}_{\dots}",
    forward("Stack", "{out} = the fields of {0}, along a new axis", _stack),
    StackAttrs,
    lenient_in_tvm=("It did not compare the extents on the axis of the old tensors that `axis` numbers."),
    compute=lambda attrs, data: np.stack(data, attrs.axis),
    gradient="shape.stack",
)


def concatenate(data: Expr | Sequence[Expr] | TupleWrapper, axis: int) -> Expr:
    """The tensors of `data`, equal in shape but for `axis`, one after the other along it."""
    return Call(_CONCATENATE, [tuple_expr(data, "concatenate")], ConcatenateAttrs(axis=axis))


def stack(data: Expr | Sequence[Expr] | TupleWrapper, axis: int) -> Expr:
    """The tensors of `data`, equal in shape, side by side along a new axis at place `axis`."""
    return Call(_STACK, [tuple_expr(data, "stack")], StackAttrs(axis=axis))


class SplitAttrs(Attrs, key="relay.attrs.SplitAttrs"):
    indices_or_sections: int | Ints = required(
        "How many equal parts, or the places where to cut, in rising order."
    )
    axis: int = attr(0, "The axis that is cut.")


def _split(attrs: SplitAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    axis = normal_axis(attrs.axis, len(x.shape), "split")
    cuts = attrs.indices_or_sections
    check_fields(cuts if isinstance(cuts, int) else len(cuts) + 1, len(x.shape))
    extents = _split_extents(x.shape[axis], attrs.indices_or_sections, axis)
    return TupleType([TensorType.of((*x.shape[:axis], e, *x.shape[axis + 1 :]), x.dtype) for e in extents])


def _split_extents(extent: Dim, cuts: int | tuple[int, ...], axis: int) -> list[Dim]:
    """The extents of the parts."""
    if isinstance(cuts, int):
        if cuts < 1:
            raise RelationError(f"a tensor cannot be split into {cuts} parts", "give at least 1")
        if isinstance(extent, int) and extent % cuts:
            raise RelationError(
                f"axis {axis} is {extent}, which is not {cuts} equal parts",
                "give the places to cut instead, as in indices_or_sections=(3, 5)",
                culprits=(0,),
            )
        return [extent // cuts] * cuts  # type: ignore[list-item]  # whole
    places = (0, *cuts)
    for before, after in zip(places, cuts, strict=False):
        if after <= before:
            raise RelationError(f"the places to cut, {list(cuts)}, do not rise: {after} comes after {before}")
    if isinstance(extent, int) and places[-1] >= extent:
        raise RelationError(
            f"axis {axis} is {extent}, so it cannot be cut at {places[-1]}",
            f"cut before {extent}",
            culprits=(0,),
        )
    last = extent - places[-1]
    return [*(after - before for before, after in zip(places, cuts, strict=False)), last]  # type: ignore[list-item]


def _cut(x: Array, where: int | Sequence[int], axis: int) -> tuple[Array, ...]:
    """As `numpy.split`, which takes four times as long over a row: most of what cutting the gates of an LSTM
    cell cost.
    """
    axis, size = axis % x.ndim, x.shape[axis]
    if isinstance(where, int):
        if size % where:
            raise ValueError(f"{size} cannot be cut into {where} equal parts")
        where = range(size // where, size, size // where) if size else [0] * (where - 1)
    before = (slice(None),) * axis
    return tuple([x[(*before, slice(a, b))] for a, b in zip([0, *where], [*where, size])])


_SPLIT = _joins(
    "split",
    "A tensor cut along an axis into a tuple of parts.",
    r"x = y^{(1)} \mathbin{\|}_{\mathit{axis}} y^{(2)} \mathbin{\|}_{\mathit{axis}} \dots",
    forward("Split", "{out} = a tuple of {0}, cut along `axis`", _split),
    SplitAttrs,
    compute=lambda attrs, x: _cut(x, attrs.indices_or_sections, attrs.axis),
    gradient="shape.split",
)


def split(data: Expr, indices_or_sections: int | Sequence[int], axis: int = 0) -> TupleWrapper:
    """`data` cut along `axis` into that many equal parts, or at those places; a tuple."""
    attrs = SplitAttrs(indices_or_sections=indices_or_sections, axis=axis)
    cuts = attrs.indices_or_sections
    return TupleWrapper(Call(_SPLIT, [expr(data)], attrs), cuts if isinstance(cuts, int) else len(cuts) + 1)


class RepeatAttrs(Attrs, key="relay.attrs.RepeatAttrs"):
    repeats: int = required("How often each element comes.")
    axis: int | None = attr(None, "The axis along which elements are repeated.")


class TileAttrs(Attrs, key="relay.attrs.TileAttrs"):
    reps: Ints | None = required("How often the whole tensor comes along each axis, aligned at the last.")


def _repeat(attrs: RepeatAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    if attrs.repeats < 1:
        raise RelationError(f"repeats is {attrs.repeats}, but every element must come at least once")
    if attrs.axis is None:
        raise RelationError("repeat needs an axis", "give one: relay.repeat(data, repeats, axis=0)")
    axis = normal_axis(attrs.axis, len(x.shape), "repeat")
    shape = (*x.shape[:axis], times(x.shape[axis], attrs.repeats), *x.shape[axis + 1 :])
    return TensorType.of(shape, x.dtype)


def _tile(attrs: TileAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    if not attrs.reps or min(attrs.reps) < 1:
        raise RelationError(f"reps={list(attrs.reps or ())} must be one or more positive numbers")
    rank = max(len(x.shape), len(attrs.reps))
    shape: Shape = (1,) * (rank - len(x.shape)) + x.shape
    reps = (1,) * (rank - len(attrs.reps)) + attrs.reps
    return TensorType.of(tuple([times(dim, rep) for dim, rep in zip(shape, reps, strict=True)]), x.dtype)


_REPEAT = _joins(
    "repeat",
    "Each slice along an axis several times in a row.",
    r"y_i = x_{\lfloor i / r \rfloor}",
    forward("Repeat", "{out} = {0} with `axis` multiplied", _repeat),
    RepeatAttrs,
    pattern=OpPattern.BROADCAST,
    compute=lambda attrs, x: np.repeat(x, attrs.repeats, attrs.axis),
    gradient="shape.repeat",
)
_TILE = _joins(
    "tile",
    "The whole tensor several times along each axis.",
    r"y_i = x_{i \bmod n}",
    forward("Tile", "{out} = {0} with every axis multiplied", _tile),
    TileAttrs,
    pattern=OpPattern.BROADCAST,
    compute=lambda attrs, x: np.tile(x, attrs.reps),
    gradient="shape.moved",
)


def repeat(data: Expr, repeats: int, axis: int) -> Expr:
    """`data` with each slice along `axis` `repeats` times in a row."""
    return Call(_REPEAT, [expr(data)], RepeatAttrs(repeats=repeats, axis=axis))


def tile(data: Expr, reps: int | Sequence[int] | Expr) -> Expr:
    """`data` as often along each axis as `reps` says, aligned at the last axis."""
    if computed(reps):
        return Call(Op.get("dyn.tile"), [expr(data), expr(reps)], TileAttrs(reps=None))
    return Call(_TILE, [expr(data)], TileAttrs(reps=static_ints(reps, "reps")))


class MeshgridAttrs(Attrs, key="relay.attrs.MeshgridAttrs"):
    indexing: str = attr("ij", '"ij" for matrix order; "xy" swaps the first two axes.')


def _meshgrid(attrs: MeshgridAttrs, data: Type) -> Type:
    fields = tensor_fields(data, "meshgrid")
    if attrs.indexing not in ("ij", "xy"):
        raise RelationError(f'indexing is "{attrs.indexing:.20}", but it is "ij" or "xy"')
    extents: list[Dim] = []
    for number, field in enumerate(fields):
        if len(field.shape) > 1 or field.dtype != fields[0].dtype:
            raise RelationError(
                f"meshgrid takes vectors of one element type: field 0 is {fields[0]} and field "
                f"{number} is {field}",
                culprits=(0,),
            )
        extents.append(field.shape[0] if field.shape else 1)
    if attrs.indexing == "xy" and len(extents) > 1:
        extents[:2] = extents[1::-1]
    return TupleType([TensorType.of(tuple(extents), fields[0].dtype)] * len(fields))


_MESHGRID = _joins(
    "meshgrid",
    "The coordinates of a grid, one tensor an axis, from the vectors along its axes.",
    r"y^{(k)}_{i_0 i_1 \dots} = x^{(k)}_{i_k}",
    forward("Meshgrid", "{out} = one grid a field of {0}", _meshgrid),
    MeshgridAttrs,
    compute=lambda attrs, data: tuple(np.meshgrid(*data, indexing=attrs.indexing)),
    gradient="shape.meshgrid",
)


def meshgrid(data: Expr | Sequence[Expr] | TupleWrapper, indexing: str = "ij") -> TupleWrapper:
    """One tensor for each vector of `data`: its values over the grid that all of them span."""
    call = Call(_MESHGRID, [tuple_expr(data, "meshgrid")], MeshgridAttrs(indexing=indexing))
    return TupleWrapper(call, _fields_of(call.args[0]))


def _fields_of(value: Anything) -> int:
    """How many fields a tuple expression has, where it is written as a tuple or annotated."""
    fields = getattr(value, "fields", None)
    if fields is None:
        annotation = getattr(value, "type_annotation", None) or getattr(value, "_checked_type", None)
        fields = getattr(annotation, "fields", None)
    if fields is None:
        raise ValueError("relay.meshgrid needs a list of vectors, so that the number of grids is known")
    return len(fields)
