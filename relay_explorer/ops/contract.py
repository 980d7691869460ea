"""Einstein summation: products of tensors, summed over the axes whose letters the result lacks."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters
from typing import Annotated
from typing import Any as Anything

from ..ir.attrs import required
from ..ir.declaration import Gradient, Precision
from ..ir.errors import RelayError
from ..ir.expr import Call, Expr, Tuple
from ..ir.op import OpPattern, RelationError
from ..ir.show import show_shape
from ..ir.typed import tensor_type
from ..ir.types import Dim, TensorType, TupleType, Type
from .arguments import Operands
from .calls import relay
from .examples import X, t
from .gradient_tools import extents, typed_field
from .layouts.layout import NO_LAYOUT_RULE
from .numeric import Array, np
from .operator import operator
from .relation import forward, meet_dims, same_dim, same_dtypes, tensor_fields
from .te.lowered import Lowered
from .te.tensors import Tensor, Value, cast, dims, dtype_of, known, reduce_axes, sum_type, summed

__all__ = ["einsum", "equation_terms"]

ELLIPSIS = "..."


def equation_terms(equation: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """Return the letters of each operand and of the result. Without "->", the result has the letters that
    occur once, in alphabetical order. An ellipsis is replaced by letters for the axes that it stands for,
    aligned at the last: the operands, which have these `ranks`, share the last of these letters.
    """
    inputs, arrow, result = equation.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if ELLIPSIS in inputs:
        free = [c for c in ascii_letters if c not in inputs + result]
        many = [max(0, rank - len(term) + 3) for rank, term in zip(ranks, terms) if ELLIPSIS in term]
        all_of_it = "".join(free[: max(many, default=0)])
        if not arrow:
            once = "".join(sorted(c for c in set(inputs) if c.isalpha() and inputs.count(c) == 1))
            arrow, result = "->", ELLIPSIS + once
        for number, (rank, term) in enumerate(zip(ranks, terms)):
            axes = max(0, rank - len(term) + 3)
            terms[number] = term.replace(ELLIPSIS, all_of_it[len(all_of_it) - axes :], 1)
        result = result.replace(ELLIPSIS, all_of_it, 1)
    letters = "".join(terms)
    if not all(c.isascii() and c.isalpha() for c in letters + result):
        raise RelationError(
            f'the equation "{equation[:60]}" may contain letters, commas, one -> and one ... per tensor',
            'name every axis by a letter, as in "bij,bjk->bik", or some by dots: "...ij,...jk->...ik"',
        )
    if not arrow:
        result = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    strange = [c for c in result if c not in letters or result.count(c) > 1]
    if strange:
        raise RelationError(
            f'"{strange[0]}" occurs in the result of "{equation[:60]}" twice, or in no tensor'
        )
    return terms, result


def _extents(terms: list[str], fields: Sequence[TensorType]) -> dict[str, Dim]:
    """Return the extent of each letter's axes."""
    if len(terms) != len(fields):
        raise RelationError(
            f"the equation has {len(terms)} tensors, but the tuple has {len(fields)}", culprits=(0,)
        )
    extents: dict[str, Dim] = {}
    for number, (term, field) in enumerate(zip(terms, fields, strict=True)):
        same_dtypes(fields[0], field, (0,))
        if len(term) != len(field.shape):
            raise RelationError(
                f'"{term}" names {len(term)} axes, but field {number} of the tuple is '
                f"{show_shape(field.shape)}",
                "give one letter per axis",
                culprits=(0,),
            )
        for letter, dim in zip(term, field.shape, strict=True):
            before = extents.setdefault(letter, dim)
            if not same_dim(before, dim):
                raise RelationError(
                    f'"{letter}" is {before} in one tensor and {dim} in field {number} of the tuple',
                    culprits=(0,),
                )
            extents[letter] = meet_dims(before, dim)
    return extents


def _einsum(attrs: Anything, data: Type) -> Type:
    fields = tensor_fields(data, "einsum")
    terms, result = equation_terms(attrs.equation, [len(field.shape) for field in fields])
    extents = _extents(terms, fields)
    return TensorType.of(tuple([extents[letter] for letter in result]), fields[0].dtype)


def _flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """Count one multiplication for every tensor but the first, and one addition where an axis is summed, for
    each combination of all indices.
    """
    assert isinstance(inputs[0], TupleType)
    fields = tensor_fields(inputs[0], "einsum")
    terms, result = equation_terms(attrs.equation, [len(field.shape) for field in fields])
    extents = _extents(terms, fields)
    places = 1
    for dim in extents.values():
        places *= dim if isinstance(dim, int) else 1
    return places * (len(fields) - 1 + (len(result) < len(extents)))


