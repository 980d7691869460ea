"""Operators that join several tensors into one, or split one into several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Annotated, ParamSpec, TypeVar
from typing import Any as Anything

from ..ir.attrs import Attrs, Ints, attr, required
from ..ir.declaration import Gradient, Precision, Trait
from ..ir.expr import Call, Expr, Tuple
from ..ir.op import OpPattern, Reference, Relation, RelationError, no_flops
from ..ir.show import show_shape
from ..ir.tuple_wrapper import TupleWrapper
from ..ir.types import Dim, TensorType, TupleType, Type
from .arguments import Operand, Operands
from .calls import relay
from .examples import X, Y
from .gradient_tools import axis_count, extent, typed_field
from .layouts.layout import (
    NO_LAYOUT_RULE,
    Answer,
    InferCorrectLayoutOutput,
    LayoutRule,
    Question,
    alike,
    unchanged,
)
from .numeric import Array, np
from .operator import Example, call, operator
from .relation import check_fields, forward, meet_dims, normal_axis, same_dim, tensor, tensor_fields
from .te.lowered import Lowered, Lowering
from .te.tensors import Extent, Tensor, Value, dims, guarded, known, quotient, stage

__all__ = ["concatenate", "split", "stack"]

P = ParamSpec("P")
R = TypeVar("R")


def _joining(
    name: str,
    *,
    description: str,
    formula: str,
    relation: Relation,
    reference: Reference,
    gradient: Gradient,
    lowering: Lowering,
    example: Example,
    attrs: type[Attrs] | None = None,
    level: int = 3,
    layout: LayoutRule | None = None,
    precision: Precision = Precision.UNLISTED,
    traits: Iterable[Trait] = (),
    lenient_in_tvm: str = "",
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare an operator that joins tensors or splits one."""
    return operator(
        name,
        description=description,
        formula=formula,
        family="shape",
        level=level,
        relation=relation,
        attrs=attrs,
        pattern=OpPattern.INJECTIVE,
        flops=no_flops,
        reference=reference,
        gradient=gradient,
        lowering=lowering,
        layout=NO_LAYOUT_RULE if layout is None else layout,
        precision=precision,
        traits=traits,
        example=example,
        lenient_in_tvm=lenient_in_tvm,
    )


def _agree(fields: Sequence[TensorType], skipped: int, operator: str) -> list[Dim]:
    """Return the dimensions that all fields share, each static where any field's is; that of axis `skipped`
    is the first field's.
    """
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
    """Suggest another axis where the shapes differ only in that one."""
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


# -- joining


def _concatenate(attrs: Anything, data: Type) -> Type:
    fields = tensor_fields(data, "concatenate")
    if not fields[0].shape:
        raise RelationError(
            "scalars have no axis to be concatenated along",
            "relay.stack joins them to a vector",
            culprits=(0,),
        )
    axis = normal_axis(attrs.axis, len(fields[0].shape), "concatenate")
    shape = _agree(fields, axis, "concatenate")
    total: Dim = 0
    for field in fields:
        extent = field.shape[axis]
        total = total + extent  # type: ignore[assignment]  # an int, as both are
    shape[axis] = fields[0].shape[axis] if len(fields) == 1 else total
    return TensorType.of(tuple(shape), fields[0].dtype)


def _concatenate_gradient(call: Call, grad: Expr) -> list[Expr]:
    """Split the gradient at the boundaries of the joined tensors."""
    (fields,) = call.args
    assert call.attrs is not None
    assert isinstance(fields.checked_type, TupleType)
    parts = [typed_field(fields, k) for k in range(len(fields.checked_type.fields))]
    axis = call.attrs["axis"] % axis_count(call)
    ends = list(accumulate(extent(part, axis, "the gradient of `concatenate`") for part in parts))
    return [relay.split(grad, ends[:-1], axis).tuple_value]


def _concatenate_te(lowered: Lowered) -> list[Tensor]:
    parts: Sequence[Tensor] = lowered.inputs[0]
    axis = lowered.attrs.axis % len(parts[0].shape)
    first = dims(parts[0])
    starts = [0]
    for part in parts:
        starts.append(starts[-1] + dims(part)[axis])
    used = [(part, start) for part, start in zip(parts, starts, strict=False) if known(dims(part)[axis]) != 0]

    def value(*i: Value) -> Value:
        def read(part: Tensor, start: Extent) -> Value:
            return part(*i[:axis], i[axis] - start, *i[axis + 1 :])

        result = read(*(used or [(parts[0], 0)])[-1])
        for (part, start), (_, end) in zip(used[-2::-1], used[:0:-1], strict=True):
            result = guarded(i[axis] < end, read(part, start), result)
        return result

    return [stage((*first[:axis], starts[-1], *first[axis + 1 :]), value, lowered.name)]


