"""Operators that read elements at indices.

`take` is TOPI's. TOPI reads at any address that an index yields, whereas kernels here never read outside of
a tensor: a negative index counts from the end, as in NumPy, and an index that is out of range is clamped
(the interpreter raises an error).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any as Anything
from typing import ParamSpec, TypeVar

from ..ir.attrs import Attrs, attr
from ..ir.declaration import Gradient, NotApplicable, Precision, Trait
from ..ir.expr import Call
from ..ir.op import OpPattern, Reference, Relation, RelationError, no_flops
from ..ir.show import show_shape
from ..ir.types import TensorType, Type
from .arguments import Operand, Operands
from .examples import X, ints
from .gradient_tools import MOVED, MOVED_FIELD, ZERO
from .layouts.layout import NO_LAYOUT_RULE, Answer, InferCorrectLayoutOutput, Layout, LayoutRule, Question
from .numeric import Array, np, numbers
from .operator import Example, operator
from .relation import (
    UNKNOWN,
    broadcast_shapes,
    forward,
    integers,
    normal_axis,
    same_dim,
    tensor,
    tensor_fields,
)
from .te.library import tirx, topi
from .te.lowered import HOST, Lowered, Lowering
from .te.places import inside
from .te.reduce import products_from
from .te.tensors import (
    Extent,
    Tensor,
    Value,
    broadcast_shape,
    dims,
    dtype_of,
    element,
    known,
    number,
    select,
    stage,
)

__all__ = ["adv_index", "argwhere", "take", "unravel_index"]

P = ParamSpec("P")
R = TypeVar("R")


def _indexing(
    name: str,
    *,
    description: str,
    formula: str,
    relation: Relation,
    reference: Reference,
    gradient: Gradient,
    lowering: Lowering | str,
    example: Example,
    pattern: OpPattern = OpPattern.INJECTIVE,
    level: int = 3,
    precision: Precision = Precision.UNLISTED,
    traits: tuple[Trait, ...] = (),
    attrs: type[Attrs] | None = None,
    layout: LayoutRule | NotApplicable = NO_LAYOUT_RULE,
    lenient_in_tvm: str = "",
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare an operator that reads elements at indices, without arithmetic."""
    return operator(
        name,
        description=description,
        formula=formula,
        family="index",
        level=level,
        relation=relation,
        attrs=attrs,
        pattern=pattern,
        flops=no_flops,
        reference=reference,
        gradient=gradient,
        lowering=lowering,
        layout=layout,
        precision=precision,
        traits=traits,
        example=example,
        lenient_in_tvm=lenient_in_tvm,
    )


class TakeAttrs(Attrs, key="relay.attrs.TakeAttrs"):
    batch_dims: int = attr(0, "How many leading axes data and indices share.")
    axis: int | None = attr(None, "The axis that is indexed; None is the flattened tensor.")
    mode: str = attr(
        "clip", 'What an index out of range means: "clip", "wrap", or "fast" (it must not occur).'
    )


def _take(attrs: TakeAttrs, data: Type, indices: Type) -> Type:
    x, i = tensor(data, 0, "data"), integers(indices, 1, "indices")
    if attrs.mode not in ("clip", "wrap", "fast"):
        raise RelationError(f'mode is "{attrs.mode:.20}", but it is "clip", "wrap" or "fast"')
    if attrs.axis is None:
        return TensorType.of(i.shape, x.dtype)
    axis = normal_axis(attrs.axis, len(x.shape), "take")
    batch = attrs.batch_dims + (len(i.shape) if attrs.batch_dims < 0 else 0)
    if not 0 <= batch <= min(axis, len(i.shape)):
        raise RelationError(
            f"batch_dims is {attrs.batch_dims}, but it is at most the axis, {axis}, and the rank of "
            f"indices, {len(i.shape)}"
        )
    for lead in range(batch):
        if not same_dim(x.shape[lead], i.shape[lead]):
            raise RelationError(
                f"batch axis {lead} is {x.shape[lead]} in the data and {i.shape[lead]} in the indices",
                culprits=(0, 1),
            )
    return TensorType.of(x.shape[:axis] + i.shape[batch:] + x.shape[axis + 1 :], x.dtype)


