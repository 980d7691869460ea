"""Dropout, which is the identity when a program is run rather than trained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from typing import Any as Anything

from ...ir.attrs import attr
from ...ir.declaration import Gradient, Precision, Trait
from ...ir.expr import Call, Expr
from ...ir.op import Relation, RelationError, Reporter
from ...ir.tuple_wrapper import TupleWrapper
from ...ir.types import IncompleteType, TupleType, Type
from ..arguments import Operand
from ..cost import operations_per_input
from ..examples import X
from ..gradient_tools import field_of
from ..layouts.same import dropout_layout
from ..numeric import np
from ..operator import operator
from ..relation import tensor
from ..te.lowered import Lowered
from ..te.tensors import Tensor, dtype_of, number, stage

__all__ = ["dropout", "dropout_raw"]


def _relation(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Relate the types: the output is a pair, both like the input."""
    data, out = types
    if isinstance(data, IncompleteType):
        return False
    data = tensor(data, 0, "data")
    if not 0 <= attrs.rate < 1:
        raise RelationError(
            f"rate={attrs.rate} must be at least 0 and less than 1",
            "it is the share of elements that are dropped",
        )
    reporter.assign(out, TupleType((data, data)))
    return True


def _gradient(call: Call, grad: Expr) -> list[Expr | None]:
    """Differentiate as in inference, where nothing is dropped: return the derivative of the first field of
    the result.
    """
    return [field_of(grad, 0)]


def _dropout_te(call: Lowered) -> list[Tensor]:
    """Return the data unchanged, because a compiled program is run rather than trained, and a mask of
    ones.
    """
    x = call.inputs[0]
    return [x, stage(x.shape, lambda *i: number(1, dtype_of(x)), call.name)]


@operator(
    "nn.dropout",
    description=(
        "Drops elements at random in training; here, as in inference, returns the data and a mask of ones."
    ),
    formula=r"y = \frac{m\, x}{1 - r}, \quad m \sim \mathrm{Bernoulli}(1 - r)",
    family="training",
    level=1,
    relation=Relation("Dropout", _relation, "{out} = ({0}, {0})"),
    flops=operations_per_input(2),  # times the mask, times the scale
    reference=lambda attrs, x: (x, np.ones_like(x)),
    gradient=Gradient("dx = dy: dropout is the identity in inference", _gradient),
    lowering=_dropout_te,
    layout=dropout_layout,
    precision=Precision.FOLLOW,
    traits={Trait.DIFFERS_IN_TRAINING},
    example=lambda build: build(X, 0.25),
    lenient_in_tvm="It accepted any rate.",
)
def dropout_raw(
    data: Operand,
    rate: Annotated[float, attr(0.5, "The share of elements that are dropped while training.")] = 0.5,
) -> Call:
    """Return `data` and a mask of ones, as in inference; training would drop the fraction `rate` of the
    elements.
    """


def dropout(data: Operand, rate: float = 0.5) -> Expr:
    """Mark where training would drop the fraction `rate` of the elements of `data`."""
    return TupleWrapper(dropout_raw(data, rate), 2)[0]
