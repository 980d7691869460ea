"""Operators that sort and search: `sort`, `argsort`, `topk` and `searchsorted`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, ParamSpec, TypeVar
from typing import Any as Anything

from ..ir.attrs import Attrs, DType, attr, required
from ..ir.declaration import Gradient, Precision, Trait
from ..ir.expr import Call, Expr
from ..ir.op import OpPattern, Reference, Relation, RelationError, no_flops
from ..ir.show import show_shape
from ..ir.tuple_wrapper import TupleWrapper
from ..ir.typed import tensor_type
from ..ir.types import TensorType, TupleType, Type
from .arguments import Operand, computed, static_ints
from .calls import relay
from .examples import V, X, t
from .gradient_tools import ZERO, field_of, zeros_of
from .layouts.layout import NO_LAYOUT_RULE, Answer, LayoutRule, Question, alike, moved, unchanged
from .numeric import Array, element_type, np
from .operator import Example, call, operator
from .relation import forward, normal_axis, same_dim, same_dtypes, tensor
from .te.imperative import Buffers, int32, local, loops, repeat_while, together, when
from .te.library import te, tirx
from .te.lowered import Lowered, Lowering
from .te.sort import MAX_SELECTED, SELECTION_RATIO, comes_before, first_places, has_key, order, row_of
from .te.tensors import Tensor, Value, cast, dims, dtype_of, known, number, product, stage, unravel

__all__ = ["argsort", "searchsorted", "sort", "topk"]

P = ParamSpec("P")
R = TypeVar("R")


def _ordering(
    name: str,
    *,
    description: str,
    formula: str,
    relation: Relation,
    reference: Reference,
    gradient: Gradient,
    lowering: Lowering,
    example: Example,
    lenient_in_tvm: str,
    attrs: type[Attrs] | None = None,
    attrs_key: str = "",
    layout: LayoutRule | None = None,
    traits: Iterable[Trait] = (),
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare an operator that compares elements, which is not counted as floating-point work."""
    return operator(
        name,
        description=description,
        formula=formula,
        family="index",
        level=6,
        relation=relation,
        attrs=attrs,
        attrs_key=attrs_key,
        pattern=OpPattern.OPAQUE,
        flops=no_flops,
        reference=reference,
        gradient=gradient,
        lowering=lowering,
        layout=NO_LAYOUT_RULE if layout is None else layout,
        precision=Precision.UNLISTED,
        traits=traits,
        example=example,
        lenient_in_tvm=lenient_in_tvm,
    )


# -- sorting


class ArgsortAttrs(Attrs, key="relay.attrs.ArgsortAttrs"):
    axis: int = attr(-1, "The axis along which elements are sorted.")
    is_ascend: bool = attr(True, "Whether the order is ascending.")
    dtype: DType | None = attr(None, "The element type of the indices; None is int32.")


