"""Convert ONNX's operators that create tensors, and its casts."""

from __future__ import annotations

from ...ir.errors import RelayError
from ...ir.expr import Constant, Expr, const
from ...ir.ndarray import NDArray
from ...ops import namespaces as relay
from ..base.errors import ModelFileError
from ..base.source import Node
from .graph import Graph
from .registry import Inputs, converter
from .tools import as_int64, constant_integers, extent_of, number, operand, operands
from .types import checked_shape, dtype_of


@converter("Constant")
def _constant(g: Graph, node: Node, inputs: Inputs) -> Expr:
    attrs = node.attrs
    for name in ("value", "sparse_value"):
        if name in attrs:
            value = attrs[name]
            assert isinstance(value, NDArray)
            return Constant(value)
    if "value_float" in attrs:
        return const(attrs["value_float"], "float32")
    if "value_int" in attrs:
        return const(attrs["value_int"], "int64")
    if "value_floats" in attrs:
        return Constant(
            NDArray.from_list(list(attrs["value_floats"]), (len(attrs["value_floats"]),), "float32")
        )
    if "value_ints" in attrs:
        return Constant(NDArray.from_list(list(attrs["value_ints"]), (len(attrs["value_ints"]),), "int64"))
    if "value_string" in attrs or "value_strings" in attrs:
        raise RelayError("a constant of strings cannot be imported: Relay has no strings")
    raise ModelFileError("the Constant node has no value")


@converter("ConstantOfShape")
def _constant_of_shape(g: Graph, node: Node, inputs: Inputs) -> Expr:
    shape = operand(node, inputs)
    value = g.attr(node, "value")
    if value is None:
        fill: Expr = const(0.0, "float32")
    elif len(value.values()) == 1:
        fill = Constant(NDArray((), value.dtype, value.data))
    else:
        raise ModelFileError(
            f"the value of ConstantOfShape must have one element, but its shape is {value.shape}"
        )
    dims = constant_integers(g, shape)
    dtype = g.context.dtype(fill)
    if dims is None:
        return relay.full(fill, as_int64(g, shape), dtype)
    checked_shape(list(dims))
    return relay.full(fill, dims, dtype)


@converter("Range")
def _range(g: Graph, node: Node, inputs: Inputs) -> Expr:
    bounds = operands(node, inputs, 3)
    dtype = g.context.dtype(bounds[0])
    values = [g.context.constant(bound) for bound in bounds]
    if all(value is not None for value in values):
        numbers = [value.reshape(-1)[0].item() for value in values]
        if numbers[2] == 0:
            raise ModelFileError("the step of Range must not be 0")
        import numpy as np

        count = max(int(np.ceil((numbers[1] - numbers[0]) / numbers[2])), 0)
        checked_shape([count])
        if count == 0:
            return relay.zeros((0,), dtype)
        start, stop, step = (const(value, dtype) for value in numbers)
        return relay.arange(start, stop, step, dtype=dtype)
    first, last, by = (relay.reshape(bound, ()) if g.context.rank(bound) else bound for bound in bounds)
    return relay.arange(first, last, by, dtype=dtype)


@converter("EyeLike")
def _eye_like(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = operand(node, inputs)
    dtype = dtype_of(node.attrs["dtype"]) if "dtype" in node.attrs else g.context.dtype(x)
    if g.context.rank(x) != 2:
        raise ModelFileError(f"EyeLike requires a matrix, not a tensor of {g.context.rank(x)} axes")
    k = g.attr(node, "k", 0)
    if not g.context.tensor(x).is_static:
        lines, places = (_counted(g, x, axis) for axis in (0, 1))
        shifted = relay.add(relay.expand_dims(lines, 1), const(k, "int64"))
        return relay.cast(relay.equal(shifted, relay.expand_dims(places, 0)), dtype)
    rows, columns = g.context.static_shape(x)
    import numpy as np

    checked_shape([rows, columns])
    identity = np.eye(rows, columns, k, dtype="float32")
    result: Expr = Constant(NDArray.sharing(identity))
    return result if dtype == "float32" else relay.cast(result, dtype)


def _counted(g: Graph, x: Expr, axis: int) -> Expr:
    """Return the indices of an axis."""
    zero, one = const(0, "int64"), const(1, "int64")
    return relay.arange(zero, extent_of(g, x, axis), one, dtype="int64")


@converter("Cast")
def _cast(g: Graph, node: Node, inputs: Inputs) -> Expr:
    target = g.required(node, "to")
    names = {"FLOAT": 1, "UINT8": 2, "INT8": 3, "UINT16": 4, "INT16": 5, "INT32": 6, "INT64": 7, "BOOL": 9}
    number_of = names.get(target, 0) if isinstance(target, str) else target
    return cast(g, operand(node, inputs), dtype_of(number_of))


@converter("CastLike")
def _cast_like(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, like = operands(node, inputs, 2)
    return cast(g, x, g.context.dtype(like))


def cast(g: Graph, x: Expr, dtype: str) -> Expr:
    """Convert the elements: to bool, whatever is not zero is true; from float to integer, towards zero."""
    own = g.context.dtype(x)
    if own == dtype:
        return x
    if dtype == "bool" and own != "bool":
        return relay.not_equal(x, number(g, 0, x))
    return relay.cast(x, dtype)


@converter("BitCast")
def _bit_cast(g: Graph, node: Node, inputs: Inputs) -> Expr:
    return relay.reinterpret(operand(node, inputs), dtype_of(g.required(node, "to")))
