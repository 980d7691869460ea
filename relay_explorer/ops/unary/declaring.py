"""Shared declarations of element-wise operators of one tensor."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any as Anything
from typing import ParamSpec, TypeVar

from ...ir.declaration import Gradient, NotApplicable, Precision, Trait
from ...ir.expr import Expr
from ...ir.op import Flops, OpPattern, Relation, flops_per_output
from ...ir.types import TensorType, Type
from ..examples import bools, ints, t
from ..layouts.layout import LayoutRule
from ..layouts.same import elementwise_layout
from ..numeric import Array, is_float, np
from ..operator import operator
from ..relation import IDENTITY, forward, tensor
from ..te.lowered import Lowering

P = ParamSpec("P")
R = TypeVar("R")


def _tested(attrs: None, data: Type) -> Type:
    return TensorType.of(tensor(data, 0, "data").shape, "bool")


TEST = forward("IdentityComp", "{out} = bool of {0}", _tested)


def whole(rounded: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Wrap a rounding so that it leaves integers unchanged."""
    return lambda x: rounded(x) if is_float(x) else x


def erf_of(x: Array) -> Array:
    values = map(math.erf, x.reshape(-1).tolist())  # NumPy has no error function
    return np.fromiter(values, "float64", x.size).reshape(x.shape)


def _example(relation: Relation) -> Callable[[Callable[..., Anything]], Expr]:
    """Make the example: a call with an operand of the element type that the relation requires."""
    formula = relation.formula
    variable = bools if "boolean" in formula else ints if "integer" in formula else t
    return lambda build: build(variable(6, name="a0"))


def unary(
    name: str,
    *,
    description: str,
    formula: str,
    reference: Callable[[Array], Array],
    gradient: Gradient | NotApplicable,
    lowering: Lowering,
    level: int = 1,
    family: str = "arithmetic",
    relation: Relation = IDENTITY,
    flops: Flops = flops_per_output,
    lenient_in_tvm: str = "",
    layout: LayoutRule | NotApplicable = elementwise_layout,
    precision: Precision = Precision.UNLISTED,
    traits: Iterable[Trait] = (),
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare an element-wise operator of one tensor (see `operator`).

    The result of `reference`, a function of the data, is converted to the data's element type (to bool for a
    TEST).
    """

    def value(attrs: None, x: Array) -> Array:
        return np.asarray(reference(x)).astype(bool if relation is TEST else x.dtype, copy=False)

    return operator(
        name,
        description=description,
        formula=formula,
        family=family,
        level=level,
        relation=relation,
        pattern=OpPattern.ELEMENTWISE,
        flops=flops,
        reference=value,
        gradient=gradient,
        lowering=lowering,
        layout=layout,
        precision=precision,
        traits=traits,
        example=_example(relation),
        lenient_in_tvm=lenient_in_tvm,
    )
