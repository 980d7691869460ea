"""Shared by the type relations of convolutions: infer the weight's shape, and report weights that do not
fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ....ir.op import Flops, Relation, RelationError, Reporter, size_of
from ....ir.show import show_shape
from ....ir.types import Dim, IncompleteType, Shape, TensorType, Type
from ...relation import same_dim, tensor, times
from ..layout import LayoutMap, divided, layout_map
from ..window import matching_size, total_padding, window_places
from .layouts import conv_layouts


def convolution_relation(name: str, data_axes: str, kernel_axes: str) -> Relation:
    """Build the type relation of a convolution.

    Inputs (N, C, d₁ …) and (O, C / groups, k₁ …), in any layout; output (N, O, (dᵢ + paddingᵢ - dilationᵢ·(kᵢ
    - 1) - 1) // strideᵢ + 1 …).
    """
    axes = len(data_axes) - 2

    def rule(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
        data, weight, out = types
        if isinstance(data, IncompleteType):
            return False
        data = tensor(data, 0, "data")
        data_layout, kernel_layout, out_layout = conv_layouts(attrs, data_axes, kernel_axes)
        padding = total_padding(attrs.strides, attrs.dilation, attrs.padding, axes)
        shape = data_layout.forward(data.shape, 0, "the data")
        if attrs.groups != 1:
            if axes == 2 and isinstance(weight, IncompleteType):
                return False  # TVM's relation does not infer the weight in this case; another constraint must
            _check_groups(axes, attrs)
        kernel = conv_weight(data, shape, weight, 1, kernel_layout, attrs, reporter)
        if kernel is None:
            return False
        channels = kernel[0] if attrs.channels is None else attrs.channels
        positions = window_places(shape[2:], kernel[2:], attrs.strides, attrs.dilation, padding)
        result = out_layout.backward((shape[0], channels, *positions))
        reporter.assign(out, TensorType.of(result, attrs.out_dtype or data.dtype))
        return True

    return Relation(name, rule, "{out} = {0} ∗ {1}")


def _check_groups(axes: int, attrs: Anything) -> None:
    """Raise a RelationError where a grouped convolution lacks the attributes that TVM's relation needed to
    type it.
    """
    if axes == 1 and (attrs.channels is None or attrs.kernel_size is None):
        raise RelationError(
            f"with groups={attrs.groups}, conv1d needs `channels` and `kernel_size`",
            "give both",
            culprits=(1,),
        )


def conv_weight(
    data: TensorType,
    shape: Shape,
    weight: Type,
    operand: int,
    layout: LayoutMap,
    attrs: Anything,
    reporter: Reporter,
) -> Shape | None:
    """Return the weight's shape as (channels, input channels of a group, kernel …); None where neither the
    attributes nor a type determine it.

    `shape` is the data's, as (batch, channels, …). The weight's type is inferred if it is unknown and
    `channels` and `kernel_size` are given.
    """
    channels, size, groups = attrs.channels, attrs.kernel_size, attrs.groups
    inputs = per_group(shape[1], groups) if groups != 1 else shape[1]
    check_sizes(channels, size, len(shape) - 2)
    if isinstance(weight, IncompleteType):
        if channels is None or size is None:
            return None
        if channels % groups:
            raise _uneven(channels, groups)
        expected: Shape = (channels, inputs, *size)
        reporter.assign(weight, TensorType.of(layout.backward(expected), data.dtype))
        return expected
    weight_type = tensor(weight, operand, "weight")
    have = layout.forward(weight_type.shape, operand, "the weight")
    if groups != 1:
        if groups == shape[1] == have[0]:  # the weight may also be (input channels, outputs of each)
            return _depthwise(shape, have, weight_type, operand, layout, attrs)
        if isinstance(have[0], int) and have[0] % groups:
            raise _uneven(have[0], groups)
    if have[1] != inputs and not same_dim(have[1], inputs):
        raise _wrong_inputs(data, shape, weight_type, have, inputs, operand, layout, attrs)
    if channels is None or size is None:
        compare_weight(have, have[0], attrs, operand)
        return have
    expected = (channels, inputs, *size)
    if have != expected:
        compare_weight(have, have[0], attrs, operand)
    return expected


def transposed_weight(
    data: TensorType, shape: Shape, weight: Type, layout: LayoutMap, attrs: Anything, reporter: Reporter
) -> Shape | None:
    """Return the weight's shape as (input channels, output channels of a group, kernel …); None where neither
    the attributes nor a type determine it.
    """
    channels, size, groups = attrs.channels, attrs.kernel_size, attrs.groups
    per_group(shape[1], groups)
    each = (
        None
        if channels is None
        else divided(
            channels,
            groups,
            "the number of output channels",
            "groups must divide the channels of data and output",
        )
    )
    check_sizes(channels, size, len(shape) - 2)
    if channels is None and groups != 1:
        raise RelationError(
            f"with groups={groups}, `channels` is needed",
            "give the number of output channels of all groups together",
        )
    weight_type = None if isinstance(weight, IncompleteType) else tensor(weight, 1, "weight")
    have = None if weight_type is None else layout.forward(weight_type.shape, 1, "the weight")
    if weight_type is not None and have is not None:
        if not same_dim(have[0], shape[1]):
            raise RelationError(
                f"the data has {shape[1]} channels, but the weight {show_shape(weight_type.shape)} requires "
                f"{have[0]}",
                f"the kernel layout is {layout.name}: a transposed convolution's weight has its input "
                f"channels on axis {layout.canonical[0]}",
                culprits=(0, 1),
            )
        compare_weight(have, times(have[1], groups), attrs, 1)
    if each is None or size is None:
        return have
    expected: Shape = (shape[1], each, *size)
    if weight_type is None:
        reporter.assign(weight, TensorType.of(layout.backward(expected), data.dtype))
    return expected


def check_sizes(channels: int | None, size: tuple[int, ...] | None, axes: int) -> None:
    """Raise a RelationError where `channels` or `kernel_size` are invalid for a kernel."""
    if channels is not None and channels < 1:
        raise RelationError(f"channels={channels} must be positive")
    if size is not None:
        matching_size("kernel_size", size, axes)
        if min(size) < 1:
            raise RelationError(f"kernel_size={list(size)} must be positive")


def compare_weight(have: Shape, makes: Dim, attrs: Anything, operand: int) -> None:
    """Raise a RelationError where the attributes `channels` and `kernel_size` contradict the weight.

    `have` is its shape, and `makes` the number of output channels that it produces.
    """
    channels, size = attrs.channels, attrs.kernel_size
    if channels is not None and not same_dim(makes, channels):
        raise RelationError(
            f"channels={channels}, but the weight produces {makes} channels",
            f"give channels={makes}, or leave it out",
            culprits=(operand,),
        )
    if size is not None and not all(map(same_dim, have[2:], size)):
        kernel = list(have[2:])
        raise RelationError(
            f"kernel_size={list(size)}, but the weight's kernel is {kernel}",
            f"give kernel_size={kernel}, or leave it out",
            culprits=(operand,),
        )


def per_group(channels: Dim, groups: int) -> Dim:
    """Return the number of input channels per group."""
    if groups < 1:
        raise RelationError(f"groups={groups} must be positive")
    return divided(
        channels,
        groups,
        "the data's number of channels",
        "groups must divide the channels of data and output",
    )


def _depthwise(
    shape: Shape, have: Shape, weight_type: TensorType, operand: int, layout: LayoutMap, attrs: Anything
) -> Shape:
    """Check the weight of a depthwise convolution, (input channels, outputs of each, kernel …); return its
    shape as (output channels, 1, kernel …).
    """
    channels, size = attrs.channels, attrs.kernel_size
    if channels is None or size is None:
        if not same_dim(have[1], 1):
            raise RelationError(
                f"the weight produces {have[1]} outputs of each of the {have[0]} channels, so `channels` and "
                "`kernel_size` are needed",
                f"give channels={have[0]} * {have[1]} and the kernel's size",
                culprits=(operand,),
            )
        compare_weight(have, have[0], attrs, operand)
        return have
    each = divided(
        channels,
        attrs.groups,
        "the number of output channels",
        "groups must divide the channels of data and output",
    )
    if not same_dim(have[1], each):
        if isinstance(have[1], int) and isinstance(each, int) and each > 1 and have[1] == 1:
            raise RelationError(
                f"channels={channels}, but the weight produces {have[0]} channels",
                f"give channels={have[0]}",
                culprits=(operand,),
            )
        raise RelationError(
            f"channels={channels} are {each} for each of the data's {shape[1]}, but the weight "
            f"{show_shape(weight_type.shape)} requires {have[1]}",
            f"a weight for this call has shape {show_shape(layout.backward((have[0], each, *size)))}",
            culprits=(operand,),
        )
    compare_weight(have, channels, attrs, operand)
    return (channels, 1, *size)


def _uneven(channels: int, groups: int) -> RelationError:
    return RelationError(
        f"the {channels} output channels do not divide into {groups} groups",
        "groups must divide the channels of data and output",
        culprits=(1,),
    )


def _wrong_inputs(
    data: TensorType,
    shape: Shape,
    weight_type: TensorType,
    have: Shape,
    inputs: Dim,
    operand: int,
    layout: LayoutMap,
    attrs: Anything,
) -> RelationError:
    """Return the error for data whose number of channels does not fit the weight."""
    groups, total, takes = attrs.groups, shape[1], have[1]
    if groups == 1:
        message = (
            f"the data has {total} channels, but the weight {show_shape(weight_type.shape)} requires {takes}"
        )
    else:
        message = (
            f"each of the {groups} groups has {inputs} of the data's {total} channels, but the weight "
            f"{show_shape(weight_type.shape)} requires {takes}"
        )
    help: list[str] = []
    last = data.shape[-1]
    if (
        attrs.data_layout.startswith("NC")
        and len(attrs.data_layout) == len(data.shape)
        and isinstance(takes, int)
        and last == takes * groups
    ):
        channels_last = "N" + attrs.data_layout[2:] + "C"
        help.append(
            f'the data\'s last axis has {last}: if its channels come last, give data_layout="{channels_last}"'
        )
    if (
        layout.identity
        and layout.name.startswith("OI")
        and weight_type.shape[-2] == inputs
        and len(set(weight_type.shape[:-2])) == 1
    ):
        help.append(f'if the weight\'s channels come last, give kernel_layout="{layout.name[2:]}IO"')
    if (
        not help
        and isinstance(total, int)
        and isinstance(takes, int)
        and takes
        and total % takes == 0
        and _divides(have[0], total // takes)
    ):
        help.append(f"the weight fits with groups={total // takes}")
    if not help:
        help.append(
            f"a weight for this data has shape {show_shape(layout.backward((have[0], inputs, *have[2:])))}"
        )
    return RelationError(message, *help, culprits=(0, operand))


def _divides(dim: Dim, number: int) -> bool:
    return isinstance(dim, int) and number > 0 and dim % number == 0


def conv_flops(data_axes: str, weight: int = 1) -> Flops:
    """Build the function that counts a multiplication and an addition for each output element and each weight
    of its channel.

    `weight` is the index of that operand.
    """

    def flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
        return (
            2
            * size_of(output)
            * size_of(inputs[weight])
            // channels_of(output, attrs.out_layout or attrs.data_layout, data_axes)
        )

    return flops


def channels_of(type_: Type, layout: str, axes: str) -> int:
    """Return the number of channels of a tensor; 1 where it is unknown."""
    if not isinstance(type_, TensorType):
        return 1
    channels = layout_map(layout, axes).forward(type_.shape, 0, "the tensor")[1]
    return channels if isinstance(channels, int) and channels else 1
