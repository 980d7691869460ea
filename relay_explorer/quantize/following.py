"""What schemes annotate alike: layers, and the operators through which integers flow.

`layer` quantizes a product's operands. `follow` lets operators that move, compare or add quantized values
work on the integers as well, so that they are not converted to floats between two layers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..ir.declaration import Trait
from ..ir.expr import Expr
from ..ir.op import Op
from ..ir.types import TensorType
from .integers import (
    channels_match,
    is_layer,
    is_product,
    output_axis_of_weight,
    positive_number,
    qnn_form,
)
from .quantizer import Quantizer, Role
from .scheme import Annotation, Candidate, Keep


def layer(candidate: Candidate, data: Quantizer, weight: Quantizer) -> Annotation | Keep | None:
    """Quantize the operands of a product: the data, unless it is quantized already, and the constant weight.

    `weight.axis`, if it is not None, is replaced by the axis of the weight's output channels. A product of
    two computed values uses `data` for both. None for calls of other operators.
    """
    from dataclasses import replace

    if not is_product(candidate.op):
        return None
    if not all(is_float(operand.original) for operand in candidate.operands):
        return Keep("its operands are not float32")
    first, second = candidate.operands
    if not second.is_constant:
        why = "neither operand is a weight, so both are quantized as activations"
        return Annotation([as_input(first.role, data), as_input(second.role, data)], why=why)
    if weight.axis is not None:
        per_channel = is_layer(candidate.op) and channels_match(candidate.call)
        weight = replace(weight, axis=output_axis_of_weight(candidate.call) if per_channel else None)
    if not data.symmetric and qnn_form(candidate.op) is None:  # no operator takes a zero point
        data = replace(data, symmetric=True)
    why = "layers do most of the arithmetic, so the scheme quantizes them"
    return Annotation([as_input(first.role, data), weight], why=why)


def left_alone(candidate: Candidate, layers: Sequence[int]) -> Keep | None:
    """Keep a product in float if its number is among `layers`; negative numbers count from the last.

    The first layer reads the input, in which small differences matter, and the last decides between the
    results; both are often small.
    """
    number = candidate.layer
    if number is None or not {number, number - candidate.layers} & set(layers):
        return None
    return Keep(f"the scheme skips layer {number} (of {candidate.layers}, counted from 0)")


def is_float(expr: Expr) -> bool:
    """Whether a typed expression is a float32 tensor."""
    type_ = expr.checked_type
    return isinstance(type_, TensorType) and type_.dtype == "float32"


def as_input(role: Role | None, data: Quantizer) -> Quantizer | None:
    """Return the quantizer for a value that is to be an operand of integers; None where it is one already."""
    return None if role is Role.INPUT else data


def follow(candidate: Candidate, data: Quantizer) -> Annotation | Keep | None:
    """Let an operator work on integers where its operands are quantized; None where they are not."""
    if all(role is None for role in candidate.roles):
        return None
    rule = FOLLOWING.get(candidate.op.name)
    if rule is None and candidate.op.has(Trait.RESHAPE):
        rule = _same
    if rule is None and any(map(candidate.op.has, (Trait.TRANSPOSE, Trait.COPY))):
        rule = _narrow
    return rule(candidate, data) if rule is not None else None


def _same(candidate: Candidate, data: Quantizer) -> Annotation | None:
    """Keep integers as they are, wide or narrow."""
    if candidate.roles[0] is None:
        return None
    none = [None] * len(candidate.operands)
    why = "it gives the right result on integers, too, so no conversion is needed"
    return Annotation(none, candidate.roles[0], why)


def _narrow(candidate: Candidate, data: Quantizer) -> Annotation | None:
    """Make integers narrow first, because they are moved or read several times."""
    if candidate.roles[0] is None:
        return None
    rest = [None] * (len(candidate.operands) - 1)
    why = f"it only moves or compares elements, so they are converted to {data.bits} bits first"
    return Annotation([as_input(candidate.roles[0], data), *rest], Role.INPUT, why)


def _average(candidate: Candidate, data: Quantizer) -> Annotation:
    return Annotation(
        [as_input(candidate.roles[0], data)], Role.ACTIVATION, "it averages integers in 32 bits"
    )


def _bias(candidate: Candidate, data: Quantizer) -> Annotation | None:
    """Add a constant to integers: in 32 bits, so it is rounded to steps that are fine enough."""
    first, second = candidate.operands
    if (first.role is not None and second.is_constant) or (second.role is not None and first.is_constant):
        return Annotation([None, None], Role.ACTIVATION, "a bias is added to the accumulators")
    return None


def _add(candidate: Candidate, data: Quantizer) -> Annotation | None:
    """Add two quantized values, narrow or accumulators, or a value and a constant."""
    if any(operand.is_constant for operand in candidate.operands):
        return _bias(candidate, data)
    if None in candidate.roles:
        return None
    return Annotation([None, None], Role.ACTIVATION, "both addends are quantized")


def _scaled(candidate: Candidate, data: Quantizer) -> Annotation | None:
    """Multiply or divide by a positive number: this changes the scale, and no integer."""
    first, second = candidate.operands
    if first.role is None or positive_number(second.original) is None:
        return None
    return Annotation(
        [None, None], first.role, "multiplying all elements by a constant only changes the scale"
    )


def _concatenate(candidate: Candidate, data: Quantizer) -> Annotation | None:
    if None in candidate.roles:
        return None
    return Annotation(
        [as_input(role, data) for role in candidate.roles], Role.INPUT, "all its inputs are quantized"
    )


def keeps_scale(op: Op) -> bool:
    """Whether an operator's integer result has the scale of its first operand, because the operator only
    moves, compares, or averages elements.
    """
    if any(map(op.has, (Trait.RESHAPE, Trait.TRANSPOSE, Trait.COPY, Trait.NON_COMPUTATIONAL))):
        return True
    return FOLLOWING.get(op.name) in (_same, _narrow, _average)


Rule = Callable[[Candidate, Quantizer], Annotation | None]
FOLLOWING: dict[str, Rule] = {
    "nn.relu": _same,
    "clip": _same,
    "nn.bias_add": _bias,
    "add": _add,
    "multiply": _scaled,
    "divide": _scaled,
    "concatenate": _concatenate,
    "strided_slice": _narrow,
    "nn.pad": _narrow,
    "nn.max_pool1d": _narrow,
    "nn.max_pool2d": _narrow,
    "nn.max_pool3d": _narrow,
    "nn.avg_pool2d": _average,
    "nn.global_avg_pool2d": _average,
}
