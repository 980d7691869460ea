"""Convolutions, against PyTorch in every layout; weights that are inferred; and how they refuse."""

from __future__ import annotations

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from relay_explorer.ir import Attrs
from relay_explorer.ir.errors import AttributeSchemaError
from relay_explorer.ir.expr import Call, var
from relay_explorer.ir.narrow import as_a, as_op
from relay_explorer.ir.types import Any, SizeVar, TensorType
from relay_explorer.ops.nn.convolution import direct as conv
from relay_explorer.ops.nn.convolution import transposed as conv_transpose
from relay_explorer.ops.nn.convolution.backward_weight import conv2d_backward_weight
from relay_explorer.ops.nn.convolution.deformable import deformable_conv2d
from relay_explorer.ops.nn.convolution.layouts import weight_layout
from relay_explorer.ops.unary.rounding import negative
from relay_explorer.text import parse
from relay_explorer.typing import infer_types
from tests.ops.nn_programs import first_types, operands
from tests.ops.tensor_programs import refused, t, type_of, typed

AXES = {1: "W", 2: "HW", 3: "DHW"}
SMALL = st.integers(1, 3)


class Case:
    """A convolution over `axes` axes whose window fits: its numbers, and an order for each tensor's axes."""

    def __init__(self, draw: st.DrawFn, axes: int) -> None:
        def each(values: st.SearchStrategy[int]) -> tuple[int, ...]:
            return tuple(draw(values) for _ in range(axes))

        self.axes = axes
        self.groups = draw(SMALL)
        self.batch, self.inputs, self.outputs = (
            draw(SMALL),
            self.groups * draw(SMALL),
            self.groups * draw(SMALL),
        )
        self.kernel, self.strides, self.dilation = each(SMALL), each(SMALL), each(SMALL)
        self.padding = each(st.integers(0, 2))
        self.room = tuple(
            max(1, d * (k - 1) + 1 - 2 * p)
            for k, d, p in zip(self.kernel, self.dilation, self.padding, strict=True)
        )
        self.size = tuple(room + draw(st.integers(0, 4)) for room in self.room)
        self.data_layout = "".join(draw(st.permutations("NC" + AXES[axes])))
        self.out_layout = "".join(draw(st.permutations("NC" + AXES[axes])))
        self.kernel_layout = "".join(draw(st.permutations("OI" + AXES[axes])))

    @property
    def attributes(self) -> dict[str, object]:
        return {
            "strides": self.strides,
            "padding": self.padding,
            "dilation": self.dilation,
            "groups": self.groups,
            "data_layout": self.data_layout,
            "kernel_layout": self.kernel_layout,
            "out_layout": self.out_layout,
        }


@st.composite
def cases(draw: st.DrawFn) -> Case:
    return Case(draw, draw(st.integers(1, 3)))