def _sort(attrs: ArgsortAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    normal_axis(attrs.axis, len(x.shape), "sort")
    return x


def _argsort(attrs: ArgsortAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    normal_axis(attrs.axis, len(x.shape), "argsort")
    return TensorType.of(x.shape, attrs.dtype or "int32")


def _order(x: Array, axis: int, is_ascend: bool) -> Array:
    """Return the indices that sort the elements; equal elements keep their order."""
    if is_ascend:
        return np.argsort(x, axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(np.argsort(np.flip(x, axis), axis, kind="stable"), axis)


def _sort_gradient(call: Call, grad: Expr) -> list[Expr]:
    """Move each derivative back to the index of its element."""
    (x,) = call.args
    assert call.attrs is not None
    axis = call.attrs["axis"] % len(tensor_type(x).shape)
    positions = relay.argsort(x, axis, call.attrs["is_ascend"], "int32")
    return [relay.scatter_elements(zeros_of(x), positions, grad, axis, "update")]


def _ordered(call: Lowered, count: int | None) -> tuple[Tensor, Tensor]:
    """Return the first `count` elements in the call's order, and their indices."""
    x, attrs = call.inputs[0], call.attrs
    axis = attrs.axis % len(x.shape)
    shape = dims(x)
    out = shape if count is None else (*shape[:axis], count, *shape[axis + 1 :])
    dtype = attrs.dtype or "int32"
    if any(known(dim) == 0 for dim in out):
        values = stage(out, lambda *i: number(0, dtype_of(x)), call.name)
        return values, stage(out, lambda *i: number(0, dtype), call.name)
    stage_name = f"{call.name}_order"
    few = count is not None and (count <= MAX_SELECTED or has_key(dtype_of(x)))
    if few and count is not None and (known(shape[axis]) or 0) >= SELECTION_RATIO * count:
        ranked = first_places(x, axis, count, attrs.is_ascend, stage_name)
    else:
        ranked = order(x, axis, attrs.is_ascend, stage_name)

    def position(*i: Value) -> Value:
        return ranked(row_of(i, shape, axis), i[axis])

    values = stage(out, lambda *i: x(*i[:axis], position(*i), *i[axis + 1 :]), f"{call.name}_values")
    return values, stage(out, lambda *i: cast(position(*i), dtype), f"{call.name}_indices")


_LENIENT = "It did not check that the tensor has the axis."


@_ordering(
    "sort",
    description="Sorts the elements along an axis.",
    formula=r"y_i = x_{\pi(i)}, \quad y_i \le y_{i + 1}",
    relation=forward("Sort", "{out} = {0}", _sort),
    attrs=ArgsortAttrs,
    reference=lambda attrs, x: np.take_along_axis(x, _order(x, attrs.axis, attrs.is_ascend), attrs.axis),
    gradient=Gradient(
        "each element of dy is moved back to its element's index: dx[π(i)] = dy[i]", _sort_gradient
    ),
    lowering=lambda call: [_ordered(call, None)[0]],
    traits={Trait.SELECTION},
    example=lambda build: build(X),
    lenient_in_tvm=_LENIENT,
)
def sort(data: Operand, axis: int = -1, is_ascend: bool = True) -> Call:
    """Sort the elements of `data` along `axis`."""


@_ordering(
    "argsort",
    description="Computes the indices that sort the elements along an axis.",
    formula=r"y = \pi, \quad x_{\pi(i)} \le x_{\pi(i + 1)}",
    relation=forward("Argsort", "{out} = indices into {0}", _argsort),
    attrs=ArgsortAttrs,
    reference=lambda attrs, x: _order(x, attrs.axis, attrs.is_ascend).astype(
        element_type(attrs.dtype or "int32")
    ),
    gradient=ZERO,
    lowering=lambda call: [_ordered(call, None)[1]],
    example=lambda build: build(X, 0, False, "int64"),
    lenient_in_tvm=_LENIENT,
)
def argsort(data: Operand, axis: int = -1, is_ascend: bool = True, dtype: object = "int32") -> Call:
    """Compute the indices that sort `data` along `axis`."""


# -- the greatest elements


class TopKAttrs(Attrs, key="relay.attrs.TopkAttrs"):
    k: int | None = required("How many elements are chosen; all of them where less than 1.")
    axis: int = attr(-1, "The axis along which elements are chosen.")
    ret_type: str = attr("both", '"both" (a tuple), "values" or "indices".')
    is_ascend: bool = attr(False, "Whether the least are chosen, rather than the greatest.")
    dtype: DType | None = attr(None, "The element type of the indices; None is int32.")


def _topk(attrs: TopKAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    axis = normal_axis(attrs.axis, len(x.shape), "topk")
    if attrs.ret_type not in ("both", "values", "indices"):
        raise RelationError(f'ret_type is "{attrs.ret_type:.20}", but it is "both", "values" or "indices"')
    extent = x.shape[axis]
    if attrs.k is None or attrs.k < 1:
        chosen = extent
    elif isinstance(extent, int) and attrs.k > extent:
        raise RelationError(
            f"the {attrs.k} greatest are requested, but axis {axis} of {show_shape(x.shape)} has {extent}",
            culprits=(0,),
        )
    else:
        chosen = attrs.k
    shape = (*x.shape[:axis], chosen, *x.shape[axis + 1 :])
    values, indices = TensorType.of(shape, x.dtype), TensorType.of(shape, attrs.dtype or "int32")
    return {"both": TupleType([values, indices]), "values": values, "indices": indices}[attrs.ret_type]


def _best(attrs: TopKAttrs, x: Array) -> Array | tuple[Array, Array]:
    count = attrs.k if attrs.k is not None and attrs.k >= 1 else x.shape[attrs.axis]
    if count > x.shape[attrs.axis]:
        raise ValueError(f"the first {count} are requested, but the axis has {x.shape[attrs.axis]}")
    chosen = np.take(_order(x, attrs.axis, attrs.is_ascend), range(count), attrs.axis)
    values = np.take_along_axis(x, chosen, attrs.axis)
    indices = chosen.astype(element_type(attrs.dtype or "int32"))
    return {"both": (values, indices), "values": values, "indices": indices}[attrs.ret_type]


def _topk_gradient(call: Call, grad: Expr) -> list[Expr | None]:
    x, *rest = call.args
    assert call.attrs is not None
    if call.attrs["ret_type"] == "indices":
        return [None] * len(call.args)
    both = type(call.attrs)(**{**dict(call.attrs.items()), "ret_type": "indices"})
    positions = Call(call.op, call.args, both)
    axis = call.attrs["axis"] % len(tensor_type(x).shape)
    by_values = field_of(grad, 0) if call.attrs["ret_type"] == "both" else grad
    return [relay.scatter_elements(zeros_of(x), positions, by_values, axis, "update"), *[None] * len(rest)]


def _topk_te(call: Lowered) -> list[Tensor]:
    """Compute the k greatest elements and their indices: a few by selection, many by sorting all elements.
    A k below 1 means all.
    """
    k = call.attrs.k
    values, indices = _ordered(call, k if k is not None and k >= 1 else None)
    return {"both": [values, indices], "values": [values], "indices": [indices]}[call.attrs.ret_type]


TOPK_GRADIENT = Gradient(
    "each element of dy is moved back to its element's index: dx[π(i)] = dy[i], else 0", _topk_gradient
)


def _topk_layout(question: Question) -> Answer:
    old, attrs = question.old[0], question.attrs
    assert attrs is not None
    results = 2 if attrs["ret_type"] == "both" else 1
    if old is None or question.new is None:
        return unchanged(question, results)
    axis = moved(attrs["axis"], old, question.new[0])
    if axis is None:
        return unchanged(question, results)
    return alike(question.new[0], attrs.replace(axis=axis), results)


@_ordering(
    "topk",
    description="Finds the k largest or smallest elements along an axis, their indices, or both.",
    formula=r"y = (x_{\pi(0)}, \dots, x_{\pi(k - 1)}), \quad x_{\pi(i)} \ge x_{\pi(i + 1)}",
    relation=forward("TopK", "{out} = `k` elements of {0} along `axis`, their indices, or both", _topk),
    attrs=TopKAttrs,
    reference=_best,
    gradient=TOPK_GRADIENT,
    lowering=_topk_te,
    layout=_topk_layout,
    traits={Trait.SELECTION, Trait.SIZED_BY_VALUES},
    example=lambda build: build(X, 2),
    lenient_in_tvm="It allowed k to exceed the axis.",
)
def topk(
    data: Operand,
    k: int | Expr = 1,
    axis: int = -1,
    ret_type: str = "both",
    is_ascend: bool = False,
    dtype: object = "int32",
) -> Call | TupleWrapper:
    """Find the `k` greatest elements along `axis`, their indices, or, as a tuple, both."""
    if computed(k):
        name, operands, count = "dyn.topk", [data, k], None
    else:
        name, operands, count = "topk", [data], static_ints(k, "k")[0]
    result = call(name, operands, k=count, axis=axis, ret_type=ret_type, is_ascend=is_ascend, dtype=dtype)
    return TupleWrapper(result, 2) if ret_type == "both" else result


# -- searching a sorted sequence


def _searchsorted(attrs: Anything, sorted_sequence: Type, values: Type) -> Type:
    row, queries = tensor(sorted_sequence, 0, "sorted_sequence"), tensor(values, 1, "values")
    same_dtypes(row, queries)
    if not queries.shape or not row.shape:
        raise RelationError(
            f"searchsorted takes tensors of at least one axis, not {row} and {queries}",
            "relay.expand_dims makes a vector of a scalar",
            culprits=(0, 1),
        )
    if len(row.shape) > 1:
        agree = len(row.shape) == len(queries.shape)
        if not agree or not all(map(same_dim, row.shape[:-1], queries.shape[:-1])):
            raise RelationError(
                f"the sequences {show_shape(row.shape)} and the values {show_shape(queries.shape)} "
                "must agree on all axes but the last",
                "one sequence for all values is a vector",
                culprits=(0, 1),
            )
    return TensorType.of(queries.shape, attrs.dtype or "int32")


def _insertion_points(attrs: Anything, row: Array, values: Array) -> Array:
    result = np.empty(values.shape, element_type(attrs.dtype or "int32"))
    side = "right" if attrs.right else "left"
    for index in np.ndindex(values.shape[:-1]):
        result[index] = np.searchsorted(row[index] if row.ndim > 1 else row, values[index], side)
    return result


def _searchsorted_te(call: Lowered) -> list[Tensor]:
    """Search by bisection, each value in a parallel iteration of its own."""
    row, values = call.inputs
    dtype, shape = call.attrs.dtype or "int32", dims(values)
    size, right = dims(row)[-1], call.attrs.right

    def body(ins: Buffers, outs: Buffers) -> None:
        (sequence, queries), (result,) = ins, outs
        with together(product(shape)) as n:
            index = unravel(n, shape)
            value = queries[tuple(index)]
            lead = index[:-1] if len(row.shape) > 1 else []
            low, high = local(1, "int32"), local(1, "int32")
            low[0], high[0] = number(0, "int32"), int32(size)
            with repeat_while(low[0] < high[0]):
                middle = local(1, "int32")
                middle[0] = te.floordiv(low[0] + high[0], 2)
                here = sequence[(*lead, middle[0])]
                goes_on = tirx.Not(comes_before(value, here)) if right else comes_before(here, value)
                beyond = local(1, "bool")
                beyond[0] = goes_on
                with when(beyond[0]):
                    low[0] = middle[0] + 1
                with when(tirx.Not(beyond[0])):
                    high[0] = middle[0]
            result[tuple(index)] = cast(low[0], dtype)

    return loops([(shape, dtype)], [row, values], body, call.name)


@_ordering(
    "searchsorted",
    description="Finds the indices at which values would be inserted into a sorted sequence.",
    formula=r"s_{y_i - 1} < v_i \le s_{y_i}",
    relation=forward("SearchSorted", "{out} = an index into {0} for each element of {1}", _searchsorted),
    attrs_key="relay.attrs.SearchSortedAttrs",
    reference=_insertion_points,
    gradient=ZERO,
    lowering=_searchsorted_te,
    example=lambda build: build(V, t(3, name="w"), right=True),
    lenient_in_tvm="It did not compare the element types of the sequence and the values.",
)
def searchsorted(
    sorted_sequence: Operand,
    values: Operand,
    right: Annotated[
        bool, attr(False, "Whether the index after equal elements is returned, rather than that before.")
    ] = False,
    dtype: Annotated[
        object, attr("int32", "The element type of the indices.", kind="DType | None")
    ] = "int32",
) -> Call:
    """Find the index of each of `values` in `sorted_sequence`, which ascends along its last axis."""
