"""Operators that copy the elements of a tensor: `repeat`, `tile` and `meshgrid`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from typing import Any as Anything

from ..ir.attrs import Attrs, Ints, attr, required
from ..ir.declaration import Gradient, Precision, Trait
from ..ir.expr import Call, Expr, Tuple
from ..ir.op import OpPattern, RelationError, no_flops
from ..ir.tuple_wrapper import TupleWrapper
from ..ir.types import Dim, Shape, TensorType, TupleType, Type
from .arguments import Operand, Operands, computed, static_ints, tuple_expr
from .calls import relay
from .examples import V, X, t
from .gradient_tools import MOVED, extents, field_of, typed_field
from .layouts.layout import NO_LAYOUT_RULE
from .numeric import np
from .operator import call, operator
from .relation import forward, normal_axis, tensor, tensor_fields, times
from .te.lowered import Lowered
from .te.tensors import Shape as TeShape
from .te.tensors import Tensor, Value, dims, dtype_of, known, quotient, remainder, stage
from .te.tensors import number as te_number

__all__ = ["meshgrid", "repeat", "tile"]


def _repeat(attrs: Anything, data: Type) -> Type:
    x = tensor(data, 0, "data")
    if attrs.repeats < 1:
        raise RelationError(f"repeats is {attrs.repeats}, but must be at least 1")
    if attrs.axis is None:
        raise RelationError("repeat needs an axis", "give one: relay.repeat(data, repeats, axis=0)")
    axis = normal_axis(attrs.axis, len(x.shape), "repeat")
    shape = (*x.shape[:axis], times(x.shape[axis], attrs.repeats), *x.shape[axis + 1 :])
    return TensorType.of(shape, x.dtype)


def _repeat_gradient(call: Call, grad: Expr) -> list[Expr]:
    """Reshape the gradient so that the repetitions have an axis of their own, and sum over it."""
    (x,) = call.args
    assert call.attrs is not None
    shape = extents(x, "the gradient of `repeat`")
    axis = call.attrs["axis"] % len(shape)
    apart = [*shape[: axis + 1], call.attrs["repeats"], *shape[axis + 1 :]]
    return [relay.sum(relay.reshape(grad, apart), axis + 1)]


def _repeat_te(lowered: Lowered) -> list[Tensor]:
    x, times = lowered.inputs[0], lowered.attrs.repeats
    axis = lowered.attrs.axis % len(x.shape)
    shape = (*x.shape[:axis], dims(x)[axis] * times, *x.shape[axis + 1 :])
    return [stage(shape, lambda *i: x(*i[:axis], quotient(i[axis], times), *i[axis + 1 :]), lowered.name)]


@operator(
    "repeat",
    description="Repeats each slice along an axis several times in a row.",
    formula=r"y_i = x_{\lfloor i / r \rfloor}",
    family="shape",
    level=3,
    relation=forward("Repeat", "{out} = {0} with `axis` multiplied by `repeats`", _repeat),
    pattern=OpPattern.BROADCAST,
    flops=no_flops,
    reference=lambda attrs, x: np.repeat(x, attrs.repeats, attrs.axis),
    gradient=Gradient("dx = dy summed over the repetitions of each element", _repeat_gradient),
    lowering=_repeat_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    traits={Trait.COPY, Trait.DISPLACED},
    example=lambda build: build(X, 2, 0),
)
def repeat(
    data: Operand,
    repeats: Annotated[int, required("How often each element is repeated.")],
    axis: Annotated[int, attr(None, "The axis along which elements are repeated.", kind="int | None")],
) -> Call:
    """Repeat each slice of `data` along `axis` `repeats` times in a row."""


class TileAttrs(Attrs, key="relay.attrs.TileAttrs"):
    reps: Ints | None = required(
        "How often the whole tensor is repeated along each axis, aligned at the last."
    )


def _tile(attrs: TileAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    if not attrs.reps or min(attrs.reps) < 1:
        raise RelationError(f"reps={list(attrs.reps or ())} must be one or more positive numbers")
    rank = max(len(x.shape), len(attrs.reps))
    shape: Shape = (1,) * (rank - len(x.shape)) + x.shape
    reps = (1,) * (rank - len(attrs.reps)) + attrs.reps
    return TensorType.of(tuple([times(dim, rep) for dim, rep in zip(shape, reps, strict=True)]), x.dtype)


def _tile_te(lowered: Lowered) -> list[Tensor]:
    x, reps = lowered.inputs[0], lowered.attrs.reps
    rank = max(len(x.shape), len(reps))
    sizes = (1,) * (rank - len(x.shape)) + dims(x)
    counts = (1,) * (rank - len(reps)) + tuple(reps)
    return [_tiled(x, [size * count for size, count in zip(sizes, counts, strict=True)], lowered.name)]


def _tiled(x: Tensor, shape: TeShape, name: str) -> Tensor:
    """Place copies of `x` side by side, in `shape`."""
    lead = len(shape) - len(x.shape)
    if any(known(dim) == 0 for dim in dims(x)):
        return stage(shape, lambda *i: te_number(0, dtype_of(x)), name)  # `x` has no elements

    def value(*i: Value) -> Value:
        return x(
            *[
                at if known(dim) is not None and known(dim) == known(out) else remainder(at, dim)
                for at, dim, out in zip(i[lead:], dims(x), shape[lead:], strict=True)
            ]
        )

    return stage(shape, value, name)


@operator(
    "tile",
    description="Repeats the whole tensor several times along each axis.",
    formula=r"y_i = x_{i \bmod n}",
    family="shape",
    level=3,
    relation=forward("Tile", "{out} = {0} with every axis multiplied by its element of `reps`", _tile),
    inputs=("data",),
    attrs=TileAttrs,
    pattern=OpPattern.BROADCAST,
    flops=no_flops,
    reference=lambda attrs, x: np.tile(x, attrs.reps),
    gradient=MOVED,
    lowering=_tile_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.FOLLOW,
    traits={Trait.COPY, Trait.DISPLACED},
    example=lambda build: build(X, (2, 1, 1)),
)
def tile(data: Operand, reps: int | Sequence[int] | Expr) -> Call:
    """Repeat `data` along each axis by the counts in `reps`, which are aligned with the last axes."""
    if computed(reps):
        return call("dyn.tile", [data, reps], reps=None)
    return call("tile", [data], reps=static_ints(reps, "reps"))


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


def _fields_of(value: Anything) -> int:
    """Return the number of fields of a tuple expression: a `Tuple`, or one with a tuple type."""
    fields = getattr(value, "fields", None)
    if fields is None:
        annotation = getattr(value, "type_annotation", None) or getattr(value, "_checked_type", None)
        fields = getattr(annotation, "fields", None)
    if fields is None:
        raise ValueError("relay.meshgrid needs a list of vectors, so that the number of grids is static")
    return len(fields)


def _meshgrid_gradient(call: Call, grad: Expr) -> list[Expr]:
    """Sum each gradient over the axes of the other vectors, along which its vector was repeated."""
    (fields,) = call.args
    assert call.attrs is not None
    assert isinstance(fields.checked_type, TupleType)
    count = len(fields.checked_type.fields)
    order = list(range(count))
    if call.attrs["indexing"] == "xy" and count > 1:
        order[:2] = [1, 0]
    derivatives = []
    for number, own in enumerate(order):
        by_field = relay.sum(field_of(grad, number), [axis for axis in range(count) if axis != own])
        derivatives.append(relay.reshape_like(by_field, typed_field(fields, number)))
    if count == 1:
        return [Tuple([relay.reshape_like(field_of(grad, 0), typed_field(fields, 0))])]
    return [Tuple(derivatives)]


def _meshgrid_te(lowered: Lowered) -> list[Tensor]:
    vectors: Sequence[Tensor] = lowered.inputs[0]
    order = list(range(len(vectors)))
    if lowered.attrs.indexing == "xy" and len(vectors) > 1:
        order[:2] = [1, 0]
    extents = [vector.shape[0] if len(vector.shape) else 1 for vector in vectors]
    shape = [extents[n] for n in order]

    def grid(vector: Tensor, axis: int) -> Tensor:
        if not len(vector.shape):
            return stage(shape, lambda *i: vector(), lowered.name)
        return stage(shape, lambda *i: vector(i[axis]), lowered.name)

    return [grid(vector, order.index(n)) for n, vector in enumerate(vectors)]


@operator(
    "meshgrid",
    description="Expands vectors to the grid that they span; returns one tensor of coordinates for each.",
    formula=r"y^{(k)}_{i_0 i_1 \dots} = x^{(k)}_{i_k}",
    family="shape",
    level=3,
    relation=forward("Meshgrid", "{out} = a tensor over the grid for each field of {0}", _meshgrid),
    attrs=MeshgridAttrs,
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    reference=lambda attrs, data: tuple(np.meshgrid(*data, indexing=attrs.indexing)),
    gradient=Gradient("dx = dy of its grid, summed over the axes of the other vectors", _meshgrid_gradient),
    lowering=_meshgrid_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build([V, t(3)]),
)
def meshgrid(data: Operands, indexing: str = "ij") -> TupleWrapper:
    """Expand each vector of `data` to a tensor over the grid that all of them span."""
    result = call("meshgrid", [tuple_expr(data, "meshgrid")], indexing=indexing)
    return TupleWrapper(result, _fields_of(result.args[0]))
