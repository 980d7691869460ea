"""What must hold of every evaluation, tried on random programs: they end, values have the types that were
known beforehand, and a program means what its text means.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any as Anything

import numpy as np
import pytest

from relay_explorer.execute.interpreter import Interpreter
from relay_explorer.execute.values import ConstructorValue, RefValue
from relay_explorer.ir import (
    Any,
    Call,
    FuncType,
    IRModule,
    RefType,
    TensorType,
    TupleType,
    Type,
    TypeCall,
)  # fmt: skip
from relay_explorer.ir.narrow import as_a
from relay_explorer.ir.substitute import substitute_type
from relay_explorer.ir.types import GlobalTypeVar
from relay_explorer.testing import Generated, generate
from relay_explorer.text import astext, parse
from relay_explorer.typing import infer_types
from tests.property.programs import first_failure

COUNT = 400


@pytest.fixture(scope="module")
def many() -> list[Generated]:
    return [generate(20_000 + seed, size=10 + seed % 40, closed=True) for seed in range(COUNT)]


def value_of(module: IRModule) -> Anything:
    with np.errstate(all="ignore"):
        return Interpreter(module).evaluate(Call(module.get_global_var("main"), []))


def fits(value: Anything, type_: Type, module: IRModule) -> bool:
    """Whether a value is one of a type; of functions, whether it is one at all."""
    match type_:
        case TensorType():
            array = isinstance(value, (np.ndarray, np.generic))
            return array and str(value.dtype) == type_.dtype and _extents(value.shape, type_.shape)
        case TupleType(fields=fields):
            same = isinstance(value, tuple) and len(value) == len(fields)
            return same and all(fits(v, t, module) for v, t in zip(value, fields, strict=True))
        case RefType(value=inner):
            return isinstance(value, RefValue) and fits(value.value, inner, module)
        case TypeCall(func=header, args=args):
            if not isinstance(value, ConstructorValue) or value.constructor.belong_to != header:
                return False
            given = dict(
                zip(module.type_definitions[as_a(GlobalTypeVar, header)].type_vars, args, strict=True)
            )
            inputs = [substitute_type(i, given) for i in value.constructor.inputs]
            return all(fits(v, t, module) for v, t in zip(value.fields, inputs, strict=True))
        case FuncType():
            return not isinstance(value, (np.ndarray, np.generic, tuple, ConstructorValue, RefValue))
    return False


def _extents(shape: tuple[int, ...], expected: tuple[object, ...]) -> bool:
    return len(shape) == len(expected) and all(
        isinstance(w, Any) or s == w for s, w in zip(shape, expected, strict=True)
    )


def same(a: Anything, b: Anything) -> bool:
    """Whether two values are equal; functions are taken to be."""
    if isinstance(a, (np.ndarray, np.generic)):
        return str(a.dtype) == str(b.dtype) and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, ConstructorValue):
        return a.constructor.name_hint == b.constructor.name_hint and all(map(same, a.fields, b.fields))
    return same(a.value, b.value) if isinstance(a, RefValue) else type(a) is type(b)


def text_means_something_else(module: IRModule) -> str | None:
    before, after = value_of(module), value_of(parse(astext(module)))
    return None if same(before, after) else f"{before} is printed as what gives {after}"


def inference_changes_the_value(module: IRModule) -> str | None:
    before, after = value_of(module), value_of(infer_types(module))
    return None if same(before, after) else f"{before} becomes {after}"


def changes_its_program(module: IRModule) -> str | None:
    before = astext(module)
    value_of(module)
    return None if astext(module) == before else "running it changed it"


def test_values_have_the_types_that_were_known(many: list[Generated]) -> None:
    for result in many:
        type_ = result.types[result.module["main"].body]
        value = value_of(result.module)
        assert fits(value, type_, result.module), f"{value} is no {type_}\n{result.module}"


@pytest.mark.parametrize(
    "problem",
    [text_means_something_else, inference_changes_the_value, changes_its_program],
    ids=lambda problem: problem.__name__,
)
def test_never(problem: Callable[[IRModule], str | None], many: list[Generated]) -> None:
    failure = first_failure([result.module for result in many], problem)
    assert failure is None, failure


def test_values_are_of_all_kinds(many: list[Generated]) -> None:
    kinds = {type(value_of(result.module)).__name__ for result in many}
    assert {"ndarray", "tuple", "ConstructorValue", "RefValue", "Closure"} <= kinds
