"""Transposed convolutions: each data element, times the kernel, is added to a window of the output, as in the
gradient of a convolution.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any as Anything
from typing import ParamSpec, TypeVar

from ....ir.attrs import Attrs, DType, Ints, attr
from ....ir.declaration import Precision, Trait
from ....ir.expr import Call, var
from ....ir.op import Flops, OpPattern, Reference, Relation, RelationError, Reporter, size_of
from ....ir.types import Dim, IncompleteType, Shape, TensorType, Type
from ...arguments import Operand
from ...examples import IMAGE, SIGNAL, VOLUME, t
from ...numeric import Array, element_type, np
from ...operator import Example, operator
from ...relation import tensor
from ...te.lowered import Lowered
from ...te.tensors import (
    Tensor,
    Value,
    View,
    every,
    guarded,
    laid_out,
    number,
    quotient,
    reduce_axes,
    remainder,
    sum_over,
    sum_type,
)
from ..sliding import cropped, sides, under
from ..window import Sizes, both_sides, matching_size, per_axis, total_padding
from .attributes import CHANNELS, DATA_LAYOUT, DILATION, GROUPS, KERNEL_SIZE, OUT_DTYPE, OUT_LAYOUT
from .gradients import TRANSPOSED
from .layouts import follow_transposed_attributes, transposed_layouts
from .lowering import added_up, axes_of_space, input_channel, product, scaled
from .phases import has_phases, phased
from .reference import split_groups
from .relations import channels_of, transposed_weight

__all__ = ["conv1d_transpose", "conv2d_transpose", "conv3d_transpose"]

P = ParamSpec("P")
R = TypeVar("R")

STRIDES = "The distance between the windows of adjacent data elements on each axis."
PADDING = (
    "The amount cropped from the output: one number per axis, or the amounts before each axis and then "
    "those after."
)
KERNEL_LAYOUT = "The order of the weight's axes: I the data's channels, O the output's channels of a group."
AS_IN_REFERENCE = KERNEL_LAYOUT[:-1] + '; "{}" means the same as "{}", as in the reference.'
OUTPUT_PADDING = (
    "Extra length of each output axis: distinguishes the sizes that a strided convolution maps to the same "
    "size."
)


class Conv1DTransposeAttrs(Attrs, key="relay.attrs.Conv1DTransposeAttrs"):
    channels: int | None = attr(None, CHANNELS)
    kernel_size: Ints | None = attr(None, KERNEL_SIZE)
    strides: Ints = attr((1,), STRIDES)
    output_padding: Ints = attr((0,), OUTPUT_PADDING)
    padding: Ints = attr((0,), PADDING)
    dilation: Ints = attr((1,), DILATION)
    groups: int = attr(1, GROUPS)
    data_layout: str = attr("NCW", DATA_LAYOUT)
    kernel_layout: str = attr("IOW", AS_IN_REFERENCE.format("OIW", "IOW"))
    out_layout: str = attr("", OUT_LAYOUT)
    out_dtype: DType = attr("", OUT_DTYPE)


class Conv2DTransposeAttrs(Attrs, key="relay.attrs.Conv2DTransposeAttrs"):
    channels: int | None = attr(None, CHANNELS)
    kernel_size: Ints | None = attr(None, KERNEL_SIZE, normal=partial(per_axis, axes=2))
    strides: Ints = attr((1, 1), STRIDES, normal=partial(per_axis, axes=2))
    output_padding: Ints = attr((0, 0), OUTPUT_PADDING, normal=partial(per_axis, axes=2))
    padding: Ints = attr((0, 0), PADDING, normal=partial(both_sides, axes=2))
    dilation: Ints = attr((1, 1), DILATION, normal=partial(per_axis, axes=2))
    groups: int = attr(1, GROUPS)
    data_layout: str = attr("NCHW", DATA_LAYOUT)
    kernel_layout: str = attr("IOHW", KERNEL_LAYOUT)
    out_layout: str = attr("", OUT_LAYOUT)
    out_dtype: DType = attr("", OUT_DTYPE)


class Conv3DTransposeAttrs(Attrs, key="relay.attrs.Conv3DTransposeAttrs"):
    channels: int | None = attr(None, CHANNELS)
    kernel_size: Ints | None = attr(None, KERNEL_SIZE, normal=partial(per_axis, axes=3))
    strides: Ints = attr((1, 1, 1), STRIDES, normal=partial(per_axis, axes=3))
    output_padding: Ints = attr((0, 0, 0), OUTPUT_PADDING, normal=partial(per_axis, axes=3))
    padding: Ints = attr((0, 0, 0), PADDING, normal=partial(both_sides, axes=3))
    dilation: Ints = attr((1, 1, 1), DILATION, normal=partial(per_axis, axes=3))
    groups: int = attr(1, GROUPS)
    data_layout: str = attr("NCDHW", DATA_LAYOUT)
    kernel_layout: str = attr("IODHW", AS_IN_REFERENCE.format("OIDHW", "IODHW"))
    out_layout: str = attr("", OUT_LAYOUT)
    out_dtype: DType = attr("", OUT_DTYPE)


def _relation(name: str, space: str) -> Relation:
    """Build the type relation of a transposed convolution.

    Inputs (N, C, d₁ …) and (C, O / groups, k₁ …); output (N, O, strideᵢ·(dᵢ - 1) + dilationᵢ·(kᵢ - 1) + 1 -
    paddingᵢ + output_paddingᵢ …).
    """
    axes = len(space)

    def rule(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
        data, weight, out = types
        if isinstance(data, IncompleteType):
            return False
        data = tensor(data, 0, "data")
        data_layout, kernel_layout, out_layout = transposed_layouts(attrs, space)
        padding = total_padding(attrs.strides, attrs.dilation, attrs.padding, axes)
        matching_size("output_padding", attrs.output_padding, axes)
        if min(attrs.output_padding) < 0:
            raise RelationError(
                f"output_padding={list(attrs.output_padding)} must not be negative",
                "more padding cuts more off",
            )
        shape = data_layout.forward(data.shape, 0, "the data")
        kernel = transposed_weight(data, shape, weight, kernel_layout, attrs, reporter)
        if kernel is None:
            return False
        channels = kernel[1] if attrs.channels is None else attrs.channels
        result = out_layout.backward((shape[0], channels, *_extents(shape[2:], kernel[2:], padding, attrs)))
        reporter.assign(out, TensorType.of(result, attrs.out_dtype or data.dtype))
        return True

    return Relation(name, rule, "{out} = {0} ∗ᵀ {1}")


def _extents(dims: Shape, kernel: Shape, padding: tuple[int, ...], attrs: Anything) -> Shape:
    """Compute the extents of the output's spatial axes; raise a RelationError where padding leaves
    nothing.
    """
    out: list[Dim] = []
    for i, (dim, size) in enumerate(zip(dims, kernel, strict=True)):
        length = (
            attrs.strides[i] * (dim - 1)
            + attrs.dilation[i] * (size - 1)
            + 1
            - padding[i]
            + attrs.output_padding[i]
        )
        if isinstance(length, int) and length < 1:
            raise RelationError(
                f"the padding cuts off {padding[i]}, but the windows cover only {length + padding[i]}",
                "use less padding",
                culprits=(0,),
            )
        out.append(length)
    return tuple(out)


def _flops(data_axes: str) -> Flops:
    """Build the function that counts a multiplication and an addition for each data element and each weight
    of its channel.
    """

    def flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
        channels = channels_of(inputs[0], attrs.data_layout, data_axes)
        return 2 * size_of(inputs[0]) * size_of(inputs[1]) // channels

    return flops


# -- reference implementation and lowering


def _reference(axes: str) -> Reference:
    """Build the reference implementation of a transposed convolution over `axes`, such as "HW"."""

    def compute(attrs: Anything, x: Array, weight: Array) -> Array:
        data_layout, kernel_layout, out_layout = transposed_layouts(attrs, axes)
        dtype = element_type(attrs.out_dtype or x.dtype)
        data, kernel = (
            data_layout.unpack(x).astype(dtype, copy=False),
            kernel_layout.unpack(weight).astype(dtype, copy=False),
        )
        groups = zip(split_groups(data, 1, attrs.groups), split_groups(kernel, 0, attrs.groups), strict=True)
        whole = np.concatenate([_scattered(attrs, part, weights) for part, weights in groups], 1)
        return out_layout.pack(cropped(whole, sides(attrs.padding, len(axes))))

    return compute


def _scattered(attrs: Anything, data: Array, kernel: Array) -> Array:
    """Add each element of `data` (batch, channels, space …), times `kernel` (channels, outputs, size …), to
    its window of the output, before padding is cropped.
    """
    space, size = data.shape[2:], kernel.shape[2:]
    extents = [
        s * (d - 1) + step * (k - 1) + 1 + more
        for s, d, step, k, more in zip(
            attrs.strides, space, attrs.dilation, size, attrs.output_padding, strict=True
        )
    ]
    y = np.zeros((data.shape[0], kernel.shape[1], *extents), data.dtype)
    for within in np.ndindex(*size):
        added = np.moveaxis(np.tensordot(data, kernel[(..., *within)], (1, 0)), -1, 1)
        y[(..., *under(within, space, attrs.strides, attrs.dilation))] += added
    return y


def _transposed_te(call: Lowered) -> list[Tensor]:
    """Insert zeros between the elements of the data, and convolve with the mirrored kernel; if there are
    strides, phase by phase (see `phases`).
    """
    attrs, axes = call.attrs, axes_of_space(call)
    data_layout, kernel_layout, out_layout = transposed_layouts(attrs, axes)
    data, weight = View(call.inputs[0], data_layout), View(call.inputs[1], kernel_layout)
    dtype, groups = call.out.dtype, attrs.groups
    if has_phases(call, data, weight):
        return [phased(call, data, weight, out_layout)]
    each = weight.shape[1]
    sizes, dilated = _dilated(call, data, weight)
    inputs = quotient(data.shape[1], groups)
    c, *u = reduce_axes([inputs, *weight.shape[2:]])

    def term(n: Value, o: Value, *i: Value) -> Value:
        channel = input_channel(o, c, groups, inputs, each)
        at = [p + scaled(k, d) for p, k, d in zip(i, u, attrs.dilation, strict=True)]
        mirrored = [size - 1 - k for size, k in zip(weight.shape[2:], u, strict=True)]
        output = o if groups == 1 else remainder(o, each)
        return product(dilated(n, channel, *at), weight(channel, output, *mirrored), sum_type(dtype))

    shape = (data.shape[0], each * groups, *sizes)
    return [added_up(shape, out_layout, lambda *i: sum_over(term(*i), [c, *u]), dtype, call.name)]


def _dilated(call: Lowered, data: View, weight: View) -> tuple[list[Anything], View]:
    """Compute the output's extents, and insert into the data the zeros that the windows cover."""
    attrs = call.attrs
    pairs = sides(attrs.padding, len(attrs.strides))
    sizes, extents, starts = [], [], []
    for axis, (dim, size) in enumerate(zip(data.shape[2:], weight.shape[2:], strict=True)):
        reach = attrs.dilation[axis] * (size - 1)
        whole = attrs.strides[axis] * (dim - 1) + reach + 1 + attrs.output_padding[axis]
        sizes.append(whole - sum(pairs[axis]))
        extents.append(sizes[-1] + reach)
        starts.append(reach - pairs[axis][0])

    def element(n: Value, c: Value, *i: Value) -> Value:
        inside, index = [], []
        for at, dim, stride, start in zip(i, data.shape[2:], attrs.strides, starts, strict=True):
            offset = at - start
            inside += [offset >= 0, offset <= stride * (dim - 1)]
            inside += [remainder(offset, stride) == 0] * (stride != 1)
            index.append(quotient(offset, stride))
        return guarded(every(inside), data(n, c, *index), number(0, data.dtype))

    shape = (*data.shape[:2], *extents)
    return sizes, View(laid_out(shape, data.layout, element, f"{call.name}_apart"), data.layout)


