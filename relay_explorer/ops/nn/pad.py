"""Operators that insert elements around or between those of a tensor.

`nn.pad` has its own kernel for two reasons. TOPI's takes the value as a number, but Relay's is an operand;
and TOPI reflects an index only once, but NumPy, and therefore Relay, as often as needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated
from typing import Any as Anything

from ...ir.attrs import Attrs, Pairs, attr, required
from ...ir.declaration import Gradient, Precision
from ...ir.expr import Call, Constant, Expr, const
from ...ir.op import OpPattern, Relation, RelationError, Reporter, size_of
from ...ir.show import show_shape
from ...ir.types import Dim, IncompleteType, Shape, TensorType, Type
from ..arguments import Operand, static_ints
from ..calls import relay
from ..examples import X
from ..gradient_tools import axis_count, extents, gathered, moved, numbers_of
from ..layouts.layout import NO_LAYOUT_RULE, Answer, InferCorrectLayoutOutput, Layout, Question
from ..numeric import Array, np
from ..operator import call as call_of
from ..operator import operator
from ..relation import tensor
from ..te.library import te, tirx
from ..te.lowered import Lowered
from ..te.pad import padded
from ..te.tensors import (
    Tensor,
    Value,
    cast,
    clamp,
    converted,
    dims,
    dtype_of,
    every,
    guarded,
    quotient,
    remainder,
    select,
    stage,
)
from .layout import many, plus
from .sliding import cropped

__all__ = ["dilate", "mirror_pad", "pad"]

Amounts = Mapping[int, tuple[int, int]]  # the padding before and after an axis; a negative amount crops


PAD_WIDTH = "The padding before and after the data on each axis."


class PadAttrs(Attrs, key="relay.attrs.PadAttrs"):
    pad_width: Pairs = required(PAD_WIDTH)
    pad_mode: str = attr(
        "constant",
        'The padding: "constant" the value, "edge" the nearest element, "reflect" the mirrored data.',
    )


class MirrorPadAttrs(Attrs, key="relay.attrs.MirrorPadAttrs"):
    mode: str = attr(
        "SYMMETRIC", 'Whether the mirrored data repeats the edge ("SYMMETRIC") or not ("REFLECT").'
    )
    pad_width: Pairs = required(PAD_WIDTH)


def _padded(shape: Shape, widths: Pairs) -> Shape:
    """Add `widths` to `shape`; raise a RelationError unless they are one pair per axis and no extent becomes
    negative.
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


# -- padding by a value, by the edge or by the reflected data


