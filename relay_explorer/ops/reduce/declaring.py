"""Shared declarations of reductions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from math import prod as product
from typing import Any as Anything
from typing import ParamSpec, TypeVar

from ...ir.attrs import Attrs, Ints, attr
from ...ir.declaration import Gradient, Precision, Trait
from ...ir.expr import Call, Expr
from ...ir.op import Flops, OpPattern, Reference, Relation, flops_per_input
from ...ir.typed import tensor_type
from ...ir.types import Shape, TensorType, Type
from ..calls import relay
from ..gradient_tools import axis_count, extents, is_static, number
from ..layouts.layout import Answer, InferCorrectLayoutOutput, Layout, Question
from ..numeric import Array, np, per
from ..operator import Example, operator
from ..relation import forward, normal_axes, tensor
from ..te.lowered import Lowering

P = ParamSpec("P")
R = TypeVar("R")
Axes = int | Sequence[int] | None


class ReduceAttrs(Attrs, key="relay.attrs.ReduceAttrs"):
    axis: Ints | None = attr(None, "The axes that are reduced; None or an empty list means all of them.")
    keepdims: bool = attr(False, "Whether reduced axes stay in the shape, with extent 1.")
    exclude: bool = attr(False, "Whether `axis` names the axes that are kept instead.")


def reduced_axes(attrs: Anything, rank: int) -> set[int]:
    """Return the axes that `attrs` (axis, exclude) reduces in a tensor of that rank, counted from the
    front.
    """
    if not attrs.axis:
        return set(range(rank))
    named = set(normal_axes(attrs.axis, rank, "it"))
    return set(range(rank)) - named if attrs.exclude else named


def reduced_shape(shape: Shape, axes: set[int], keepdims: bool) -> Shape:
    """Return `shape` without `axes`, or with 1 for each of them where `keepdims`."""
    if keepdims:
        return tuple([1 if axis in axes else dim for axis, dim in enumerate(shape)])
    return tuple([dim for axis, dim in enumerate(shape) if axis not in axes])


def reduce_type(attrs: ReduceAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    return TensorType.of(reduced_shape(x.shape, reduced_axes(attrs, len(x.shape)), attrs.keepdims), x.dtype)


REDUCE = forward("Reduce", "{out} = {0} without `axis`", reduce_type)


def _reduction_layout(question: Question) -> Answer:
    """Infer the layouts of a reduction, whose axes may be in any position. `argmax` yields indices, so the
    order of its axes must not change. `variance` has the mean as a second operand, whose axes are kept.
    """
    old, attrs = question.old[0], question.attrs
    assert attrs is not None
    if old is None or any(letter.islower() for letter in old):
        return None
    named = list(old) if attrs["axis"] is None else [old[axis % len(old)] for axis in attrs["axis"]]
    reduced = [letter for letter in old if (letter in named) != bool(attrs["exclude"])]
    layout = old
    if question.new is not None and question.new[0] != old:
        new = question.new[0]
        axes = [axis for axis, (letter, _) in enumerate(new.axes) if letter.upper() in named]
        order = [letter for letter in new if letter.upper() in reduced]
        if "select_last_index" not in attrs or order == reduced:
            layout = new
            attrs = attrs if attrs["axis"] is None else attrs.replace(axis=axes)
    inputs = [layout, _reduced(layout, reduced, True)][: len(question.old)]
    return InferCorrectLayoutOutput(inputs, [_reduced(layout, reduced, attrs["keepdims"])], attrs)


def _reduced(layout: Layout, letters: Sequence[str], keeps: bool) -> Layout:
    """Return the layout of the result: without the reduced axes, or with blocks of 1 if they are kept."""
    if not keeps:
        return layout.without(letters)
    return Layout.of([(letter, 1 if letter.upper() in letters else size) for letter, size in layout.axes])


def reduction(
    name: str,
    *,
    formula: str,
    reference: Reference,
    gradient: Gradient,
    lowering: Lowering,
    example: Example,
    relation: Relation = REDUCE,
    attrs: type[Attrs] = ReduceAttrs,
    description: str = "",
    flops: Flops = flops_per_input,
    inputs: tuple[str, ...] | str = "",
    precision: Precision = Precision.UNLISTED,
    traits: Iterable[Trait] = (),
    lenient_in_tvm: str = "",
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare an operator that reduces the axes that its attributes name (see `operator`)."""
    return operator(
        name,
        description=description,
        formula=formula,
        family="reduction",
        level=4,
        relation=relation,
        attrs=attrs,
        pattern=OpPattern.REDUCTION,
        flops=flops,
        reference=reference,
        gradient=gradient,
        lowering=lowering,
        layout=_reduction_layout,
        precision=precision,
        traits=traits,
        example=example,
        inputs=inputs,
        lenient_in_tvm=lenient_in_tvm,
    )


# -- reference implementations


def over(attrs: Anything, x: Array) -> dict[str, Anything]:
    """Return NumPy's keyword arguments for the axes that `attrs` reduces."""
    return {"axis": tuple(sorted(reduced_axes(attrs, x.ndim))), "keepdims": attrs.keepdims}


def wide(x: Array) -> Array:
    """Convert `x` to a type for its accumulators: half precision overflows beyond 65504."""
    return x.astype("float32") if x.dtype == "float16" else x


def per_element(total: Array, attrs: Anything, x: Array, less: int = 0) -> Array:
    """Divide `total` by the number of reduced elements minus `less`, rounded towards zero for integers."""
    elements = math.prod([x.shape[axis] for axis in reduced_axes(attrs, x.ndim)])
    return per(np.asarray(total), elements - less)


# -- gradients


def folded_axes(call: Call) -> list[int]:
    """Return the axes that a call reduces, in order."""
    return sorted(reduced_axes(call.attrs, axis_count(call.args[0])))


def unfolded(value: Expr, call: Call) -> Expr:
    """Reshape `value`, which has the shape of the reduction `call`, to have the reduced axes, of extent 1."""
    assert call.attrs is not None
    if not call.attrs["keepdims"]:
        for axis in folded_axes(call):
            value = relay.expand_dims(value, axis)
    return value


def folded_count(call: Call) -> Expr:
    """Return the number of elements that each result combines, in the data's element type."""
    (x, *_) = call.args
    if is_static(tensor_type(x)):
        return number(product(extents(x)[axis] for axis in folded_axes(call)), x)
    dtype = tensor_type(x).dtype
    return relay.cast(relay.ndarray_size(x), dtype) / relay.cast(relay.ndarray_size(call), dtype)