def concatenate_layout(question: Question) -> Answer:
    """Infer one layout for all fields: the new one, where it is the same for all of them."""
    attrs, old = question.attrs, question.old
    assert attrs is not None
    first = next((layout for layout in old if layout is not None), None)
    if first is None or any(layout not in (None, first) for layout in old):
        return None
    count = len(old)
    if question.new is not None and len(set(question.new)) == 1:
        new = question.new[0]
        letter = first[attrs["axis"]] if -len(first) <= attrs["axis"] < len(first) else ""
        if letter.isupper() and letter in new:
            return InferCorrectLayoutOutput([new] * count, [new], attrs.replace(axis=new.index_of(letter)))
    return InferCorrectLayoutOutput([first] * count, [first], attrs)


@_joining(
    "concatenate",
    description="Joins tensors along an existing axis.",
    formula=r"y = x^{(1)} \mathbin{\|}_{\mathit{axis}} x^{(2)} \mathbin{\|}_{\mathit{axis}} \dots",
    level=1,
    relation=forward("Concatenate", "{out} = the fields of {0}, concatenated along `axis`", _concatenate),
    reference=lambda attrs, data: np.concatenate(data, attrs.axis),
    gradient=Gradient("dy is split at the boundaries of the joined tensors", _concatenate_gradient),
    lowering=_concatenate_te,
    layout=concatenate_layout,
    precision=Precision.FOLLOW,
    example=lambda build: build([X, Y], 1),
)
def concatenate(
    data: Operands,
    axis: Annotated[int, attr(0, "The axis along which the tensors are concatenated.")],
) -> Call:
    """Join the tensors of `data`, whose shapes differ at most in `axis`, along that axis."""


def _stack(attrs: Anything, data: Type) -> Type:
    fields = tensor_fields(data, "stack")
    axis = normal_axis(attrs.axis, len(fields[0].shape) + 1, "stack")
    shape = _agree(fields, -1, "stack")
    return TensorType.of((*shape[:axis], len(fields), *shape[axis:]), fields[0].dtype)


def _stack_gradient(call: Call, grad: Expr) -> list[Expr]:
    (fields,) = call.args
    assert call.attrs is not None
    assert isinstance(fields.checked_type, TupleType)
    axis = call.attrs["axis"] % axis_count(call)
    parts = relay.split(grad, len(fields.checked_type.fields), axis)
    return [Tuple([relay.squeeze(part, [axis]) for part in parts])]


def _stack_te(lowered: Lowered) -> list[Tensor]:
    parts: Sequence[Tensor] = lowered.inputs[0]
    shape = parts[0].shape
    axis = lowered.attrs.axis % (len(shape) + 1)

    def value(*i: Value) -> Value:
        rest = (*i[:axis], *i[axis + 1 :])
        result = parts[-1](*rest)
        for index, part in reversed(list(enumerate(parts[:-1]))):
            result = guarded(i[axis] == index, part(*rest), result)
        return result

    return [stage((*shape[:axis], len(parts), *shape[axis:]), value, lowered.name)]


@_joining(
    "stack",
    description="Joins tensors of one shape along a new axis.",
    formula=r"y_{\dots k \dots} = x^{(k)}_{\dots}",
    relation=forward("Stack", "{out} = the fields of {0}, stacked along a new axis", _stack),
    reference=lambda attrs, data: np.stack(data, attrs.axis),
    gradient=Gradient("dy is split along the new axis, one slice for each tensor", _stack_gradient),
    lowering=_stack_te,
    example=lambda build: build([X, Y], -1),
    lenient_in_tvm="It did not compare the extents on the axis of the operands that `axis` names.",
)
def stack(data: Operands, axis: Annotated[int, attr(0, "The index of the new axis in the result.")]) -> Call:
    """Join the tensors of `data`, equal in shape, along a new axis at index `axis`."""


# -- splitting


class SplitAttrs(Attrs, key="relay.attrs.SplitAttrs"):
    indices_or_sections: int | Ints = required(
        "The number of equal parts, or the indices at which to split, in ascending order."
    )
    axis: int = attr(0, "The axis that is split.")


