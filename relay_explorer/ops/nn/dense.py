"""The product of the data with the transpose of a weight matrix (units, input features)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from typing import Any as Anything

from ...ir.attrs import attr
from ...ir.declaration import Gradient, Precision, Trait
from ...ir.expr import Call, Expr, var
from ...ir.op import OpPattern, Relation, RelationError, Reporter, size_of
from ...ir.show import show_shape
from ...ir.types import IncompleteType, Shape, TensorType, Type
from ..arguments import Operand
from ..calls import relay
from ..examples import X
from ..gradient_tools import axis_count, extents
from ..layouts.images import dense as dense_layout
from ..operator import operator
from ..relation import same_dim, tensor
from ..te.lowered import Lowered
from ..te.matmul import products
from ..te.tensors import Tensor, dims, known
from .layout import many
from .product import OUT_DTYPE, as_operand, check_units, product, widened

__all__ = ["dense"]


def _relation(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Relate the types: inputs (…, k) and (units, k); output (…, units). A weight without a type gets one
    from `units`.
    """
    data, weight, out = types
    if isinstance(data, IncompleteType):
        return False
    data = tensor(data, 0, "data")
    shape = data.shape
    if not shape:
        raise RelationError(
            "the data is a scalar, but must have at least one axis, its features", culprits=(0,)
        )
    units, features = attrs.units, shape[-1]
    check_units(units)
    if isinstance(weight, TensorType):
        have = weight.shape
        if len(have) != 2 or (have[1] != features and not same_dim(have[1], features)):
            raise _wrong_weight(weight, shape, units)
        if units is None:
            units = have[0]
        elif have[0] != units and not same_dim(have[0], units):
            raise _wrong_weight(weight, shape, units)
    elif isinstance(weight, IncompleteType):
        if units is None:
            return False
        reporter.assign(weight, TensorType.of((units, features), data.dtype))
    else:
        tensor(weight, 1, "weight")
    reporter.assign(out, TensorType.of((*shape[:-1], units), attrs.out_dtype or data.dtype))
    return True


def _wrong_weight(weight: TensorType, shape: Shape, units: int | None) -> RelationError:
    """Return the error that explains why a weight does not fit data of this shape."""
    have, features = weight.shape, shape[-1]
    if len(have) != 2:
        return RelationError(
            f"the weight {show_shape(have)} has {many(len(have), 'axis', 'axes')}, but must have two, "
            "(units, input features)",
            f"for this data its shape is ({'units' if units is None else units}, {features})",
            culprits=(1,),
        )
    if same_dim(have[1], features):
        return RelationError(
            f"units={units}, but the weight {show_shape(have)} produces {have[0]} features",
            f"give units={have[0]}, or leave it out",
            culprits=(1,),
        )
    if units is None or same_dim(have[0], units):
        message = f"the data has {features} features, but the weight {show_shape(have)} takes {have[1]}"
    else:
        message = (
            f"{features} features and units={units} need a weight ({units}, {features}), not "
            f"{show_shape(have)}"
        )
    if have[0] == features and (units is None or same_dim(have[1], units)):
        help = (
            f"dense's weight is (units, input features): pass relay.transpose(weight), which is ({have[1]}, "
            f"{have[0]})"
        )
    else:
        help = f"a weight for this data has shape ({have[0] if units is None else units}, {features})"
    return RelationError(message, help, culprits=(0, 1))


def _flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """Count a multiplication and an addition for each output element and input feature."""
    data = inputs[0]
    features = data.shape[-1] if isinstance(data, TensorType) and data.shape else 1
    return 2 * size_of(output) * (features if isinstance(features, int) else 1)


def _gradient(call: Call, grad: Expr) -> list[Expr]:
    """Differentiate y = x wᵀ: dx = dy w and dw = dyᵀ x; leading axes of the data are one batch."""
    data, weight = call.args
    x, w = widened(data, call), widened(weight, call)
    by_data = relay.nn.dense(grad, relay.transpose(w))
    if axis_count(data) > 2:
        units, inner = extents(weight)
        x, grad = relay.reshape(x, (-1, inner)), relay.reshape(grad, (-1, units))
    by_weight = relay.nn.dense(relay.transpose(grad), relay.transpose(x))
    return [as_operand(by_data, call, 0), as_operand(by_weight, call, 1)]


def _dense_te(call: Lowered) -> list[Tensor]:
    x, weight = call.inputs
    lead, inner = dims(x)[:-1], dims(x)[-1]
    inner = dims(weight)[1] if known(inner) is None else inner
    shape = (*lead, dims(weight)[0])
    return products(call, shape, inner, lambda k, *i: (x(*i[:-1], k), weight(i[-1], k)))


@operator(
    "nn.dense",
    description="Multiplies by the transpose of a weight matrix (units, input features).",
    formula=r"y_{\ldots,j} = \sum_{k} x_{\ldots,k}\, w_{j,k}",
    family="matmul",
    level=1,
    relation=Relation("Dense", _relation, "{out} = {0} · {1}ᵀ"),
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=_flops,
    reference=lambda attrs, x, weight: product(attrs, x, weight.T),
    gradient=Gradient("dx = dy w, dw = dyᵀ x", _gradient),
    lowering=_dense_te,
    layout=dense_layout,
    precision=Precision.ALWAYS,
    traits={Trait.MULTIPLY_ADD, Trait.LINEAR_IN_WEIGHT},
    example=lambda build: build(X, var("w"), units=3),
    lenient_in_tvm="Without `units` it did not compare the inner dimensions of data and weight.",
)
def dense(
    data: Operand,
    weight: Operand,
    units: Annotated[
        int | None, attr(None, "The number of output features; by default the weight's.")
    ] = None,
    out_dtype: Annotated[str, attr("", OUT_DTYPE, kind="DType")] = "",
) -> Call:
    """Multiply `data` (…, k) by the transpose of `weight` (units, k): (…, units)."""
