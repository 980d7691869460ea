"""What converters of several families share: operands, axes, indices, and shapes that are known in part."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.expr import Constant, Expr, const
from ...ir.ndarray import NDArray
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError, ModelFileError
from ..base.source import Node
from .graph import Graph
from .registry import Inputs


def operands(node: Node, inputs: Inputs, count: int) -> list[Expr]:
    """Return the first `count` operands, which must be present; else raise a ModelFileError."""
    result: list[Expr] = []
    for index in range(count):
        operand = optional(inputs, index)
        if operand is None:
            raise ModelFileError(f"input {index} of {node.op} is missing")
        result.append(operand)
    return result


def operand(node: Node, inputs: Inputs) -> Expr:
    """Return the first operand, which must be present."""
    return operands(node, inputs, 1)[0]


def optional(inputs: Inputs, index: int) -> Expr | None:
    """Return an operand, or None where it is absent."""
    return inputs[index] if index < len(inputs) else None


def number(g: Graph, value: float, like: Expr) -> Expr:
    """Return a scalar of the element type of `like`."""
    return const(value, g.context.dtype(like))


def constant_integers(g: Graph, expr: Expr) -> list[int] | None:
    """Return the elements of an integer vector or scalar if all are known when the model is imported."""
    known = g.context.known(expr)
    if known is not None and all(isinstance(element, int) for element in known):
        return [int(element) for element in known if isinstance(element, int)]
    value = g.context.constant(expr)
    return None if value is None else [int(element) for element in value.reshape(-1)]


def integers(g: Graph, expr: Expr, what: str) -> list[int]:
    """Return the elements of an integer vector that must be known when the model is imported."""
    values = constant_integers(g, expr)
    if values is None:
        raise DynamicShapeError(f"{what} must be known at compile time, but the model computes it")
    return values


def normal_axis(axis: int, rank: int) -> int:
    """Return the axis counted from the front; raise a ModelFileError if the tensor does not have it."""
    if not -rank <= axis < max(rank, 1):
        raise ModelFileError(f"there is no axis {axis}: the tensor has {rank} axes")
    return axis % rank if rank else 0


def normal_axes(axes: Sequence[int], rank: int) -> list[int]:
    """Return axes counted from the front, in order; raise a ModelFileError for one that is given twice."""
    normalized = sorted(normal_axis(axis, rank) for axis in axes)
    if len(set(normalized)) < len(normalized):
        raise ModelFileError(f"an axis is given twice: {list(axes)}")
    return normalized


def axes_of(g: Graph, node: Node, inputs: Inputs, position: int = 1) -> list[int] | None:
    """Return a node's axes, which are an attribute or, in newer opsets, an operand; None if not given."""
    operand = optional(inputs, position)
    if operand is not None:
        return integers(g, operand, f"the axes of {node.op}")
    axes = g.attr(node, "axes")
    return None if axes is None else list(axes)


def taken(g: Graph, data: Expr, indices: Expr, axis: int) -> Expr:
    """Take slices at indices, of which negative ones count from the end. ONNX's indices are from -extent to
    extent - 1, where that is the same as wrapping around.
    """
    value = g.context.constant(indices)
    if value is None:
        mode = "clip" if g.context.dtype(indices).startswith("uint") else "wrap"
        return relay.take(data, indices, axis=axis, mode=mode)
    extent = g.context.shape(data)[axis]
    if isinstance(extent, int) and value.size:
        if int(value.min()) < -extent or int(value.max()) >= extent:
            raise ModelFileError(f"an index is out of range: axis {axis} has {extent} elements")
        if value.min() < 0:
            indices = Constant(NDArray.sharing((value % extent).astype(value.dtype)))
        return relay.take(data, indices, axis=axis)
    return relay.take(data, indices, axis=axis, mode="wrap" if value.size and value.min() < 0 else "clip")


def extent_of(g: Graph, data: Expr, axis: int, dtype: str = "int64") -> Expr:
    """Return the extent of an axis as a scalar."""
    dim = g.context.shape(data)[axis]
    if isinstance(dim, int):
        return const(dim, dtype)
    return relay.take(relay.shape_of(data, dtype), const(axis, "int64"), axis=0)


def shape_vector(g: Graph, dims: Sequence[int | Expr]) -> Expr:
    """Return an int64 vector of extents, which are numbers or scalars that the program computes."""
    if all(isinstance(dim, int) for dim in dims):
        return const([dim for dim in dims if isinstance(dim, int)], "int64")
    parts = [
        const([dim], "int64") if isinstance(dim, int) else relay.reshape(as_int64(g, dim), (1,))
        for dim in dims
    ]
    return relay.concatenate(parts, 0) if len(parts) > 1 else parts[0]


def as_int64(g: Graph, expr: Expr) -> Expr:
    """Return an integer tensor as int64."""
    return expr if g.context.dtype(expr) == "int64" else relay.cast(expr, "int64")


def is_float(dtype: str) -> bool:
    """Whether an element type is a floating-point one."""
    return dtype.startswith(("float", "bfloat"))


def text(value: object, default: str = "") -> str:
    """Return a string attribute as text."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else default
