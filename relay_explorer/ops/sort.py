"""Sorting and searching."""

from __future__ import annotations

from ..ir.attrs import Attrs, DType, attr, required
from ..ir.expr import Call, Expr
from ..ir.op import Compute, Op, OpPattern, Relation, RelationError, no_flops
from ..ir.show import show_shape
from ..ir.tuple_wrapper import TupleWrapper
from ..ir.types import TensorType, TupleType, Type
from .arguments import computed, expr, static_ints
from .declare import declare
from .numeric import Array, element_type, np
from .relation import forward, normal_axis, same_dim, same_dtypes, tensor

__all__ = ["argsort", "searchsorted", "sort", "topk"]


def _sorts(
    name: str,
    description: str,
    formula: str,
    relation: Relation,
    attrs: type[Attrs],
    inputs: tuple[str, ...] = ("data",),
    *,
    compute: Compute,
    lenient_in_tvm: str = "",
    gradient: str = "",
) -> Op:
    """Declares an operator that compares elements, which is not counted as floating-point work."""
    return declare(
        name,
        description,
        formula=formula,
        relation=relation,
        inputs=inputs,
        attrs=attrs,
        pattern=OpPattern.OPAQUE,
        flops=no_flops,
        compute=compute,
        family="index",
        level=6,
        lenient_in_tvm=lenient_in_tvm,
        gradient=gradient,
        lowering=f"sort.{name}",
    )


class ArgsortAttrs(Attrs, key="relay.attrs.ArgsortAttrs"):
    axis: int = attr(-1, "The axis along which elements are ordered.")
    is_ascend: bool = attr(True, "Whether the least comes first.")
    dtype: DType | None = attr(None, "The element type of the positions; None is int32.")


class TopKAttrs(Attrs, key="relay.attrs.TopkAttrs"):
    k: int | None = required("How many elements are chosen; all of them where less than 1.")
    axis: int = attr(-1, "The axis along which elements are chosen.")
    ret_type: str = attr("both", '"both" (a tuple), "values" or "indices".')
    is_ascend: bool = attr(False, "Whether the least are chosen, rather than the greatest.")
    dtype: DType | None = attr(None, "The element type of the positions; None is int32.")


class SearchSortedAttrs(Attrs, key="relay.attrs.SearchSortedAttrs"):
    right: bool = attr(False, "Whether the place after equal elements is given, rather than that before.")
    dtype: DType | None = attr("int32", "The element type of the positions.")


