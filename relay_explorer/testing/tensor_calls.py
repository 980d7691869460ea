"""Calls of operators in random programs: choose arguments whose types produce a given result type.

The result types are derived here independently, from the operators' definitions: their type relations are not
used.
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
Producer = Callable[["Generator", Shape, str], Expr]
UNARY = ("exp", "tanh", "sigmoid", "nn.relu", "negative", "abs", "sqrt", "floor")
BINARY = ("add", "subtract", "multiply", "maximum", "minimum")
COMPARISONS = ("less", "greater_equal", "equal")
TRUTH = ("logical_and", "logical_or")
REDUCTIONS = ("sum", "max", "mean", "min")
MAX_ELEMENTS = 64  # of any tensor, so that programs run fast


def plain_tensor(generator: Generator, type_: TensorType) -> Expr:
    """Generate a constant, or a tensor of ones or zeros; for a `?`, a dynamic number of rows of one."""
    shape, dtype = type_.shape, type_.dtype
    if not type_.is_static:
        return _dynamic_rows(generator, shape, dtype)
    if not shape:
        value = (
            generator.rng.choice([True, False]) if dtype == "bool" else generator.rng.choice([0, 1, 2, -1])
        )
        return generator.record(const(value if dtype in ("bool", "int32") else float(value), dtype), type_)
    return _operator(generator, generator.rng.choice(["ones", "zeros"]), [], type_, shape=shape, dtype=dtype)


def tensor_call(generator: Generator, type_: TensorType) -> Expr:
    """Generate a call of an operator with the result type `type_`."""
    shape, dtype = type_.shape, type_.dtype
    producers: list[Producer] = [_where, _expand, _cast]
    if dtype == "bool":
        producers += [_compared, _compared, _compared, _truth]
    else:
        producers += [_binary] * 4 + [_reduced]
    if dtype.startswith("float"):
        producers += [_unary] * 3
        if shape:
            producers += [_softmax]
        if len(shape) >= 2 and isinstance(shape[-1], int):
            producers += [_dense, _dense]
        if len(shape) == 3 and type_.is_static:
            producers += [_batch_matmul, _conv1d]
    if shape and type_.is_static:
        producers += [_reshape, _concatenated, _split, _strided, _take]
    if len(shape) >= 2:
        producers += [_transposed]
    return generator.rng.choice(producers)(generator, shape, dtype)


def _operator(
    generator: Generator, name: str, args: Sequence[Expr], type_: TensorType | TupleType, **attrs: object
) -> Expr:
    op = Op.get(name)
    call_attrs = op.attrs_class(**attrs) if op.attrs_class is not None else None
    return generator.record(Call(op, list(args), call_attrs), type_)


def _of(shape: Sequence[Dim], dtype: str) -> TensorType:
    return TensorType.of(tuple(shape), dtype)


def _count(shape: Sequence[Dim]) -> int:
    """Count the elements of a tensor; a `?` counts as a small number."""
    total = 1
    for extent in shape:
        total *= extent if isinstance(extent, int) else 2
    return total


def _ints(shape: Shape) -> tuple[int, ...]:
    """Return the extents of a shape, which `tensor_call` guarantees to be static."""
    return tuple(extent for extent in shape if isinstance(extent, int))


def _narrowed(generator: Generator, shape: Shape) -> Shape:
    """Choose a shape that broadcasts to `shape`."""
    start = generator.rng.randint(0, len(shape)) if generator.chance(0.3) else 0
    return tuple(1 if generator.chance(0.2) else extent for extent in shape[start:])


def _pair(generator: Generator, shape: Shape, dtype: str) -> list[Expr]:
    """Generate two expressions that broadcast to `shape` together."""
    shapes = [shape, _narrowed(generator, shape)]
    generator.rng.shuffle(shapes)
    return [generator.expr(_of(s, dtype)) for s in shapes]


# -- element-wise


def _unary(generator: Generator, shape: Shape, dtype: str) -> Expr:
    return _operator(
        generator, generator.rng.choice(UNARY), [generator.expr(_of(shape, dtype))], _of(shape, dtype)
    )


def _binary(generator: Generator, shape: Shape, dtype: str) -> Expr:
    return _operator(
        generator, generator.rng.choice(BINARY), _pair(generator, shape, dtype), _of(shape, dtype)
    )


def _compared(generator: Generator, shape: Shape, dtype: str) -> Expr:
    source = generator.rng.choice(["float32", "int32"])
    return _operator(
        generator, generator.rng.choice(COMPARISONS), _pair(generator, shape, source), _of(shape, "bool")
    )


def _truth(generator: Generator, shape: Shape, dtype: str) -> Expr:
    if generator.chance(0.3):
        return _operator(generator, "logical_not", [generator.expr(_of(shape, dtype))], _of(shape, dtype))
    return _operator(
        generator, generator.rng.choice(TRUTH), _pair(generator, shape, dtype), _of(shape, dtype)
    )


def _where(generator: Generator, shape: Shape, dtype: str) -> Expr:
    condition = generator.expr(_of(_narrowed(generator, shape), "bool"))
    return _operator(generator, "where", [condition, *_pair(generator, shape, dtype)], _of(shape, dtype))


def _cast(generator: Generator, shape: Shape, dtype: str) -> Expr:
    source = generator.rng.choice(["float32", "int32", "bool"])
    return _operator(generator, "cast", [generator.expr(_of(shape, source))], _of(shape, dtype), dtype=dtype)


def _softmax(generator: Generator, shape: Shape, dtype: str) -> Expr:
    axis = generator.rng.randint(-len(shape), len(shape) - 1)
    return _operator(
        generator, "nn.softmax", [generator.expr(_of(shape, dtype))], _of(shape, dtype), axis=axis
    )


# -- other shapes


def _reshape(generator: Generator, shape: Shape, dtype: str) -> Expr:
    count = _count(shape)
    source = [d for d in (generator.rng.choice([2, 3, 4]), generator.rng.choice([1, 2])) if count % d == 0][
        :1
    ]
    source.append(count // _count(source))
    generator.rng.shuffle(source)
    data = generator.expr(_of(source, dtype))
    return _operator(generator, "reshape", [data], _of(shape, dtype), newshape=shape)


def _expand(generator: Generator, shape: Shape, dtype: str) -> Expr:
    """Generate a `squeeze` of a tensor with one more axis, or an `expand_dims` of one with one less."""
    ones = [axis for axis, extent in enumerate(shape) if extent == 1]
    if ones and generator.chance(0.6):
        axis = generator.rng.choice(ones)
        data = generator.expr(_of(shape[:axis] + shape[axis + 1 :], dtype))
        return _operator(generator, "expand_dims", [data], _of(shape, dtype), axis=axis)
    axis = generator.rng.randint(0, len(shape))
    data = generator.expr(_of((*shape[:axis], 1, *shape[axis:]), dtype))
    return _operator(generator, "squeeze", [data], _of(shape, dtype), axis=[axis])


def _transposed(generator: Generator, shape: Shape, dtype: str) -> Expr:
    axes = list(range(len(shape)))
    generator.rng.shuffle(axes)
    source: list[Dim] = [0] * len(shape)
    for to, axis in enumerate(axes):
        source[axis] = shape[to]
    return _operator(
        generator, "transpose", [generator.expr(_of(source, dtype))], _of(shape, dtype), axes=axes
    )


def _concatenated(generator: Generator, static: Shape, dtype: str) -> Expr:
    shape = _ints(static)
    axis = generator.rng.randrange(len(shape))
    extents = [1, shape[axis] - 1] if shape[axis] > 1 else [1]
    fields = [_of((*shape[:axis], extent, *shape[axis + 1 :]), dtype) for extent in extents]
    parts = generator.expr(TupleType(fields))
    return _operator(generator, "concatenate", [parts], _of(shape, dtype), axis=axis)


def _split(generator: Generator, static: Shape, dtype: str) -> Expr:
    """Generate one part of a split."""
    shape = _ints(static)
    axis, parts = generator.rng.randrange(len(shape)), generator.rng.randint(1, 3)
    if parts * _count(shape) > MAX_ELEMENTS:
        parts = 1
    whole = generator.expr(_of((*shape[:axis], shape[axis] * parts, *shape[axis + 1 :]), dtype))
    pieces = _operator(
        generator,
        "split",
        [whole],
        TupleType([_of(shape, dtype)] * parts),
        indices_or_sections=parts,
        axis=axis,
    )
    return generator.record(TupleGetItem(pieces, generator.rng.randrange(parts)), _of(shape, dtype))


def _strided(generator: Generator, static: Shape, dtype: str) -> Expr:
    shape = _ints(static)
    more = [generator.rng.randint(0, 1) for _ in shape]
    begin = [generator.rng.randint(0, m) for m in more]
    end = [b + extent for b, extent in zip(begin, shape)]
    data = generator.expr(_of([e + m for e, m in zip(shape, more)], dtype))
    return _operator(
        generator, "strided_slice", [data], _of(shape, dtype), begin=begin, end=end, strides=[1] * len(shape)
    )


def _take(generator: Generator, shape: Shape, dtype: str) -> Expr:
    """Generate a selection of rows by their indices."""
    axis = generator.rng.randrange(len(shape))
    data = generator.expr(_of((*shape[:axis], generator.rng.randint(1, 3), *shape[axis + 1 :]), dtype))
    numbers = generator.expr(_of((shape[axis],), "int32"))
    return _operator(generator, "take", [data, numbers], _of(shape, dtype), axis=axis, mode="clip")


def _dynamic_rows(generator: Generator, shape: Shape, dtype: str) -> Expr:
    """Generate a tensor with a dynamic extent along one axis: rows 0, 1 … of a constant, up to a number that
    the program computes.
    """
    axis = next(n for n, extent in enumerate(shape) if isinstance(extent, Any))
    rest = _of([*shape[:axis], 2, *shape[axis + 1 :]], dtype)
    data = plain_tensor(generator, rest)
    end = generator.chance(0.5)
    limits = [
        generator.number(0),
        _operator(generator, "add", [generator.number(1), generator.number(int(end))], _of([], "int32")),
    ]
    arguments = [*limits, generator.number(1)]
    unknown: dict[str, object] = {"start": None, "stop": None, "step": None}
    rows = _operator(generator, "arange", arguments, _of([Any()], "int32"), dtype="int32", **unknown)
    return _operator(generator, "take", [data, rows], _of(shape, dtype), axis=axis, mode="clip")


# -- reductions and products


def _reduced(generator: Generator, shape: Shape, dtype: str) -> Expr:
    name = generator.rng.choice(REDUCTIONS)
    extent = generator.rng.randint(1, max(1, min(4, MAX_ELEMENTS // _count(shape))))
    ones = [axis for axis, d in enumerate(shape) if d == 1]
    if ones and generator.chance(0.4):
        axis = generator.rng.choice(ones)
        data = generator.expr(_of((*shape[:axis], extent, *shape[axis + 1 :]), dtype))
        return _operator(generator, name, [data], _of(shape, dtype), axis=[axis], keepdims=True)
    axis = generator.rng.randint(0, len(shape))
    data = generator.expr(_of((*shape[:axis], extent, *shape[axis:]), dtype))
    return _operator(generator, name, [data], _of(shape, dtype), axis=[axis])


def _dense(generator: Generator, shape: Shape, dtype: str) -> Expr:
    inner = generator.rng.randint(1, 4)
    data = generator.expr(_of((*shape[:-1], inner), dtype))
    weight = generator.expr(_of((shape[-1], inner), dtype))
    units = shape[-1] if generator.chance(0.5) else None
    return _operator(generator, "nn.dense", [data, weight], _of(shape, dtype), units=units)


def _batch_matmul(generator: Generator, shape: Shape, dtype: str) -> Expr:
    inner = generator.rng.randint(1, 3)
    a = generator.expr(_of((shape[0], shape[1], inner), dtype))
    b = generator.expr(_of((shape[0], shape[2], inner), dtype))
    return _operator(
        generator, "nn.batch_matmul", [a, b], _of(shape, dtype), transpose_a=False, transpose_b=True
    )


def _conv1d(generator: Generator, shape: Shape, dtype: str) -> Expr:
    """Generate a convolution from (batch, inputs, width) to (batch, channels, width), with kernels of size
    three and padding of one.
    """
    inputs = generator.rng.randint(1, 2)
    data = generator.expr(_of((shape[0], inputs, shape[2]), dtype))
    kernel = generator.expr(_of((shape[1], inputs, 3), dtype))
    return _operator(
        generator,
        "nn.conv1d",
        [data, kernel],
        _of(shape, dtype),
        channels=shape[1],
        kernel_size=[3],
        padding=[1, 1],
    )