# -- the operators

_LENIENT = (
    "It accepted outputs of no or negative length, groups that do not divide the channels, and strides, "
    "dilations or paddings that are not positive; "
    "and with groups but without `channels` it gave the channels of one group."
)


def _transposed(
    axes: str, attrs: type[Attrs], example: Example, kernel_layouts: Mapping[str, str] | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare a transposed convolution over the spatial `axes`."""
    n = len(axes)
    conditions = r",\, ".join(
        f"s {x} + d {u} - p = {t}" for x, u, t in zip("ijk"[:n], "uvw"[:n], "abc"[:n], strict=True)
    )
    return operator(
        f"nn.conv{n}d_transpose",
        description="Computes a transposed convolution over "
        f"{('one axis', 'two axes', 'three axes')[n - 1]}: each element adds to a window of the output.",
        formula=(
            rf"y_{{n,o,{','.join('abc'[:n])}}} = \sum_{{c}} \sum_{{{conditions}}} "
            rf"x_{{n,c,{','.join('ijk'[:n])}}}\, w_{{c,o,{','.join('uvw'[:n])}}}"
        ),
        family="convolution",
        level=2,
        relation=_relation(f"Conv{n}DTranspose", axes),
        pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
        flops=_flops("NC" + axes),
        reference=_reference(axes),
        gradient=TRANSPOSED,
        lowering=_transposed_te,
        layout=follow_transposed_attributes,
        precision=Precision.ALWAYS,
        kernel_layouts=kernel_layouts,
        traits={Trait.TRANSPOSED_CONVOLUTION},
        example=example,
        attrs=attrs,
        lenient_in_tvm=_LENIENT,
    )


@_transposed("W", Conv1DTransposeAttrs, lambda build: build(SIGNAL, var("w"), channels=8, kernel_size=3))
def conv1d_transpose(
    data: Operand,
    weight: Operand,
    strides: Sizes = (1,),
    padding: Sizes = (0,),
    dilation: Sizes = (1,),
    groups: int = 1,
    channels: int | None = None,
    kernel_size: Sizes | None = None,
    data_layout: str = "NCW",
    kernel_layout: str = "OIW",
    out_layout: str = "",
    output_padding: Sizes = (0,),
    out_dtype: str = "",
) -> Call:
    """Compute the transposed convolution of `data` (N, C, W) with `weight` (C, O / groups, k): (N, O, W').

    The layout "OIW" of the weight means the same as "IOW", as in TVM.
    """


@_transposed(
    "HW",
    Conv2DTransposeAttrs,
    lambda build: build(IMAGE, t(4, 2, 3, 3, name="w")),
    {"NCHW": "IOHW", "NHWC": "HWIO"},
)
def conv2d_transpose(
    data: Operand,
    weight: Operand,
    strides: Sizes = (1, 1),
    padding: Sizes = (0, 0),
    dilation: Sizes = (1, 1),
    groups: int = 1,
    channels: int | None = None,
    kernel_size: Sizes | None = None,
    data_layout: str = "NCHW",
    kernel_layout: str = "IOHW",
    out_layout: str = "",
    output_padding: Sizes = (0, 0),
    out_dtype: str = "",
) -> Call:
    """Compute the transposed convolution of `data` (N, C, H, W) with `weight` (C, O / groups, kh, kw): (N, O,
    H', W').
    """


@_transposed(
    "DHW",
    Conv3DTransposeAttrs,
    lambda build: build(VOLUME, t(4, 2, 3, 3, 3, name="w")),
    {"NCDHW": "IODHW", "NDHWC": "DHWOI"},
)
def conv3d_transpose(
    data: Operand,
    weight: Operand,
    strides: Sizes = (1, 1, 1),
    padding: Sizes = (0, 0, 0),
    dilation: Sizes = (1, 1, 1),
    groups: int = 1,
    channels: int | None = None,
    kernel_size: Sizes | None = None,
    data_layout: str = "NCDHW",
    kernel_layout: str = "OIDHW",
    out_layout: str = "",
    output_padding: Sizes = (0, 0, 0),
    out_dtype: str = "",
) -> Call:
    """Compute the transposed convolution of `data` (N, C, D, H, W) with `weight` (C, O / groups, kd, kh, kw).

    The layout "OIDHW" of the weight means the same as "IODHW", as in TVM.
    """
