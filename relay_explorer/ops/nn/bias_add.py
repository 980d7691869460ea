"""The bias of a layer: a vector added along one axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from typing import Any as Anything

from ...ir.attrs import attr
from ...ir.declaration import Gradient, Precision
from ...ir.expr import Call, Expr, var
from ...ir.op import OpPattern, Relation, Reporter, flops_per_output
from ...ir.types import IncompleteType, Type
from ..arguments import Operand
from ..calls import relay
from ..examples import IMAGE
from ..layouts.layout import NO_LAYOUT_RULE
from ..numeric import along
from ..operator import operator
from ..relation import normal_axis, tensor
from ..te.lowered import Lowered
from ..te.tensors import Tensor, stage
from .vector import axis_vector

__all__ = ["bias_add"]


def _relation(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Relate the types: inputs of any shape and (d), for an axis of length d; the output is like the first
    input.
    """
    data, bias, out = types
    if isinstance(data, IncompleteType):
        return False
    data = tensor(data, 0, "data")
    axis_vector(bias, 1, "the bias", data, normal_axis(attrs.axis, len(data.shape), "bias_add"), reporter)
    reporter.assign(out, data)
    return True


def _bias_add_te(call: Lowered) -> list[Tensor]:
    from ..te.binary import plus  # imported late: its tables hold functions of TVM

    x, bias = call.inputs
    axis = call.attrs.axis % len(x.shape)
    return [stage(x.shape, lambda *i: plus(x(*i), bias(i[axis])), call.name)]


def _gradient(call: Call, grad: Expr) -> list[Expr]:
    assert call.attrs is not None
    return [grad, relay.sum(grad, call.attrs["axis"], exclude=True)]


@operator(
    "nn.bias_add",
    description="Adds a vector along one axis.",
    formula=r"y_{\ldots,c,\ldots} = x_{\ldots,c,\ldots} + b_{c}",
    family="arithmetic",
    level=1,
    relation=Relation("BiasAdd", _relation, "{out} = {0}; {1} is a vector along the axis"),
    pattern=OpPattern.BROADCAST,
    flops=flops_per_output,
    reference=lambda attrs, x, bias: x + along(bias, attrs.axis, x.ndim),
    gradient=Gradient("dx = dy, db = dy summed over all other axes", _gradient),
    lowering=_bias_add_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.FOLLOW,
    example=lambda build: build(IMAGE, var("b")),
)
def bias_add(
    data: Operand,
    bias: Operand,
    axis: Annotated[int, attr(1, "The axis of the data to which the bias is added.")] = 1,
) -> Call:
    """Add `bias`, a vector as long as the data's `axis`, to `data`."""
