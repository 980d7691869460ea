"""Operators that put elements around or between those of a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.attrs import Attrs, Ints, Pairs, attr, required
from ...ir.expr import Call, Constant, Expr, const
from ...ir.op import Op, OpPattern, Relation, RelationError, Reporter, size_of
from ...ir.show import show_shape
from ...ir.types import Dim, IncompleteType, Shape, TensorType, Type
from ..arguments import expr, static_ints
from ..declare import declare
from ..numeric import Array, np
from ..relation import tensor
from .layout import many, plus
from .sliding import cropped

__all__ = ["dilate", "mirror_pad", "pad"]

PAD_WIDTH = "How many elements go before and after the data on each axis."


class PadAttrs(Attrs, key="relay.attrs.PadAttrs"):
    pad_width: Pairs = required(PAD_WIDTH)
    pad_mode: str = attr(
        "constant",
        'What goes there: "constant" the value, "edge" the nearest element, "reflect" the mirrored data.',
    )


class MirrorPadAttrs(Attrs, key="relay.attrs.MirrorPadAttrs"):
    mode: str = attr(
        "SYMMETRIC", 'Whether the mirrored data repeats the edge ("SYMMETRIC") or not ("REFLECT").'
    )
    pad_width: Pairs = required(PAD_WIDTH)


class DilateAttrs(Attrs, key="relay.attrs.DilateAttrs"):
    strides: Ints = attr((1, 1), "The distance of neighbouring elements in the output on each axis.")
    dilation_value: float = attr(0.0, "What goes between them.")


def _padded(shape: Shape, widths: Pairs) -> Shape:
    """`shape` with `widths` more elements; a RelationError where that is not one pair an axis, or less than
    nothing stays.
    """
    if len(widths) != len(shape):
        raise RelationError(
            f"pad_width has {many(len(widths), 'pair', 'pairs')}, but the data {show_shape(shape)} "
            f"has {many(len(shape), 'axis', 'axes')}",
            "give a pair (before, after) for each axis",
        )
    out: list[Dim] = []
    for axis, (dim, pair) in enumerate(zip(shape, widths, strict=True)):
        if len(pair) != 2:
            raise RelationError(
                f"pad_width of axis {axis} is {list(pair)}, not a pair", "give (before, after)"
            )
        new = plus(dim, pair[0] + pair[1])
        if isinstance(new, int) and new < 0:
            raise RelationError(
                f"pad_width of axis {axis} takes away {-pair[0] - pair[1]} elements, but the data has only "
                f"{dim}",
                culprits=(0,),
            )
        out.append(new)
    return tuple(out)


def _pad(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Inputs of any shape and one number; output (before + d + after) on each axis."""
    data, value, out = types
    if isinstance(data, IncompleteType):
        return False
    data = tensor(data, 0, "data")
    if not isinstance(value, IncompleteType) and size_of(tensor(value, 1, "pad_value")) != 1:
        raise RelationError(f"pad_value must be one number, not {value}", culprits=(1,))
    if attrs.pad_mode not in ("constant", "edge", "reflect"):
        raise RelationError(
            f'pad_mode="{attrs.pad_mode[:40]}" is not known', 'the modes are "constant", "edge" and "reflect"'
        )
    reporter.assign(out, TensorType.of(_padded(data.shape, attrs.pad_width), data.dtype))
    return True


def _surrounded(attrs: PadAttrs, x: Array, pad_value: Array) -> Array:
    value = {"constant_values": pad_value.reshape(())} if attrs.pad_mode == "constant" else {}
    more = [(max(before, 0), max(after, 0)) for before, after in attrs.pad_width]
    less = [(max(-before, 0), max(-after, 0)) for before, after in attrs.pad_width]
    return cropped(np.pad(x, more, attrs.pad_mode, **value), less)


_PAD = declare(
    "nn.pad",
    "Puts elements around a tensor, on each axis before and after.",
    formula=r"y_{i} = \begin{cases} x_{i - b} & b \le i < b + d \\ v & \text{otherwise} \end{cases}",
    relation=Relation("Pad", _pad, "{out} = {0} and the padding"),
    inputs=("data", "pad_value"),
    attrs=PadAttrs,
    pattern=OpPattern.INJECTIVE,
    family="shape",
    level=2,
    lenient_in_tvm="It did not look at the type of the value, nor at the mode.",
    compute=_surrounded,
    gradient="shape.pad",
    lowering="pad.pad",
)


