"""Layers whose channels are split into blocks of the vector width, with weights packed to match: the compiler
replaces `nn.conv2d` and `nn.dense` by them once it knows the target's vector width.

Source programs do not contain these operators; AlterOpLayout introduces them, and FoldConstant packs the
weights. A weight of small integers also has blocks of input channels innermost, as in "OIHW16o4i": as many as
one lane of the processor's dot instruction multiplies at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any as Anything
from typing import ParamSpec, TypeVar

from ....ir.attrs import Attrs, DType, attr
from ....ir.declaration import NotApplicable, Precision
from ....ir.expr import Call
from ....ir.op import OpPattern, Relation, RelationError, Reporter, size_of
from ....ir.show import show_shape
from ....ir.types import IncompleteType, TensorType, Type
from ...arguments import Operand
from ...examples import X, t
from ...layouts.layout import Answer, InferCorrectLayoutOutput, Layout, Question
from ...numeric import Array, element_type, np
from ...operator import Example, operator
from ...relation import same_dim, tensor
from ...te.library import te
from ...te.lowered import Lowered
from ...te.tensors import dims, known, quotient
from ...te.windows import positions
from ..layout import layout_map
from ..product import OUT_DTYPE
from ..window import Sizes
from .attributes import PackedConv2DAttrs
from .blocks import Split, factor_of, indices_of, padded, shape_in, shape_of, subscripts
from .layouts import follow_attributes
from .reference import convolution
from .relations import conv_flops, convolution_relation

__all__ = ["contrib_conv2d_nchwc", "contrib_dense_pack", "contrib_depthwise_conv2d_nchwc"]

P = ParamSpec("P")
R = TypeVar("R")

_NO_GRADIENT = NotApplicable("the compiler introduces it after differentiation")

# -- convolutions


def _convolution_te(call: Lowered) -> list[Anything]:
    """Sum the products of windows and weights; padding is a separate stage."""
    attrs = call.attrs
    out_layout = attrs.out_layout or attrs.data_layout
    weight, channels, height, width = shape_of(attrs.kernel_layout, "OIHW", call.inputs[1])
    data = padded(call)
    batch, inputs, *space = shape_of(attrs.data_layout, "NCHW", data)
    outputs = weight if attrs.channels is None else attrs.channels
    extents = [
        positions(size, kernel, stride, step, (0, 0))
        for size, kernel, stride, step in zip(space, (height, width), attrs.strides, attrs.dilation)
    ]
    block = factor_of(attrs.kernel_layout, "I")
    block = block if block > 1 else factor_of(attrs.data_layout, "C")
    block = block if known(channels) is not None and channels % block == 0 else 1
    reduced = {"rc": quotient(channels, block), "rh": height, "rw": width, "ri": block}
    used = [name for name, n in reduced.items() if known(n) != 1] or ["rc"]
    axes = {name: te.reduce_axis((0, reduced[name]), name) for name in used}
    rc, rh, rw, ri = [axes.get(name, 0) for name in reduced]

    def value(*at: Anything) -> Anything:
        index = indices_of(out_layout, at)
        first = _first_channel(index["C"], inputs, outputs, attrs.groups, block)
        within = {"O": index["C"], "I": Split(rc, ri, block), "H": rh, "W": rw}
        position = {
            "N": index["N"],
            "C": Split(first.outer + rc, first.inner + ri, block) if block > 1 else first.outer + rc,
            "H": index["H"] * attrs.strides[0] + rh * attrs.dilation[0],
            "W": index["W"] * attrs.strides[1] + rw * attrs.dilation[1],
        }
        if _is_depthwise(inputs, outputs, attrs.groups):
            position["C"] = index["C"]
        x = data(*subscripts(attrs.data_layout, position)).astype(call.out.dtype)
        w = call.inputs[1](*subscripts(attrs.kernel_layout, within)).astype(call.out.dtype)
        return te.sum(x * w, axis=list(axes.values()))

    return [te.compute(shape_in(out_layout, (batch, outputs, *extents)), value, name=call.name)]


def _is_depthwise(inputs: Anything, outputs: Anything, groups: int) -> bool:
    """Whether each channel is convolved separately."""
    return known(inputs) == known(outputs) == groups > 1


def _first_channel(channel: Split, inputs: Anything, outputs: Anything, groups: int, block: int) -> Split:
    """Return the first input channel of an output channel's group."""
    if groups == 1:
        return Split(0, 0, block)
    group_inputs, group_outputs = quotient(inputs, groups), quotient(outputs, groups)
    if channel.factor > 1 and known(group_outputs) is not None and group_outputs % channel.factor == 0:
        group = te.floordiv(channel.outer, group_outputs // channel.factor)
    else:
        group = te.floordiv(channel.whole, group_outputs)
    return Split(group * quotient(group_inputs, block), 0, block)


def _blocked(
    name: str, what: str, relation: str, example: Example
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare a convolution with channels in blocks."""
    return operator(
        name,
        description=f"{what} over two axes, with data and weight in blocked layouts.",
        formula=(
            r"y_{n,O,i,j,o} = \sum_{C,u,v,c} x_{n,C,\,s i + d u - p,\, s j + d v - p,\,c}\, w_{O,C,u,v,c,o}"
        ),
        family="convolution",
        level=2,
        relation=convolution_relation(relation, "NCHW", "OIHW"),
        inputs=("data", "weight"),
        pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
        flops=conv_flops("NCHW"),
        reference=convolution("HW"),
        gradient=_NO_GRADIENT,
        lowering=_convolution_te,
        layout=follow_attributes,
        precision=Precision.UNLISTED,
        example=example,
        attrs=PackedConv2DAttrs,
        lenient_in_tvm="It did not compare the channels of data and weight.",
    )


@_blocked(
    "nn.contrib_conv2d_NCHWc",
    "Convolves",
    "Conv2DNCHWc",
    lambda build: build(
        t(1, 1, 8, 8, 4, name="blocks"),
        t(2, 1, 3, 3, 4, 4, name="w"),
        padding=1,
        data_layout="NCHW4c",
        kernel_layout="OIHW4i4o",
    ),
)
def contrib_conv2d_nchwc(
    data: Operand,
    kernel: Operand,
    strides: Sizes = (1, 1),
    padding: Sizes = (0, 0),
    dilation: Sizes = (1, 1),
    groups: int = 1,
    channels: int | None = None,
    kernel_size: Sizes | None = None,
    data_layout: str = "NCHW8c",
    kernel_layout: str = "OIHW",
    out_layout: str = "",
    out_dtype: str = "",
    pad_value: int = 0,
) -> Call:
    """Convolve `data`, (N, C / b, H, W, b) for "NCHW8c", with `kernel` in the layout `kernel_layout`."""


@_blocked(
    "nn.contrib_depthwise_conv2d_NCHWc",
    "Convolves each channel separately",
    "DepthwiseConv2DNCHWc",
    lambda build: build(
        t(1, 1, 8, 8, 4, name="blocks"),
        t(1, 1, 3, 3, 1, 4, name="w"),
        groups=4,
        data_layout="NCHW4c",
        kernel_layout="OIHW1i4o",
    ),
)
def contrib_depthwise_conv2d_nchwc(
    data: Operand,
    kernel: Operand,
    strides: Sizes = (1, 1),
    padding: Sizes = (0, 0),
    dilation: Sizes = (1, 1),
    groups: int = 1,
    channels: int | None = None,
    kernel_size: Sizes | None = None,
    data_layout: str = "NCHW8c",
    kernel_layout: str = "OIHW",
    out_layout: str = "",
    out_dtype: str = "",
    pad_value: int = 0,
) -> Call:
    """Convolve each channel separately: `groups` is the number of channels."""


# -- a product with a packed weight


class DensePackAttrs(Attrs, key="relay.attrs.DensePackAttrs"):
    units: int | None = attr(None, "The number of output features; by default the weight's.")
    out_dtype: DType = attr("", OUT_DTYPE)
    weight_layout: str = attr("NC", "The order of the weight's axes: N output features in blocks, C input.")


def _dense_relation(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Relate the types: inputs (…, k) and, in blocks of b, (units / b, k, b); output (…, units)."""
    data, weight, out = types
    if isinstance(data, IncompleteType) or isinstance(weight, IncompleteType):
        return False
    data, weight = tensor(data, 0, "data"), tensor(weight, 1, "weight")
    if not data.shape:
        raise RelationError("the data is a scalar, but must have at least one axis", culprits=(0,))
    units, features = layout_map(attrs.weight_layout, "NC").forward(weight.shape, 1, "the weight")
    if not same_dim(features, data.shape[-1]):
        raise RelationError(
            f"the data has {data.shape[-1]} features, but the weight {show_shape(weight.shape)} takes "
            f"{features}",
            f'its layout is "{attrs.weight_layout}": N counts output features, C input features',
            culprits=(0, 1),
        )
    if attrs.units is not None and not same_dim(units, attrs.units):
        raise RelationError(
            f"units={attrs.units}, but the weight {show_shape(weight.shape)} produces {units} features",
            f"give units={units}, or leave it out",
            culprits=(1,),
        )
    reporter.assign(out, TensorType.of((*data.shape[:-1], units), attrs.out_dtype or data.dtype))
    return True


def _dense_flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """Count a multiplication and an addition for each output element and input feature."""
    data = inputs[0]
    features = data.shape[-1] if isinstance(data, TensorType) and data.shape else 1
    return 2 * size_of(output) * (features if isinstance(features, int) else 1)


def _dense_reference(attrs: Anything, x: Array, weight: Array) -> Array:
    """Multiply by the weight after joining its blocks."""
    dtype = element_type(attrs.out_dtype or x.dtype)
    plain = layout_map(attrs.weight_layout, "NC").unpack(weight)
    return np.matmul(x.astype(dtype, copy=False), plain.T.astype(dtype, copy=False))


def _dense_te(call: Lowered) -> list[Anything]:
    """Multiply each row of the data by the weight, read one block of output features at a time."""
    data, weight = call.inputs
    layout = call.attrs.weight_layout
    block, within = factor_of(layout, "N"), factor_of(layout, "C")
    *rows, features = dims(data)
    units = layout_map(layout, "NC").forward(dims(weight), 1, "the weight")[0]
    axes = [te.reduce_axis((0, quotient(features, within)), "k")]
    if within > 1:
        axes.append(te.reduce_axis((0, within), "ki"))
    k = Split(axes[0], axes[1] if within > 1 else 0, within)

    def value(*at: Anything) -> Anything:
        *lead, unit = at
        feature = Split(unit, 0, 1).blocked(block)
        w = weight(*subscripts(layout, {"N": feature, "C": k}))
        return te.sum(data(*lead, k.whole).astype(call.out.dtype) * w.astype(call.out.dtype), axis=axes)

    return [te.compute((*rows, units), value, name=call.name)]


def _dense_layout(question: Question) -> Answer:
    """Require the weight layout that the attribute names; data and result are rows of features."""
    attrs = question.attrs
    assert attrs is not None
    kernel = Layout(attrs["weight_layout"])
    return InferCorrectLayoutOutput([Layout("NC"), kernel], [Layout("NC")], attrs)


@operator(
    "nn.contrib_dense_pack",
    description="Multiplies by a weight matrix whose output features are in blocks.",
    formula=r"y_{\ldots,J b + j} = \sum_{k} x_{\ldots,k}\, w_{J,k,j}",
    family="matmul",
    relation=Relation("DensePack", _dense_relation, "{out} = {0} · {1}ᵀ, {1} in blocks"),
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=_dense_flops,
    reference=_dense_reference,
    gradient=_NO_GRADIENT,
    lowering=_dense_te,
    layout=_dense_layout,
    precision=Precision.UNLISTED,
    example=lambda build: build(X, t(2, 6, 4, name="w"), weight_layout="NC4n"),
    attrs=DensePackAttrs,
    lenient_in_tvm="It did not compare the inner dimensions of data and weight.",
)
def contrib_dense_pack(
    data: Operand, weight: Operand, weight_layout: str = "NC", units: int | None = None, out_dtype: str = ""
) -> Call:
    """Multiply `data` (…, k) by `weight`, (units / b, k, b) in the layout "NC8n" for b = 8: (…, units)."""
