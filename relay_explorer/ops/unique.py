"""Operators on vectors: distinct values (`unique`) and the inverse of a permutation."""

from __future__ import annotations

from typing import Any as Anything

from ..ir.attrs import Attrs, attr
from ..ir.declaration import NotApplicable, Precision, Trait
from ..ir.expr import Call
from ..ir.op import OpPattern, RelationError, no_flops
from ..ir.tuple_wrapper import TupleWrapper
from ..ir.types import TensorType, TupleType, Type
from .arguments import Operand
from .examples import V, ints
from .gradient_tools import ZERO
from .layouts.layout import NO_LAYOUT_RULE
from .numeric import Array, np
from .operator import call, operator
from .relation import forward, integers, tensor
from .te.imperative import Buffers, each, int32, local, loops, when
from .te.library import tirx
from .te.lowered import Lowered
from .te.sort import comes_before, order
from .te.tensors import Tensor, dims, dtype_of, every, number, some

__all__ = ["invert_permutation", "unique"]


def _invert_permutation(attrs: None, data: Type) -> Type:
    x = integers(data, 0, "data")
    if len(x.shape) != 1:
        raise RelationError(f"a permutation is a vector of indices, not {x}", culprits=(0,))
    return x


def _inverse(attrs: None, x: Array) -> Array:
    if sorted(x.tolist()) != list(range(len(x))):
        raise ValueError(f"the data is not a permutation of 0 to {len(x) - 1}")
    return np.argsort(x).astype(x.dtype)


def _invert_permutation_te(lowered: Lowered) -> list[Tensor]:
    """Invert the permutation; indices that are missing from the data leave zeros (the interpreter raises an
    error). TOPI has no such operator.
    """
    x = lowered.inputs[0]
    size, dtype = dims(x)[0], dtype_of(x)

    def body(ins: Buffers, outs: Buffers) -> None:
        (data,), (result,) = ins, outs
        with each(size) as i:
            result[i] = number(0, dtype)
        with each(size) as i:
            index = data[i].astype("int64")
            with when(every([index >= 0, index < size])):
                result[index] = i.astype(dtype)

    return loops([((size,), dtype)], [x], body, lowered.name)


@operator(
    "invert_permutation",
    description="Computes the inverse of a permutation.",
    formula=r"y_{x_i} = i",
    family="index",
    level=1,
    relation=forward("InvertPermutation", "{out} = {0}, a vector of integers", _invert_permutation),
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    reference=_inverse,
    gradient=ZERO,
    lowering=_invert_permutation_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(ints(4)),
    lenient_in_tvm="It accepted tensors of every shape and element type.",
)
def invert_permutation(data: Operand) -> Call:
    """Compute the inverse of the permutation `data`, a vector of the indices from 0."""


class UniqueAttrs(Attrs, key="relay.attrs.UniqueAttrs"):
    sorted: bool = attr(
        True, "Whether the values are in ascending order, rather than in that of their first appearance."
    )
    return_counts: bool = attr(False, "Whether the result includes how often each value appears.")


def _unique(attrs: UniqueAttrs, data: Type) -> Type:
    x = tensor(data, 0, "data")
    if len(x.shape) != 1:
        raise RelationError(
            f"unique takes a vector, not {x}", "relay.reshape(data, -1) makes one", culprits=(0,)
        )
    indices = TensorType.of(x.shape, "int32")
    fields = [x, indices, indices, TensorType.of((1,), "int32")]
    return TupleType([*fields, indices] if attrs.return_counts else fields)


def _distinct(attrs: UniqueAttrs, x: Array) -> tuple[Array, ...]:
    """Pad all results but the number of values with zeros to the length of `x`, which their types have."""
    values, first, inverse, counts = np.unique(x, True, True, True)
    if not attrs.sorted:
        order = np.argsort(first)
        values, first, counts = values[order], first[order], counts[order]
        inverse = np.argsort(order)[inverse]

    def filled(row: Array, dtype: object = "int32") -> Array:
        return np.pad(row, (0, len(x) - len(row))).astype(dtype)

    fields = [filled(values, x.dtype), filled(first), filled(inverse), np.array([len(values)], "int32")]
    return tuple([*fields, filled(counts)] if attrs.return_counts else fields)


def _unique_te(lowered: Lowered) -> list[Tensor]:
    """Find equal elements by a stable sort, which makes them adjacent and the first occurrence first."""
    x, attrs = lowered.inputs[0], lowered.attrs
    (size,), dtype = dims(x), dtype_of(x)
    ranked = order(x, 0, True, f"{lowered.name}_order")

    def body(ins: Buffers, outs: Buffers) -> None:
        (data, sorted_indices), (values, first, inverse, count, counts, ids) = ins, outs
        with each(size) as i:
            values[i], first[i] = number(0, dtype), number(0, "int32")
            counts[i], ids[i] = number(0, "int32"), number(0, "int32")
        groups = local(1, "int32")
        groups[0] = number(0, "int32")
        with each(size) as i:
            here, before = sorted_indices[0, i], sorted_indices[0, tirx.max(i - 1, 0)]
            with when(some([i == 0, comes_before(data[before], data[here])])):
                first[groups[0]] = here
                groups[0] = groups[0] + 1
            inverse[here] = groups[0] - 1
            counts[groups[0] - 1] = counts[groups[0] - 1] + 1
        count[0] = groups[0]
        if not attrs.sorted:
            _by_appearance(size, (first, inverse, counts, ids), groups)
        with each(groups[0]) as n:
            values[n] = data[first[n]]

    kinds = [((size,), dtype), ((size,), "int32"), ((size,), "int32"), ((1,), "int32")]
    tensors = loops([*kinds, ((size,), "int32"), ((2 * size,), "int32")], [x, ranked], body, lowered.name)
    return tensors[: 5 if attrs.return_counts else 4]


def _by_appearance(size: Anything, rows: tuple[Anything, ...], groups: Anything) -> None:
    """Renumber the values by their first appearance: `ids` has the new index of each, then space for a
    copy.
    """
    first, inverse, counts, ids = rows
    following = local(1, "int32")
    following[0] = number(0, "int32")
    with each(size) as i, when(first[inverse[i]] == int32(i)):
        ids[inverse[i]] = following[0]
        following[0] = following[0] + 1
    with each(size) as i:
        inverse[i] = ids[inverse[i]]
    for row in (first, counts):
        with each(groups[0]) as n:
            ids[size + ids[n]] = row[n]
        with each(groups[0]) as n:
            row[n] = ids[size + n]


@operator(
    "unique",
    description="Finds the distinct values of a vector, where each occurs first, and how many there are.",
    formula=r"\{\, v : v = x_i \text{ for some } i \,\}",
    family="index",
    level=3,
    relation=forward(
        "Unique",
        "{out} = (distinct values of {0}, first indices, each element's value, their number)",
        _unique,
    ),
    inputs=("data",),
    attrs=UniqueAttrs,
    pattern=OpPattern.OPAQUE,
    flops=no_flops,
    reference=_distinct,
    gradient=NotApplicable("the distinct values and their order do not change smoothly with the data"),
    lowering=_unique_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    traits={Trait.SIZED_BY_VALUES},
    example=lambda build: build(V, False, True),
)
def unique(data: Operand, is_sorted: bool = True, return_counts: bool = False) -> TupleWrapper:
    """Return the distinct values of `data`, the index of the first occurrence of each, for each element the
    index of its value, and the number of distinct values.
    """
    result = call("unique", [data], sorted=is_sorted, return_counts=return_counts)
    return TupleWrapper(result, 5 if return_counts else 4)