def pad(
    data: Expr, pad_width: Sequence[Sequence[int]] | Expr, pad_value: object = 0, pad_mode: str = "constant"
) -> Call:
    """`pad_width` holds a pair (before, after) for each axis of `data`; the program may compute it.

    `pad_value` is a number or an expression.
    """
    value = pad_value if isinstance(pad_value, Expr) else const(pad_value)
    if isinstance(pad_width, Constant):
        flat = static_ints(pad_width, "pad_width")
        pad_width = [flat[at : at + 2] for at in range(0, len(flat), 2)]
    if isinstance(pad_width, Expr):
        dynamic = PadAttrs(pad_width=(), pad_mode=pad_mode)
        return Call(Op.get("dyn.nn.pad"), [expr(data), pad_width, value], dynamic)
    return Call(_PAD, [expr(data), value], PadAttrs(pad_width=pad_width, pad_mode=pad_mode))


def _mirror_pad(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Output (before + d + after) on each axis, of which no more than the data mirrors."""
    data, out = types
    if isinstance(data, IncompleteType):
        return False
    data = tensor(data, 0, "data")
    if attrs.mode not in ("SYMMETRIC", "REFLECT"):
        raise RelationError(
            f'mode="{attrs.mode[:40]}" is not known', 'the modes are "SYMMETRIC" and "REFLECT"'
        )
    shape = _padded(data.shape, attrs.pad_width)
    for axis, (dim, pair) in enumerate(zip(data.shape, attrs.pad_width, strict=True)):
        if min(pair) < 0:
            raise RelationError(
                f"pad_width of axis {axis} is {list(pair)}, and must not be negative",
                "relay.strided_slice cuts edges off",
            )
        most = dim - (attrs.mode == "REFLECT") if isinstance(dim, int) else max(pair)
        if max(pair) > most:
            raise RelationError(
                f"pad_width of axis {axis} is {list(pair)}, but {dim} elements mirror to {most} at most",
                "use less padding",
                culprits=(0,),
            )
    reporter.assign(out, TensorType.of(shape, data.dtype))
    return True


_MIRROR_PAD = declare(
    "nn.mirror_pad",
    "Continues a tensor beyond its edges by its mirror image.",
    formula=r"y_{i} = x_{\mathrm{mirror}(i - b)}",
    relation=Relation("MirrorPad", _mirror_pad, "{out} = {0} and the padding"),
    attrs=MirrorPadAttrs,
    pattern=OpPattern.INJECTIVE,
    family="shape",
    level=2,
    lenient_in_tvm="It accepted more padding than there are elements to mirror, and any mode.",
    compute=lambda attrs, x: np.pad(x, attrs.pad_width, attrs.mode.lower()),
    gradient="shape.moved",
    lowering="pad.mirror_pad",
)


def mirror_pad(data: Expr, pad_width: Sequence[Sequence[int]], mode: str = "SYMMETRIC") -> Call:
    """`pad_width` holds a pair (before, after) for each axis of `data`."""
    return Call(_MIRROR_PAD, [expr(data)], MirrorPadAttrs(mode=mode, pad_width=pad_width))


def _dilate(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Output ((d - 1) * stride + 1) on each axis."""
    data, out = types
    if isinstance(data, IncompleteType):
        return False
    data = tensor(data, 0, "data")
    strides = attrs.strides
    if len(strides) != len(data.shape):
        raise RelationError(
            f"strides has {many(len(strides), 'value', 'values')}, but the data {show_shape(data.shape)} has "
            f"{many(len(data.shape), 'axis', 'axes')}",
            "give one for each axis",
        )
    if any(stride < 1 for stride in strides):
        raise RelationError(f"strides={list(strides)} must be positive")
    reporter.assign(out, TensorType.of(tuple(map(_dilated, data.shape, strides)), data.dtype))
    return True


def _dilated(dim: Dim, stride: int) -> Dim:
    if stride == 1:
        return dim
    if isinstance(dim, int):
        return max(0, (dim - 1) * stride + 1)
    return (dim - 1) * stride + 1  # type: ignore[return-value]  # whole


def _spaced(attrs: DilateAttrs, x: Array) -> Array:
    y = np.full(tuple(map(_dilated, x.shape, attrs.strides)), attrs.dilation_value).astype(x.dtype)
    y[tuple([slice(None, None, stride) for stride in attrs.strides])] = x
    return y


_DILATE = declare(
    "nn.dilate",
    "Puts elements between those of a tensor.",
    formula=r"y_{s i} = x_{i}, \quad y_{j} = v\ \text{elsewhere}",
    relation=Relation("Dilate", _dilate, "{out} = {0} with (d - 1) s + 1 on each axis"),
    attrs=DilateAttrs,
    pattern=OpPattern.INJECTIVE,
    family="shape",
    level=10,
    lenient_in_tvm="It accepted strides that are not positive.",
    compute=_spaced,
    gradient="shape.dilate",
    lowering="pad.dilate",
)


def dilate(data: Expr, strides: Sequence[int], dilation_value: float = 0.0) -> Call:
    """`strides` has one number for each axis of `data`: (d - 1) * stride + 1 elements."""
    return Call(_DILATE, [expr(data)], DilateAttrs(strides=strides, dilation_value=dilation_value))
