"""Einstein summation: products of tensors summed over the axes that share a letter."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters

from ..ir.attrs import Attrs, required
from ..ir.expr import Call, Expr
from ..ir.op import OpPattern, RelationError
from ..ir.show import show_shape
from ..ir.tuple_wrapper import TupleWrapper
from ..ir.types import Dim, TensorType, TupleType, Type
from .arguments import tuple_expr
from .declare import declare
from .numeric import Array, np
from .relation import forward, meet_dims, same_dim, same_dtypes, tensor_fields

__all__ = ["einsum", "equation_terms"]


class EinsumAttrs(Attrs, key="relay.attrs.EinsumAttrs"):
    equation: str = required(
        'One letter an axis, a comma between tensors, the result after "->": "ij,jk->ik". '
        '"..." stands for all axes without a letter.'
    )


ELLIPSIS = "..."


def equation_terms(equation: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The letters of each tensor and of the result; without "->", the letters that occur once, in their
    order. An ellipsis becomes the letters of the axes that it stands for: the last of them are the same for
    all tensors of these `ranks`.
    """
    given, arrow, result = equation.replace(" ", "").partition("->")
    terms = given.split(",")
    if ELLIPSIS in given:
        free = [c for c in ascii_letters if c not in given + result]
        many = [max(0, rank - len(term) + 3) for rank, term in zip(ranks, terms) if ELLIPSIS in term]
        all_of_it = "".join(free[: max(many, default=0)])
        if not arrow:
            once = "".join(sorted(c for c in set(given) if c.isalpha() and given.count(c) == 1))
            arrow, result = "->", ELLIPSIS + once
        for number, (rank, term) in enumerate(zip(ranks, terms)):
            axes = max(0, rank - len(term) + 3)
            terms[number] = term.replace(ELLIPSIS, all_of_it[len(all_of_it) - axes :], 1)
        result = result.replace(ELLIPSIS, all_of_it, 1)
    letters = "".join(terms)
    if not all(c.isascii() and c.isalpha() for c in letters + result):
        raise RelationError(
            f'the equation "{equation[:60]}" may hold letters, commas, one -> and one ... a tensor',
            'name every axis by a letter, as in "bij,bjk->bik", or some by dots: "...ij,...jk->...ik"',
        )
    if not arrow:
        result = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    strange = [c for c in result if c not in letters or result.count(c) > 1]
    if strange:
        raise RelationError(
            f'"{strange[0]}" stands in the result of "{equation[:60]}" twice, or in no tensor'
        )
    return terms, result


def _extents(terms: list[str], fields: Sequence[TensorType]) -> dict[str, Dim]:
    """The extent that each letter stands for."""
    if len(terms) != len(fields):
        raise RelationError(
            f"the equation speaks of {len(terms)} tensors, but the tuple has {len(fields)}", culprits=(0,)
        )
    extents: dict[str, Dim] = {}
    for number, (term, field) in enumerate(zip(terms, fields, strict=True)):
        same_dtypes(fields[0], field, (0,))
        if len(term) != len(field.shape):
            raise RelationError(
                f'"{term}" names {len(term)} axes, but field {number} of the tuple is '
                f"{show_shape(field.shape)}",
                "give one letter an axis",
                culprits=(0,),
            )
        for letter, dim in zip(term, field.shape, strict=True):
            before = extents.setdefault(letter, dim)
            if not same_dim(before, dim):
                raise RelationError(
                    f'"{letter}" is {before} in one place and {dim} in field {number} of the tuple',
                    culprits=(0,),
                )
            extents[letter] = meet_dims(before, dim)
    return extents


def _einsum(attrs: EinsumAttrs, data: Type) -> Type:
    fields = tensor_fields(data, "einsum")
    terms, result = equation_terms(attrs.equation, [len(field.shape) for field in fields])
    extents = _extents(terms, fields)
    return TensorType.of(tuple([extents[letter] for letter in result]), fields[0].dtype)


def _flops(attrs: EinsumAttrs, inputs: Sequence[Type], output: Type) -> int:
    """One multiplication for every tensor but the first, and one addition, for each choice of all indices."""
    assert isinstance(inputs[0], TupleType)
    fields = tensor_fields(inputs[0], "einsum")
    terms, result = equation_terms(attrs.equation, [len(field.shape) for field in fields])
    extents = _extents(terms, fields)
    places = 1
    for dim in extents.values():
        places *= dim if isinstance(dim, int) else 1
    return places * (len(fields) - 1 + (len(result) < len(extents)))


def _summed(attrs: EinsumAttrs, data: tuple[Array, ...]) -> Array:
    terms, result = equation_terms(attrs.equation, [array.ndim for array in data])
    return np.einsum(f"{','.join(terms)}->{result}", *data)


_EINSUM = declare(
    "einsum",
    "The product of tensors, axes of one letter identified, summed over the letters that the result lacks.",
    formula=r"y_{i k} = \sum_j a_{i j}\, b_{j k} \quad \text{for } \texttt{ij,jk->ik}",
    relation=forward("Einsum", "{out} has the axes that the equation names of {0}", _einsum),
    attrs=EinsumAttrs,
    pattern=OpPattern.INJECTIVE,
    flops=_flops,
    family="matmul",
    level=1,
    lenient_in_tvm="It broadcast axes of extent 1.",
    compute=_summed,
    gradient="products.einsum",
    lowering="matmul.einsum",
)


def einsum(data: Expr | Sequence[Expr] | TupleWrapper, equation: str) -> Expr:
    """The tensors of `data` multiplied and summed as `equation` says: "ij,jk->ik" is the matrix product."""
    return Call(_EINSUM, [tuple_expr(data, "einsum")], EinsumAttrs(equation=equation))
