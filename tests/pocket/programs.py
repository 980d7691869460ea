"""Random well-typed programs of the language that the reader's compiler covers; comparing values."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from relay_explorer.ir.expr import Expr
from relay_explorer.ir.types import FuncType, TensorType, TupleType, Type
from relay_explorer.testing import tensor_calls as calls
from relay_explorer.testing.generator import DTYPES, Generated, Generator

COUNT = 200
SIZE = 30


class Covered(Generator):
    """Generate programs without references, patterns of tuples and dynamic shapes, of covered operators."""

    def type(self, depth: int = 2) -> Type:
        kind = self.rng.random()
        if depth == 0 or kind < 0.6:
            return TensorType.of(self.shape(), self.rng.choice(DTYPES))
        if kind < 0.8:
            return TupleType([self.type(depth - 1) for _ in range(self.rng.randint(0, 3))])
        if kind < 0.88:
            return FuncType(
                [self.type(depth - 1) for _ in range(self.rng.randint(0, 2))], self.type(depth - 1)
            )
        return self.data.type(depth - 1)

    def producers(self, type_: Type) -> list[Callable[[Type], Expr]]:
        left_out = (self.tuple_matched, self.read, self.reference)
        if not isinstance(type_, TensorType):
            return [p for p in super().producers(type_) if p not in left_out]
        tensor = type_
        language = [p for p in super().producers(TupleType([])) if p not in (*left_out, self.plain)]
        return language + [lambda _: covered_call(self, tensor)] * 14


def covered_call(generator: Generator, type_: TensorType) -> Expr:
    """Generate a call of a covered operator, as `tensor_calls.tensor_call` does of all operators."""
    shape, dtype = type_.shape, type_.dtype
    producers: list[calls.Producer] = [calls._where, calls._cast]
    if dtype == "bool":
        producers += [calls._compared] * 3 + [calls._truth]
    else:
        producers += [calls._binary] * 4 + [calls._reduced]
    if dtype.startswith("float"):
        producers += [calls._unary] * 3
        producers += [calls._softmax] if shape else []
        producers += [calls._dense] * 2 if len(shape) == 2 else []
    if shape:
        producers += [calls._reshape, calls._concatenated, calls._split]
    if len(shape) >= 2:
        producers += [calls._transposed]
    return generator.rng.choice(producers)(generator, shape, dtype)


@cache
def program(seed: int) -> Generated:
    """Return the random program of a seed; its `@main` takes no arguments."""
    return Covered(random.Random(seed), SIZE).program(closed=True)


def programs(count: int = COUNT) -> Iterator[Generated]:
    """Yield the random programs, always the same ones."""
    return map(program, range(count))


def same(mine: Any, theirs: Any, rtol: float = 1e-4) -> bool:
    """Compare a value of the reader's compiler with one of the package (or of the reader's, too); of
    functions, only that both are.
    """
    if isinstance(mine, tuple):
        return (
            isinstance(theirs, tuple)
            and len(mine) == len(theirs)
            and all(same(*pair, rtol) for pair in zip(mine, theirs))
        )
    if type(mine).__name__ == "Call":
        pocket = type(theirs) is type(mine)  # otherwise a value of the package
        name = theirs.callee.name if pocket else theirs.constructor.name_hint
        fields = theirs.args if pocket else theirs.fields
        return name == mine.callee.name and all(same(*pair, rtol) for pair in zip(mine.args, fields))
    if not isinstance(mine, np.ndarray):
        return callable(theirs) or type(mine) is type(theirs)
    other = theirs.numpy() if hasattr(theirs, "numpy") else theirs
    return (
        mine.dtype == other.dtype
        and mine.shape == other.shape
        and np.allclose(mine, other, rtol=rtol, atol=1e-5, equal_nan=True)
    )
