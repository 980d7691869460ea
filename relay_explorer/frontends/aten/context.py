"""What converters of ATen operators ask for: types, promotion, axes, and shapes that may be partly known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ...ir import const
from ...ir.errors import RelayError
from ...ir.expr import Constant, Expr
from ...ir.types import Any, Dim, TensorType
from ...ops import namespaces as relay
from ..base.context import Context
from ..base.errors import DynamicShapeError
from ..base.folding import folded
from .dense_groups import Groups
from .dtypes import category, is_float, promoted
from .quantization import Quantization
from .values import Int, Number, Scalar, Value


class Aten:
    """The state that converters share. `context` is the import; `default_dtype` is the element type that
    PyTorch gives to tensors made of Python floats. `quantized` tells how tensors of integers are quantized.
    """

    def __init__(
        self,
        context: Context,
        default_dtype: str = "float32",
        quantized: dict[Expr, Quantization] | None = None,
    ) -> None:
        self.context = context
        self.default_dtype = default_dtype
        self.quantized = {} if quantized is None else quantized
        self.groups: dict[Expr, Groups] = {}  # the integers of dequantized matrices
        self.numbers: set[Expr] = set()  # constants without axes that stand for Python numbers
        self.random_keys = 0  # keys of random numbers that have been given out

    # -- what is known of a tensor

    def type(self, x: Expr) -> TensorType:
        """Return a tensor's type."""
        return self.context.tensor(x)

    def shape(self, x: Expr) -> tuple[Dim, ...]:
        """Return a tensor's shape; a dimension is an int, a named size or `?`."""
        return self.context.shape(x)

    def static_shape(self, x: Expr) -> tuple[int, ...]:
        """Return a tensor's shape, which must be static; else raise a RelayError."""
        return self.context.static_shape(x)

    def rank(self, x: Expr) -> int:
        """Return the number of a tensor's axes."""
        return self.context.rank(x)

    def dtype(self, x: Expr) -> str:
        """Return a tensor's element type."""
        return self.context.dtype(x)

    def is_static(self, x: Expr) -> bool:
        """Whether all of a tensor's dimensions are known numbers."""
        return self.type(x).is_static

    def axis(self, dim: int, rank: int) -> int:
        """Return an axis as a non-negative number; a tensor without axes has axis 0, as in PyTorch."""
        if not isinstance(dim, int):
            raise DynamicShapeError("the axis must be known at compile time")
        bound = max(rank, 1)
        if not -bound <= dim < bound:
            raise RelayError(f"the tensor has {rank} axes; it has no axis {dim}")
        return dim % bound

    def axes(self, dims: int | Sequence[int] | None, rank: int) -> list[int]:
        """Return axes as non-negative numbers. None and an empty list stand for all axes."""
        if dims is None:
            return list(range(rank))
        listed = [dims] if isinstance(dims, int) else list(dims)
        return sorted({self.axis(dim, rank) for dim in listed}) if listed else list(range(rank))

    # -- numbers

    def integer(self, value: Value, what: str = "an argument") -> int:
        """Return an integer that must be known at compile time; else raise a RelayError."""
        known = self.dim(value) if isinstance(value, (int, Scalar)) else value
        if isinstance(known, int):
            return int(known)
        if value is None or isinstance(value, (float, str, list, tuple)):
            raise RelayError(f"{what} must be an integer, not {value!r}")
        raise DynamicShapeError(f"{what} must be an integer that is known at compile time")

    def integers(self, values: Value, what: str = "an argument") -> list[int]:
        """Return integers that must be known at compile time; an integer counts as a list of one."""
        listed = values if isinstance(values, (list, tuple)) else [values]
        return [self.integer(value, what) for value in listed]

    def number(self, value: Value, what: str = "an argument") -> float | int:
        """Return a number that must be known at compile time; else raise a RelayError."""
        if isinstance(value, Scalar):
            value = value.expr
        if isinstance(value, Expr):
            known = self.context.constant(value)
            if known is not None and known.size == 1:
                return cast(float, known.reshape(()).item())
            raise DynamicShapeError(f"{what} must be a number that is known at compile time")
        if isinstance(value, (int, float)):
            return value
        raise RelayError(f"{what} must be a number, not {value!r}")

    def dim(self, value: Int) -> Dim:
        """Return an integer as a dimension: an int or a named size where it is known, else `?`."""
        if not isinstance(value, Scalar):
            return int(value)
        known = self.context.known(value.expr)
        return known[0] if known is not None and len(known) == 1 else Any()

    def size(self, x: Expr, axis: int) -> Int:
        """Return the extent of an axis: an int, or a Scalar where it is known only at run time."""
        dim = self.shape(x)[axis]
        if isinstance(dim, int):
            return dim
        extents = relay.shape_of(x, dtype="int64")
        return self.scalar(relay.take(extents, const(axis, "int64"), axis=0))

    def sizes(self, x: Expr) -> list[Int]:
        """Return the extents of all axes."""
        return [self.size(x, axis) for axis in range(self.rank(x))]

    def scalar(self, expr: Expr) -> Scalar:
        """Return a Python number that is computed by `expr`, a tensor of one element."""
        type_ = self.type(expr)
        if type_.shape:
            expr = relay.reshape(expr, ())
        wanted = "bool" if type_.dtype == "bool" else "float64" if is_float(type_.dtype) else "int64"
        expr = self.cast(expr, wanted)
        self.type(expr)
        return Scalar(expr)

    def unwrapped(self, scalar: Scalar) -> Number:
        """Return the number itself if it is known at compile time, else the scalar."""
        value = self.context.constant(scalar.expr)
        return scalar if value is None else cast(Number, value.reshape(()).item())

    def vector(self, values: Sequence[Int], dtype: str = "int64") -> Expr:
        """Return a vector of integers as a tensor."""
        if all(isinstance(value, int) for value in values):
            return const([int(cast(int, value)) for value in values], dtype)
        parts = [
            relay.reshape(self.cast(value.expr, dtype), (1,))
            if isinstance(value, Scalar)
            else const([int(value)], dtype)
            for value in values
        ]
        return parts[0] if len(parts) == 1 else relay.concatenate(parts, 0)

    # -- tensors

    def cast(self, x: Expr, dtype: str) -> Expr:
        """Return a tensor with another element type; itself if it has that type."""
        if self.dtype(x) == dtype:
            return x
        if isinstance(x, Constant) and "bfloat16" not in (dtype, x.data.dtype):
            return folded(relay.cast(x, dtype), self.context.type)
        return relay.cast(x, dtype)

    def tensor(self, value: Value, dtype: str | None = None) -> Expr:
        """Return a tensor for a value: a number, known or not, becomes one without axes.

        The default element type is that of `torch.tensor(value)`.
        """
        if isinstance(value, Scalar):
            return self.cast(value.expr, dtype or self.number_dtype(value))
        if isinstance(value, Expr):
            return value if dtype is None else self.cast(value, dtype)
        if isinstance(value, (bool, int, float)):
            return const(value, dtype or self.number_dtype(value))
        raise RelayError(f"a tensor is required here, not {value!r}")

    def number_dtype(self, value: Number) -> str:
        """Return the element type that PyTorch gives to a tensor made of a Python number."""
        kind = value.kind if isinstance(value, Scalar) else type(value)
        return "bool" if kind is bool else "int64" if kind is int else self.default_dtype

    def result_type(self, *values: Value) -> str:
        """Return the element type of the result of arithmetic with tensors and numbers, as
        `torch.result_type`: tensors with axes decide, then those without, then numbers, unless a later
        group is of a higher category (bool, integer, floating point).
        """
        groups: list[str | None] = [None, None, None]
        for value in values:
            if value is None:
                continue
            if isinstance(value, Expr) and value in self.numbers:
                dtype = self.dtype(value)
                group, dtype = 2, self.default_dtype if is_float(dtype) else dtype
            elif isinstance(value, Expr):
                type_ = self.type(value)
                group, dtype = (0 if type_.shape else 1), type_.dtype
            else:
                group, dtype = 2, self.number_dtype(cast(Number, value))
            before = groups[group]
            groups[group] = dtype if before is None else promoted(before, dtype)
        result: str | None = None
        for candidate in groups:
            if candidate is not None and (result is None or category(candidate) > category(result)):
                result = candidate
        assert result is not None
        return result

    def operands(self, *values: Value, dtype: str | None = None) -> tuple[Expr, ...]:
        """Return values as tensors of one element type: by default, the one of `result_type`."""
        wanted = dtype or self.result_type(*values)
        return tuple([self.tensor(value, wanted) for value in values])

    def floating(self, x: Expr) -> Expr:
        """Return a tensor as floating point: integers and bools get the default element type."""
        return x if is_float(self.dtype(x)) else self.cast(x, self.default_dtype)

    def reshape(self, x: Expr, dims: Sequence[Int]) -> Expr:
        """Reshape to extents that may be known only at run time; one of them may be -1."""
        from .reshaping import reshaped

        return reshaped(self, x, dims)

    def broadcast_to(self, x: Expr, dims: Sequence[Int]) -> Expr:
        """Broadcast to extents that may be known only at run time."""
        if all(isinstance(dim, int) for dim in dims):
            shape = tuple(int(cast(int, dim)) for dim in dims)
            return x if self.shape(x) == shape else relay.broadcast_to(x, shape)
        if self.shape(x) == tuple(map(self.dim, dims)) and not any(isinstance(d, Any) for d in self.shape(x)):
            return x
        repeated = self._repeated(x, [self.dim(dim) for dim in dims])
        if repeated is not None:
            return repeated
        from .reshaping import with_known_extents

        return with_known_extents(self, relay.broadcast_to(x, self.vector(dims)), dims)

    def _repeated(self, x: Expr, wanted: Sequence[Dim]) -> Expr | None:
        """Broadcast axes of extent 1 to known numbers by repeating them, so that the type keeps the named
        sizes of the others; return None where other axes differ.
        """
        added = len(wanted) - self.rank(x)
        if added > 0:
            x = relay.expand_dims(x, 0, added)
        shape = self.shape(x)
        for extent, dim in zip(shape, wanted):
            if isinstance(extent, Any) or (extent != dim and (extent != 1 or not isinstance(dim, int))):
                return None
        for axis, (extent, dim) in enumerate(zip(shape, wanted)):
            if extent != dim:
                x = relay.repeat(x, cast(int, dim), axis)
        return x

    def full(self, dims: Sequence[Int], value: Value, dtype: str) -> Expr:
        """Return a tensor that is filled with a number."""
        filler = self.tensor(value, dtype)
        if all(isinstance(dim, int) for dim in dims):
            return relay.full(filler, tuple(int(cast(int, dim)) for dim in dims), dtype)
        from .reshaping import with_known_extents

        return with_known_extents(self, relay.full(filler, self.vector(dims), dtype), dims)

    def is_constant(self, value: Value) -> bool:
        """Whether a value is known at compile time."""
        if isinstance(value, Scalar):
            return isinstance(self.unwrapped(value), (int, float))
        return (
            not isinstance(value, Expr)
            or isinstance(value, Constant)
            or self.context.constant(value) is not None
        )
