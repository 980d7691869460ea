"""Shared declarations of operators on two broadcast tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any as Anything
from typing import ParamSpec, TypeVar

from ...ir.declaration import Gradient, NotApplicable, Precision, Trait
from ...ir.expr import Expr
from ...ir.op import OpPattern, Relation, flops_per_output
from ..examples import bools, ints, t
from ..gradient_tools import ZERO
from ..layouts.layout import LayoutRule
from ..layouts.same import broadcast_layout
from ..numeric import Array, np
from ..operator import operator
from ..relation import (
    BROADCAST,
    BROADCAST_COMPARE,
)
from ..te.lowered import Lowering

P = ParamSpec("P")
R = TypeVar("R")


def _example(relation: Relation) -> Callable[[Callable[..., Anything]], Expr]:
    """Make the example: a call with operands of the element type that the relation requires."""
    formula = relation.formula
    variable = bools if "boolean" in formula else ints if "integer" in formula else t
    return lambda build: build(variable(6, name="a0"), variable(6, name="a1"))


def compared(
    name: str,
    *,
    description: str,
    formula: str,
    reference: Callable[[Array, Array], Array],
    lowering: Lowering,
    gradient: Gradient = ZERO,
    family: str = "comparison",
    level: int = 4,
    relation: Relation = BROADCAST_COMPARE,
    lenient_in_tvm: str = "",
    layout: LayoutRule | NotApplicable = broadcast_layout,
    precision: Precision = Precision.UNLISTED,
    traits: Iterable[Trait] = (),
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare an operator on two broadcast tensors that yields booleans (see `operator`)."""
    return operator(
        name,
        description=description,
        formula=formula,
        family=family,
        level=level,
        relation=relation,
        pattern=OpPattern.BROADCAST,
        flops=flops_per_output,
        reference=lambda attrs, x, y: reference(x, y),
        gradient=gradient,
        lowering=lowering,
        layout=layout,
        precision=precision,
        traits={Trait.PAIRWISE, *traits},
        example=_example(relation),
        lenient_in_tvm=lenient_in_tvm,
    )


def binary(
    name: str,
    *,
    description: str,
    formula: str,
    reference: Callable[[Array, Array], Array],
    lowering: Lowering,
    gradient: Gradient,
    level: int = 4,
    relation: Relation = BROADCAST,
    lenient_in_tvm: str = "",
    precision: Precision = Precision.UNLISTED,
    traits: Iterable[Trait] = (),
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare an arithmetic operator on two broadcast tensors (see `operator`).

    The result of `reference`, a function of the two arrays, is converted to their element type.
    """

    def value(x: Array, y: Array) -> Array:
        return np.asarray(reference(x, y)).astype(x.dtype, copy=False)

    return compared(
        name,
        description=description,
        formula=formula,
        reference=value,
        lowering=lowering,
        gradient=gradient,
        family="arithmetic",
        level=level,
        relation=relation,
        lenient_in_tvm=lenient_in_tvm,
        precision=precision,
        traits=traits,
    )
