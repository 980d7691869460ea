"""Kernels that run on the host, by the NumPy reference implementations of their operators. These are for
operators that loops over fixed shapes cannot compute, because their results depend on data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...ir.expr import Call, Constant, Expr, Function, Tuple, TupleGetItem
from ...ir.nest import leaves, nested
from ...ir.op import Op
from ...ir.walk import post_order
from ..lowering import lowering_of
from .arrays import array_of

if TYPE_CHECKING:
    from numpy import ndarray as Array


def needs_host(function: Function) -> bool:
    """Whether a kernel contains an operator without a lowering."""
    ops = [n.op for n in post_order(function.body) if isinstance(n, Call)]
    return any(isinstance(op, Op) and lowering_of(op) is None for op in ops)


def host_kernel(function: Function) -> Callable[..., None]:
    """Return a function that runs the kernel; it takes the tensors that the kernel reads, then those that it
    writes.
    """
    order = post_order(function.body)

    def run(*tensors: Any) -> None:
        rest = iter([array_of(tensor) for tensor in tensors])
        operands = map(_widened, rest)
        values: dict[int, Any] = {id(p): nested(operands, p.checked_type) for p in function.params}
        for node in order:
            _evaluate(node, values)
        for result, place in zip(leaves(values[id(function.body)]), rest):
            place[...] = result

    return run


def _evaluate(node: Expr, values: dict[int, Any]) -> None:
    match node:
        case Call(op=Op() as op):
            assert op.reference is not None
            values[id(node)] = op.reference(node.attrs, *[values[id(arg)] for arg in node.args])
        case Tuple():
            values[id(node)] = tuple([values[id(field)] for field in node.fields])
        case TupleGetItem():
            values[id(node)] = values[id(node.tuple_value)][node.index]
        case Constant():
            values[id(node)] = node.data.numpy()


def _widened(array: Array) -> Array:
    """Convert bfloat16 to float32, with which NumPy computes instead."""
    return array.astype("float32") if array.dtype.name == "bfloat16" else array
