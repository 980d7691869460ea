"""Which operands TVM's scheme quantizes, operator by operator.

A value without a role is a float. One with the role INPUT is stored in 8 bits already, and one with the role
ACTIVATION is an accumulator, which is stored in 8 bits when a product reads it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ....ir.expr import Expr
from ...following import is_float
from ...quantizer import Quantizer, Role
from ...scheme import Annotation, Candidate, Keep, Operand

if TYPE_CHECKING:
    from . import TvmSymmetric

Answer = Annotation | Keep | Expr | None
Rule = Callable[["TvmSymmetric", Candidate], Answer]


def dropped(candidate: Candidate) -> Expr | None:
    """Return the operand of a hint to store a value in 8 bits, where it is not followed."""
    return candidate.operands[0].expr if candidate.op.name == "annotation.cast_hint" else None


def _as_input(scheme: TvmSymmetric, operand: Operand) -> Quantizer | None:
    return None if operand.role is Role.INPUT else scheme.quantizer(Role.INPUT)


def _computed_or_weight(scheme: TvmSymmetric, operand: Operand) -> Quantizer:
    return scheme.quantizer(Role.WEIGHT if operand.is_constant else Role.INPUT)


def _layer(scheme: TvmSymmetric, candidate: Candidate) -> Answer:
    """Quantize the data and the weight of a layer."""
    data, weight = candidate.operands
    if not is_float(data.original) or not is_float(weight.original):
        return Keep("its operands are not float32")
    if not weight.is_constant:
        return Keep("its weight is not a constant: bind the parameters")
    why = "TVM's scheme quantizes data and weight of every layer it does not skip"
    return Annotation([_as_input(scheme, data), scheme.quantizer(Role.WEIGHT)], why=why)


def _conv2d(scheme: TvmSymmetric, candidate: Candidate) -> Answer:
    """Quantize a convolution, unless its number is skipped: by default the first, which sees the image."""
    if candidate.ordinal in (scheme.config.skip_conv_layers or ()):
        reads = ". By default it is the one that reads the input" if candidate.ordinal == 0 else ""
        return Keep(f"`skip_conv_layers` lists convolution {candidate.ordinal}, counted from 0{reads}")
    return _layer(scheme, candidate)


def _dense(scheme: TvmSymmetric, candidate: Candidate) -> Answer:
    """Quantize a dense layer, unless all are skipped."""
    if scheme.config.skip_dense_layer:
        return Keep("`skip_dense_layer` is on, so all dense layers stay in float")
    return _layer(scheme, candidate)


def _batch_matmul(scheme: TvmSymmetric, candidate: Candidate) -> Answer:
    """Quantize both operands of a matrix product."""
    if not all(is_float(operand.original) for operand in candidate.operands):
        return Keep("its operands are not float32")
    how = [
        None if operand.role is Role.INPUT else _computed_or_weight(scheme, operand)
        for operand in candidate.operands
    ]
    return Annotation(how, why="an integer matrix product needs both operands as integers")


def _multiply(scheme: TvmSymmetric, candidate: Candidate) -> Answer:
    """Quantize both factors, if one of them is quantized already."""
    if candidate.roles == (None, None):
        return None
    how = [
        _computed_or_weight(scheme, operand) if operand.role is None else _as_input(scheme, operand)
        for operand in candidate.operands
    ]
    return Annotation(how, why="integer multiplication needs two integer operands")


def _add(scheme: TvmSymmetric, candidate: Candidate) -> Answer:
    """Quantize the addend that is a float, if the other is quantized."""
    first, second = candidate.operands
    if candidate.roles == (None, None):
        return None
    how: list[Quantizer | None] = [None, None]
    why = "integer addition needs two integer operands"
    if first.role is None:
        how[0] = scheme.quantizer(Role.INPUT)
    elif second.role is None:
        how[1] = _computed_or_weight(scheme, second)
    elif candidate.roles == (Role.ACTIVATION, Role.ACTIVATION):
        how[1] = scheme.quantizer(Role.INPUT)
        bits = scheme.config.nbit_input
        why = f"both addends are accumulators; the second is requantized to {bits} bits"
    return Annotation(how, why=why)


def _identity(scheme: TvmSymmetric, candidate: Candidate) -> Answer:
    """Let the operator work on integers."""
    role = candidate.roles[0]
    why = "it gives the right result on integers, too, so no conversion is needed"
    return None if role is None else Annotation([None], role, why)


def _narrow(scheme: TvmSymmetric, candidate: Candidate) -> Answer:
    """Store the value in 8 bits."""
    operand = candidate.operands[0]
    if operand.role is None:
        return dropped(candidate)
    bits = scheme.config.nbit_input
    why = f"it only moves or compares elements, for which {bits} bits are enough"
    return Annotation([_as_input(scheme, operand)], Role.INPUT, why)


def _concatenate(scheme: TvmSymmetric, candidate: Candidate) -> Answer:
    """Bring all parts to accumulators, if one of them is quantized."""
    if all(role is None for role in candidate.roles):
        return None
    how = [scheme.quantizer(Role.ACTIVATION) if role is None else None for role in candidate.roles]
    return Annotation(how, why="one input is quantized, so the others are, too")


def _global_average(scheme: TvmSymmetric, candidate: Candidate) -> Answer:
    """Quantize nothing after a global average: what follows is small, and close to the result."""
    if candidate.roles == (None,):
        return None
    candidate.stop("it comes after the global average pool, where TVM's scheme stops")
    return Annotation([None], None, "a global average ends the quantized part")


def _packed(scheme: TvmSymmetric, candidate: Candidate) -> Answer:
    return Keep("its layout is blocked (`NCHWc`): quantize before `AlterOpLayout`")


RULES: dict[str, Rule] = {
    "nn.conv2d": _conv2d,
    "nn.conv1d": _layer,
    "nn.dense": _dense,
    "nn.batch_matmul": _batch_matmul,
    "nn.contrib_conv2d_NCHWc": _packed,
    "multiply": _multiply,
    "add": _add,
    "reshape": _identity,
    "clip": _identity,
    "nn.relu": _identity,
    "strided_slice": _identity,
    "nn.avg_pool2d": _identity,
    "nn.batch_flatten": _identity,
    "transpose": _identity,
    "annotation.stop_fusion": _identity,
    "nn.max_pool2d": _narrow,
    "nn.max_pool1d": _narrow,
    "annotation.cast_hint": _narrow,
    "concatenate": _concatenate,
    "nn.global_avg_pool2d": _global_average,
}