def _pad_relation(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Relate the types: an input of any shape and a scalar; output (before + d + after) on each axis."""
    data, value, out = types
    if isinstance(data, IncompleteType):
        return False
    data = tensor(data, 0, "data")
    if not isinstance(value, IncompleteType) and size_of(tensor(value, 1, "pad_value")) != 1:
        raise RelationError(f"pad_value must be one number, not {value}", culprits=(1,))
    if attrs.pad_mode not in ("constant", "edge", "reflect"):
        raise RelationError(
            f'pad_mode="{attrs.pad_mode[:40]}" is not a valid mode',
            'the modes are "constant", "edge" and "reflect"',
        )
    reporter.assign(out, TensorType.of(_padded(data.shape, attrs.pad_width), data.dtype))
    return True


def _pad_reference(attrs: PadAttrs, x: Array, pad_value: Array) -> Array:
    value = {"constant_values": pad_value.reshape(())} if attrs.pad_mode == "constant" else {}
    more = [(max(before, 0), max(after, 0)) for before, after in attrs.pad_width]
    less = [(max(-before, 0), max(-after, 0)) for before, after in attrs.pad_width]
    return cropped(np.pad(x, more, attrs.pad_mode, **value), less)


def _pad_gradient(call: Call, grad: Expr) -> list[Expr | None]:
    """Crop the padding off the gradient; in modes that repeat elements, add the padding's gradient to their
    sources.
    """
    data, value = call.args
    assert call.attrs is not None
    if call.attrs["pad_mode"] != "constant":
        numbered = Call(call.op, [numbers_of(data, call), const(0, "int32")], call.attrs)
        return [gathered(call, grad, data, numbered), None]
    begin = [int(before) for before, _ in call.attrs["pad_width"]]
    shape = extents(data, "the gradient of `nn.pad`")
    inner = relay.strided_slice(grad, begin, [b + dim for b, dim in zip(begin, shape, strict=True)])
    return [inner, relay.reshape_like(relay.sum(grad) - relay.sum(inner), value)]


def _pad_te(call: Lowered) -> list[Tensor]:
    (x, value), attrs = call.inputs, call.attrs
    pairs = {axis: (int(before), int(after)) for axis, (before, after) in enumerate(attrs.pad_width)}
    if attrs.pad_mode == "constant":
        around = cast(value(*[0] * len(value.shape)), dtype_of(x))
        result = padded(x, pairs, around, call.name)
        return [stage(x.shape, lambda *i: x(*i), call.name) if result is x else result]
    return [_continued(x, pairs, _edge if attrs.pad_mode == "edge" else _reflected, call.name)]


def _continued(x: Tensor, pairs: Amounts, place: Callable[[Value, Anything], Value], name: str) -> Tensor:
    """Extend `x` beyond its edges with its own elements: `place` maps an index outside to the index to
    read.
    """
    sizes = dims(x)
    shape = [dim + sum(pairs[axis]) for axis, dim in enumerate(sizes)]

    def element(*i: Value) -> Value:
        return x(
            *[
                place(at - pairs[axis][0], dim) if max(pairs[axis]) > 0 else at - pairs[axis][0]
                for axis, (at, dim) in enumerate(zip(i, sizes, strict=True))
            ]
        )

    return stage(shape, element, name)


def _edge(at: Value, dim: Anything) -> Value:
    return clamp(at, 0, dim - 1)


def _reflected(at: Value, dim: Anything) -> Value:
    """Reflect an index at the edges as often as needed; the edge elements are not repeated."""
    if isinstance(dim, int) and dim <= 1:
        return at * 0
    period = 2 * (dim - 1)
    within = te.floormod(at, period)
    # The last minimum changes nothing, but without it TVM does not see which indices are read, and computes
    # the extents of an operand from the position in the result, which fails.
    return tirx.min(tirx.min(within, period - within), dim - 1)


def _pad_layout(question: Question) -> Answer:
    """Keep the layout if no axis that is split into blocks is padded."""
    old, attrs = question.old[0], question.attrs
    assert attrs is not None
    if old is None or len(old) != len(attrs["pad_width"]):
        return None
    layout = old
    if question.new is not None and set(old.primal) == set(question.new[0].primal):
        new = question.new[0]
        widths = dict(zip(old.letters, attrs["pad_width"], strict=True))
        blocked = [letter for letter in old.primal if new.splits(letter) and any(widths[letter])]
        if not blocked:
            layout = new
            attrs = attrs.replace(pad_width=[widths.get(letter, (0, 0)) for letter in new])
    return InferCorrectLayoutOutput([layout, Layout()], [layout], attrs)


@operator(
    "nn.pad",
    description="Adds padding before and after the elements of each axis.",
    formula=r"y_{i} = \begin{cases} x_{i - b} & b \le i < b + d \\ v & \text{otherwise} \end{cases}",
    family="shape",
    level=2,
    relation=Relation("Pad", _pad_relation, "{out} = {0} with padding"),
    pattern=OpPattern.INJECTIVE,
    reference=_pad_reference,
    gradient=Gradient(
        "dx = dy without the padding, dvalue = Σ dy over the padding; "
        "where the padding repeats an element, its dx is the sum of its copies' dy",
        _pad_gradient,
    ),
    lowering=_pad_te,
    layout=_pad_layout,
    precision=Precision.FOLLOW,
    example=lambda build: build(X, ((0, 0), (1, 2))),
    attrs=PadAttrs,
    inputs=("data", "pad_value"),
    lenient_in_tvm="It checked neither the type of the value nor the mode.",
)
def pad(
    data: Operand,
    pad_width: Sequence[Sequence[int]] | Expr,
    pad_value: Operand = 0,
    pad_mode: str = "constant",
) -> Call:
    """Pad `data`: `pad_width` holds a pair (before, after) for each axis.

    The program may compute `pad_width`. `pad_value` is a number or an expression.
    """
    value = pad_value if isinstance(pad_value, Expr) else const(pad_value)
    if isinstance(pad_width, Constant):
        flat = static_ints(pad_width, "pad_width")
        pad_width = [flat[at : at + 2] for at in range(0, len(flat), 2)]
    if isinstance(pad_width, Expr):
        return call_of("dyn.nn.pad", [data, pad_width, value], pad_width=(), pad_mode=pad_mode)
    return call_of("nn.pad", [data, value], pad_width=pad_width, pad_mode=pad_mode)


# -- padding by the mirrored data


def _mirror_relation(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Relate the types: output (before + d + after) on each axis; the padding may not exceed the data that it
    mirrors.
    """
    data, out = types
    if isinstance(data, IncompleteType):
        return False
    data = tensor(data, 0, "data")
    if attrs.mode not in ("SYMMETRIC", "REFLECT"):
        raise RelationError(
            f'mode="{attrs.mode[:40]}" is not a valid mode', 'the modes are "SYMMETRIC" and "REFLECT"'
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


def _mirror_te(call: Lowered) -> list[Tensor]:
    x, attrs = call.inputs[0], call.attrs
    pairs = {axis: (int(before), int(after)) for axis, (before, after) in enumerate(attrs.pad_width)}
    return [_continued(x, pairs, _mirrored if attrs.mode == "SYMMETRIC" else _reflected, call.name)]


def _mirrored(at: Value, dim: Anything) -> Value:
    """Mirror an index at the edges; the edge elements are repeated."""
    return select(at < 0, -at - 1, select(at >= dim, 2 * dim - 1 - at, at))


@operator(
    "nn.mirror_pad",
    description="Pads a tensor with its own mirror image.",
    formula=r"y_{i} = x_{\mathrm{mirror}(i - b)}",
    family="shape",
    level=2,
    relation=Relation("MirrorPad", _mirror_relation, "{out} = {0} with padding"),
    pattern=OpPattern.INJECTIVE,
    reference=lambda attrs, x: np.pad(x, attrs.pad_width, attrs.mode.lower()),
    gradient=Gradient("each dy is added to the dx of the element that was copied", moved),
    lowering=_mirror_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(X, ((0, 0), (1, 2))),
    attrs=MirrorPadAttrs,
    lenient_in_tvm="It accepted more padding than there are elements to mirror, and any mode.",
)
def mirror_pad(data: Operand, pad_width: Sequence[Sequence[int]], mode: str = "SYMMETRIC") -> Call:
    """Pad `data` with its mirror image: `pad_width` holds a pair (before, after) for each axis."""


# -- elements between those of a tensor


def _dilate_relation(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Relate the types: output ((d - 1) * stride + 1) on each axis."""
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


def _dilate_reference(attrs: Anything, x: Array) -> Array:
    y = np.full(tuple(map(_dilated, x.shape, attrs.strides)), attrs.dilation_value).astype(x.dtype)
    y[tuple([slice(None, None, stride) for stride in attrs.strides])] = x
    return y


def _dilate_gradient(call: Call, grad: Expr) -> list[Expr]:
    """Slice the gradient with the steps `strides`, at which the elements of `x` lie."""
    (x,) = call.args
    assert call.attrs is not None
    return [relay.strided_slice(grad, [0] * axis_count(x), list(extents(call)), list(call.attrs["strides"]))]


def _dilate_te(call: Lowered) -> list[Tensor]:
    x, attrs = call.inputs[0], call.attrs
    dtype = dtype_of(x)
    shape = [_spaced(dim, stride) for dim, stride in zip(dims(x), attrs.strides, strict=True)]

    def element(*i: Value) -> Value:
        apart = [(at, stride) for at, stride in zip(i, attrs.strides, strict=True) if stride != 1]
        between = converted(attrs.dilation_value, dtype)
        here = x(*[quotient(at, stride) for at, stride in zip(i, attrs.strides, strict=True)])
        if not apart:
            return here
        return guarded(every([remainder(at, stride) == 0 for at, stride in apart]), here, between)

    return [stage(shape, element, call.name)]


def _spaced(dim: Anything, stride: int) -> Anything:
    if stride == 1:
        return dim
    return max(0, (dim - 1) * stride + 1) if isinstance(dim, int) else (dim - 1) * stride + 1


@operator(
    "nn.dilate",
    description="Inserts elements of one value between those of a tensor.",
    formula=r"y_{s i} = x_{i}, \quad y_{j} = v\ \text{elsewhere}",
    family="shape",
    level=10,
    relation=Relation("Dilate", _dilate_relation, "{out} = {0} with (d - 1) s + 1 on each axis"),
    pattern=OpPattern.INJECTIVE,
    reference=_dilate_reference,
    gradient=Gradient("dx = dy at the positions of the elements, `strides` apart", _dilate_gradient),
    lowering=_dilate_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(X, [1, 2]),
    lenient_in_tvm="It accepted strides that are not positive.",
)
def dilate(
    data: Operand,
    strides: Annotated[
        Sequence[int],
        attr((1, 1), "The distance between adjacent elements in the output on each axis.", kind="Ints"),
    ],
    dilation_value: Annotated[float, attr(0.0, "The value of the inserted elements.")] = 0.0,
) -> Call:
    """Insert elements between those of `data`: an axis of d elements becomes (d - 1) * stride + 1 long."""
