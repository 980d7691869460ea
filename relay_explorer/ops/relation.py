"""Type relations that many operators share, and helpers to write others.

A dimension is an int, `Any` (`?`, known only at run time) or a Size (`n`, `2 * n + 1`). The
helpers compute with all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any as Anything

from ..ir.op import Relation, RelationError, Reporter
from ..ir.show import ordinal, show_shape
from ..ir.types import Any, Dim, IncompleteType, Shape, TensorType, TupleType, Type

UNKNOWN = Any()
MAX_AXES = 1_000  # of a result whose rank an attribute sets
MAX_FIELDS = 10_000  # of a tuple whose length an attribute sets
MAX_DIMS = 100_000  # of all fields of such a tuple together


def known(types: Sequence[Type], count: int) -> bool:
    """Return whether the first `count` types are known, fields of tuples included."""
    for type_ in types[:count]:
        if isinstance(type_, IncompleteType):
            return False
        if isinstance(type_, TupleType) and not known(type_.fields, len(type_.fields)):
            return False
    return True


def tensor(type_: Type, operand: int, name: str = "") -> TensorType:
    """Return `type_` as a tensor type; raise a RelationError that names the argument where it is
    not one.
    """
    if isinstance(type_, TensorType):
        return type_
    raise RelationError(
        f"the {ordinal(operand)} argument{f' ({name})' if name else ''} must be a tensor, not {type_}",
        culprits=(operand,),
    )


def tensor_fields(type_: Type, operator: str) -> tuple[TensorType, ...]:
    """Return the fields of a tuple of at least one tensor, the only argument of `operator`."""
    if not isinstance(type_, TupleType):
        raise RelationError(
            f"{operator} takes one tuple of tensors, not {type_}",
            f"put the tensors into a tuple: relay.{operator}((a, b), …)",
            culprits=(0,),
        )
    if not type_.fields:
        raise RelationError(f"{operator} needs at least one tensor, but its tuple is empty", culprits=(0,))
    for number, field in enumerate(type_.fields):
        if not isinstance(field, TensorType):
            raise RelationError(f"field {number} of the tuple must be a tensor, not {field}", culprits=(0,))
    return type_.fields  # type: ignore[return-value]  # all were just seen to be tensors


def forward(name: str, formula: str, result: Callable[..., Type]) -> Relation:
    """Make a relation that waits until all input types are known, then assigns `result(attrs, *inputs)` to
    the output.
    """

    def rule(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
        if not known(types, num_inputs):
            return False
        reporter.assign(types[num_inputs], result(attrs, *types[:num_inputs]))
        return True

    return Relation(name, rule, formula)


def _identity(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    first = types[0]
    if not isinstance(first, (IncompleteType, TensorType)):
        tensor(first, 0)
    for other in types[1:]:
        reporter.assign(other, first)
    return True


def _same_type(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    for other in types[1:]:
        reporter.assign(other, types[0])
    return True


IDENTITY = Relation("Identity", _identity, "{out} = {0}")
SAME_TYPE = Relation("Identity", _same_type, "{out} = {0}")  # for values of any type, not only tensors


def broadcast_dims(a: Dim, b: Dim) -> Dim | None:
    """Return the dimension that `a` and `b` broadcast to, or None where they cannot: they must be equal, or
    one of them 1.

    A dynamic dimension, `?`, with a static one greater than 1 yields the static one.
    """
    if a is b or a == b:
        return a
    if isinstance(a, int) and a == 1:
        return b
    if isinstance(b, int) and b == 1:
        return a
    if isinstance(a, Any):
        return b
    if isinstance(b, Any):
        return a
    return None


def _broadcast_help(longer: Shape, shorter: Shape) -> list[str]:
    """Suggest remedies where two shapes do not broadcast, the most common mistakes first."""
    help = ["make the two equal on that axis, or one of them 1 (relay.reshape, relay.expand_dims)"]
    if len(shorter) == 1 and len(longer) > 1 and shorter[0] in longer:
        axis = longer.index(shorter[0])
        help.insert(
            0,
            f"a vector lies along the last axis; relay.nn.bias_add(…, axis={axis}) puts it along axis {axis}",
        )
    elif len(longer) == len(shorter) == 2 and longer == shorter[::-1]:
        help.insert(0, "one looks like the transpose of the other: relay.transpose")
    return help


def broadcast_shapes(a: Shape, b: Shape, culprits: tuple[int, ...] = (0, 1)) -> Shape:
    """Return the shape that both broadcast to, aligned at the last axis, as in NumPy."""
    if a == b:
        return a
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    lead = len(longer) - len(shorter)
    out = list(longer)
    for axis, dim in enumerate(shorter, lead):
        both = broadcast_dims(longer[axis], dim)
        if both is None:
            of_a, of_b = (longer[axis], dim) if longer is a else (dim, longer[axis])
            raise RelationError(
                f"the shapes {show_shape(a)} and {show_shape(b)} do not broadcast: "
                f"axis {axis - len(longer)} is {of_a} in one and {of_b} in the other",
                *_broadcast_help(longer, shorter),
                culprits=culprits,
            )
        out[axis] = both
    return tuple(out)


def same_dtypes(a: TensorType, b: TensorType, culprits: tuple[int, ...] = (0, 1)) -> None:
    """Raise a RelationError where the element types differ."""
    if a.dtype != b.dtype:
        raise RelationError(
            f"the element types differ: {a.dtype} and {b.dtype}",
            f'convert one of them: relay.cast(…, "{a.dtype}")',
            culprits=culprits,
        )


def _broadcast(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    a, b, out = types
    if isinstance(a, IncompleteType) or isinstance(b, IncompleteType):
        return False
    a, b = tensor(a, 0, "lhs"), tensor(b, 1, "rhs")
    if a.dtype != b.dtype:
        same_dtypes(a, b)
    reporter.assign(out, TensorType.of(broadcast_shapes(a.shape, b.shape), a.dtype))
    return True


BROADCAST = Relation("Broadcast", _broadcast, "{out} = {0} ⊔ {1}")


def _broadcast_compare(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    a, b, out = types
    if isinstance(a, IncompleteType) or isinstance(b, IncompleteType):
        return False
    a, b = tensor(a, 0, "lhs"), tensor(b, 1, "rhs")
    if a.dtype != b.dtype:
        same_dtypes(a, b)
    reporter.assign(out, TensorType.of(broadcast_shapes(a.shape, b.shape), "bool"))
    return True


BROADCAST_COMPARE = Relation("BroadcastCompare", _broadcast_compare, "{out} = bool of {0} ⊔ {1}")


def normal_axis(axis: int, rank: int, operator: str = "") -> int:
    """Return `axis` counted from the front; raise a RelationError where a tensor of that rank has no such
    axis.
    """
    if not -rank <= axis < rank:
        axes = "no axes" if rank == 0 else f"{rank} ax{'i' if rank == 1 else 'e'}s"
        raise RelationError(
            f"axis {axis} is out of range: the tensor has {axes}"
            + (f", so {operator} takes {-rank} to {rank - 1}" if operator and rank else "")
        )
    return axis + rank if axis < 0 else axis


def normal_axes(axes: Iterable[int], rank: int, operator: str = "") -> list[int]:
    """Return axes counted from the front, in their order; raise a RelationError where one is missing or
    repeated.
    """
    normal = [normal_axis(axis, rank, operator) for axis in axes]
    if len(set(normal)) != len(normal):
        twice = next(axis for axis in normal if normal.count(axis) > 1)
        raise RelationError(f"axis {twice} is given twice", "name every axis at most once")
    return normal


def same_dim(a: Dim, b: Dim) -> bool:
    """Return whether two dimensions can be the same: they are equal, or their difference is dynamic."""
    return a == b or (not (isinstance(a, int) and isinstance(b, int)) and not isinstance(a - b, (int, float)))


def meet_dims(a: Dim, b: Dim) -> Dim:
    """Return the more precise of two dimensions for which `same_dim` holds."""
    if isinstance(a, int):
        return a
    return b if isinstance(b, int) or isinstance(a, Any) else a


def times(a: Dim, b: Dim) -> Dim:
    """Multiply two dimensions; the product is `?` where one is, unless the other is 0 or 1."""
    if isinstance(a, Any) and isinstance(b, int) and b < 2:
        return a if b else 0
    if isinstance(b, Any) and isinstance(a, int) and a < 2:
        return b if a else 0
    return a * b  # type: ignore[return-value]  # an int, as both are


def count(shape: Shape) -> int | None:
    """Return the number of elements of a tensor of that shape, or None where a dimension is dynamic."""
    total = 1
    for dim in shape:
        if not isinstance(dim, int):
            return None
        total *= dim
    return total


def is_integer(dtype: str) -> bool:
    """Return whether `dtype` is a signed or unsigned integer type; bool is not one."""
    return dtype.startswith(("int", "uint"))


def integers(type_: Type, operand: int, name: str) -> TensorType:
    """Return `type_` as a tensor of integers; raise a RelationError where it is not one."""
    result = tensor(type_, operand, name)
    if not is_integer(result.dtype):
        raise RelationError(
            f"{name} must be integers, but its elements are {result.dtype}",
            'convert them: relay.cast(…, "int32")',
            culprits=(operand,),
        )
    return result


def floating(type_: Type, operand: int, name: str) -> TensorType:
    """Return `type_` as a tensor of floating-point numbers; raise a RelationError where it is not
    one.
    """
    result = tensor(type_, operand, name)
    if not result.dtype.startswith(("float", "bfloat")):
        raise RelationError(
            f"{name} must be floating-point, but its elements are {result.dtype}",
            'convert them: relay.cast(…, "float32")',
            culprits=(operand,),
        )
    return result


def scalar(type_: Type, operand: int, name: str) -> TensorType:
    """Return `type_` as the type of a scalar; raise a RelationError where it is not one."""
    result = tensor(type_, operand, name)
    if result.shape:
        raise RelationError(
            f"{name} must be a scalar, but its type is {result}",
            "give a scalar: relay.const(1.0)",
            culprits=(operand,),
        )
    return result


def check_rank(rank: int) -> int:
    """Return `rank`, or raise a RelationError where a type of that many axes would fill the memory."""
    if rank > MAX_AXES:
        raise RelationError(
            f"the result would have {rank:,} axes, and at most {MAX_AXES:,} are supported",
            "check the attribute that sets the rank of the result",
        )
    return rank


def check_fields(fields: int, rank: int) -> int:
    """Return `fields`, or raise a RelationError where a tuple of that many tensors would fill the memory."""
    most = min(MAX_FIELDS, MAX_DIMS // max(1, rank))
    if fields > most:
        raise RelationError(
            f"the result would be a tuple of {fields:,} tensors, and at most {most:,} of this rank are "
            "supported",
            "check the attribute that sets the length of the tuple",
        )
    return fields


def vector_length(type_: Type, operand: int, name: str) -> int:
    """Return the length of the integer vector `type_`, which must be static: it is the rank of a shape."""
    vector = integers(type_, operand, name)
    if len(vector.shape) != 1 or not isinstance(vector.shape[0], int):
        raise RelationError(
            f"{name} must be a vector of static length, not {vector}",
            "the rank of the result is the vector's length, and a type's rank is static",
            culprits=(operand,),
        )
    return check_rank(vector.shape[0])