def _products_summed(attrs: Anything, data: tuple[Array, ...]) -> Array:
    terms, result = equation_terms(attrs.equation, [array.ndim for array in data])
    return np.einsum(f"{','.join(terms)}->{result}", *data)


def _einsum_gradient(call: Call, grad: Expr) -> list[Expr]:
    """Return the derivatives of an einsum. The derivative by an operand is the einsum of the result's
    gradient with all other operands, broadcast along axes that only this operand has and that were summed.
    """
    (fields,) = call.args
    assert call.attrs is not None
    assert isinstance(fields.checked_type, TupleType)
    tensors = [typed_field(fields, k) for k in range(len(fields.checked_type.fields))]
    ranks = [len(tensor_type(tensor).shape) for tensor in tensors]
    terms, result = equation_terms(call.attrs["equation"], ranks)
    derivatives = []
    for number, (tensor, term) in enumerate(zip(tensors, terms, strict=True)):
        others = [*terms[:number], *terms[number + 1 :]]
        remaining = "".join(c for c in term if c in result or any(c in other for other in others))
        if len(set(term)) < len(term):
            raise _diagonal(call)
        equation = f"{','.join([result, *others])}->{remaining}"
        by: Expr = relay.einsum([grad, *tensors[:number], *tensors[number + 1 :]], equation)
        for axis, letter in enumerate(term):
            if letter not in remaining:
                by = relay.expand_dims(by, axis)
        derivatives.append(by if remaining == term else relay.broadcast_to(by, extents(tensor)))
    return [Tuple(derivatives)]


def _diagonal(call: Call) -> Exception:
    return RelayError(
        "the gradient of `einsum` does not support tensors whose term repeats a letter, as in "
        f'"{call.attrs["equation"]:.60}"'
        if call.attrs is not None
        else "",
        call.span,
        help=["take the diagonal first, with gather_nd"],
    )


def _einsum_te(call: Lowered) -> list[Tensor]:
    """Lower an einsum in which every axis has a letter, because ellipses have been expanded."""
    tensors = call.inputs[0]
    terms, result = equation_terms(call.attrs.equation, [len(dims(x)) for x in tensors])
    sizes: dict[str, Anything] = {}
    for term, x in zip(terms, tensors, strict=True):
        for letter, dim in zip(term, dims(x), strict=True):
            if letter not in sizes or known(sizes[letter]) is None:
                sizes[letter] = dim
    folded = [letter for letter in sizes if letter not in result]
    dtype = dtype_of(tensors[0])
    axes = dict(zip(folded, reduce_axes([sizes[letter] for letter in folded]), strict=True))

    def value(*i: Value) -> Value:
        at = {**axes, **dict(zip(result, i, strict=True))}
        result_: Anything = None
        for term, x in zip(terms, tensors, strict=True):
            factor = cast(x(*[at[letter] for letter in term]), sum_type(dtype))
            result_ = factor if result_ is None else result_ * factor
        return result_

    return [summed([sizes[letter] for letter in result], value, list(axes.values()), dtype, call.name)]


@operator(
    "einsum",
    description=(
        "Multiplies tensors whose axes are named by letters and sums over the letters absent from the result."
    ),
    formula=r"y_{i k} = \sum_j a_{i j}\, b_{j k} \quad \text{for } \texttt{ij,jk->ik}",
    family="matmul",
    level=1,
    relation=forward(
        "Einsum",
        "{out} has an axis for each letter of the result in `equation`, with its extent in {0}",
        _einsum,
    ),
    pattern=OpPattern.INJECTIVE,
    flops=_flops,
    reference=_products_summed,
    gradient=Gradient(
        "for each tensor, dy times all other tensors, summed over the letters that the tensor lacks",
        _einsum_gradient,
    ),
    lowering=_einsum_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build([X, t(6, 3, name="m")], "ij,jk->ik"),
    lenient_in_tvm="It broadcast axes of extent 1.",
)
def einsum(
    data: Operands,
    equation: Annotated[
        str,
        required(
            'One letter per axis, a comma between tensors, the result after "->": "ij,jk->ik". '
            '"..." stands for all axes without a letter.'
        ),
    ],
) -> Call:
    """Multiply and sum the tensors of `data` according to `equation`: "ij,jk->ik" is the matrix product."""
