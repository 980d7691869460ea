"""Operators that reverse the order of elements along an axis."""

from __future__ import annotations

from typing import Annotated
from typing import Any as Anything

from ..ir.attrs import attr
from ..ir.declaration import Gradient, Precision, Trait
from ..ir.expr import Call, Expr
from ..ir.op import OpPattern, RelationError, no_flops
from ..ir.show import show_shape
from ..ir.types import Type
from .arguments import Operand
from .calls import relay
from .examples import X, ints
from .gradient_tools import MOVED
from .layouts.layout import NO_LAYOUT_RULE
from .numeric import Array, np, numbers
from .operator import operator
from .relation import forward, integers, normal_axis, same_dim, tensor
from .te.library import tirx, topi
from .te.lowered import Lowered
from .te.tensors import Tensor, Value, cast, dims, number, select, stage

__all__ = ["reverse", "reverse_sequence"]


def _reverse(attrs: Anything, data: Type) -> Type:
    x = tensor(data, 0, "data")
    if attrs.axis is None:
        raise RelationError("reverse needs an axis", "give one: relay.reverse(data, axis=0)")
    normal_axis(attrs.axis, len(x.shape), "reverse")
    return x


def _reverse_gradient(call: Call, grad: Expr) -> list[Expr]:
    assert call.attrs is not None
    return [relay.reverse(grad, call.attrs["axis"])]


def _reverse_te(lowered: Lowered) -> list[Tensor]:
    return [topi.flip(lowered.inputs[0], lowered.attrs.axis)]


@operator(
    "reverse",
    description="Reverses the order of the elements along one axis.",
    formula=r"y_i = x_{n - 1 - i}",
    family="shape",
    level=3,
    relation=forward("Reverse", "{out} = {0}", _reverse),
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    reference=lambda attrs, x: np.flip(x, attrs.axis),
    gradient=Gradient("dx = dy, reversed along the same axis", _reverse_gradient),
    lowering=_reverse_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    traits={Trait.SELECTION},
    example=lambda build: build(X, 1),
)
def reverse(
    data: Operand,
    axis: Annotated[int, attr(None, "The axis that is reversed.", kind="int | None")],
) -> Call:
    """Reverse the order of the elements of `data` along `axis`."""


def _reverse_sequence(attrs: Anything, data: Type, seq_lengths: Type) -> Type:
    x, lengths = tensor(data, 0, "data"), integers(seq_lengths, 1, "seq_lengths")
    normal_axis(attrs.seq_axis, len(x.shape), "seq_axis")
    batch = normal_axis(attrs.batch_axis, len(x.shape), "batch_axis")
    if len(lengths.shape) != 1 or not same_dim(lengths.shape[0], x.shape[batch]):
        raise RelationError(
            f"seq_lengths has the shape {show_shape(lengths.shape)}, but axis {batch} of the data, "
            f"{show_shape(x.shape)}, "
            f"has {x.shape[batch]} sequences",
            "give one length per sequence",
            culprits=(0, 1),
        )
    return x


def _reverse_prefixes(attrs: Anything, x: Array, seq_lengths: Array) -> Array:
    y = x.copy()
    from_batch, to_batch = (np.moveaxis(a, (attrs.batch_axis, attrs.seq_axis), (0, 1)) for a in (x, y))
    for row, length in enumerate(numbers(seq_lengths)):
        prefix = slice(max(length, 0))
        to_batch[row, prefix] = from_batch[row, prefix][::-1]
    return y


def _reverse_sequence_te(lowered: Lowered) -> list[Tensor]:
    """Reverse a prefix of each sequence; lengths are clamped to the range from 0 to the extent."""
    x, lengths = lowered.inputs
    seq, batch = lowered.attrs.seq_axis % len(x.shape), lowered.attrs.batch_axis % len(x.shape)
    extent = dims(x)[seq]

    def value(*i: Value) -> Value:
        length = cast(lengths(i[batch]), "int64")
        length = tirx.max(tirx.min(length, number(extent, "int64") if isinstance(extent, int) else extent), 0)
        source = select(i[seq] < length, length - 1 - i[seq], cast(i[seq], "int64"))
        return x(*i[:seq], source, *i[seq + 1 :])

    return [stage(x.shape, value, lowered.name)]


@operator(
    "reverse_sequence",
    description="Reverses each of several sequences within its own length.",
    formula=r"y_{b i} = \begin{cases} x_{b, \ell_b - 1 - i} & i < \ell_b \\ x_{b i} & i \ge \ell_b"
    r" \end{cases}",
    family="shape",
    level=3,
    relation=forward(
        "ReverseSequence", "{out} = {0}, if {1} has a length for each sequence", _reverse_sequence
    ),
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    reference=_reverse_prefixes,
    gradient=MOVED,
    lowering=_reverse_sequence_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(X, ints(2)),
)
def reverse_sequence(
    data: Operand,
    seq_lengths: Operand,
    seq_axis: Annotated[int, attr(1, "The axis that is reversed.")] = 1,
    batch_axis: Annotated[int, attr(0, "The axis of the sequences.")] = 0,
) -> Call:
    """Reverse each sequence of `data` within its own length, which `seq_lengths` gives."""
