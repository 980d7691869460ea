"""Operators that compute random numbers from a key, for `relay.random`. The same key yields the same
numbers, so a program uses each key once, and every operator also returns the next key.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from typing import Any as Anything

from ..ir.attrs import Attrs, DType, Ints, attr, required
from ..ir.declaration import NotApplicable, Precision
from ..ir.expr import Constant, Expr, const
from ..ir.ndarray import NDArray
from ..ir.op import Flops, Relation, RelationError, Reporter, no_flops, size_of
from ..ir.tuple_wrapper import TupleWrapper
from ..ir.types import IncompleteType, TensorType, TupleType, Type
from . import threefry
from .arguments import Operand, static_ints
from .examples import t
from .layouts.layout import NO_LAYOUT_RULE
from .numeric import Array, np
from .operator import call, operator
from .relation import tensor
from .te import random as random_te

__all__ = ["multinomial", "normal", "threefry_generate", "threefry_key", "threefry_split", "uniform"]

KEY = TensorType((threefry.WORDS,), "uint64")


class ThreefryGenerateAttrs(Attrs, key="relay.attrs.ThreefryGenerateAttrs"):
    out_shape: Ints = required("The shape of the random numbers.")


class UniformAttrs(Attrs, key="relay.attrs.UniformAttrs"):
    out_shape: Ints = required("The shape of the random numbers.")
    out_dtype: DType | None = attr(None, "Their element type: float32 or float64.")


class NormalAttrs(Attrs, key="relay.attrs.NormalAttrs"):
    out_shape: Ints = required("The shape of the random numbers.")
    out_dtype: DType | None = attr(None, "Their element type: float32 or float64.")


def _check_key(key: Type) -> None:
    if not isinstance(key, IncompleteType) and tensor(key, 0, "key") != KEY:
        raise RelationError(
            f"the key must be {KEY}, not {key}", "relay.random.threefry_key(seed) makes one", culprits=(0,)
        )


def _shape(out_shape: Ints) -> Ints:
    if any(extent < 0 for extent in out_shape):
        raise RelationError(f"out_shape={list(out_shape)} has a negative extent")
    return out_shape


def _generate(
    types: Sequence[Type], num_inputs: int, attrs: ThreefryGenerateAttrs, reporter: Reporter
) -> bool:
    _check_key(types[0])
    reporter.assign(types[0], KEY)
    reporter.assign(types[1], TupleType([KEY, TensorType(_shape(attrs.out_shape), "uint64")]))
    return True


def _split(types: Sequence[Type], num_inputs: int, attrs: None, reporter: Reporter) -> bool:
    _check_key(types[0])
    reporter.assign(types[0], KEY)
    reporter.assign(types[1], TupleType([KEY, KEY]))
    return True


def _distribution(
    types: Sequence[Type], num_inputs: int, attrs: UniformAttrs | NormalAttrs, reporter: Reporter
) -> bool:
    """Relate the types of a key and of two scalars, which have the result's element type, to the result."""
    _check_key(types[0])
    if attrs.out_dtype not in ("float32", "float64"):
        raise RelationError(f'out_dtype is "{attrs.out_dtype}", but it is float32 or float64')
    number = TensorType((), attrs.out_dtype)
    for operand in (1, 2):
        type_ = types[operand]
        if not isinstance(type_, IncompleteType) and tensor(type_, operand) != number:
            raise RelationError(
                f"the parameters of the distribution must be scalars of type {number}, not {type_}",
                culprits=(operand,),
            )
        reporter.assign(type_, number)
    reporter.assign(types[0], KEY)
    reporter.assign(types[3], TupleType([KEY, TensorType(_shape(attrs.out_shape), attrs.out_dtype)]))
    return True


