"""Scales and zero points in type relations: their element types, and their number of elements."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.op import RelationError
from ...ir.show import show_shape
from ...ir.types import Dim, TensorType, Type
from ..relation import known, normal_axis, same_dim, tensor

BYTES = ("int8", "uint8")
NARROW = ("int8", "uint8", "int16", "uint16")
QUANTIZED = ("int8", "uint8", "int16", "uint16", "int32")

SCALE, ZERO_POINT = "float32", "int32"  # the element types of the two parameters


def elements(type_: Type, operand: int, name: str, dtypes: Sequence[str]) -> TensorType:
    """Return `type_` as a tensor whose elements have one of the types `dtypes`; raise a RelationError where
    it is not one.
    """
    result = tensor(type_, operand, name)
    if result.dtype not in dtypes:
        raise RelationError(
            f"{name} must be {alternatives(dtypes)}, but its elements are {result.dtype}",
            _conversion(result.dtype, dtypes[0]),
            culprits=(operand,),
        )
    return result


def _conversion(before: str, dtype: str) -> str:
    """Return what converts elements to a quantized type, or to floating-point numbers."""
    if "float" in dtype:
        return f'convert it: relay.cast(…, "{dtype}")'
    if "float" in before:
        return f'relay.qnn.op.quantize(…, out_dtype="{dtype}") makes it from floating-point numbers'
    return f'relay.qnn.op.requantize(…, out_dtype="{dtype}") converts it from one scale to another'


def out_elements(dtype: str, dtypes: Sequence[str]) -> str:
    """Return the element type of the result, `out_dtype`; raise a RelationError where it is not one of
    `dtypes`.
    """
    if dtype not in dtypes:
        raise RelationError(f'out_dtype="{dtype}" must be {alternatives(dtypes)}')
    return dtype


def alternatives(words: Sequence[str]) -> str:
    """Join words with commas and an "or"."""
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def is_single(type_: TensorType) -> bool:
    """Return whether a scale or zero point is one number for the whole tensor."""
    return all(isinstance(dim, int) and dim == 1 for dim in type_.shape)


def check_parameter(type_: Type, operand: int, name: str, length: Dim | None = None) -> bool:
    """Require a scale or a zero point: one number or, where `length` is given, a vector of that length.

    Return whether it is one number. A scale is float32, a zero point int32; which of them `name` is follows
    from its last word. Raise a RelationError where the type differs.
    """
    dtype = SCALE if name.endswith("scale") else ZERO_POINT
    parameter = tensor(type_, operand, name)
    if parameter.dtype != dtype:
        raise RelationError(
            f"{name} must be {dtype}, but its elements are {parameter.dtype}",
            f'give {dtype}: relay.const(…, "{dtype}")',
            culprits=(operand,),
        )
    if is_single(parameter):
        return True
    if length is None:
        raise RelationError(
            f"{name} must be one number, but its shape is {show_shape(parameter.shape)}",
            f'give a scalar: relay.const(…, "{dtype}")',
            culprits=(operand,),
        )
    if len(parameter.shape) != 1 or not same_dim(parameter.shape[0], length):
        raise RelationError(
            f"{name} must be one number or a vector of {length}, one for each channel, but its shape is "
            f"{show_shape(parameter.shape)}",
            _right_length(name, length, len(parameter.shape)),
            culprits=(operand,),
        )
    return False


def _right_length(name: str, length: Dim, rank: int) -> str:
    if rank != 1:
        return "relay.reshape(…, (-1,)) makes a vector of it"
    if name.startswith("kernel"):
        return f"the result has {length} channels"
    return "an attribute names the channels' axis; if it is another one, set it"


def check_parameters(types: Sequence[Type], first: int, names: Sequence[str]) -> None:
    """Require one number for each of the operands `first`, `first` + 1 …, called `names`."""
    for operand, name in enumerate(names, first):
        check_parameter(types[operand], operand, name)


def channels_along(data: TensorType, axis: int, operator: str) -> Dim:
    """Return the extent of an axis of the data; 1 for a scalar, which has none."""
    return data.shape[normal_axis(axis, len(data.shape), operator)] if data.shape else 1


def check_channels(
    types: Sequence[Type], operands: Sequence[tuple[int, str]], data: TensorType, axis: int, operator: str
) -> None:
    """Require scales and zero points for each channel along `axis` of the data, or for the whole tensor.

    The axis matters only where one of them is a vector.
    """
    single = [is_single(tensor(types[operand], operand, name)) for operand, name in operands]
    length = None if all(single) else channels_along(data, axis, operator)
    for operand, name in operands:
        check_parameter(types[operand], operand, name, length)


def are_known(types: Sequence[Type], count: int) -> bool:
    """Return whether the types of all operands are known, so that the relation can be checked."""
    return known(types, count)
