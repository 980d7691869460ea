"""Tables of the values of fake-quantized regions that map each 8-bit integer to another one.

A region that applies functions of single elements to one quantized value, and quantizes the result, computes
one of 256 integers for each of 256. Where its operators have no integer form, such as `x · sigmoid(x)` or a
hard swish, the table of these integers takes the place of the region, with exactly its results.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any as Anything

from ...ir.affine_type import TensorAffineType
from ...ir.declaration import Trait
from ...ir.expr import Call, Constant, Expr
from ...ir.ndarray import NDArray
from ...ir.op import Op, OpPattern
from ...ir.typed import tensor_type
from ...ir.types import TensorType
from ..fold_constant import compute, is_pure
from ..tools.typed_rewrite import call
from .affine import bits, same, scalar_type, value_of
from .forms import Form

BITS = 8
# Operators that move elements, or are no arithmetic, although they are fused like element-wise ones.
_NOT_BY_ELEMENT = (
    Trait.RESHAPE,
    Trait.TRANSPOSE,
    Trait.COPY,
    Trait.SELECTION,
    Trait.DISPLACED,
    Trait.NON_COMPUTATIONAL,
)


def is_elementwise(op: Op) -> bool:
    """Whether each element of an operator's result is a function of the operands' elements at its place."""
    fuses = op.pattern <= OpPattern.BROADCAST
    return fuses and is_pure(op) and not any(map(op.has, _NOT_BY_ELEMENT))


def tabulated(end: Call, target: TensorAffineType, leaves: Mapping[Expr, Form]) -> Expr | None:
    """Look the integers of a region up in a table; None where they are not a function of one 8-bit integer.

    `end` is the `qnn.quantize` to the type `target`, `leaves` has the integers of dequantized values.
    """
    order = _elementwise(end.args[0], leaves)
    if order is None or bits(target.dtype) != BITS or not _is_constant(target):
        return None
    forms = [leaves[node] for node in order if node in leaves and not _is_single(leaves[node].value)]
    if not forms or any(form.value is not forms[0].value for form in forms):
        return None
    value, type_ = forms[0]
    assert isinstance(type_, TensorAffineType)
    alike = all(isinstance(form.type, TensorAffineType) and same(form.type, type_) for form in forms)
    if not alike or bits(type_.dtype) != BITS or not _is_constant(type_):
        return None
    # A constant region is left to constant folding, and one that adds axes cannot be a table.
    if value_of(value) is not None or len(tensor_type(end.args[0]).shape) != len(tensor_type(value).shape):
        return None
    table = _table(order, end, type_.dtype, leaves)
    if table is None:
        return None
    index = value if type_.dtype == "uint8" else call("reinterpret", value, dtype="uint8")
    return call("take", Constant(NDArray.from_numpy(table)), index, axis=0, mode="fast")


def _is_single(expr: Expr) -> bool:
    """Whether an expression is a constant with one element."""
    value = value_of(expr)
    return value is not None and value.size == 1


def _is_constant(type_: TensorAffineType) -> bool:
    """Whether a type has one scale and one zero point, which are constants."""
    known = value_of(type_.scale) is not None and value_of(type_.zero_point) is not None
    return known and scalar_type(type_)


def _elementwise(data: Expr, leaves: Mapping[Expr, Form]) -> list[Expr] | None:
    """Return the expressions that a value is computed from, operands first, up to dequantized values; None if
    one of them is not a function of single elements.
    """
    order: list[Expr] = []
    seen: set[Expr] = set()
    stack = [(data, False)]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
            continue
        if node in seen:
            continue
        seen.add(node)
        stack.append((node, True))
        if node in leaves:
            continue
        match node:
            case Constant() if _is_single(node):
                continue
            case Call(op=Op() as op) if is_elementwise(op):
                if not isinstance(node._checked_type, TensorType):
                    return None
                stack.extend((arg, False) for arg in node.args)
            case _:
                return None
    return order


def _table(order: list[Expr], end: Call, dtype: str, leaves: Mapping[Expr, Form]) -> Anything:
    """Return the quantized results for all integers of a type, in the order of their bits; None where an
    operator cannot be evaluated.
    """
    import numpy

    rank = max(1, len(tensor_type(end.args[0]).shape))
    every = numpy.arange(2**BITS, dtype="uint8").view(dtype).reshape(-1, *[1] * (rank - 1))
    values: dict[Expr, Anything] = {}
    for node in [*order, end]:
        if isinstance(node, Constant):
            values[node] = node.data.numpy()
            continue
        assert isinstance(node, Call)
        assert isinstance(node.op, Op)
        if node is end or node in leaves:
            data = values[node.args[0]] if node is end else value_of(leaves[node].value)
            arrays = [every if data is None else data, *(value_of(arg) for arg in node.args[1:])]
        else:
            arrays = [values[arg] for arg in node.args]
        result = compute(node.op, node, arrays)
        if result is None:
            return None
        values[node] = numpy.asarray(result)
    table = values[end]
    return table.reshape(-1) if table.size == 2**BITS else None