def _split(attrs: SplitAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    axis = normal_axis(attrs.axis, len(x.shape), "split")
    cuts = attrs.indices_or_sections
    check_fields(cuts if isinstance(cuts, int) else len(cuts) + 1, len(x.shape))
    extents = _split_extents(x.shape[axis], attrs.indices_or_sections, axis)
    return TupleType([TensorType.of((*x.shape[:axis], e, *x.shape[axis + 1 :]), x.dtype) for e in extents])


def _split_extents(extent: Dim, cuts: int | tuple[int, ...], axis: int) -> list[Dim]:
    """Return the extents of the parts."""
    if isinstance(cuts, int):
        if cuts < 1:
            raise RelationError(f"a tensor cannot be split into {cuts} parts", "give at least 1")
        if isinstance(extent, int) and extent % cuts:
            raise RelationError(
                f"axis {axis} is {extent}, which is not {cuts} equal parts",
                "give the indices to split at instead, as in indices_or_sections=(3, 5)",
                culprits=(0,),
            )
        return [extent // cuts] * cuts  # type: ignore[list-item]  # whole
    starts = (0, *cuts)
    for before, after in zip(starts, cuts, strict=False):
        if after <= before:
            raise RelationError(
                f"the indices to split at, {list(cuts)}, are not ascending: {after} comes after {before}"
            )
    if isinstance(extent, int) and starts[-1] >= extent:
        raise RelationError(
            f"axis {axis} is {extent}, so it cannot be split at {starts[-1]}",
            f"split before {extent}",
            culprits=(0,),
        )
    last = extent - starts[-1]
    return [*(after - before for before, after in zip(starts, cuts, strict=False)), last]  # type: ignore[list-item]


def _cut(x: Array, where: int | Sequence[int], axis: int) -> tuple[Array, ...]:
    """Split an array as `numpy.split` does, which takes four times as long for a row; that would be most of
    the cost of splitting the gates of an LSTM cell.
    """
    axis, size = axis % x.ndim, x.shape[axis]
    if isinstance(where, int):
        if size % where:
            raise ValueError(f"{size} cannot be split into {where} equal parts")
        where = range(size // where, size, size // where) if size else [0] * (where - 1)
    before = (slice(None),) * axis
    return tuple([x[(*before, slice(a, b))] for a, b in zip([0, *where], [*where, size])])


def _split_gradient(call: Call, grad: Expr) -> list[Expr]:
    assert call.attrs is not None
    return [relay.concatenate(grad, call.attrs["axis"])]


def _split_te(lowered: Lowered) -> list[Tensor]:
    x, cuts = lowered.inputs[0], lowered.attrs.indices_or_sections
    axis = lowered.attrs.axis % len(x.shape)
    size = dims(x)[axis]
    if isinstance(cuts, int):
        each = quotient(size, cuts)
        starts = [each * n for n in range(cuts)]
    else:
        starts = [0, *cuts]
    ends = [*starts[1:], size]

    def part(start: Extent, end: Extent) -> Tensor:
        shape = (*x.shape[:axis], end - start, *x.shape[axis + 1 :])
        return stage(shape, lambda *i: x(*i[:axis], i[axis] + start, *i[axis + 1 :]), lowered.name)

    return [part(start, end) for start, end in zip(starts, ends, strict=True)]


def _split_layout(question: Question) -> Answer:
    """Infer the layouts of a split; on an axis that is split into blocks, the indices count blocks."""
    old, attrs = question.old[0], question.attrs
    assert attrs is not None
    where = attrs["indices_or_sections"]
    results = where if isinstance(where, int) else len(where) + 1
    if old is None or question.new is None:
        return unchanged(question, results)
    new = question.new[0]
    letter = old[attrs["axis"]] if -len(old) <= attrs["axis"] < len(old) else ""
    if not letter.isupper() or letter not in new or old.splits(letter):
        return unchanged(question, results)
    if new.splits(letter) and not isinstance(where, int):
        factor = new.factor_of(letter)
        if any(index % factor for index in where):
            return unchanged(question, results)
        where = [index // factor for index in where]
    new_attrs = attrs.replace(axis=new.index_of(letter), indices_or_sections=where)
    return alike(new, new_attrs, results)


@_joining(
    "split",
    description="Splits a tensor along an axis into a tuple of parts.",
    formula=r"x = y^{(1)} \mathbin{\|}_{\mathit{axis}} y^{(2)} \mathbin{\|}_{\mathit{axis}} \dots",
    relation=forward("Split", "{out} = a tuple of the parts of {0} along `axis`", _split),
    attrs=SplitAttrs,
    reference=lambda attrs, x: _cut(x, attrs.indices_or_sections, attrs.axis),
    gradient=Gradient("dx = the gradients of the parts, concatenated along `axis`", _split_gradient),
    lowering=_split_te,
    layout=_split_layout,
    precision=Precision.FOLLOW,
    traits={Trait.SELECTION},
    example=lambda build: [build(X, 3, 1), build(X, (1, 4), 1)],
)
def split(data: Operand, indices_or_sections: int | Sequence[int], axis: int = 0) -> TupleWrapper:
    """Split `data` along `axis` into a tuple: a number of equal parts, or the parts between the indices."""
    result = call("split", [data], indices_or_sections=indices_or_sections, axis=axis)
    assert result.attrs is not None
    cuts = result.attrs["indices_or_sections"]
    return TupleWrapper(result, cuts if isinstance(cuts, int) else len(cuts) + 1)