def ordered(layout: str, canonical: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    sizes = dict(zip(canonical, shape, strict=True))
    return tuple(sizes[axis] for axis in layout)


@settings(max_examples=150, deadline=None)
@given(cases(), st.booleans())
def test_shapes_are_pytorchs(case: Case, told: bool) -> None:
    shape, weight = (
        (case.batch, case.inputs, *case.size),
        (case.outputs, case.inputs // case.groups, *case.kernel),
    )
    told = told or case.axes == 1  # the reference types a grouped conv1d only where it is told
    function = getattr(torch.nn.functional, f"conv{case.axes}d")
    expected = function(
        torch.empty(shape, device="meta"),
        torch.empty(weight, device="meta"),
        None,
        case.strides,
        case.padding,
        case.dilation,
        case.groups,
    )
    names = "NC" + AXES[case.axes]
    call = getattr(conv, f"conv{case.axes}d")(
        t(*ordered(case.data_layout, names, shape)),
        t(*ordered(case.kernel_layout, "OI" + AXES[case.axes], weight), name="w"),
        channels=case.outputs if told else None,
        kernel_size=case.kernel if told else None,
        **case.attributes,
    )
    assert typed(call) == str(TensorType(ordered(case.out_layout, names, tuple(expected.shape))))


@settings(max_examples=100, deadline=None)
@given(cases(), st.booleans())
def test_transposed_shapes_are_pytorchs(case: Case, told: bool) -> None:
    shape, weight = (
        (case.batch, case.inputs, *case.size),
        (case.inputs, case.outputs // case.groups, *case.kernel),
    )
    extra = tuple(max(0, min(s, d) - 1) for s, d in zip(case.strides, case.dilation, strict=True))
    sizes = zip(case.size, case.strides, case.dilation, case.kernel, case.padding, extra, strict=True)
    assume(all(s * (n - 1) + d * (k - 1) + 1 - 2 * p + e > 0 for n, s, d, k, p, e in sizes))
    function = getattr(torch.nn.functional, f"conv_transpose{case.axes}d")
    expected = function(
        torch.empty(shape, device="meta"),
        torch.empty(weight, device="meta"),
        None,
        case.strides,
        case.padding,
        extra,
        case.groups,
        case.dilation,
    )
    names = "NC" + AXES[case.axes]
    call = getattr(conv_transpose, f"conv{case.axes}d_transpose")(
        t(*ordered(case.data_layout, names, shape)),
        t(*ordered(weight_layout(case.kernel_layout), "IO" + AXES[case.axes], weight), name="w"),
        channels=case.outputs if told or case.groups > 1 else None,
        kernel_size=case.kernel if told else None,
        output_padding=extra,
        **case.attributes,
    )
    assert typed(call) == str(TensorType(ordered(case.out_layout, names, tuple(expected.shape))))


@settings(max_examples=60, deadline=None)
@given(cases())
def test_weights_are_inferred(case: Case) -> None:
    case.groups = case.groups if case.axes != 2 else 1
    names, kernel_names = "NC" + AXES[case.axes], "OI" + AXES[case.axes]
    data = t(*ordered(case.data_layout, names, (case.batch, case.inputs, *case.size)))
    call = getattr(conv, f"conv{case.axes}d")(
        data, var("w"), channels=case.outputs, kernel_size=case.kernel, **case.attributes
    )
    weight = (case.outputs, case.inputs // case.groups, *case.kernel)
    assert first_types(call)[1] == str(TensorType(ordered(case.kernel_layout, kernel_names, weight)))


def test_transposed_weights_are_inferred() -> None:
    call = conv_transpose.conv3d_transpose(t(1, 8, 5, 5, 5), var("w"), channels=6, kernel_size=3)
    assert first_types(call)[1] == "Tensor[(8, 6, 3, 3, 3), float32]"
    call = conv_transpose.conv2d_transpose(t(1, 8, 5, 5), var("w"), channels=6, kernel_size=3, groups=2)
    assert first_types(call) == ["Tensor[(1, 8, 5, 5), float32]", "Tensor[(8, 3, 3, 3), float32]"]


@pytest.mark.parametrize(
    ("axes", "program"),
    [
        (1, "%x: Tensor[(1, 3, 4), float32], %w: Tensor[(3, 2, 3), float32]"),
        (2, "%x: Tensor[(1, 3, 4, 4), float32], %w: Tensor[(3, 2, 3, 3), float32]"),
        (3, "%x: Tensor[(1, 3, 4, 4, 4), float32], %w: Tensor[(3, 2, 3, 3, 3), float32]"),
    ],
)
def test_the_weight_of_a_transposed_convolution_has_its_input_channels_first(axes: int, program: str) -> None:
    kernel, strides = [3] * axes, [2] * axes
    for layout in ("", "IO", "OI")[: 2 if axes == 2 else 3]:
        named = f', kernel_layout="{layout}{AXES[axes]}"' if layout else ""
        call = (
            f"nn.conv{axes}d_transpose(%x, %w, channels=2, kernel_size={kernel}, strides={strides}, "
            f"padding={[0] * axes}{named})"
        )
        module = infer_types(parse(f"def @main({program}) {{ {call} }}"))
        assert str(module["main"].ret_type) == f"Tensor[(1, 2, {', '.join(['9'] * axes)}), float32]"


TYPED: list[tuple[Call, str]] = [
    (conv.conv2d(t(1, 3, 8, 8), t(4, 3, 3, 3)), "(1, 4, 6, 6)"),
    (conv.conv2d(t(1, 3, 8, 8), t(4, 3, 3, 3), padding=(0, 1, 2, 3)), "(1, 4, 8, 10)"),
    (conv.conv2d(t(1, 3, Any(), 8), t(4, 3, 3, 3), padding=1), "(1, 4, ?, 8)"),
    (conv.conv2d(t(Any(), Any(), 8, 8), t(4, 3, 3, 3)), "(?, 4, 6, 6)"),
    (conv.conv2d(t(1, 4, 8, 8), t(4, 1, 3, 3), groups=4), "(1, 4, 6, 6)"),
    (conv.conv2d(t(1, 4, 8, 8), t(4, 2, 3, 3), groups=4, channels=8, kernel_size=3), "(1, 8, 6, 6)"),
    (conv.conv2d(t(1, 4, 8, 8), t(8, 1, 3, 3), groups=4, channels=8, kernel_size=3), "(1, 8, 6, 6)"),
    (
        conv.conv2d(t(1, 8, 8, 4), t(3, 3, 4, 1), groups=4, data_layout="NHWC", kernel_layout="HWOI"),
        "(1, 6, 6, 4)",
    ),
    (
        conv.conv2d(t(1, 4, 8, 8, 4), t(2, 4, 3, 3, 4, 8), data_layout="NCHW4c", kernel_layout="OIHW4i8o"),
        "(1, 4, 6, 6, 4)",
    ),
    (
        conv.conv2d(
            t(1, 4, 8, 8, 4),
            t(2, 4, 3, 3, 4, 8),
            data_layout="NCHW4c",
            kernel_layout="OIHW4i8o",
            out_layout="NCHW8c",
        ),
        "(1, 2, 6, 6, 8)",
    ),
    (deformable_conv2d(t(1, 4, 8, 8), t(1, 18, 6, 6), t(8, 4, 3, 3)), "(1, 8, 6, 6)"),
    (
        conv2d_backward_weight(t(1, 8, 4, 4), t(1, 3, 8, 8), strides=2, padding=1, kernel_size=3),
        "(8, 3, 3, 3)",
    ),
    (
        conv2d_backward_weight(
            t(1, 6, 6, 8),
            t(1, 8, 8, 3),
            kernel_size=3,
            grad_layout="NHWC",
            data_layout="NHWC",
            kernel_layout="HWIO",
        ),
        "(3, 3, 3, 8)",
    ),
]


@pytest.mark.parametrize(("call", "shape"), TYPED, ids=[shape for _, shape in TYPED])
def test_types(call: Call, shape: str) -> None:
    assert typed(operands(call)) == f"Tensor[{shape}, float32]"


def test_windows_over_named_sizes() -> None:
    height = SizeVar("h")
    assert (
        typed(conv.conv2d(t(1, 3, height, 8), t(4, 3, 3, 3, name="w"), padding=1))
        == "Tensor[(1, 4, h, 8), float32]"
    )
    assert (
        typed(conv.conv2d(t(1, 3, height, 8), t(4, 3, 3, 3, name="w"))) == "Tensor[(1, 4, h - 2, 6), float32]"
    )
    strided = conv.conv2d(t(1, 3, height, 8), t(4, 3, 3, 3, name="w"), strides=2)
    assert typed(strided) == "Tensor[(1, 4, floordiv(h - 3, 2) + 1, 3), float32]"
    spread = conv_transpose.conv2d_transpose(t(1, 3, height, 8), t(3, 4, 2, 2, name="w"), strides=2)
    assert typed(spread) == "Tensor[(1, 4, 2 * h, 16), float32]"


def test_out_dtype_and_mixed_types() -> None:
    data, weight = t(1, 3, 8, 8, dtype="int8"), t(4, 3, 3, 3, dtype="int8", name="w")
    assert typed(conv.conv2d(data, weight, out_dtype="int32")) == "Tensor[(1, 4, 6, 6), int32]"
    call = conv.conv2d(data, var("w"), channels=4, kernel_size=3, out_dtype="int32")
    assert first_types(call)[1] == "Tensor[(4, 3, 3, 3), int8]"


def test_offsets_are_inferred() -> None:
    call = deformable_conv2d(
        t(2, 4, 8, 8), var("offset"), var("weight"), channels=8, kernel_size=3, deformable_groups=2
    )
    assert first_types(call)[1:] == ["Tensor[(2, 36, 6, 6), float32]", "Tensor[(8, 4, 3, 3), float32]"]


REFUSED: list[tuple[Call, str, str]] = [
    (
        conv.conv2d(t(1, 3, 8, 8), t(4, 5, 3, 3), channels=4, kernel_size=3),
        "the data has 3 channels, but the weight (4, 5, 3, 3) requires 5",
        "a weight for this data has shape (4, 3, 3, 3)",
    ),
    (
        conv.conv2d(t(1, 224, 224, 3), t(64, 3, 7, 7)),
        "the data has 224 channels, but the weight (64, 3, 7, 7) requires 3",
        'the data\'s last axis has 3: if its channels come last, give data_layout="NHWC"',
    ),
    (
        conv.conv2d(t(1, 224, 224, 3), t(7, 7, 3, 64), data_layout="NHWC"),
        "the data has 3 channels, but the weight (7, 7, 3, 64) requires 7",
        'if the weight\'s channels come last, give kernel_layout="HWIO"',
    ),
    (
        conv.conv2d(t(1, 32, 8, 8), t(32, 1, 3, 3)),
        "the data has 32 channels, but the weight (32, 1, 3, 3) requires 1",
        "the weight fits with groups=32",
    ),
    (
        conv.conv2d(t(1, 8, 8, 8), t(8, 8, 3, 3), groups=2),
        "each of the 2 groups has 4 of the data's 8 channels, but the weight (8, 8, 3, 3) requires 8",
        "the weight fits with groups=1",
    ),
    (
        conv.conv2d(t(1, 3, 8, 8), t(8, 3, 3, 3), groups=2),
        "the data's number of channels is 3, which 2 does not divide",
        "groups must divide the channels of data and output",
    ),
    (
        conv.conv2d(t(1, 4, 8, 8), t(3, 2, 3, 3), groups=2),
        "the 3 output channels do not divide into 2 groups",
        "groups must divide the channels of data and output",
    ),
    (
        conv.conv2d(t(1, 3, 8, 8), t(4, 3, 3, 3), channels=8),
        "channels=8, but the weight produces 4 channels",
        "give channels=4, or leave it out",
    ),
    (
        conv.conv2d(t(1, 3, 8, 8), t(4, 3, 3, 3), channels=4, kernel_size=(5, 3)),
        "kernel_size=[5, 3], but the weight's kernel is [3, 3]",
        "give kernel_size=[3, 3], or leave it out",
    ),
    (
        conv.conv2d(t(1, 3, 5, 5), t(4, 3, 7, 7)),
        "the window is 7 wide, but the axis is only 5 wide",
        "use a smaller window or more padding",
    ),
    (
        conv.conv2d(t(1, 3, 5, 5), t(4, 3, 3, 3), padding=1, dilation=4),
        "the window is 9 wide (3 at dilation 4), but the axis is only 7 wide (5 and 2 of padding)",
        "use a smaller window or more padding",
    ),
    (
        conv.conv2d(t(3, 8, 8), t(4, 3, 3, 3)),
        "the data has 3 axes, (3, 8, 8), but its layout NCHW names 4",
        "the batch axis may be missing: relay.expand_dims(…, axis=0) adds one",
    ),
    (
        conv.conv2d(t(1, 3, 8, 8), t(4, 3, 3, 3), data_layout="NCWX"),
        'the layout "NCWX" does not have exactly the axes N, C, H, W',
        'an order of these axes is needed, such as "NCHW"',
    ),
    (
        conv.conv2d(t(1, 2, 8, 8, 8), t(4, 16, 3, 3), data_layout="NCHW4c"),
        "the data has blocks of 8 on axis c, but its layout NCHW4c says blocks of 4",
        "relay.layout_transform changes a tensor's layout",
    ),
    (
        conv.conv2d(t(1, 3, 8, 8), t(4, 3, 3, 3), strides=(1, 0)),
        "strides=[1, 0] must be positive",
        "",
    ),
    (
        conv.conv1d(t(1, 4, 8), t(4, 2, 3), groups=2),
        "with groups=2, conv1d needs `channels` and `kernel_size`",
        "give both",
    ),
    (
        conv_transpose.conv2d_transpose(t(1, 3, 8, 8), t(4, 3, 3, 3)),
        "the data has 3 channels, but the weight (4, 3, 3, 3) requires 4",
        "the kernel layout is IOHW: a transposed convolution's weight has its input channels on axis I",
    ),
    (
        conv_transpose.conv2d_transpose(t(1, 4, 8, 8), t(4, 2, 3, 3), groups=2),
        "with groups=2, `channels` is needed",
        "give the number of output channels of all groups together",
    ),
    (
        conv_transpose.conv1d_transpose(t(1, 4, 1), t(4, 4, 1), padding=2),
        "the padding cuts off 4, but the windows cover only 1",
        "use less padding",
    ),
    (
        deformable_conv2d(t(1, 4, 8, 8), t(1, 9, 6, 6), t(8, 4, 3, 3)),
        "the offsets have shape (1, 9, 6, 6), but this call needs (1, 18, 6, 6)",
        "there are two offsets for each kernel element, deformable group and element of the output",
    ),
    (
        conv2d_backward_weight(t(1, 8, 8, 8), t(1, 3, 8, 8), kernel_size=3),
        "the gradient (1, 8, 8, 8) is not that of this convolution, whose output is (1, 8, 6, 6)",
        "give the strides, padding, dilation and kernel_size of the convolution",
    ),
]


@pytest.mark.parametrize(("call", "message", "help"), REFUSED, ids=[message for _, message, _ in REFUSED])
def test_refusals(call: Call, message: str, help: str) -> None:
    error = refused(operands(call))
    assert error.message == f"`{as_op(call.op).name}`: {message}"
    assert error.help == ((help,) if help else ())


def test_a_grouped_convolution_does_not_say_what_its_weight_is() -> None:
    error = refused(operands(conv.conv2d(t(1, 4, 8, 8), var("w"), groups=4, channels=4, kernel_size=3)))
    assert error.message == (
        "the program does not say enough: `nn.conv2d` cannot be typed, "
        "since 1 of its argument types is not known"
    )
    assert error.help == ("give `%a1` a type: `%a1: Tensor[(…), float32]`",)


def test_a_grouped_convolution_waits_for_the_type_of_its_weight() -> None:
    """Its data is known earlier than its weight, which is computed."""
    data, weight = var("x", t(1, 4, 8, 8).type_annotation), var("w", t(4, 1, 3, 3).type_annotation)
    call = conv.conv2d(negative(data), weight + weight, groups=4, channels=4, kernel_size=3)
    assert type_of(call) == t(1, 4, 6, 6).type_annotation


def test_padding_is_written_out_as_the_reference_wrote_it() -> None:
    data, weight = t(1, 3, 8, 8), t(4, 3, 3, 3)
    assert as_a(Attrs, conv.conv2d(data, weight, padding=1).attrs)["padding"] == (1, 1, 1, 1)
    assert as_a(Attrs, conv.conv2d(data, weight, padding=(1, 2)).attrs)["padding"] == (1, 2, 1, 2)
    assert as_a(Attrs, conv.conv2d(data, weight).attrs).changed() == [("padding", (0, 0, 0, 0))]
    assert as_a(Attrs, conv.conv1d(data, weight).attrs).changed() == []
    assert as_a(Attrs, conv.conv3d(data, weight, 2, kernel_size=3).attrs).changed() == [
        ("strides", (2, 2, 2)),
        ("padding", (0,) * 6),
        ("kernel_size", (3, 3, 3)),
    ]


@pytest.mark.parametrize(
    ("padding", "message"),
    [
        ("SAME", 'padding is given in numbers, not as "SAME"'),
        ((1, 1, 1), "padding has 3 values for 2 axes"),
        (0.5, "attribute `padding` takes integers, not (0.5, 0.5, 0.5, 0.5)"),
    ],
)
def test_padding_of_the_wrong_kind(padding: object, message: str) -> None:
    with pytest.raises(AttributeSchemaError) as caught:
        conv.conv2d(t(1, 3, 8, 8), t(4, 3, 3, 3), padding=padding)  # type: ignore[arg-type]
    assert caught.value.message == message