def _taken(attrs: TakeAttrs, x: Array, indices: Array) -> Array:
    mode = "raise" if attrs.mode == "fast" else attrs.mode
    batch = attrs.batch_dims + (indices.ndim if attrs.batch_dims < 0 else 0)
    if attrs.axis is None or batch == 0:
        return np.take(x, indices, attrs.axis, mode=mode)
    axis = attrs.axis % x.ndim
    y = np.empty(x.shape[:axis] + indices.shape[batch:] + x.shape[axis + 1 :], x.dtype)
    for at in np.ndindex(indices.shape[:batch]):
        y[at] = np.take(x[at], indices[at], axis - batch, mode=mode)
    return y


def _take_te(lowered: Lowered) -> list[Tensor]:
    """Clamp or wrap each index; in mode "fast", which requires indices to be in range, they are clamped."""
    attrs = lowered.attrs
    mode = "wrap" if attrs.mode == "wrap" else "clip"
    return [topi.take(*lowered.inputs, attrs.axis, attrs.batch_dims, mode)]


def _take_layout(question: Question) -> Answer:
    """Let the result follow the indices, where each is replaced by an entry of a table, a vector."""
    data, attrs, indices = question.types[0], question.attrs, (question.new or question.old)[1]
    assert attrs is not None
    if indices is None or not isinstance(data, TensorType) or len(data.shape) != 1 or attrs["batch_dims"]:
        return None
    return InferCorrectLayoutOutput([Layout("C"), indices], [indices], attrs)


@_indexing(
    "take",
    description="Takes the slices at given indices along an axis.",
    formula=r"y_{a\, i\, b} = x_{a\, \mathit{indices}_i\, b}",
    relation=forward("Take", "{out} = {0} with `axis` replaced by the axes of {1}", _take),
    attrs=TakeAttrs,
    reference=_taken,
    gradient=MOVED,
    lowering=_take_te,
    layout=_take_layout,
    precision=Precision.FOLLOW,
    traits=(Trait.SELECTION,),
    example=lambda build: build(X, ints(3), 1, mode="wrap"),
    lenient_in_tvm="It did not compare the batch axes of data and indices.",
)
def take(
    data: Operand, indices: Operand, axis: int | None = None, batch_dims: int = 0, mode: str = "clip"
) -> Call:
    """Take the slices of `data` at `indices` along `axis`, or, if it is None, of the flattened data."""


def _adv_index(attrs: None, inputs: Type) -> Type:
    data, *indices = tensor_fields(inputs, "adv_index")
    if not indices:
        raise RelationError("adv_index needs at least one tensor of indices after the data", culprits=(0,))
    if len(indices) > len(data.shape):
        raise RelationError(
            f"there are {len(indices)} tensors of indices, but the data {show_shape(data.shape)} "
            f"has {len(data.shape)} axes",
            culprits=(0,),
        )
    shape = integers(indices[0], 0, "indices").shape
    for more in indices[1:]:
        shape = broadcast_shapes(shape, integers(more, 0, "indices").shape, (0,))
    return TensorType.of(shape + data.shape[len(indices) :], data.dtype)


def _adv_index_te(lowered: Lowered) -> list[Tensor]:
    x, *indices = lowered.inputs[0]
    shared = broadcast_shape(*[dims(index) for index in indices])

    def value(*i: Value) -> Value:
        here = i[: len(shared)]
        at = [inside(element(index, here, shared), dim) for index, dim in zip(indices, x.shape, strict=False)]
        return x(*at, *i[len(shared) :])

    return [stage((*shared, *x.shape[len(indices) :]), value, lowered.name)]


