"""One well-typed call of every operator: what the book's reference shows of each, and what tests try."""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.expr import Call, Expr
from ..ir.op import Op
from ..ir.tuple_wrapper import TupleWrapper
from ..ops import (
    broadcast,
    reshape,
)
from ..ops.examples import IMAGE, V, X, bools, ints, t

Example = Expr | TupleWrapper


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
]

PLAIN = [call for call in (_plain(Op.get(name)) for name in Op.list_op_names()) if call is not None]
CALLS: list[Call] = []


def _declared() -> Iterator[Example]:
    """The examples that operators were declared with."""
    for op in map(Op.get, Op.list_op_names()):
        if op.example is not None:
            example = op.example()
            yield from example if isinstance(example, (list, tuple)) else [example]


for example in [*_declared(), *PLAIN, *TENSOR]:
    call = example.astuple() if isinstance(example, TupleWrapper) else example
    assert isinstance(call, Call)
    CALLS.append(call)
