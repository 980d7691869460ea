"""Runs one operator through the interpreter, and holds what comes out against its type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any as Anything

import numpy as np
import torch

from relay_explorer.execute import Interpreter
from relay_explorer.ir.expr import Expr, Function, var
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.tuple_wrapper import TupleWrapper
from relay_explorer.ir.types import Any, TensorType, TupleType, Type
from relay_explorer.typing import infer_types

Array = np.ndarray[Anything, Anything]
FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int8", "uint8", "int32", "int64")
# torch needs no more threads for tensors of this size, and would take the other tests' processors
torch.set_num_threads(1)


def rng(*seed: object) -> np.random.Generator:
    """Random numbers that are the same in every run."""
    return np.random.default_rng(list(repr(seed).encode()))


def shape(random: np.random.Generator, rank: int | None = None) -> tuple[int, ...]:
    """A small shape."""
    axes = int(random.integers(0, 5)) if rank is None else rank
    return tuple([int(extent) for extent in random.integers(1, 5, axes)])


def numbers(random: np.random.Generator, extents: tuple[int, ...], dtype: str = "float32") -> Array:
    """Values of every sign that the type has, none of them zero; floats are seldom alike."""
    if dtype == "bool":
        return np.asarray(random.random(extents) < 0.5)
    if dtype.startswith("float"):
        return np.asarray(random.normal(size=extents)).astype(dtype)
    values = random.integers(1, 11, extents)
    return np.asarray(values if dtype[0] == "u" else values * random.choice([-1, 1], extents)).astype(dtype)


def evaluate(build: Callable[..., Expr | TupleWrapper], *arrays: Array, **named: object) -> Anything:
    """The value of what `build` makes of one variable for each of `arrays`, and of what is `named`.

    It has the type that inference says, lies in memory of its own, and the arguments are as before.
    """
    params = [var(f"x{n}", TensorType(a.shape, str(a.dtype))) for n, a in enumerate(arrays)]
    made = build(*params, **named)
    body = made.astuple() if isinstance(made, TupleWrapper) else made
    return run(IRModule.from_expr(Function(params, body)), list(arrays))


def run(module: IRModule, values: list[Anything]) -> Anything:
    """The value of @main, checked as `evaluate` says."""
    typed = infer_types(module)
    main = typed["main"]
    assert isinstance(main, Function)
    inputs = [part for value in values for part in (value if isinstance(value, tuple) else (value,))]
    before = [part.copy() for part in inputs]
    found = Interpreter(typed).call("main", values)
    has_type(found, main.body.checked_type)
    for part, old in zip(inputs, before, strict=True):
        np.testing.assert_array_equal(part, old)
        for result in found if isinstance(found, tuple) else (found,):
            assert not np.may_share_memory(result, part)
    return found


def has_type(value: Anything, type_: Type) -> None:
    """Fails unless `value` is an array of that element type and shape, or a tuple of such."""
    if isinstance(type_, TupleType):
        assert isinstance(value, tuple)
        for part, field in zip(value, type_.fields, strict=True):
            has_type(part, field)
        return
    assert isinstance(type_, TensorType)
    assert isinstance(value, np.ndarray)
    assert str(value.dtype) == ("float32" if type_.dtype == "bfloat16" else type_.dtype)
    assert value.ndim == len(type_.shape), f"{value.shape} is not {type_}"
    for extent, dim in zip(value.shape, type_.shape, strict=True):
        assert isinstance(dim, Any) or extent == dim, f"{value.shape} is not {type_}"


def close(found: Array, wanted: Anything, digits: float | None = None) -> None:
    """Fails unless the two agree: integers exactly, floats to what their type can hold."""
    reference = wanted.numpy() if isinstance(wanted, torch.Tensor) else np.asarray(wanted)
    if digits is None:
        digits = {"float16": 2e-3, "float32": 1e-5, "float64": 1e-11}.get(str(found.dtype), 0)
    assert found.shape == reference.shape
    np.testing.assert_allclose(found, reference, rtol=digits, atol=digits)
