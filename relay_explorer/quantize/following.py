"""What schemes annotate alike: layers, and the operators through which integers flow.

`layer` quantizes a product's operands. `follow` lets operators that move, compare or add quantized values
work on the integers as well, so that they are not converted to floats between two layers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..ir.declaration import Trait
from ..ir.expr import Constant, Expr
from ..ir.op import Op
from ..ir.types import TensorType, TupleType
from ..transform.fake_quantization.tables import is_elementwise
from .affine import has_rule
from .elementwise import factors, positive_number
from .integers import channels_match, is_layer, is_product, output_axis_of_weight, qnn_form
from .quantizer import Quantizer, Role
from .scheme import Annotation, Candidate, Keep, Operand
from .tables import EIGHT_BITS, is_number


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
    why = "layers do most of the arithmetic, so the scheme quantizes them"
    if not data.symmetric and qnn_form(candidate.op) is None:  # no operator takes a zero point
        return Annotation([replace(data, symmetric=True, signed=True, dtype=""), weight], why=why)
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
    quantized = [operand for operand in candidate.operands if operand.role is not None]
    if len(quantized) > 1 and _function(candidate, data) is not None:
        return _function(candidate, data)
    rule = FOLLOWING.get(candidate.op.name)
    if rule is None and candidate.op.has(Trait.RESHAPE):
        rule = _same
    if rule is None and any(map(candidate.op.has, (Trait.TRANSPOSE, Trait.COPY, Trait.SELECTION))):
        rule = _narrow
    answer = (rule(candidate, data) if rule is not None else None) or _function(candidate, data)
    return answer or Keep(f"the scheme has no rule for `{candidate.op.name}`")


def _function(candidate: Candidate, data: Quantizer) -> Annotation | None:
    """Compute an element-wise function of one value of few bits by a table."""
    operands = [operand for operand in candidate.operands if not is_number(operand.original)]
    argument = operands[0].argument if operands else None
    if argument is None or data.dtype not in EIGHT_BITS or not is_elementwise(candidate.op):
        return None
    if any(operand.argument is not argument for operand in operands) or not is_float(candidate.call):
        return None
    why = "it is a function of integers of 8 bits, whose 256 results are computed beforehand"
    return Annotation([None] * len(candidate.operands), Role.ACTIVATION, why)


def _activation(candidate: Candidate, data: Quantizer) -> Annotation | None:
    """Compute a function of one value by a table, for which the value is quantized."""
    if (
        candidate.roles[0] is None
        or data.dtype not in EIGHT_BITS
        or candidate.operands[0].argument is not None
    ):
        return None
    why = f"its results for all integers of {data.bits} bits are computed beforehand"
    return Annotation([as_input(candidate.roles[0], data)], Role.ACTIVATION, why)


def _same(candidate: Candidate, data: Quantizer) -> Annotation | None:
    """Keep integers as they are, wide or narrow."""
    if candidate.roles[0] is None:
        return None
    none = [None] * len(candidate.operands)
    why = "it gives the right result on integers, too, so no conversion is needed"
    return Annotation(none, candidate.roles[0], why)


def _narrow(candidate: Candidate, data: Quantizer) -> Annotation | None:
    """Make integers narrow first, because they are moved or read several times."""
    if candidate.roles[0] is None or any(candidate.roles[1:]) or not _gives_floats(candidate):
        return None
    if isinstance(candidate.call.checked_type, TupleType) and not candidate.users:
        return None  # integers do not pass through variables that hold tuples
    rest = [None] * (len(candidate.operands) - 1)
    why = f"it only moves or compares elements, so they are converted to {data.bits} bits first"
    return Annotation([as_input(candidate.roles[0], data), *rest], Role.INPUT, why)


def _gives_floats(candidate: Candidate) -> bool:
    """Whether the result of a call is a float32 tensor, or a tuple of such tensors."""
    type_ = candidate.call.checked_type
    fields = type_.fields if isinstance(type_, TupleType) else [type_]
    return all(isinstance(field, TensorType) and field.dtype == "float32" for field in fields)


def _average(candidate: Candidate, data: Quantizer) -> Annotation:
    why = "it averages integers in 32 bits"
    return Annotation([_few_bits(candidate.operands[0], data)], Role.ACTIVATION, why)


def _few_bits(operand: Operand, data: Quantizer) -> Quantizer | None:
    """Return the quantizer for a value that is to be summed; None where it needs no rounding, because it has
    few bits, or is a function of such a value.
    """
    return as_input(operand.role, data) if operand.argument is None else None


def _sum(candidate: Candidate, data: Quantizer) -> Annotation | Keep | None:
    """Sum in 32 bits; not the sums of a normalization, whose results are combined with what they sum."""
    (operand,) = candidate.operands
    if operand.role is None:
        return None
    if any(operand.original in user.args for user in candidate.users):
        return Keep("it is a part of a normalization, which divides by small differences")
    why = "it adds integers in 32 bits"
    return Annotation([_few_bits(operand, data)], Role.ACTIVATION, why)


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
    """Multiply or divide by a constant: this changes the scale, or that of each channel."""
    first, second = candidate.operands
    if second.role is not None:
        first, second = second, first
    if first.role is None or not isinstance(second.original, Constant):
        return None
    if positive_number(second.original) is not None:
        why = "multiplying all elements by a constant only changes the scale"
        return Annotation([None, None], first.role, why)
    if (
        first.original.checked_type != candidate.call.checked_type
        or factors(second.original, first.rank) is None
    ):
        return None
    why = "multiplying the elements of a channel by a constant changes its scale and sign"
    return Annotation([None, None], Role.ACTIVATION, why)


def _multiply(candidate: Candidate, data: Quantizer) -> Annotation | None:
    """Multiply two quantized values, made narrow first so that their products fit in 32 bits."""
    if any(operand.is_constant for operand in candidate.operands):
        return _scaled(candidate, data)
    return _pair(candidate, data, "it multiplies integers of few bits in 32 bits")


def _divide(candidate: Candidate, data: Quantizer) -> Annotation | None:
    return _scaled(candidate, data) if candidate.roles[0] is not None else None


def _compare(candidate: Candidate, data: Quantizer) -> Annotation | None:
    """Compare two quantized values, or one and a number, in one scale."""
    if any(map(is_number, [operand.original for operand in candidate.operands])):
        why = "it compares integers with a constant"
        return Annotation([None, None], Role.ACTIVATION, why) if any(candidate.roles) else None
    return _pair(candidate, data, "it compares integers, brought to one scale")


def _pair(candidate: Candidate, data: Quantizer, why: str) -> Annotation | None:
    """Quantize both operands of a call to few bits."""
    if None in candidate.roles:
        return None
    return Annotation([as_input(role, data) for role in candidate.roles], Role.ACTIVATION, why)


def _slope(candidate: Candidate, data: Quantizer) -> Annotation | None:
    if candidate.roles[0] is None or not candidate.operands[1].is_constant:
        return None
    why = "it multiplies negative integers by the slope of their channel"
    return Annotation([as_input(candidate.roles[0], data), None], Role.ACTIVATION, why)


def _interpolate(candidate: Candidate, data: Quantizer) -> Annotation | None:
    if candidate.roles[0] is None or not has_rule(candidate.op):
        return None
    how = as_input(candidate.roles[0], data)
    rest = [None] * (len(candidate.operands) - 1)
    return Annotation([how, *rest], Role.ACTIVATION, "it averages integers in 32 bits")


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


Rule = Callable[[Candidate, Quantizer], Annotation | Keep | None]
FOLLOWING: dict[str, Rule] = {
    "nn.relu": _same,
    "clip": _same,
    "nn.bias_add": _bias,
    "add": _add,
    "subtract": _add,
    "multiply": _multiply,
    "divide": _divide,
    "maximum": _compare,
    "minimum": _compare,
    "sigmoid": _activation,
    "tanh": _activation,
    "erf": _activation,
    "nn.leaky_relu": _activation,
    "nn.prelu": _slope,
    "mean": _sum,
    "sum": _sum,
    "concatenate": _concatenate,
    "stack": _concatenate,
    "strided_slice": _narrow,
    "nn.pad": _narrow,
    "nn.max_pool1d": _narrow,
    "nn.max_pool2d": _narrow,
    "nn.max_pool3d": _narrow,
    "nn.avg_pool1d": _average,
    "nn.avg_pool2d": _average,
    "nn.avg_pool3d": _average,
    "nn.global_avg_pool2d": _average,
    "nn.adaptive_avg_pool1d": _interpolate,
    "nn.adaptive_avg_pool2d": _interpolate,
    "nn.adaptive_avg_pool3d": _interpolate,
    "image.resize1d": _interpolate,
    "image.resize2d": _interpolate,
    "image.resize3d": _interpolate,
}
