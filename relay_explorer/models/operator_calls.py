"""One well-typed call of every operator: what the book's reference shows of each, and what tests try."""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.expr import Call, Expr, const, var
from ..ir.op import Op
from ..ir.tuple_wrapper import TupleWrapper
from ..ops import (
    broadcast,
    reshape,
)
from ..ops.examples import IMAGE, SIGNAL, VOLUME, V, X, bools, ints, t
from ..relay import nn

Example = Expr | TupleWrapper
ONE, ZERO = const(1.0), const(0.0)


def _plain(op: Op) -> Expr | None:
    """A call of an operator of one or two tensors without attributes."""
    if op.example is not None or op.attrs_class is not None or op.inputs not in (("data",), ("lhs", "rhs")):
        return None
    of = {"bool": bools, "int": ints}.get(
        "bool" if "boolean" in op.relation.formula else "int" if "integer" in op.relation.formula else "", t
    )
    return Call(op, [of(6, name=f"a{n}") for n in range(op.num_inputs)])


TENSOR: list[Example] = [
    reshape.reshape(X, (3, -1)),
    reshape.reverse_reshape(X, (-1, 3)),
    reshape.reshape_like(X, t(12, name="y"), rhs_end=1),
    reshape.layout_transform(IMAGE, "NCHW", "NCHW2c"),
    reshape.shape_of(X),
    reshape.ndarray_size(X),
    broadcast.broadcast_to(V, (2, 6)),
    broadcast.broadcast_to_like(V, X),
    broadcast.collapse_sum_like(X, V),
    broadcast.collapse_sum_to(X, (6,)),
    reshape.reshape(X, ints(2)),
    broadcast.broadcast_to(X, ints(2)),
]

NEURAL: list[Example] = [
    nn.conv1d(SIGNAL, var("w"), padding=1, channels=8, kernel_size=3),
    nn.conv2d(IMAGE, var("w"), strides=(2, 2), padding=(1, 1), channels=8, kernel_size=(3, 3)),
    nn.conv2d(IMAGE, t(4, 1, 3, 3, name="w"), groups=4, channels=4),
    nn.conv3d(VOLUME, t(2, 4, 3, 3, 3, name="w")),
    nn.contrib_conv2d_nchwc(
        t(1, 1, 8, 8, 4, name="blocks"),
        t(2, 1, 3, 3, 4, 4, name="w"),
        padding=1,
        data_layout="NCHW4c",
        kernel_layout="OIHW4i4o",
    ),
    nn.contrib_depthwise_conv2d_nchwc(
        t(1, 1, 8, 8, 4, name="blocks"),
        t(1, 1, 3, 3, 1, 4, name="w"),
        groups=4,
        data_layout="NCHW4c",
        kernel_layout="OIHW1i4o",
    ),
    nn.contrib_conv2d_winograd_weight_transform(t(8, 4, 3, 3, name="w"), 4),
    nn.contrib_conv2d_winograd_without_weight_transform(
        IMAGE, t(6, 6, 8, 4, name="u"), 4, padding=1, kernel_size=3
    ),
    nn.contrib_dense_pack(X, t(2, 6, 4, name="w"), weight_layout="NC4n"),
    nn.bitpack(ints(2, 32), bits=2, bit_axis=0),
    nn.bitserial_conv2d(ints(1, 4, 8, 8), ints(6, 4, 3, 3, name="w"), channels=6, activation_bits=2),
    nn.bitserial_dense(ints(2, 6), ints(4, 6, name="w")),
    nn.conv1d_transpose(SIGNAL, var("w"), channels=8, kernel_size=3),
    nn.conv2d_transpose(IMAGE, t(4, 2, 3, 3, name="w")),
    nn.conv3d_transpose(VOLUME, t(4, 2, 3, 3, 3, name="w")),
    nn.conv2d_backward_weight(t(1, 8, 6, 6, name="g"), IMAGE, kernel_size=(3, 3)),
    nn.deformable_conv2d(
        IMAGE, t(1, 18, 6, 6, name="o"), t(8, 4, 3, 3, name="w"), channels=8, kernel_size=(3, 3)
    ),
]

MORE: list[Example] = [
]  # fmt: skip

PLAIN = [call for call in (_plain(Op.get(name)) for name in Op.list_op_names()) if call is not None]
CALLS: list[Call] = []


def _declared() -> Iterator[Example]:
    """The examples that operators were declared with."""
    for op in map(Op.get, Op.list_op_names()):
        if op.example is not None:
            example = op.example()
            yield from example if isinstance(example, (list, tuple)) else [example]


for example in [*_declared(), *PLAIN, *TENSOR, *NEURAL, *MORE]:
    call = example.astuple() if isinstance(example, TupleWrapper) else example
    assert isinstance(call, Call)
    CALLS.append(call)