def _multinomial(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    _check_key(types[0])
    reporter.assign(types[0], KEY)
    if isinstance(types[1], IncompleteType):
        return False
    probs = tensor(types[1], 1, "probs")
    if not probs.shape or probs.shape[-1] == 0 or attrs.num_samples < 0:
        raise RelationError(
            f"num_samples={attrs.num_samples} indices are drawn from each row of probs, {probs}",
            "probs must have an axis of at least one probability, and num_samples cannot be negative",
            culprits=(1,),
        )
    samples = TensorType.of((*probs.shape[:-1], attrs.num_samples), "int32")
    reporter.assign(types[2], TupleType([KEY, samples]))
    return True


def _generated(attrs: ThreefryGenerateAttrs, key: Array) -> tuple[Array, Array]:
    after, words = threefry.generated(key, int(np.prod(attrs.out_shape, dtype="int64")))
    return after, words.reshape(attrs.out_shape)


def _units(key: Array, shape: tuple[int, ...], dtype: str) -> tuple[Array, Array]:
    after, words = threefry.generated(key, int(np.prod(shape, dtype="int64")))
    return after, threefry.unit(words, dtype).reshape(shape)


def _uniform(attrs: UniformAttrs, key: Array, low: Array, high: Array) -> tuple[Array, Array]:
    after, units = _units(key, attrs.out_shape, attrs.out_dtype or "float32")
    return after, units * (high - low) + low


def _normal(attrs: NormalAttrs, key: Array, mean: Array, scale: Array) -> tuple[Array, Array]:
    """Draw normally distributed numbers, each from two uniform ones, by the Box-Muller transform."""
    after, units = _units(key, (2, *attrs.out_shape), attrs.out_dtype or "float32")
    radius = np.sqrt(-2 * np.log(1 - units[0]))
    return after, (radius * np.sin(2 * np.pi * units[1]).astype(units.dtype)) * scale + mean


def _drawn(attrs: Anything, key: Array, probs: Array) -> tuple[Array, Array]:
    """Draw indices: each is the first at which the cumulative probability exceeds a uniform random number."""
    weights = np.maximum(probs.astype("float32"), 0)
    sums = np.cumsum(weights / weights.sum(-1, keepdims=True), -1)
    after, units = _units(key, (*probs.shape[:-1], attrs.num_samples), "float32")
    beyond = sums[..., None, :] > units[..., None]
    return after, beyond.argmax(-1).astype("int32")


def _per_number(work: int) -> Flops:
    """Count a fixed number of operations for each element of the result, the second field of a tuple."""

    def flops(attrs: Attrs, inputs: Sequence[Type], output: Type) -> int:
        return work * (size_of(output.fields[1]) if isinstance(output, TupleType) else 0)

    return flops


def threefry_key(seed: int) -> Constant:
    """Build the key of a `seed`, an integer."""
    return Constant(NDArray.from_list([*threefry.fresh(int(seed))], (threefry.WORDS,), "uint64"))


@operator(
    "random.threefry_generate",
    description="Generates random 64-bit words; also returns the next key.",
    formula=r"y_n = \mathrm{Threefry}_k(n)",
    family="creation",
    relation=Relation(
        "ThreefryGenerate", _generate, "{out} = (a key, 64-bit words of `out_shape`), and {0} is a key"
    ),
    flops=no_flops,
    reference=_generated,
    gradient=NotApplicable("there is no gradient rule for random numbers"),
    lowering=random_te.threefry_generate,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(threefry_key(1), (2, 3)),
    attrs=ThreefryGenerateAttrs,
    inputs=("key",),
)
def threefry_generate(key: Operand, shape: Sequence[int]) -> TupleWrapper:
    """Return the next key and a tensor of `shape` of random 64-bit words."""
    return TupleWrapper(call("random.threefry_generate", [key], out_shape=static_ints(shape, "shape")), 2)


@operator(
    "random.threefry_split",
    description="Splits a key into two keys whose random numbers are independent.",
    formula=r"(k 0,\ k 1)",
    family="creation",
    relation=Relation("ThreefrySplit", _split, "{out} = two keys, and {0} is a key"),
    flops=no_flops,
    reference=lambda attrs, key: threefry.split(key),
    gradient=NotApplicable("there is no gradient rule for random numbers"),
    lowering=random_te.threefry_split,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(threefry_key(1)),
    results=2,
)
def threefry_split(key: Operand) -> TupleWrapper:
    """Split `key` into two keys."""


def _number(value: Expr | float, dtype: str) -> Expr:
    return value if isinstance(value, Expr) else const(value, dtype)


@operator(
    "random.uniform",
    description="Draws random numbers uniformly between two bounds; also returns the next key.",
    formula=r"y_i \sim \mathrm{U}[a, b)",
    family="creation",
    relation=Relation("Uniform", _distribution, "{out} = (a key, a tensor of `out_shape` and `out_dtype`)"),
    flops=_per_number(2),
    reference=_uniform,
    gradient=NotApplicable("there is no gradient rule for random numbers"),
    lowering=random_te.uniform,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(threefry_key(1), (2, 3), "float32", -1, 2),
    attrs=UniformAttrs,
    inputs=("key", "low", "high"),
)
def uniform(
    key: Operand,
    shape: Sequence[int],
    dtype: str = "float32",
    low: Expr | float = 0.0,
    high: Expr | float = 1.0,
) -> TupleWrapper:
    """Return the next key and a tensor of `shape`, drawn uniformly from [`low`, `high`)."""
    return TupleWrapper(
        call(
            "random.uniform",
            [key, _number(low, dtype), _number(high, dtype)],
            out_shape=static_ints(shape, "shape"),
            out_dtype=dtype,
        ),
        2,
    )


@operator(
    "random.normal",
    description="Draws random numbers from a normal distribution; also returns the next key.",
    formula=r"y_i \sim \mathrm{N}(\mu, \sigma^2)",
    family="creation",
    relation=Relation("Normal", _distribution, "{out} = (a key, a tensor of `out_shape` and `out_dtype`)"),
    flops=_per_number(8),
    reference=_normal,
    gradient=NotApplicable("there is no gradient rule for random numbers"),
    lowering=random_te.normal,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(threefry_key(1), (2, 3), "float64"),
    attrs=NormalAttrs,
    inputs=("key", "mean", "scale"),
)
def normal(
    key: Operand,
    shape: Sequence[int],
    dtype: str = "float32",
    mean: Expr | float = 0.0,
    scale: Expr | float = 1.0,
) -> TupleWrapper:
    """Return the next key and a tensor of `shape`, drawn from the normal distribution of `mean` and
    standard deviation `scale`.
    """
    return TupleWrapper(
        call(
            "random.normal",
            [key, _number(mean, dtype), _number(scale, dtype)],
            out_shape=static_ints(shape, "shape"),
            out_dtype=dtype,
        ),
        2,
    )


@operator(
    "random.multinomial",
    description="Draws indices with given probabilities; also returns the next key.",
    formula=r"P(y_i = j) = p_j \,/\, \textstyle\sum_k p_k",
    family="creation",
    relation=Relation(
        "Multinomial", _multinomial, "{out} = (a key, `num_samples` indices for each row of {1})"
    ),
    flops=no_flops,
    reference=_drawn,
    gradient=NotApplicable("there is no gradient rule for random numbers"),
    lowering=random_te.multinomial,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(threefry_key(1), t(2, 3, name="p"), 4),
    results=2,
)
def multinomial(
    key: Operand,
    probs: Operand,
    num_samples: Annotated[int, required("How many indices are drawn from each row.")],
) -> TupleWrapper:
    """Return the next key and `num_samples` indices for each row of `probs`, which need not sum to 1."""
