"""Convert ONNX's Einsum and Det."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError
from ..base.source import Node
from .graph import Graph
from .registry import Inputs, converter
from .tools import operand, operands, text

_LARGEST = 32  # rows of a matrix whose determinant is computed by elimination, which is unrolled


@converter("Einsum", since=12)
def _einsum(g: Graph, node: Node, inputs: Inputs) -> Expr:
    equation = "".join(text(g.required(node, "equation")).split())
    factors = operands(node, inputs, len(inputs))
    terms, arrow, result = equation.partition("->")
    parts = terms.split(",")
    if len(parts) != len(factors):
        raise RelayError(
            f"the equation {equation!r} is for {len(parts)} operands, but there are {len(factors)}"
        )
    if not arrow:  # the letters that occur once, in alphabetical order
        letters = sorted({c for c in terms if c.isalpha() and terms.count(c) == 1})
        result = ("..." if "..." in terms else "") + "".join(letters)
    if len(parts) == 2 and "." not in equation:
        product = _matrix_product(g, factors, parts, result)
        if product is not None:
            return product
    return relay.einsum(factors, f"{terms}->{result}")


def _matrix_product(g: Graph, factors: Sequence[Expr], terms: Sequence[str], result: str) -> Expr | None:
    """Return a contraction of two tensors as a product of stacks of matrices, or None."""
    left, right = terms
    if len(set(left)) < len(left) or len(set(right)) < len(right) or len(set(result)) < len(result):
        return None
    batch = [c for c in left if c in right and c in result]
    inner = [c for c in left if c in right and c not in result]
    rows = [c for c in left if c not in right]
    columns = [c for c in right if c not in left]
    if not inner or any(c not in result for c in rows + columns) or set(result) != {*batch, *rows, *columns}:
        return None
    extents: dict[str, int] = {}
    for term, factor in zip(terms, factors):
        shape = g.context.shape(factor)
        if len(shape) != len(term):
            return None
        for letter, extent in zip(term, shape):
            if not isinstance(extent, int) or extents.setdefault(letter, extent) != extent:
                return None

    def arranged(factor: Expr, term: str, groups: Sequence[list[str]]) -> Expr:
        order = [term.index(c) for group in groups for c in group]
        moved = relay.transpose(factor, order) if order != sorted(order) else factor
        return relay.reshape(moved, [_product(extents, group) for group in groups])

    a = arranged(factors[0], left, [batch, rows, inner])
    b = arranged(factors[1], right, [batch, columns, inner])
    stacked = relay.nn.batch_matmul(a, b)
    letters = [*batch, *rows, *columns]
    shaped = relay.reshape(stacked, [extents[c] for c in letters])
    order = [letters.index(c) for c in result]
    return relay.transpose(shaped, order) if order != sorted(order) else shaped


def _product(extents: dict[str, int], letters: Sequence[str]) -> int:
    count = 1
    for letter in letters:
        count *= extents[letter]
    return count


@converter("Det", since=11)
def _det(g: Graph, node: Node, inputs: Inputs) -> Expr:
    """Compute determinants by Gaussian elimination with partial pivoting, one column at a time."""
    x = operand(node, inputs)
    shape = g.context.shape(x)
    size = shape[-1] if len(shape) >= 2 else None
    if any(not isinstance(extent, int) for extent in shape[-2:]):
        raise DynamicShapeError(
            f"Det requires that the size of its matrices is known at compile time, but the shape is {shape}"
        )
    if not isinstance(size, int) or shape[-2] != size:
        raise RelayError(f"Det requires square matrices, but the shape is {shape}")
    if size > _LARGEST:
        raise RelayError(f"Det can be imported for matrices of at most {_LARGEST} rows, not {size}")
    dtype = g.context.dtype(x)
    matrices = relay.reshape(x, [-1, size, size])
    one, zero = const(1.0, dtype), const(0.0, dtype)
    result: Expr | None = None
    for count in range(size, 0, -1):
        column = relay.take(matrices, const(0, "int64"), axis=2)  # (matrices, rows that are left)
        pivot = relay.argmax(relay.abs(column), axis=1)
        index = relay.expand_dims(relay.cast(pivot, "int64"), 1)
        value = relay.squeeze(relay.gather(column, 1, index), [1])
        sign = relay.where(relay.equal(pivot, const(0, g.context.dtype(pivot))), one, relay.negative(one))
        factor = relay.multiply(value, sign)
        result = factor if result is None else relay.multiply(result, factor)
        if count == 1:
            break
        # Exchange the first row with the pivot's: the first row goes to the pivot's place.
        positions = const(list(range(1, count)), "int64")
        others = relay.where(relay.equal(index, positions), relay.zeros_like(index), positions)
        rest = _rows(matrices, others, count - 1, count)
        top = _rows(matrices, index, 1, count)
        divisor = relay.where(relay.equal(value, zero), one, value)  # a singular matrix: the column is zero
        ratio = relay.divide(relay.take(rest, const(0, "int64"), axis=2), relay.expand_dims(divisor, 1))
        reduced = relay.subtract(rest, relay.multiply(relay.expand_dims(ratio, 2), top))
        matrices = relay.strided_slice(reduced, [1], [count], axes=[2])
    if result is None:
        result = relay.ones((1,), dtype)
    leading = shape[:-2]
    if not leading:
        return relay.reshape(result, [])
    if len(leading) == 1:
        return result
    return relay.reshape(result, [dim if isinstance(dim, int) else -1 for dim in leading])


def _rows(matrices: Expr, indices: Expr, count: int, columns: int) -> Expr:
    """Return rows of each matrix, at indices of the shape (matrices, count)."""
    wide = relay.repeat(relay.expand_dims(indices, 2), columns, 2)
    return relay.gather(matrices, 1, wide)