@_indexing(
    "adv_index",
    description="Indexes a tensor by one tensor of indices per axis, broadcast to one shape, as in NumPy.",
    formula=r"y_i = x_{\mathit{indices}^{(0)}_i\, \mathit{indices}^{(1)}_i \dots}",
    relation=forward(
        "AdvIndex",
        "{out} has the axes of the broadcast indices, then the data's axes that are not indexed",
        _adv_index,
    ),
    reference=lambda attrs, inputs: inputs[0][inputs[1:]],
    gradient=MOVED_FIELD,
    lowering=_adv_index_te,
    example=lambda build: build([X, ints(3), ints(2, 1, name="j")]),
)
def adv_index(inputs: Operands) -> Call:
    """Take `inputs[0][inputs[1], inputs[2], …]`, as in NumPy."""


def _unravel_index(attrs: None, indices: Type, shape: Type) -> Type:
    i, extents = integers(indices, 0, "indices"), integers(shape, 1, "shape")
    if len(extents.shape) != 1 or len(i.shape) > 1:
        raise RelationError(
            f"unravel_index takes a vector or one index and a vector of extents, not {i} and {extents}",
            culprits=(0, 1),
        )
    return TensorType.of(extents.shape + i.shape, i.dtype)


def _unravelled(attrs: None, indices: Array, shape: Array) -> Array:
    return np.array(np.unravel_index(indices, numbers(shape))).astype(indices.dtype)


def _unravel_index_te(lowered: Lowered) -> list[Tensor]:
    """Divide each index by the extents of the later axes, known only at run time; extents of 0 count as 1."""
    indices, shape = lowered.inputs
    rank, dtype = dims(shape)[0], dtype_of(indices)

    def extent_at(axis: Extent) -> Value:
        return tirx.max(shape(axis).astype("int64"), number(1, "int64"))

    def value(*i: Value) -> Value:
        flat = indices(*i[1:]).astype("int64")
        result: Anything = number(0, "int64")
        for axis in range(rank - 1, -1, -1):
            result = select(i[0] == axis, tirx.truncmod(flat, extent_at(axis)), result)
            flat = tirx.truncdiv(flat, extent_at(axis))
        return result.astype(dtype)

    if known(rank) is not None:
        return [stage((rank, *indices.shape), value, lowered.name)]
    steps = products_from(extent_at, rank, f"{lowered.name}_steps")

    def coordinate(axis: Value, *i: Value) -> Value:
        blocks = tirx.truncdiv(indices(*i).astype("int64"), steps(axis + 1))
        return tirx.truncmod(blocks, extent_at(axis)).astype(dtype)

    return [stage((rank, *indices.shape), coordinate, lowered.name)]


@_indexing(
    "unravel_index",
    description="Converts indices into a flattened tensor to coordinates, in row-major order.",
    formula=r"\sum_k y_k \prod_{l > k} n_l = x",
    relation=forward("UnRavelIndex", "{out} has the axes of {1}, then those of {0}", _unravel_index),
    reference=_unravelled,
    gradient=ZERO,
    lowering=_unravel_index_te,
    example=lambda build: build(ints(3), ints(2, name="s")),
    lenient_in_tvm="It accepted indices of any rank, and checked their first axis only.",
)
def unravel_index(indices: Operand, shape: Operand) -> Call:
    """Convert `indices` into a flattened tensor to coordinates in a tensor of extents `shape`."""


def _argwhere(attrs: None, condition: Type) -> Type:
    return TensorType.of((UNKNOWN, len(tensor(condition, 0, "condition").shape)), "int32")


@_indexing(
    "argwhere",
    description="Returns the coordinates of all nonzero elements.",
    formula=r"\{\, i : x_i \ne 0 \,\}",
    level=10,
    relation=forward(
        "ArgWhere", "{out} = a row for each nonzero element of {0}, with a column for each axis", _argwhere
    ),
    pattern=OpPattern.OPAQUE,
    reference=lambda attrs, condition: np.argwhere(condition).astype("int32"),
    gradient=ZERO,
    lowering=HOST,
    precision=Precision.FOLLOW,
    traits=(Trait.SIZED_BY_VALUES,),
    example=lambda build: build(X),
)
def argwhere(condition: Operand) -> Call:
    """Compute the coordinates of the elements of `condition` that are not zero, one row each.

    The number of rows is `?`.
    """
