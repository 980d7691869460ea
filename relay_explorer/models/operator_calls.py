"""One well-typed call of every operator, for the book's reference and for tests."""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.expr import Call, Expr
from ..ir.op import Op
from ..ir.tuple_wrapper import TupleWrapper

Example = Expr | TupleWrapper


def _examples() -> Iterator[Example]:
    """Yield the examples in the operators' declarations."""
    for op in map(Op.get, Op.list_op_names()):
        if op.example is not None:
            example = op.example()
            yield from example if isinstance(example, (list, tuple)) else [example]


CALLS: list[Call] = []
for example in _examples():
    call = example.astuple() if isinstance(example, TupleWrapper) else example
    assert isinstance(call, Call)
    CALLS.append(call)
