"""Calls of operators in random programs: for the type of the result, arguments of types that give it.

What an operator gives is written out here once more, from its definition: the relations are not used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..ir.expr import Call, Expr, TupleGetItem, const
from ..ir.op import Op
from ..ir.types import Any, Dim, TensorType, TupleType

if TYPE_CHECKING:
    from .generator import Generator

Shape = tuple[Dim, ...]
Way = Callable[["Generator", Shape, str], Expr]
UNARY = ("exp", "tanh", "sigmoid", "nn.relu", "negative", "abs", "sqrt", "floor")
BINARY = ("add", "subtract", "multiply", "maximum", "minimum")
COMPARISONS = ("less", "greater_equal", "equal")
TRUTH = ("logical_and", "logical_or")
REDUCTIONS = ("sum", "max", "mean", "min")
MOST_ELEMENTS = 64  # of any tensor, so that programs run fast


def plain_tensor(make: Generator, type_: TensorType) -> Expr:
    """A constant, or a tensor of ones or zeros; with a `?`, as many rows of one as the program computes."""
    shape, dtype = type_.shape, type_.dtype
    if not type_.is_static:
        return _some_rows(make, shape, dtype)
    if not shape:
        value = make.rng.choice([True, False]) if dtype == "bool" else make.rng.choice([0, 1, 2, -1])
        return make.made(const(value if dtype in ("bool", "int32") else float(value), dtype), type_)
    return _operator(make, make.rng.choice(["ones", "zeros"]), [], type_, shape=shape, dtype=dtype)


def tensor_call(make: Generator, type_: TensorType) -> Expr:
    """A call of some operator that gives `type_`."""
    shape, dtype = type_.shape, type_.dtype
    ways: list[Way] = [_where, _expand, _cast]
    if dtype == "bool":
        ways += [_compared, _compared, _compared, _truth]
    else:
        ways += [_binary] * 4 + [_reduced]
    if dtype.startswith("float"):
        ways += [_unary] * 3
        if shape:
            ways += [_softmax]
        if len(shape) >= 2 and isinstance(shape[-1], int):
            ways += [_dense, _dense]
        if len(shape) == 3 and type_.is_static:
            ways += [_batch_matmul, _conv1d]
    if shape and type_.is_static:
        ways += [_reshape, _concatenated, _split, _strided, _taken]
    if len(shape) >= 2:
        ways += [_transposed]
    return make.rng.choice(ways)(make, shape, dtype)


def _operator(
    make: Generator, name: str, args: Sequence[Expr], type_: TensorType | TupleType, **attrs: object
) -> Expr:
    op = Op.get(name)
    made = op.attrs_class(**attrs) if op.attrs_class is not None else None
    return make.made(Call(op, list(args), made), type_)


def _of(shape: Sequence[Dim], dtype: str) -> TensorType:
    return TensorType.of(tuple(shape), dtype)


def _count(shape: Sequence[Dim]) -> int:
    """The elements of a tensor; a `?` is small."""
    total = 1
    for extent in shape:
        total *= extent if isinstance(extent, int) else 2
    return total


def _ints(shape: Shape) -> tuple[int, ...]:
    """A static shape; `tensor_call` asks for no other where this is used."""
    return tuple(extent for extent in shape if isinstance(extent, int))


def _narrowed(make: Generator, shape: Shape) -> Shape:
    """A shape that broadcasts to `shape`."""
    start = make.rng.randint(0, len(shape)) if make.chance(0.3) else 0
    return tuple(1 if make.chance(0.2) else extent for extent in shape[start:])


def _pair(make: Generator, shape: Shape, dtype: str) -> list[Expr]:
    """Two expressions that broadcast to `shape` together."""
    shapes = [shape, _narrowed(make, shape)]
    make.rng.shuffle(shapes)
    return [make.expr(_of(s, dtype)) for s in shapes]


# -- one element by one


def _unary(make: Generator, shape: Shape, dtype: str) -> Expr:
    return _operator(make, make.rng.choice(UNARY), [make.expr(_of(shape, dtype))], _of(shape, dtype))


def _binary(make: Generator, shape: Shape, dtype: str) -> Expr:
    return _operator(make, make.rng.choice(BINARY), _pair(make, shape, dtype), _of(shape, dtype))


def _compared(make: Generator, shape: Shape, dtype: str) -> Expr:
    source = make.rng.choice(["float32", "int32"])
    return _operator(make, make.rng.choice(COMPARISONS), _pair(make, shape, source), _of(shape, "bool"))


def _truth(make: Generator, shape: Shape, dtype: str) -> Expr:
    if make.chance(0.3):
        return _operator(make, "logical_not", [make.expr(_of(shape, dtype))], _of(shape, dtype))
    return _operator(make, make.rng.choice(TRUTH), _pair(make, shape, dtype), _of(shape, dtype))


def _where(make: Generator, shape: Shape, dtype: str) -> Expr:
    condition = make.expr(_of(_narrowed(make, shape), "bool"))
    return _operator(make, "where", [condition, *_pair(make, shape, dtype)], _of(shape, dtype))


def _cast(make: Generator, shape: Shape, dtype: str) -> Expr:
    source = make.rng.choice(["float32", "int32", "bool"])
    return _operator(make, "cast", [make.expr(_of(shape, source))], _of(shape, dtype), dtype=dtype)


def _softmax(make: Generator, shape: Shape, dtype: str) -> Expr:
    axis = make.rng.randint(-len(shape), len(shape) - 1)
    return _operator(make, "nn.softmax", [make.expr(_of(shape, dtype))], _of(shape, dtype), axis=axis)


# -- other shapes


def _reshape(make: Generator, shape: Shape, dtype: str) -> Expr:
    count = _count(shape)
    source = [d for d in (make.rng.choice([2, 3, 4]), make.rng.choice([1, 2])) if count % d == 0][:1]
    source.append(count // _count(source))
    make.rng.shuffle(source)
    data = make.expr(_of(source, dtype))
    return _operator(make, "reshape", [data], _of(shape, dtype), newshape=shape)


def _expand(make: Generator, shape: Shape, dtype: str) -> Expr:
    """`squeeze` of a tensor with one more axis, or `expand_dims` of one with one less."""
    ones = [axis for axis, extent in enumerate(shape) if extent == 1]
    if ones and make.chance(0.6):
        axis = make.rng.choice(ones)
        data = make.expr(_of(shape[:axis] + shape[axis + 1 :], dtype))
        return _operator(make, "expand_dims", [data], _of(shape, dtype), axis=axis)
    axis = make.rng.randint(0, len(shape))
    data = make.expr(_of((*shape[:axis], 1, *shape[axis:]), dtype))
    return _operator(make, "squeeze", [data], _of(shape, dtype), axis=[axis])


def _transposed(make: Generator, shape: Shape, dtype: str) -> Expr:
    axes = list(range(len(shape)))
    make.rng.shuffle(axes)
    source: list[Dim] = [0] * len(shape)
    for to, axis in enumerate(axes):
        source[axis] = shape[to]
    return _operator(make, "transpose", [make.expr(_of(source, dtype))], _of(shape, dtype), axes=axes)


def _concatenated(make: Generator, static: Shape, dtype: str) -> Expr:
    shape = _ints(static)
    axis = make.rng.randrange(len(shape))
    extents = [1, shape[axis] - 1] if shape[axis] > 1 else [1]
    fields = [_of((*shape[:axis], extent, *shape[axis + 1 :]), dtype) for extent in extents]
    parts = make.expr(TupleType(fields))
    return _operator(make, "concatenate", [parts], _of(shape, dtype), axis=axis)


def _split(make: Generator, static: Shape, dtype: str) -> Expr:
    """One part of a split."""
    shape = _ints(static)
    axis, parts = make.rng.randrange(len(shape)), make.rng.randint(1, 3)
    if parts * _count(shape) > MOST_ELEMENTS:
        parts = 1
    whole = make.expr(_of((*shape[:axis], shape[axis] * parts, *shape[axis + 1 :]), dtype))
    pieces = _operator(
        make, "split", [whole], TupleType([_of(shape, dtype)] * parts), indices_or_sections=parts, axis=axis
    )
    return make.made(TupleGetItem(pieces, make.rng.randrange(parts)), _of(shape, dtype))


def _strided(make: Generator, static: Shape, dtype: str) -> Expr:
    shape = _ints(static)
    more = [make.rng.randint(0, 1) for _ in shape]
    begin = [make.rng.randint(0, m) for m in more]
    end = [b + extent for b, extent in zip(begin, shape)]
    data = make.expr(_of([e + m for e, m in zip(shape, more)], dtype))
    return _operator(
        make, "strided_slice", [data], _of(shape, dtype), begin=begin, end=end, strides=[1] * len(shape)
    )


def _taken(make: Generator, shape: Shape, dtype: str) -> Expr:
    """Rows picked by their numbers."""
    axis = make.rng.randrange(len(shape))
    data = make.expr(_of((*shape[:axis], make.rng.randint(1, 3), *shape[axis + 1 :]), dtype))
    numbers = make.expr(_of((shape[axis],), "int32"))
    return _operator(make, "take", [data, numbers], _of(shape, dtype), axis=axis, mode="clip")


def _some_rows(make: Generator, shape: Shape, dtype: str) -> Expr:
    """A tensor whose extent along one axis is known when the program runs: rows 0, 1 … of a constant, up to a
    number that the program computes.
    """
    axis = next(n for n, extent in enumerate(shape) if isinstance(extent, Any))
    rest = _of([*shape[:axis], 2, *shape[axis + 1 :]], dtype)
    data = plain_tensor(make, rest)
    end = make.chance(0.5)
    limits = [
        make.number(0),
        _operator(make, "add", [make.number(1), make.number(int(end))], _of([], "int32")),
    ]
    arguments = [*limits, make.number(1)]
    unknown: dict[str, object] = {"start": None, "stop": None, "step": None}
    rows = _operator(make, "arange", arguments, _of([Any()], "int32"), dtype="int32", **unknown)
    return _operator(make, "take", [data, rows], _of(shape, dtype), axis=axis, mode="clip")


# -- sums


def _reduced(make: Generator, shape: Shape, dtype: str) -> Expr:
    name = make.rng.choice(REDUCTIONS)
    extent = make.rng.randint(1, max(1, min(4, MOST_ELEMENTS // _count(shape))))
    ones = [axis for axis, d in enumerate(shape) if d == 1]
    if ones and make.chance(0.4):
        axis = make.rng.choice(ones)
        data = make.expr(_of((*shape[:axis], extent, *shape[axis + 1 :]), dtype))
        return _operator(make, name, [data], _of(shape, dtype), axis=[axis], keepdims=True)
    axis = make.rng.randint(0, len(shape))
    data = make.expr(_of((*shape[:axis], extent, *shape[axis:]), dtype))
    return _operator(make, name, [data], _of(shape, dtype), axis=[axis])


def _dense(make: Generator, shape: Shape, dtype: str) -> Expr:
    inner = make.rng.randint(1, 4)
    data = make.expr(_of((*shape[:-1], inner), dtype))
    weight = make.expr(_of((shape[-1], inner), dtype))
    units = shape[-1] if make.chance(0.5) else None
    return _operator(make, "nn.dense", [data, weight], _of(shape, dtype), units=units)


def _batch_matmul(make: Generator, shape: Shape, dtype: str) -> Expr:
    inner = make.rng.randint(1, 3)
    a = make.expr(_of((shape[0], shape[1], inner), dtype))
    b = make.expr(_of((shape[0], shape[2], inner), dtype))
    return _operator(make, "nn.batch_matmul", [a, b], _of(shape, dtype), transpose_a=False, transpose_b=True)


def _conv1d(make: Generator, shape: Shape, dtype: str) -> Expr:
    """(batch, channels, width) from (batch, inputs, width), with kernels of three and a border of one."""
    inputs = make.rng.randint(1, 2)
    data = make.expr(_of((shape[0], inputs, shape[2]), dtype))
    kernel = make.expr(_of((shape[1], inputs, 3), dtype))
    return _operator(
        make,
        "nn.conv1d",
        [data, kernel],
        _of(shape, dtype),
        channels=shape[1],
        kernel_size=[3],
        padding=[1, 1],
    )