def _sort(attrs: ArgsortAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    normal_axis(attrs.axis, len(x.shape), "sort")
    return x


def _argsort(attrs: ArgsortAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    normal_axis(attrs.axis, len(x.shape), "argsort")
    return TensorType.of(x.shape, attrs.dtype or "int32")


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
            f"the {attrs.k} greatest are asked for, but axis {axis} of {show_shape(x.shape)} has {extent}",
            culprits=(0,),
        )
    else:
        chosen = attrs.k
    shape = (*x.shape[:axis], chosen, *x.shape[axis + 1 :])
    values, indices = TensorType.of(shape, x.dtype), TensorType.of(shape, attrs.dtype or "int32")
    return {"both": TupleType([values, indices]), "values": values, "indices": indices}[attrs.ret_type]


def _searchsorted(attrs: SearchSortedAttrs, sorted_sequence: Type, values: Type) -> Type:
    row, asked = tensor(sorted_sequence, 0, "sorted_sequence"), tensor(values, 1, "values")
    same_dtypes(row, asked)
    if not asked.shape or not row.shape:
        raise RelationError(
            f"searchsorted takes tensors of at least one axis, not {row} and {asked}",
            "relay.expand_dims makes a vector of a single number",
            culprits=(0, 1),
        )
    if len(row.shape) > 1:
        agree = len(row.shape) == len(asked.shape)
        if not agree or not all(map(same_dim, row.shape[:-1], asked.shape[:-1])):
            raise RelationError(
                f"the sequences {show_shape(row.shape)} and the values {show_shape(asked.shape)} "
                "must agree on all axes but the last",
                "one sequence for all values is a vector",
                culprits=(0, 1),
            )
    return TensorType.of(asked.shape, attrs.dtype or "int32")


def _order(x: Array, axis: int, is_ascend: bool) -> Array:
    """The positions of the elements in order; equal ones stay in theirs."""
    if is_ascend:
        return np.argsort(x, axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(np.argsort(np.flip(x, axis), axis, kind="stable"), axis)


def _best(attrs: TopKAttrs, x: Array) -> Array | tuple[Array, Array]:
    count = attrs.k if attrs.k is not None and attrs.k >= 1 else x.shape[attrs.axis]
    if count > x.shape[attrs.axis]:
        raise ValueError(f"the {count} first are asked for, but the axis has {x.shape[attrs.axis]}")
    chosen = np.take(_order(x, attrs.axis, attrs.is_ascend), range(count), attrs.axis)
    values = np.take_along_axis(x, chosen, attrs.axis)
    indices = chosen.astype(element_type(attrs.dtype or "int32"))
    return {"both": (values, indices), "values": values, "indices": indices}[attrs.ret_type]


def _places(attrs: SearchSortedAttrs, row: Array, values: Array) -> Array:
    found = np.empty(values.shape, element_type(attrs.dtype or "int32"))
    side = "right" if attrs.right else "left"
    for at in np.ndindex(values.shape[:-1]):
        found[at] = np.searchsorted(row[at] if row.ndim > 1 else row, values[at], side)
    return found


_ORDERED = r"y_i = x_{\pi(i)}, \quad y_i \le y_{i + 1}"
_LAXER = "It did not check that the tensor has the axis."
_SORT = _sorts(
    "sort",
    "The elements in order along an axis.",
    _ORDERED,
    forward("Sort", "{out} = {0}", _sort),
    ArgsortAttrs,
    lenient_in_tvm=_LAXER,
    compute=lambda attrs, x: np.take_along_axis(x, _order(x, attrs.axis, attrs.is_ascend), attrs.axis),
    gradient="indexing.sort",
)
_ARGSORT = _sorts(
    "argsort",
    "The positions that would put the elements in order along an axis.",
    r"y = \pi, \quad x_{\pi(i)} \le x_{\pi(i + 1)}",
    forward("Argsort", "{out} = positions in {0}", _argsort),
    ArgsortAttrs,
    lenient_in_tvm=_LAXER,
    compute=lambda attrs, x: _order(x, attrs.axis, attrs.is_ascend).astype(
        element_type(attrs.dtype or "int32")
    ),
    gradient="elementwise.none",
)
_TOPK = _sorts(
    "topk",
    "The k greatest elements along an axis, and their positions.",
    r"y = (x_{\pi(0)}, \dots, x_{\pi(k - 1)}), \quad x_{\pi(i)} \ge x_{\pi(i + 1)}",
    forward("TopK", "{out} = `k` of {0} along `axis`", _topk),
    TopKAttrs,
    lenient_in_tvm="It let k exceed the axis.",
    compute=_best,
    gradient="indexing.topk",
)
_SEARCHSORTED = _sorts(
    "searchsorted",
    "The places in a sorted sequence where values belong.",
    r"s_{y_i - 1} < v_i \le s_{y_i}",
    forward("SearchSorted", "{out} = a place in {0} for each of {1}", _searchsorted),
    SearchSortedAttrs,
    ("sorted_sequence", "values"),
    lenient_in_tvm="It did not compare the element types of the sequence and the values.",
    compute=_places,
    gradient="elementwise.none",
)


def sort(data: Expr, axis: int = -1, is_ascend: bool = True) -> Expr:
    """The elements of `data` in order along `axis`."""
    return Call(_SORT, [expr(data)], ArgsortAttrs(axis=axis, is_ascend=is_ascend))


def argsort(data: Expr, axis: int = -1, is_ascend: bool = True, dtype: object = "int32") -> Expr:
    """The positions that would put the elements of `data` in order along `axis`."""
    return Call(_ARGSORT, [expr(data)], ArgsortAttrs(axis=axis, is_ascend=is_ascend, dtype=dtype))


def topk(
    data: Expr,
    k: int | Expr = 1,
    axis: int = -1,
    ret_type: str = "both",
    is_ascend: bool = False,
    dtype: object = "int32",
) -> Expr | TupleWrapper:
    """The `k` greatest elements along `axis`, their positions, or, as a tuple, both."""
    if computed(k):
        dynamic = TopKAttrs(k=None, axis=axis, ret_type=ret_type, is_ascend=is_ascend, dtype=dtype)
        found = Call(Op.get("dyn.topk"), [expr(data), expr(k)], dynamic)
        return TupleWrapper(found, 2) if ret_type == "both" else found
    attrs = TopKAttrs(
        k=static_ints(k, "k")[0], axis=axis, ret_type=ret_type, is_ascend=is_ascend, dtype=dtype
    )
    call = Call(_TOPK, [expr(data)], attrs)
    return TupleWrapper(call, 2) if ret_type == "both" else call


def searchsorted(sorted_sequence: Expr, values: Expr, right: bool = False, dtype: object = "int32") -> Expr:
    """For each of `values` where it belongs in `sorted_sequence`, which rises along its last axis."""
    attrs = SearchSortedAttrs(right=right, dtype=dtype)
    return Call(_SEARCHSORTED, [expr(sorted_sequence), expr(values)], attrs)
